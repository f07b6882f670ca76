/* The system's page cache of a store's files. */
#ifndef BB_KV_BACKGROUND_PAGE_CACHE_H
#define BB_KV_BACKGROUND_PAGE_CACHE_H

#include "kv/manifest/filename.h"
#include "kv/store/store.h"

/* Drops the file from the system's page cache, because the scrub checks the device: cached data was
 * correct when it was written or read. The system keeps pages to which a map refers, so first the
 * maps of this process forget them (bb_table_file_forget_pages). */
void bb_page_cache_forget(struct bb_db *db, enum bb_file_kind kind, uint64_t number);

#endif
