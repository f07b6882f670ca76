/* The catalog of a store: the attributes of its records, and the indexes over them. An immutable,
 * shared value; a change makes another one.
 *
 *     catalog := bytes schema | varint granule bytes | varint count | (bytes name | bytes spec) per index
 *
 * The schema is the text of bb_schema_encode, a spec that of bb_skip_spec_print; both are canonical.
 * The manifest keeps the bytes (kv/manifest/edit.h).
 *
 * Threads: any, once made.
 */
#ifndef BB_KV_INDEXES_CATALOG_H
#define BB_KV_INDEXES_CATALOG_H

#include <stdatomic.h>

#include "base/status.h"
#include "bb/skip.h"

#define BB_INDEX_NAME_MAX 64

struct bb_catalog_index {
    char *name; /* owned */
    struct bb_skip_spec spec;
};

struct bb_catalog {
    _Atomic uint32_t references;
    uint64_t granule_bytes;   /* values of a granule: it ends with the block that brings so many */
    struct bb_schema *schema; /* owned */
    struct bb_catalog_index *indexes; /* owned */
    struct bb_skip_spec *specs;       /* those of the indexes, in one array; owned */
    size_t index_count;
};

/* What is to be different. NULL: nothing of that kind. */
struct bb_catalog_change {
    const char *add_attribute;  /* a definition */
    const char *drop_attribute; /* a name */
    const char *add_index;      /* a name, with add_spec */
    const char *add_spec;
    const char *drop_index; /* a name */
    uint64_t granule_bytes; /* 0: as before */
};

/* Nothing in it. One reference. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_catalog_create_empty(struct bb_catalog **ret_catalog);
/* Of bytes of a manifest; no bytes are the empty catalog. BB_CORRUPT for what no catalog can be,
 * BB_UNSUPPORTED for definitions of a newer version. */
BB_MUST_CHECK enum bb_status bb_catalog_decode(struct bb_bytes bytes, struct bb_place place,
                                               struct bb_catalog **ret_catalog);
/* The catalog with the change. BB_EXISTS, BB_NOT_FOUND, BB_INVALID as bb/select.h says. */
BB_MUST_CHECK enum bb_status bb_catalog_change(const struct bb_catalog *catalog,
                                               const struct bb_catalog_change *change,
                                               struct bb_catalog **ret_catalog);
/* The same attributes and granules, without indexes. *ret_catalog has one reference. */
BB_MUST_CHECK enum bb_status bb_catalog_without_indexes(const struct bb_catalog *catalog,
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
