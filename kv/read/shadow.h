/* Checks of filters in use: shadow_verify_one_in. A look-up that was drawn reads the blocks that the
 * filters tell it not to read. Threads: any, inside of a reader. */
#ifndef BB_KV_READ_SHADOW_H
#define BB_KV_READ_SHADOW_H

#include "base/hash.h"
#include "kv/store.h"

/* Of one look-up, or one call for many. */
struct bb_shadow {
    struct bb_db *db;
    struct bb_reader *reader;
    const struct bb_levels *levels;
    uint64_t liar; /* number of the first table whose filters were found to lie; 0: none */
};

/* Draws: `memory`, set, or NULL for a look-up that is not checked. The numbers of look-ups are evenly
 * spread by the hash, and the same in each run of the same calls. */
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

/* After a visit to a table whose filters may have denied the key: then *visit becomes what the block
 * says. The value goes to `value`, or to `pinned` when that is not NULL. */
BB_MUST_CHECK enum bb_status bb_shadow_check(struct bb_shadow *shadow, struct bb_table_file *file,
                                             struct bb_bytes key, uint64_t key_hash,
                                             uint64_t sequence, struct bb_buf *value,
                                             struct bb_pinned *pinned, enum bb_visit *visit);
/* Tells what was found. NULL is allowed. The reader has left. */
void bb_shadow_end(const struct bb_shadow *shadow);

#endif
