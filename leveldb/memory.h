/* Memory that a program may release with free(), as LevelDB's C interface requires: so it comes
 * from malloc, not from base/alloc.h. Any thread. */
#ifndef BB_LEVELDB_MEMORY_H
#define BB_LEVELDB_MEMORY_H

#include <stddef.h>

/* Zeroed; NULL when there is no memory. Never NULL for 0 bytes. */
void *bb_leveldb_alloc(size_t size);
/* A copy of size bytes, owned; data may be NULL if size is 0. */
void *bb_leveldb_copy(const void *data, size_t size);
/* A copy of a text, owned. */
char *bb_leveldb_copy_text(const char *text);
/* NULL is allowed. */
void bb_leveldb_release(void *memory);

#endif
