# The parts of the build, and those built by default.
#
# As the top-level project everything is built. Inside another project (add_subdirectory,
# FetchContent) only the two libraries are, and nothing is installed.
set(BB_IS_TOP_LEVEL OFF)
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
    set(BB_IS_TOP_LEVEL ON)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    if(NOT CMAKE_BUILD_TYPE)
        set(CMAKE_BUILD_TYPE RelWithDebInfo)
    endif()
endif()

# Tests need more packages than the library. They are built by default if these are installed. With
# -DBB_BUILD_TESTS=ON a missing package is an error.
set(BB_TESTS_DEFAULT ${BB_IS_TOP_LEVEL})
if(BB_IS_TOP_LEVEL AND NOT DEFINED BB_BUILD_TESTS)
    pkg_check_modules(BB_TEST_PACKAGES QUIET cmocka sqlite3 jansson)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    if(NOT BB_TEST_PACKAGES_FOUND OR NOT Python3_FOUND)
        set(BB_TESTS_DEFAULT OFF)
        message(STATUS "cmocka, SQLite, jansson or Python 3 is not installed: the tests are left out (scripts/setup test)")
    endif()
endif()

option(BB_BUILD_TOOLS "Build the bloomblock command (needs jansson)" ${BB_IS_TOP_LEVEL})
option(BB_BUILD_TESTS "Build the tests (needs cmocka, SQLite, jansson and Python 3)" ${BB_TESTS_DEFAULT})
option(BB_BUILD_BENCH "Build the benchmarks (peers that are not installed are left out)" ${BB_IS_TOP_LEVEL})
option(BB_BUILD_LEVELDB "Build LevelDB's C interface (left out where leveldb/c.h is not installed)" ${BB_IS_TOP_LEVEL})
option(BB_BUILD_REDIS "Build the module for Redis and Valkey" ${BB_IS_TOP_LEVEL})
option(BB_BUILD_PYTHON "Build the Python module (left out where Python's headers are not installed)" ${BB_IS_TOP_LEVEL})
option(BB_BUILD_EXAMPLES "Build the examples" ${BB_IS_TOP_LEVEL})
option(BB_UNICODE "Words of Unicode (left out where libunistring is not installed)" ON)
option(BB_BUILD_FUZZERS "Build libFuzzer targets (needs clang)" OFF)
set(BB_SANITIZE "" CACHE STRING "Sanitizers for the whole build, such as address,undefined")
option(BB_WERROR "Warnings are errors (developers' presets and scripts/test switch it on)" OFF)
option(BB_COVERAGE "Instrument for gcov" OFF)
option(BB_CHECKED "Keep all assertions in a build with NDEBUG" OFF)
