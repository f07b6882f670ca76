# libbloomblock_leveldb: LevelDB's C interface over the public headers, as a separate library,
# shared and static. It is compiled against the distribution's leveldb/c.h; without that header it
# is not built.
find_path(BB_LEVELDB_INCLUDE leveldb/c.h)
if(NOT BB_LEVELDB_INCLUDE)
    message(STATUS "leveldb/c.h is not installed: libbloomblock_leveldb is left out")
    return()
endif()
set(BB_HAS_LEVELDB ON)

file(GLOB leveldb_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/leveldb/*.c)
# Compiled once for both forms.
add_library(bloomblock_leveldb_objects OBJECT ${leveldb_sources})
# The header marks its functions as visible; all other symbols are hidden.
target_compile_definitions(bloomblock_leveldb_objects PRIVATE LEVELDB_SHARED_LIBRARY LEVELDB_COMPILE_LIBRARY)
target_include_directories(bloomblock_leveldb_objects SYSTEM PRIVATE ${BB_LEVELDB_INCLUDE})
target_link_libraries(bloomblock_leveldb_objects PRIVATE bb_flags)
foreach(form SHARED STATIC)
    string(TOLOWER ${form} suffix)
    set(library bloomblock_leveldb_${suffix})
    add_library(${library} ${form} $<TARGET_OBJECTS:bloomblock_leveldb_objects>)
    set_target_properties(${library} PROPERTIES
        OUTPUT_NAME bloomblock_leveldb VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        EXPORT_NAME leveldb_${suffix} INSTALL_RPATH "$ORIGIN" LINKER_LANGUAGE C)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:bb_flags> bloomblock_${suffix} Threads::Threads m)
    install(TARGETS ${library} EXPORT bloomblock
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()

configure_file(${PROJECT_SOURCE_DIR}/cmake/bloomblock_leveldb.pc.in ${PROJECT_BINARY_DIR}/bloomblock_leveldb.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bloomblock_leveldb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
