/* An index over a part of a store's tables, built to be asked and thrown away. Two ways to choose
 * the part, for two questions (docs/decisions/0023-hypothetical-indexes.md):
 *
 *     tables       | 7                   | 9               | 12                      |
 *     a stretch          [===========]                                                  its size
 *     singles        *     *     *     *     *     *     *     *     *     *     *      its answers
 *
 * A stretch is consecutive granules of one table, as a segment of the index has them: members that
 * many granules share are stored once for all of them, so that the size of a segment follows from
 * its neighbours. Singles are granules at equal distances over the whole store: what they say of a
 * condition is what the store says, also where matches come in bursts.
 *
 * Nothing of the store changes: the files have no name in the manifest, and are removed. Threads:
 * one.
 */
#ifndef BB_KV_INDEXES_INDEX_SAMPLE_H
#define BB_KV_INDEXES_INDEX_SAMPLE_H

#include "bb/condition.h"
#include "compaction/levels.h"
#include "kv/indexes/catalog.h"
#include "kv/store.h"

struct bb_index_sample {
    struct bb_db *db;           /* borrowed */
    struct bb_catalog *catalog; /* with one index; borrowed */
    size_t others;              /* indexes of a kind with members that the store has besides */
    const struct bb_condition *condition; /* over the catalog's schema; NULL: it is not asked */
};

/* What an index over a part is. */
struct bb_sample_facts {
    double raw_bytes; /* of keys and values; of singles 0 */
    uint64_t granules;
    uint64_t granules_left;      /* of them, that the condition leaves to be read */
    uint64_t granules_unindexed; /* of them, that the index says nothing of */
    uint64_t size_bytes;         /* of the index, as bb_db_index_list counts */
};

/* Blocks first ... end - 1 of a table. BB_BUSY: the store is being closed; and what reading and
 * writing files gives. */
BB_MUST_CHECK enum bb_status bb_index_sample_stretch(const struct bb_index_sample *sample,
                                                     struct bb_table_file *file, uint64_t first,
                                                     uint64_t end,
                                                     struct bb_sample_facts *ret_facts);
/* So many granules of all tables, at equal distances of raw bytes, in indexes of segment_granules
 * each: a segment's real rate follows from their number, because its sizes are whole numbers. */
BB_MUST_CHECK enum bb_status bb_index_sample_singles(const struct bb_index_sample *sample,
                                                     const struct bb_levels *levels, uint64_t count,
                                                     uint64_t segment_granules,
                                                     struct bb_sample_facts *ret_facts);

#endif
