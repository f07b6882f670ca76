/* See sized_struct.h. */
#include "base/sized_struct.h"

#include <string.h>

#include "base/status.h"

/* A larger value is not a size but uninitialised memory. */
#define SIZE_PLAUSIBLE_MAX ((size_t)4096)

static enum bb_status check_size(const struct bb_sized_struct *kind, size_t size)
{
    if (size >= kind->size_min && size <= SIZE_PLAUSIBLE_MAX && size % sizeof(size_t) == 0)
        return BB_OK;
    return bb_fail(
        BB_INVALID,
        "struct_size of %s is %zu, which no version of it has: expected its sizeof, %zu, "
        "or 0",
        kind->name, size, kind->size);
}

/* Options unknown to this library must have their default. */
static enum bb_status check_rest(const struct bb_sized_struct *kind, const uint8_t *given,
                                 size_t size)
{
    for (size_t i = kind->size; i < size; i++) {
        if (given[i] != 0)
            return bb_fail(
                BB_INVALID,
                "struct_size of %s is %zu, this library knows %zu, and byte %zu behind "
                "that is set: built against a newer header, whose option is unknown here",
                kind->name, size, kind->size, i - kind->size);
    }
    return BB_OK;
}

enum bb_status bb_sized_struct_copy(const struct bb_sized_struct *kind, const void *given,
                                    void *ret_copy)
{
    size_t size = 0;
    memcpy(&size, given, sizeof(size));
    if (size == 0) /* never this version's: the caller's header may be older */
        size = kind->size_min;
    enum bb_status status = check_size(kind, size);
    if (status == BB_OK)
        status = check_rest(kind, given, size);
    if (status != BB_OK)
        return status;
    size_t known = size < kind->size ? size : kind->size;
    memcpy(ret_copy, given, known);
    memset((uint8_t *)ret_copy + known, 0, kind->size - known);
    memcpy(ret_copy, &kind->size, sizeof(kind->size));
    return BB_OK;
}
