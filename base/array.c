/* See array.h. */
#include "base/array.h"

#include "base/alloc.h"
#include "base/status.h"

#define CAPACITY_MIN 16

enum bb_status bb_array_grow(void *array, size_t *capacity, size_t element_size,
                             const char *of_what)
{
    void *elements = NULL;
    size_t wanted = *capacity == 0 ? CAPACITY_MIN : *capacity * 2;
    memcpy(&elements, array, sizeof(elements)); /* a pointer of another type */
    if (wanted > SIZE_MAX / element_size ||
        (elements = bb_realloc(elements, wanted * element_size)) == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu %s", wanted, of_what);
    memcpy(array, &elements, sizeof(elements));
    *capacity = wanted;
    return BB_OK;
}
