/* See store_catalog.h. */
#include "kv/indexes/store_catalog.h"

#include "base/buf.h"

struct bb_catalog *bb_store_catalog_ref(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_catalog *catalog = bb_catalog_ref(db->catalog);
    bb_mutex_unlock(&db->mutex);
    return catalog;
}

bool bb_store_catalog_has_indexes(struct bb_db *db)
{
    struct bb_catalog *catalog = bb_store_catalog_ref(db);
    bool has = catalog->index_count > 0;
    bb_catalog_unref(catalog);
    return has;
}

void bb_store_catalog_set(struct bb_db *db, struct bb_catalog *catalog)
{
    bb_mutex_lock(&db->mutex);
    struct bb_catalog *before = db->catalog;
    db->catalog = catalog;
    bb_mutex_unlock(&db->mutex);
    bb_catalog_unref(before);
}

enum bb_status bb_store_catalog_load(struct bb_db *db, const struct bb_buf *bytes)
{
    struct bb_catalog *catalog = NULL;
    enum bb_status status =
        bb_catalog_decode(bb_buf_bytes(bytes), (struct bb_place){.file = db->directory}, &catalog);
    if (status == BB_OK)
        bb_store_catalog_set(db, catalog);
    return status;
}
