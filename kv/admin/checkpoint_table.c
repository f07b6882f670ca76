/* See checkpoint_table.h. */
#include "kv/admin/checkpoint_table.h"

#include "compaction/merge/compaction.h"
#include "kv/background/waste_target.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_ranges.h"

/* ---- a stream without later entries, forward only ---- */

struct earlier_iter {
    struct bb_iter base; /* must be first */
    struct bb_iter *stream;
    uint64_t sequence;
};

static void skip_later(struct earlier_iter *iter)
{
    while (iter->stream->is_valid && iter->stream->entry.sequence > iter->sequence)
        bb_iter_next(iter->stream);
    iter->base.is_valid = iter->stream->is_valid;
    iter->base.status = iter->stream->status;
    iter->base.entry = iter->stream->entry;
}

static void seek_first(struct bb_iter *base)
{
    struct earlier_iter *iter = (struct earlier_iter *)base;
    bb_iter_seek_first(iter->stream);
    skip_later(iter);
}

static void next(struct bb_iter *base)
{
    struct earlier_iter *iter = (struct earlier_iter *)base;
    bb_iter_next(iter->stream);
    skip_later(iter);
}

static const struct bb_iter_ops earlier_ops = {.seek_first = seek_first, .next = next};

/* ---- the table ---- */

static enum bb_status write_stream(struct bb_db *db, const struct bb_memtable *memtable,
                                   struct earlier_iter *iter,
                                   const struct bb_range_tombstones *ranges, const char *path,
                                   struct bb_table_meta *ret_meta, bool *ret_is_written)
{
    struct bb_table_options options;
    const struct bb_output_hooks hooks = {0};
    seek_first(&iter->base);
    bool is_empty = !iter->base.is_valid && ranges == NULL;
    if (is_empty || iter->base.status != BB_OK)
        return iter->base.status;
    bb_waste_target_plan_memtable(db, db->system, memtable, NULL, &options);
    enum bb_status status =
        bb_compaction_to_table(&iter->base, ranges, path, &options, NULL, 0, &hooks, ret_meta);
    if (status == BB_OK)
        *ret_is_written = true;
    return status;
}

enum bb_status bb_checkpoint_table_write(struct bb_db *db, const struct bb_memtable *memtable,
                                         uint64_t sequence, const char *path,
                                         struct bb_table_meta *ret_meta, bool *ret_is_written)
{
    struct earlier_iter iter = {.base.ops = &earlier_ops, .sequence = sequence};
    struct bb_range_tombstones *ranges = NULL;
    bool is_written = false;
    enum bb_status status = bb_memtable_ranges_list_seen(memtable, sequence, NULL, 0, &ranges);
    if (status == BB_OK)
        status = bb_memtable_iter_create(memtable, &iter.stream);
    if (status == BB_OK)
        status = write_stream(db, memtable, &iter, ranges, path, ret_meta, &is_written);
    bb_iter_destroy(iter.stream);
    bb_range_tombstones_destroy(ranges);
    if (status == BB_OK)
        *ret_is_written = is_written;
    return status;
}
