/* Checks filters in production: shadow_verify_one_in. A sampled lookup also reads the blocks that
 * the filters rule out.
 * Threads: any, inside a reader. */
#ifndef BB_KV_READ_SHADOW_H
#define BB_KV_READ_SHADOW_H

#include "base/hash.h"
#include "kv/store/store.h"
#include "sstable/table/table_lookup.h"

/* State of one lookup, or of one call for many keys. */
struct bb_shadow {
    struct bb_db *db;
    struct bb_reader *reader;
    const struct bb_levels *levels;
    uint64_t liar; /* number of the first table with a wrong filter; 0 if none */
};

/* Samples a lookup. Returns `memory`, initialised, or NULL for a lookup without a check. The hash
 * spreads the samples evenly over the lookups, and the same calls always give the same samples. */
static inline struct bb_shadow *bb_shadow_begin(struct bb_shadow *memory, struct bb_db *db,
                                                struct bb_reader *reader,
                                                const struct bb_levels *levels)
{
    uint32_t one_in = db->options.shadow_verify_one_in;
    if (__builtin_expect(one_in == 0, 1) || bb_hash_mix(reader->counts.gets) % one_in != 0)
        return NULL;
    *memory = (struct bb_shadow){.db = db, .reader = reader, .levels = levels};
    return memory;
}

/* Call after a lookup in a table whose filters may have ruled out the key. Makes it the lookup
 * without filters, if they did. */
BB_MUST_CHECK enum bb_status bb_shadow_check(struct bb_shadow *shadow, struct bb_table_file *file,
                                             struct bb_table_lookup *lookup);
/* Reports the result. NULL is allowed. REQUIRES: the reader has left. */
void bb_shadow_end(const struct bb_shadow *shadow);

#endif
