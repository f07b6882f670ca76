# The two forms of the library, made of all layers: bloomblock::shared and bloomblock::static.
# bloomblock::bloomblock is the form that BUILD_SHARED_LIBS selects.
foreach(form SHARED STATIC)
    string(TOLOWER ${form} suffix)
    add_library(bloomblock_${suffix} ${form} ${BB_LAYER_OBJECTS})
    add_library(bloomblock::${suffix} ALIAS bloomblock_${suffix})
    set_target_properties(bloomblock_${suffix} PROPERTIES
        OUTPUT_NAME bloomblock VERSION ${PROJECT_VERSION} SOVERSION ${BB_SOVERSION}
        EXPORT_NAME ${suffix} LINKER_LANGUAGE C)
    target_include_directories(bloomblock_${suffix} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(bloomblock_${suffix} PRIVATE
        $<BUILD_INTERFACE:bb_flags> PkgConfig::LZ4 PkgConfig::XXHASH PkgConfig::PCRE2 ${BB_UNISTRING_LINK} Threads::Threads m)
endforeach()
# After dlclose the library stays in memory, because its handler of SIGBUS stays installed.
target_link_options(bloomblock_shared PRIVATE -Wl,-z,nodelete)
if(BUILD_SHARED_LIBS)
    add_library(bloomblock::bloomblock ALIAS bloomblock_shared)
else()
    add_library(bloomblock::bloomblock ALIAS bloomblock_static)
endif()
