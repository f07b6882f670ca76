# BB_VERSION: the version of include/bb/base.h, which is the only place of the number.
set(BB_VERSION "")
foreach(part MAJOR MINOR PATCH)
    file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/bb/base.h line REGEX "^#define BB_VERSION_${part} [0-9]+$")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    list(APPEND BB_VERSION ${number})
endforeach()
list(JOIN BB_VERSION "." BB_VERSION)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../include/bb/base.h)
