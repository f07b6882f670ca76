# The installed libraries (shared and static), headers, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)

foreach(suffix shared static)
    install(TARGETS bloomblock_${suffix} EXPORT bloomblock
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT bloomblock NAMESPACE bloomblock:: FILE bloomblock-targets.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bloomblock)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/bloomblock-config.cmake.in
    ${PROJECT_BINARY_DIR}/bloomblock-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bloomblock)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bloomblock-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bloomblock-config.cmake
    ${PROJECT_BINARY_DIR}/bloomblock-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bloomblock)
# Relative to the file itself, so that the installed tree can be moved.
file(RELATIVE_PATH BB_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/bloomblock.pc.in ${PROJECT_BINARY_DIR}/bloomblock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bloomblock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
