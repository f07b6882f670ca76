/* An order for stores of the Python module: backwards. */
#include <string.h>

#include "bb/base.h"

static int compare(void *context, struct bb_bytes a, struct bb_bytes b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size == 0 ? 0 : memcmp(b.data, a.data, size);
    (void)context;
    return order != 0 ? order : (a.size < b.size) - (a.size > b.size);
}

__attribute__((visibility("default"))) extern const struct bb_comparator backwards;
const struct bb_comparator backwards = {.name = "backwards", .compare = compare};
