# Installs the manual pages and the completions. The command writes its own pages from its tables
# (tools/reference).
set(BB_REFERENCE ${PROJECT_BINARY_DIR}/reference)

add_custom_command(OUTPUT ${BB_REFERENCE}/complete
    COMMAND ${CMAKE_COMMAND} "-DCOMMAND=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:bloomblock>" -DFOLDER=${BB_REFERENCE}
        -DPAGES=${PROJECT_SOURCE_DIR}/docs/man -DVERSION=${PROJECT_VERSION}
        -P ${PROJECT_SOURCE_DIR}/cmake/write_reference.cmake
    DEPENDS bloomblock ${PROJECT_SOURCE_DIR}/cmake/write_reference.cmake
        ${PROJECT_SOURCE_DIR}/docs/man/bloomblock.3 ${PROJECT_SOURCE_DIR}/docs/man/bloomblock.5
    VERBATIM)
add_custom_target(bb_reference ALL DEPENDS ${BB_REFERENCE}/complete)

foreach(section 1 3 5)
    install(DIRECTORY ${BB_REFERENCE}/man${section} DESTINATION ${CMAKE_INSTALL_MANDIR})
endforeach()
install(FILES ${BB_REFERENCE}/bash/bloomblock DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${BB_REFERENCE}/zsh/_bloomblock DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${BB_REFERENCE}/fish/bloomblock.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
