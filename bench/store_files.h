/* The files of an engine's store, seen from outside: their size on disk, and whether the page cache
 * holds them. */
#ifndef BB_BENCH_STORE_FILES_H
#define BB_BENCH_STORE_FILES_H

#include <stdint.h>

/* Blocks that the files take, in bytes: holes do not count, space reserved ahead does. */
uint64_t store_files_size(const char *directory);
/* Writes back dirty pages, and reads every file once, so that all engines start from the same warm
 * page cache. */
void store_files_warm(const char *directory);
/* Writes back, drops the files from the page cache, and checks the result; ends the process on
 * failure. No process may have them open or mapped. */
void store_files_drop(const char *directory);
void store_files_make_directory(const char *directory);
/* Removes the directory and all its contents. */
void store_files_remove(const char *directory);

#endif
