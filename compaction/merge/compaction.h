/* Runs a plan: merges the inputs, keeps the surviving entries, writes tables.
 *
 * The work is done in steps, so that one thread can do more urgent work in between. An output ends
 * at the requested size, or where it would overlap too much of the run below it
 * (bb_levels_run_below), but never between versions of one user key. Range tombstones are cut at
 * the same places (compaction/merge/range_tombstone_cutter.h). Where range tombstones overlap much
 * of that run without entries, they get separate outputs.
 *
 * A compaction can be divided. Then two of them carry out one plan, each for a part of the keys,
 * and two threads may merge at the same time (kv/background/upper_merge.h).
 *
 * Call order: create step* (until done) check outputs, optionally commit, destroy. Outputs that
 * were not committed are removed. The inputs are only read.
 * Threads: one for each compaction.
 */
#ifndef BB_COMPACTION_MERGE_COMPACTION_H
#define BB_COMPACTION_MERGE_COMPACTION_H

#include "compaction/pick/pick.h"
#include "sstable/ranges/range_tombstones.h"

/* Hooks for files that are built along with each output table and share its lifetime. Zeroed:
 * none. */
struct bb_output_hooks {
    /* A table was begun. Its builder may be observed (sstable/build/table_builder.h). */
    enum bb_status (*begin)(void *context, struct bb_table_builder *builder);
    /* The table has all of its entries. The hook finishes and syncs its own file. The table itself
     * may still fail. */
    enum bb_status (*finish)(void *context);
    void *context;
};

BB_MUST_CHECK static inline enum bb_status
bb_output_hooks_begin(const struct bb_output_hooks *hooks, struct bb_table_builder *builder)
{
    return hooks->begin != NULL ? hooks->begin(hooks->context, builder) : BB_OK;
}

BB_MUST_CHECK static inline enum bb_status
bb_output_hooks_finish(const struct bb_output_hooks *hooks)
{
    return hooks->finish != NULL ? hooks->finish(hooks->context) : BB_OK;
}

struct bb_compact_options {
    struct bb_table_file_env *env; /* borrowed */
    struct bb_table_options table; /* for the outputs, filter_rate included */
    uint64_t table_size_bytes;
    const uint64_t *snapshots; /* ascending; copied */
    size_t snapshot_count;
    /* Returns a file number that was never used. */
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
    uint64_t entries_as_stored;   /* kept, with their stored blocks copied */
    uint64_t range_tombstones_in; /* as stored in the inputs */
    uint64_t bytes_read;          /* sizes of the inputs */
    uint64_t bytes_written;
};

struct bb_compaction;

/* Takes the plan (and leaves it empty) in any case. Takes a reference to the levels. */
BB_MUST_CHECK enum bb_status bb_compaction_create(struct bb_plan *plan, struct bb_levels *levels,
                                                  const struct bb_compact_options *options,
                                                  struct bb_compaction **ret_compaction);
void bb_compaction_destroy(struct bb_compaction *compaction);

/* Merges up to entry_count_max entries. After a failure the compaction can only be destroyed. */
BB_MUST_CHECK enum bb_status bb_compaction_step(struct bb_compaction *compaction,
                                                uint64_t entry_count_max, bool *ret_is_done);

/* The key of the next entry, borrowed until the next step. False at the end. */
bool bb_compaction_next_key(const struct bb_compaction *compaction, struct bb_bytes *ret_key);
/* Makes a compaction of the keys from *first on; this one then ends before *first. Both borrow
 * first while they exist. The new one has no hooks. REQUIRES: *first is above the next key, this
 * one was not divided before, and no input has range tombstones. A failure changes nothing. */
BB_MUST_CHECK enum bb_status bb_compaction_divide(struct bb_compaction *compaction,
                                                  const struct bb_bytes *first,
                                                  struct bb_compaction **ret_upper);

/* Checks that as many entries were read as the inputs record. The compaction is done; other: the
 * one of the other part of the keys, done as well, or NULL. Errors: BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_compaction_check(const struct bb_compaction *compaction,
                                                 const struct bb_compaction *other);

const struct bb_plan *bb_compaction_plan(const struct bb_compaction *compaction);
const struct bb_compact_counts *bb_compaction_counts(const struct bb_compaction *compaction);
/* Borrowed. When the compaction is done, the files are synced, but not yet their directory entries.
 */
const struct bb_compact_output *bb_compaction_outputs(const struct bb_compaction *compaction,
                                                      size_t *ret_count);
/* Hands the outputs over to the store: destroy keeps them. */
void bb_compaction_commit(struct bb_compaction *compaction);

/* Writes a stream, and the range tombstones over it (NULL: none), to one table. This is a flush.
 * The stream is advanced, not destroyed. Versions that no snapshot and no later reader can see are
 * dropped; tombstones stay. On failure the file is removed. hooks (NULL: none) are called once.
 * *ret_meta is owned by the caller. */
BB_MUST_CHECK enum bb_status
bb_compaction_to_table(struct bb_iter *stream, const struct bb_range_tombstones *ranges,
                       const char *path, const struct bb_table_options *options,
                       const uint64_t *snapshots, size_t snapshot_count,
                       const struct bb_output_hooks *hooks, struct bb_table_meta *ret_meta);

#endif
