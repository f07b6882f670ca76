/* The catalog of a store: the attributes of its records, and the indexes over them. An immutable,
 * shared value; a change makes a new one.
 *
 *     catalog := bytes schema | varint granule bytes | varint count
 *               | (bytes name | bytes spec) per index
 *
 * The schema is the text from bb_schema_encode, a spec the text from bb_skip_spec_print; both are
 * canonical. The manifest stores the bytes (kv/manifest/edit.h).
 *
 * Threads: any, after it is made.
 */
#ifndef BB_KV_INDEXES_CATALOG_H
#define BB_KV_INDEXES_CATALOG_H

#include <stdatomic.h>

#include "base/status.h"
#include "bb/skip.h"

#define BB_INDEX_NAME_MAX 64

struct bb_catalog {
    _Atomic uint32_t references;
    /* Target for the bytes of a granule's values. A granule ends with the block that brings them
     * closest to it (bb_index_build_is_full). */
    uint64_t granule_bytes;
    struct bb_schema *schema;   /* owned */
    char **names;               /* of the indexes; both owned */
    struct bb_skip_spec *specs; /* of the indexes; owned */
    size_t index_count;
    /* Indexes created since the store was opened, including dropped ones. */
    uint64_t creation_count;
};

/* The requested changes. NULL or false: no change of that kind. */
struct bb_catalog_change {
    const char *add_attribute;  /* a definition */
    const char *drop_attribute; /* a name */
    const char *add_index;      /* a name, with add_spec */
    const char *add_spec;
    const char *drop_index; /* a name */
    bool drop_all_indexes;
    uint64_t granule_bytes; /* 0: unchanged */
};

/* Creates an empty catalog. One reference. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_catalog_create_empty(struct bb_catalog **ret_catalog);
/* Decodes a manifest's bytes. No bytes are an empty catalog. Errors: BB_CORRUPT for an invalid
 * catalog, BB_UNSUPPORTED for definitions of a newer version. */
BB_MUST_CHECK enum bb_status bb_catalog_decode(struct bb_bytes bytes, struct bb_place place,
                                               struct bb_catalog **ret_catalog);
/* The catalog with the change. Errors: BB_EXISTS, BB_NOT_FOUND, BB_INVALID as in bb/select.h. */
BB_MUST_CHECK enum bb_status bb_catalog_change(const struct bb_catalog *catalog,
                                               const struct bb_catalog_change *change,
                                               struct bb_catalog **ret_catalog);
/* Appends the bytes. */
BB_MUST_CHECK enum bb_status bb_catalog_encode(const struct bb_catalog *catalog,
                                               struct bb_buf *bytes);

static inline struct bb_catalog *bb_catalog_ref(struct bb_catalog *catalog)
{
    atomic_fetch_add_explicit(&catalog->references, 1, memory_order_relaxed);
    return catalog;
}
/* NULL is allowed. */
void bb_catalog_unref(struct bb_catalog *catalog);

#endif
