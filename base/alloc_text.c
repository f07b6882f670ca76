/* Copies of text, by any implementation of alloc.h. */
#include "base/alloc.h"

char *bb_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = bb_alloc(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}
