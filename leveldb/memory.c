/* See memory.h. */
#include "leveldb/memory.h"

#include <leveldb/c.h>
#include <stdlib.h>
#include <string.h>

void *bb_leveldb_alloc(size_t size)
{
    return calloc(1, size == 0 ? 1 : size);
}

void *bb_leveldb_copy(const void *data, size_t size)
{
    void *copy = malloc(size == 0 ? 1 : size);
    if (copy != NULL && size > 0)
        memcpy(copy, data, size);
    return copy;
}

char *bb_leveldb_copy_text(const char *text)
{
    return bb_leveldb_copy(text, strlen(text) + 1);
}

void bb_leveldb_release(void *memory)
{
    free(memory);
}

void leveldb_free(void *memory)
{
    free(memory);
}
