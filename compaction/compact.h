/* Carrying out a plan: merge the inputs, keep what must survive, write tables.
 *
 * Work is done in steps, so that one thread can look after more urgent things in between. An output
 * is cut at the wished size, or where it would overlap too much of the level below its own, but
 * never between versions of one user key. Range tombstones are cut along (compaction/range_cutter.h);
 * where they alone reach over much of the level below, they make outputs of their own.
 *
 * Call order: create step* (until done) outputs, then commit or not, destroy. Outputs that were not
 * committed are removed. The inputs are only read. Threads: one.
 */
#ifndef BB_COMPACTION_COMPACT_H
#define BB_COMPACTION_COMPACT_H

#include "compaction/pick.h"
#include "sstable/ranges/range_tombstones.h"

/* What is built next to each output table, and lives and dies with it. Zeroed: nothing. */
struct bb_output_hooks {
    /* A table was begun; its builder may be observed (sstable/table_builder.h). */
    enum bb_status (*begin)(void *context, struct bb_table_builder *builder);
    /* The table has all of its entries: what is next to it has to be finished and synced. The table
     * itself may still fail. */
    enum bb_status (*finish)(void *context);
    void *context;
};

struct bb_compact_options {
    struct bb_table_env *env;      /* borrowed */
    struct bb_table_options table; /* for the outputs, filter_rate included */
    uint64_t table_size_bytes;
    const uint64_t *snapshots; /* ascending; copied */
    size_t snapshot_count;
    /* A file number that was never used. */
    enum bb_status (*new_number)(void *context, uint64_t *ret_number);
    void *context;
    struct bb_output_hooks hooks;
};

struct bb_compact_output {
    uint64_t number;
    struct bb_table_meta meta; /* owned by the compaction */
};

struct bb_compact_counts {
    uint64_t entries_in;
    uint64_t entries_kept;
    uint64_t entries_dropped;
    uint64_t entries_as_stored;   /* kept, their blocks not packed anew */
    uint64_t range_tombstones_in; /* as the inputs have them */
    uint64_t bytes_read;          /* sizes of the inputs */
    uint64_t bytes_written;
};

struct bb_compaction;

/* Takes the plan (and leaves it empty) in any case; a reference to the levels. */
BB_MUST_CHECK enum bb_status bb_compaction_create(struct bb_plan *plan, struct bb_levels *levels,
                                                  const struct bb_compact_options *options,
                                                  struct bb_compaction **ret_compaction);
void bb_compaction_destroy(struct bb_compaction *compaction);

/* Merges up to entry_count_max entries. After a failure nothing more is done: the caller destroys
 * it. */
BB_MUST_CHECK enum bb_status bb_compaction_step(struct bb_compaction *compaction,
                                                uint64_t entry_count_max, bool *ret_is_done);

const struct bb_plan *bb_compaction_plan(const struct bb_compaction *compaction);
const struct bb_compact_counts *bb_compaction_counts(const struct bb_compaction *compaction);
/* Borrowed. Synced, their names not yet. */
const struct bb_compact_output *bb_compaction_outputs(const struct bb_compaction *compaction,
                                                      size_t *ret_count);
/* The outputs are the store's from here on: destroy leaves them. */
void bb_compaction_commit(struct bb_compaction *compaction);

/* Writes a stream, and the range tombstones over it (NULL: none), to one table: what a flush is. The
 * stream is moved, not destroyed. Versions that no snapshot and no later reader can see are left
 * out; tombstones stay. On failure there is no file. hooks (NULL: none) are called once. *ret_meta is
 * owned by the caller. */
BB_MUST_CHECK enum bb_status
bb_compact_to_table(struct bb_iter *stream, const struct bb_range_tombstones *ranges,
                    const char *path, const struct bb_table_options *options,
                    const uint64_t *snapshots, size_t snapshot_count,
                    const struct bb_output_hooks *hooks, struct bb_table_meta *ret_meta);

#endif
