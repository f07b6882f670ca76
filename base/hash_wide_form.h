/* The body of a form of hash_wide.h. Not a normal header: each file that defines a form includes it
 * once, after defining
 *
 *     FORM_TARGET   the instruction set, as in a target attribute
 *     FORM_VECTOR   xxhash's name of the vectors
 *     FORM_NAME     the function
 */
#ifndef BB_BASE_HASH_WIDE_FORM_H
#define BB_BASE_HASH_WIDE_FORM_H

/* Before the pragmas: they declare functions for any processor. */
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

/* A pragma does not expand macros, but the argument of _Pragma is expanded. */
#define TEXT_PRAGMA(text) _Pragma(#text)
#define FORM_PRAGMA(text) TEXT_PRAGMA(text)

#if defined(__clang__)
FORM_PRAGMA(clang attribute push(__attribute__((target(FORM_TARGET))), apply_to = function))
#else
FORM_PRAGMA(GCC push_options)
FORM_PRAGMA(GCC target(FORM_TARGET))
#endif

#define XXH_INLINE_ALL
#define XXH_VECTOR FORM_VECTOR
#include <xxhash.h>

uint64_t FORM_NAME(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

#if defined(__clang__)
FORM_PRAGMA(clang attribute pop)
#else
FORM_PRAGMA(GCC pop_options)
#endif
#endif
