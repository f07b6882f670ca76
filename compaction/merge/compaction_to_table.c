/* A flush: writes a stream to one table. See compaction.h. */
#include "base/status.h"
#include "compaction/merge/compaction.h"
#include "compaction/merge/retain.h"
#include "sstable/build/table_builder.h"

static enum bb_status write_stream(struct bb_iter *stream, struct bb_retain *retain,
                                   struct bb_table_builder *builder)
{
    enum bb_status status = BB_OK;
    for (bb_iter_seek_first(stream); stream->is_valid && status == BB_OK; bb_iter_next(stream)) {
        bool keep = false;
        status = bb_retain_judge(retain, &stream->entry, false, &keep);
        if (status == BB_OK && keep)
            status = bb_table_builder_add(builder, &stream->entry);
    }
    return status == BB_OK ? stream->status : status;
}

static enum bb_status write_fragments(const struct bb_range_tombstones *ranges,
                                      const struct bb_retain *retain,
                                      struct bb_table_builder *builder)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; ranges != NULL && i < ranges->count; i++) {
        const struct bb_range_tombstone_fragment *fragment = &ranges->fragments[i];
        for (size_t j = 0; j < fragment->count && status == BB_OK; j++) {
            if (bb_retain_keeps_range(retain, fragment, j, false))
                status = bb_table_builder_add_range_tombstone(
                    builder, fragment->low, fragment->high, fragment->sequences[j]);
        }
    }
    return status;
}

enum bb_status bb_compaction_to_table(struct bb_iter *stream,
                                      const struct bb_range_tombstones *ranges, const char *path,
                                      const struct bb_table_options *options,
                                      const uint64_t *snapshots, size_t snapshot_count,
                                      const struct bb_output_hooks *hooks,
                                      struct bb_table_meta *ret_meta)
{
    struct bb_table_builder *builder = NULL;
    struct bb_retain retain;
    bb_retain_init(&retain, snapshots, snapshot_count, options->comparator);
    bb_retain_set_ranges(&retain, ranges);
    enum bb_status status = bb_table_builder_create(path, options, &builder);
    if (status == BB_OK && hooks != NULL)
        status = bb_output_hooks_begin(hooks, builder);
    if (status == BB_OK)
        status = write_stream(stream, &retain, builder);
    if (status == BB_OK)
        status = write_fragments(ranges, &retain, builder);
    if (status == BB_OK && hooks != NULL)
        status = bb_output_hooks_finish(hooks);
    if (status == BB_OK)
        status = bb_table_builder_finish(builder, ret_meta);
    bb_table_builder_destroy(builder);
    bb_retain_deinit(&retain);
    return status;
}
