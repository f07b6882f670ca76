/* The present catalog of a store. Threads: any; the mutex is not held. */
#ifndef BB_KV_INDEXES_STORE_CATALOG_H
#define BB_KV_INDEXES_STORE_CATALOG_H

#include "kv/indexes/catalog.h"
#include "kv/store/store.h"

/* With a reference for the caller. */
struct bb_catalog *bb_store_catalog_ref(struct bb_db *db);
bool bb_store_catalog_has_indexes(struct bb_db *db);
/* Takes the caller's reference. */
void bb_store_catalog_set(struct bb_db *db, struct bb_catalog *catalog);
/* Loads the catalog from a manifest's bytes. */
BB_MUST_CHECK enum bb_status bb_store_catalog_load(struct bb_db *db, const struct bb_buf *bytes);

#endif
