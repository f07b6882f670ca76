# GNU libunistring, for words of Unicode (skip/condition/words.h). It has no pkg-config file.
# Without it the build has no such words: it refuses indexes and conditions that need them, and
# names the package.
set(BB_HAS_UNISTRING 0)
set(BB_UNISTRING_LINK "")
set(BB_UNISTRING_PC "")
if(BB_UNICODE)
    find_path(BB_UNISTRING_INCLUDE uniwbrk.h)
    find_library(BB_UNISTRING_LIBRARY unistring)
    if(BB_UNISTRING_INCLUDE AND BB_UNISTRING_LIBRARY)
        set(BB_HAS_UNISTRING 1)
        set(BB_UNISTRING_LINK
            $<BUILD_INTERFACE:${BB_UNISTRING_LIBRARY}> $<INSTALL_INTERFACE:unistring>)
        set(BB_UNISTRING_PC " -lunistring")
    else()
        message(STATUS "libunistring is not installed: no words of Unicode")
    endif()
endif()
