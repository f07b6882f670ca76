# The seven layers, lowest first. Every .c file in a layer's folder and its subfolders is part of
# it.
set(BB_LAYERS base bloomblock standalone skip sstable compaction kv)

set(BB_LINKS_base PkgConfig::XXHASH Threads::Threads)
set(BB_LINKS_bloomblock bb_base m)
set(BB_LINKS_standalone bb_bloomblock bb_base m)
set(BB_LINKS_skip bb_bloomblock bb_base PkgConfig::PCRE2 ${BB_UNISTRING_LINK})
set(BB_LINKS_sstable bb_bloomblock bb_base PkgConfig::LZ4)
set(BB_LINKS_compaction bb_sstable bb_base)
set(BB_LINKS_kv bb_skip bb_compaction bb_sstable bb_base)

foreach(layer IN LISTS BB_LAYERS)
    file(GLOB sources CONFIGURE_DEPENDS
        ${PROJECT_SOURCE_DIR}/${layer}/*.c ${PROJECT_SOURCE_DIR}/${layer}/*/*.c)
    if(NOT sources)
        continue()
    endif()
    add_library(bb_${layer} STATIC ${sources})
    target_link_libraries(bb_${layer} PUBLIC ${BB_LINKS_${layer}} PRIVATE $<BUILD_INTERFACE:bb_flags>)
    target_include_directories(bb_${layer} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
    if(layer STREQUAL "skip")
        target_compile_definitions(bb_skip PRIVATE BB_HAS_UNISTRING=${BB_HAS_UNISTRING})
        if(BB_HAS_UNISTRING)
            target_include_directories(bb_skip PRIVATE ${BB_UNISTRING_INCLUDE})
        endif()
    endif()
    list(APPEND BB_LAYER_TARGETS bb_${layer})
    list(APPEND BB_LAYER_OBJECTS $<TARGET_OBJECTS:bb_${layer}>)
endforeach()
