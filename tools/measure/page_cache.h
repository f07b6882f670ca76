/* Drops the pages of files from the operating system's page cache, and counts the pages that
 * remain. */
#ifndef BB_TOOLS_MEASURE_PAGE_CACHE_H
#define BB_TOOLS_MEASURE_PAGE_CACHE_H

#include "bb/base.h"

struct page_cache_state {
    uint64_t pages;    /* of the files together */
    uint64_t resident; /* pages of them in memory */
};

/* Writes back and drops the cached pages of a file; some file systems (tmpfs) keep them. BB_IO. */
BB_MUST_CHECK enum bb_status page_cache_drop(const char *path);
/* Adds the counts of the file's pages to *state. BB_IO. */
BB_MUST_CHECK enum bb_status page_cache_count(const char *path, struct page_cache_state *state);

#endif
