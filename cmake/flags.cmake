# Compiler flags of every target, in one interface target.
add_library(bb_flags INTERFACE)
target_compile_options(bb_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wundef -Wpointer-arith -Wwrite-strings -fno-common)
# At -O3 gcc warns of paths that cannot be taken. The sanitizers and clang's flow analysis check
# this better.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(bb_flags INTERFACE -Wno-maybe-uninitialized)
    # The warning needs the ranges of numbers, from passes that -O1 does not run.
    target_compile_options(bb_flags INTERFACE $<$<NOT:$<CONFIG:Release>>:-Wno-format-truncation>)
endif()
# WHY: gcc clears structs of 48 bytes and more by `rep stos`, which takes some 10 ns to begin. On a
# Xeon of 2.8 GHz 88 and 136 bytes take 14.6 and 16.2 ns, with vectors 5.2 and 4.7; 600 bytes take
# 21.1 ns, and 9.9 by memset. Each lookup and each stream of a seek clears such structs.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    target_compile_options(bb_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign>)
endif()
target_compile_definitions(bb_flags INTERFACE _GNU_SOURCE)
target_include_directories(bb_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
if(BB_WERROR)
    target_compile_options(bb_flags INTERFACE -Werror)
endif()
if(BB_CHECKED)
    target_compile_definitions(bb_flags INTERFACE BB_CHECKED)
endif()
if(BB_SANITIZE)
    # Ubuntu's gcc fortifies by default: __pread_chk and similar functions bypass the interceptors
    # of the sanitizers, and the tests that replace pread.
    target_compile_options(bb_flags INTERFACE -fsanitize=${BB_SANITIZE} -fno-omit-frame-pointer -U_FORTIFY_SOURCE)
    target_link_options(bb_flags INTERFACE -fsanitize=${BB_SANITIZE})
    # The only fence orders stores for a forked child (kv/store/inherited.h), not for another
    # thread.
    if(BB_SANITIZE MATCHES "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        target_compile_options(bb_flags INTERFACE -Wno-tsan)
    endif()
    if(BB_SANITIZE MATCHES "undefined")
        target_compile_options(bb_flags INTERFACE -fno-sanitize-recover=undefined)
    endif()
endif()
if(BB_COVERAGE)
    target_compile_options(bb_flags INTERFACE --coverage)
    target_link_options(bb_flags INTERFACE --coverage)
endif()
if(BB_BUILD_FUZZERS)
    target_compile_options(bb_flags INTERFACE -fsanitize=fuzzer-no-link)
    # Reports of comparisons take most of the time of a build without sanitizers, which is for many
    # executions. The build with sanitizers has them.
    if(NOT BB_SANITIZE)
        target_compile_options(bb_flags INTERFACE -fno-sanitize-coverage=trace-cmp)
    endif()
endif()
