/* The common behaviour of option structs that begin with their size (bb/base.h): a caller with
 * another version of the header is understood or refused. */
#ifndef BB_TESTS_SUPPORT_SIZES_H
#define BB_TESTS_SUPPORT_SIZES_H

#include "tests/support/assert_status.h"

#include <string.h>

#define SIZES_OPTIONS_MAX 1024

/* Passes the options to the tested function, and undoes its effect. */
typedef enum bb_status sizes_take(const void *options, void *context);

/* good: options that are taken, of a struct of this size, whose first version had another. */
static inline void assert_sizes_since(const void *good, size_t first, size_t size, sizes_take *take,
                                      void *context)
{
    _Alignas(16) uint8_t given[SIZES_OPTIONS_MAX] = {0};
    const size_t refused[] = {1, first - sizeof(size_t), size + 1, 8192, SIZE_MAX};
    const size_t taken[] = {0, first, size + sizeof(size_t), size + 64};
    assert_true(size + 64 < sizeof(given));
    memcpy(given, good, size);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        memcpy(given, &taken[i], sizeof(taken[i]));
        assert_ok(take(given, context));
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        memcpy(given, &refused[i], sizeof(refused[i]));
        assert_status(take(given, context), BB_INVALID);
        assert_message("struct_size");
    }
    memcpy(given, &taken[3], sizeof(taken[3]));
    given[size + 63] = 1;
    assert_status(take(given, context), BB_INVALID);
    assert_message("a newer header");
}

/* Of a struct of whose size there is only one version. */
static inline void assert_sizes(const void *good, size_t size, sizes_take *take, void *context)
{
    assert_sizes_since(good, size, size, take, context);
}

#endif
