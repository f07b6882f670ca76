/* One store of the model test with its oracle, and the operations on both. A difference ends the
 * process with the seed of the store, the number of the operation and both results. */
#ifndef BB_TESTS_MODEL_MODEL_STORE_H
#define BB_TESTS_MODEL_MODEL_STORE_H

#include "bb/db.h"
#include "tests/model/oracle.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#define MODEL_SNAPSHOTS_MAX 6
#define MODEL_PINS_MAX      6
#define MODEL_WALKS_MAX     3
#define MODEL_KEY_SIZE_MAX  64
#define MODEL_DIRECTORY     "/store"
#define MODEL_INDEXES       10 /* that there may be */

struct model_key {
    uint8_t data[MODEL_KEY_SIZE_MAX];
    size_t size;
};

struct model_coverage {
    uint64_t operations;
    uint64_t stores;
    uint64_t gets;
    uint64_t gets_present;
    uint64_t gets_deleted;
    uint64_t gets_in_ranges; /* of keys in deleted ranges */
    uint64_t gets_never;
    uint64_t gets_of_many; /* that found something */
    uint64_t pins;
    uint64_t pins_over_compactions;
    uint64_t reports; /* of single gets */
    uint64_t range_compactions;
    uint64_t entries_of_compacted_ranges; /* compared with the newest version of their key */
    uint64_t checkpoints;
    uint64_t scrubs;
    uint64_t ingested_ranges; /* range tombstones of tables that came in */
    uint64_t ingests;
    uint64_t sizes; /* of ranges that were not empty */
    uint64_t moves;
    uint64_t turns;
    uint64_t turns_across_tables;
    uint64_t snapshot_walks;
    uint64_t bounds_met; /* walks of iterators over a range that came to its end */
    uint64_t prefix_walks;
    uint64_t keys_walks;             /* without values */
    uint64_t walks_over_compactions; /* iterators used when a compaction had come since */
    uint64_t batch_operations;
    uint64_t reverse_stores;
    uint64_t views; /* read-only openings */
    uint64_t refreshes;
    uint64_t gets_of_the_past; /* read-only, of an old state */
    uint64_t repairs;
    uint64_t repairs_without_manifest;
    uint64_t refusals;
    uint64_t inspections;
    uint64_t checkpoints_beside_writer; /* with concurrent writes */
    uint64_t flushes;
    uint64_t compactions;
    uint64_t walks_over_ranges; /* iterators that crossed keys of deleted ranges */
    uint64_t compaction_ranges; /* range tombstones that compactions have read */
    uint64_t covered_tables;    /* removed unread */
    uint64_t snapshots_over_compactions;
    uint64_t reopened;
    uint64_t killed;
    uint64_t crashed;
    uint64_t crashes_with_loss;
    uint64_t visits[BB_VISIT_COUNT];
    uint64_t selections;
    uint64_t selected; /* records */
    uint64_t selection_progress;
    uint64_t index_questions;
    uint64_t granules_excluded;
    uint64_t granules_counted;
    uint64_t indexes_created;
    uint64_t indexes_dropped;
    uint64_t materialized;
    uint64_t tiered_levels; /* seen with several runs, below level 0 */
};

struct model_snapshot {
    struct bb_snapshot *handle;
    uint64_t sequence;
    uint64_t compactions_before;
};

/* A pinned value, and its expected contents. */
struct model_pin {
    struct bb_pinned pinned;
    struct bb_buf expected;
    bool is_held;
    uint64_t compactions_before;
};

/* An iterator, and its expected position. */
struct model_walk {
    struct bb_db_iter *iter;
    uint64_t sequence; /* that it shows */
    struct model_key low_key;
    struct model_key high_key;
    struct bb_bytes low;
    struct bb_bytes high;
    struct bb_key_range range;
    struct bb_buf key;
    bool is_valid;
    bool was_forward;
    bool is_keys_only; /* the iterator has no values */
    uint64_t turns;
    uint64_t compactions_before;
};

struct model {
    struct bb_rng rng;
    uint64_t seed;
    struct model_coverage *coverage;
    struct oracle *oracle;
    struct bb_file_memory *memory;
    struct bb_db_options options;
    uint64_t tombstone_age_max; /* the latest that was given; the store keeps it */
    struct bb_db *db;
    uint32_t key_space; /* number of different keys */
    uint32_t value_max; /* bytes */
    uint64_t sequence;  /* of the last operation */
    uint64_t durable;   /* nothing up to here may be lost */
    uint64_t
        *commits; /* last sequence of each commit since durable; possible states after a crash */
    size_t commit_count;
    size_t commit_capacity;
    struct model_snapshot snapshots[MODEL_SNAPSHOTS_MAX];
    size_t snapshot_count;
    struct model_pin pins[MODEL_PINS_MAX];
    struct model_walk walks[MODEL_WALKS_MAX];
    bool has_attributes;    /* the store's catalog has the attributes of model_selects.c */
    uint32_t indexes;       /* of it: a bit for each */
    struct bb_db *view;     /* the same store, opened read-only, or NULL */
    uint64_t view_sequence; /* that it shows */
    struct bb_hash_secret secret;
    struct bb_read_stats read_stats;
    struct bb_buf value; /* scratch: the store's answers and the oracle's */
    struct bb_buf expected;
};

struct model *model_create(uint64_t seed, struct model_coverage *coverage);
void model_destroy(struct model *model);

void model_put(struct model *model);
void model_delete(struct model *model);
/* Mostly a few neighbours, sometimes much, sometimes nothing. */
void model_delete_range(struct model *model);
void model_batch(struct model *model);
void model_get(struct model *model);
/* Releases the pinned value of a slot, and pins another one. */
void model_pin(struct model *model);
void model_release_pins(struct model *model);
/* Looks up a key that no put has used: of another shape, before, between and after the others. */
void model_get_far_away(struct model *model);
/* Up to a few dozen keys in a batch. */
void model_get_many(struct model *model);
void model_compact_range(struct model *model);
/* Approximate sizes: parts add up. */
void model_sizes(struct model *model);
/* A checkpoint, opened and compared; it goes again. */
void model_checkpoint(struct model *model);
/* Some tables built elsewhere come in. */
void model_ingest(struct model *model);
/* Checks the tables of one of its openings. */
void model_scrub(struct model *model, struct bb_db *db);
/* Seeks somewhere and moves at random in both directions. */
void model_walk(struct model *model);
/* The same with iterators that stay open, over any other events. */
void model_walk_on(struct model *model);
void model_end_walks(struct model *model);
/* Opens the store read-only, reads it, refreshes it, or closes it. */
void model_view(struct model *model);
void model_end_view(struct model *model);
/* Selects by a condition, after indexes may have been created, dropped or built. */
void model_select(struct model *model);
/* Closes, loses the files that name the current files, repairs. */
void model_repair(struct model *model);
/* Calls that must be refused. */
void model_refuse(struct model *model);
/* The store's statistics. */
void model_inspect(struct model *model);
void model_snapshot(struct model *model);
void model_release(struct model *model);
void model_flush(struct model *model);
void model_compact(struct model *model);
/* Close and open, with other options. */
void model_reopen(struct model *model);
/* The power fails: unsynced bytes and names are lost as a seed draws it. */
void model_crash(struct model *model);
/* The process crashes: data given to the operating system stays. */
void model_kill(struct model *model);
/* Everything, both directions, now and at each snapshot. */
void model_compare_all(struct model *model);

#endif
