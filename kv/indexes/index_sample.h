/* A temporary index over part of a store's tables, built to be measured. The part is chosen in two
 * ways, for two questions (docs/decisions/0023-hypothetical-indexes.md):
 *
 *     tables       | 7                   | 9               | 12                      |
 *     a stretch          [===========]                                                  its size
 *     singles        *     *     *     *     *     *     *     *     *     *     *      its answers
 *
 * A stretch is a series of granules of one table, like a segment of the index. Members that many
 * granules share are stored once for all of them, so the size of a segment depends on neighbouring
 * granules. Singles are granules at equal distances over the whole store. Their results for a
 * condition represent the store, even when matches come in bursts.
 *
 * The store does not change: the manifest does not name the files, and they are removed. Threads:
 * one.
 */
#ifndef BB_KV_INDEXES_INDEX_SAMPLE_H
#define BB_KV_INDEXES_INDEX_SAMPLE_H

#include "bb/condition.h"
#include "compaction/levels/levels.h"
#include "kv/indexes/catalog.h"
#include "kv/store/store.h"

struct bb_index_sample {
    struct bb_db *db;           /* borrowed */
    struct bb_catalog *catalog; /* with one index; borrowed */
    size_t others;              /* number of the store's other indexes with members */
    /* Over the catalog's schema; NULL: not evaluated. */
    const struct bb_condition *condition;
};

/* The measurements of an index over a part. */
struct bb_sample_facts {
    double raw_bytes; /* of keys and values; 0 for singles */
    uint64_t granules;
    uint64_t granules_left;      /* number of these that the condition does not rule out */
    uint64_t granules_unindexed; /* number of these without information in the index */
    uint64_t size_bytes;         /* of the index, as counted by bb_db_index_list */
};

/* Samples blocks first ... end - 1 of a table. Errors: BB_BUSY when the store is being closed;
 * errors of reading and writing files. */
BB_MUST_CHECK enum bb_status bb_index_sample_stretch(const struct bb_index_sample *sample,
                                                     struct bb_table_file *file, uint64_t first,
                                                     uint64_t end,
                                                     struct bb_sample_facts *ret_facts);
/* Samples `count` granules over all tables, at equal distances of raw bytes, in indexes of
 * segment_granules each. The real rate of a segment depends on their number, because its sizes are
 * integers. */
BB_MUST_CHECK enum bb_status bb_index_sample_singles(const struct bb_index_sample *sample,
                                                     const struct bb_levels *levels, uint64_t count,
                                                     uint64_t segment_granules,
                                                     struct bb_sample_facts *ret_facts);

#endif
