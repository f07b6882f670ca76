# bloomblock_redis.so: a module for Redis and Valkey, over the public headers. It declares the
# server's interface itself, so building it needs no package of the server. The library is linked
# into it, and only the function that the server calls is visible.
file(GLOB redis_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/redis/*/*.c)
add_library(bloomblock_redis MODULE ${redis_sources})
set_target_properties(bloomblock_redis PROPERTIES PREFIX "")
target_link_libraries(bloomblock_redis PRIVATE bb_flags bloomblock_static)
target_link_options(bloomblock_redis PRIVATE -Wl,--exclude-libs,ALL)
# Redis loads only modules that are executable, and Debian's CMake installs libraries that are not.
install(TARGETS bloomblock_redis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/redis/modules
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
