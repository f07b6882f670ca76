/* Checks filters in production: the option shadow_verify_one_in. A sampled lookup also reads the
 * blocks that the filters rule out.
 *
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
    uint64_t wrong_table; /* number of the first table with a wrong filter; 0 if none */
};

/* Decides whether a lookup is sampled. Returns `memory`, initialised, or NULL for a lookup without
 * a check. The hash spreads the samples evenly over the lookups. The same calls always give the
 * same samples. */
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

/* Call after a lookup in a table. If its filters ruled out the key, searches the table without
 * them. If the table has the key, lookup->visit becomes the result of that search, and later
 * lookups do not probe the filters. */
BB_MUST_CHECK enum bb_status bb_shadow_check(struct bb_shadow *shadow, struct bb_table_file *file,
                                             struct bb_table_lookup *lookup);
/* Reports a wrong filter, if any. NULL is allowed. REQUIRES: the reader has left. */
void bb_shadow_end(const struct bb_shadow *shadow);

#endif
