# Installs the build into a temporary prefix, builds tests/install/consumer against it by CMake
# package and by pkg-config, and runs the programs.
#
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=... -DCOMPILER=... -P check.cmake
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
foreach(page man1/bloomblock.1 man1/bloomblock-filter-create.1 man3/bloomblock.3 man5/bloomblock.5)
    if(NOT EXISTS ${WORK}/prefix/share/man/${page})
        message(FATAL_ERROR "the manual page ${page} is not installed")
    endif()
endforeach()
foreach(script bash-completion/completions/bloomblock zsh/site-functions/_bloomblock fish/vendor_completions.d/bloomblock.fish)
    if(NOT EXISTS ${WORK}/prefix/share/${script})
        message(FATAL_ERROR "the completion ${script} is not installed")
    endif()
endforeach()
file(GLOB_RECURSE redis_module ${WORK}/prefix/*/bloomblock_redis.so)
if(redis_module)
    run(test -x ${redis_module}) # Redis loads no other
endif()
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install/consumer -B ${WORK}/consumer -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
# As a subproject it is only configured: scripts/try-distributions builds it.
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install/subproject -B ${WORK}/subproject -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${COMPILER} -DBLOOMBLOCK_SOURCE=${SOURCE})
run(${WORK}/consumer/consumer_shared ${WORK}/store_shared)
run(${WORK}/consumer/consumer_static ${WORK}/store_static)

file(GLOB leveldb_consumers ${WORK}/consumer/leveldb_shared ${WORK}/consumer/leveldb_static)
foreach(consumer IN LISTS leveldb_consumers)
    run(${consumer} ${consumer}_store)
endforeach()

file(GLOB_RECURSE pc ${WORK}/prefix/*/bloomblock.pc)
get_filename_component(pc_folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
get_filename_component(library_folder ${pc_folder} DIRECTORY)

# The library and its headers are compared by the consumer.
run(pkg-config --modversion bloomblock)
file(READ ${WORK}/consumer/package_version package_version)
foreach(package bloomblock bloomblock_leveldb)
    execute_process(COMMAND pkg-config --modversion ${package} RESULT_VARIABLE result
        OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(result EQUAL 0 AND NOT version STREQUAL package_version)
        message(FATAL_ERROR "pkg-config has ${package} ${version}, CMake has ${package_version}")
    endif()
endforeach()
execute_process(COMMAND ${WORK}/prefix/bin/bloomblock --version
    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT version STREQUAL "bloomblock ${package_version}")
    message(FATAL_ERROR "the command is \"${version}\", CMake has ${package_version}")
endif()

# The lines of docs/guide.md; a warning is a failure.
function(build_by_pkg_config package source)
    execute_process(COMMAND pkg-config --cflags --libs ${package} OUTPUT_VARIABLE flags
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags)
    run(${COMPILER} -std=c11 -Wall -Werror ${SOURCE}/${source} -o ${WORK}/by_pkg_config ${flags}
        -Wl,-rpath,${library_folder})
    get_filename_component(name ${source} NAME_WE)
    run(${WORK}/by_pkg_config ${WORK}/store_${package}_${name})
endfunction()

build_by_pkg_config(bloomblock tests/install/consumer/consumer.c)
build_by_pkg_config(bloomblock examples/filter_alone.c)
build_by_pkg_config(bloomblock examples/tour.c)
if(leveldb_consumers)
    build_by_pkg_config(bloomblock_leveldb tests/install/consumer/leveldb_consumer.c)
endif()
file(GLOB examples ${SOURCE}/examples/*.c)
execute_process(COMMAND pkg-config --exists hiredis RESULT_VARIABLE hiredis_is_missing)
if(hiredis_is_missing)
    list(FILTER examples EXCLUDE REGEX "/fetchers\\.c$")
endif()
foreach(example IN LISTS examples)
    run(${COMPILER} -std=c11 -Wall -Werror -fsyntax-only ${example} -I${WORK}/prefix/include)
endforeach()
file(REMOVE_RECURSE ${WORK})
