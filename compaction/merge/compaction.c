/* See compaction.h. */
#include "compaction/merge/compaction.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "compaction/merge/merge.h"
#include "compaction/merge/range_tombstone_cutter.h"
#include "compaction/merge/retain.h"
#include "compaction/merge/run_iter.h"
#include "sstable/block/stored_entry.h"
#include "sstable/build/table_builder.h"

/* An output that overlaps the bytes of more than this many full tables of the run below would make
 * the next compaction of this output expensive. */
#define OVERLAP_TABLES_MAX 10

/* Outputs are synced together. Each sync waits for the device and for the journal of the file
 * system; when it comes to this many outputs, most of their bytes have been written, and the first
 * sync waits for the journal for all of them. */
#define UNSYNCED_MAX 16
/* They are synced earlier if they have this many bytes, so that a sync does not wait long. */
#define UNSYNCED_BYTES_MAX (UINT64_C(256) * 1024 * 1024)
/* At most one output is open for each 64 files that the process may have open. */
#define OPEN_FILES_PART 64

struct bb_compaction {
    struct bb_plan plan;
    struct bb_levels *levels; /* with a reference */
    struct bb_compact_options options;
    struct bb_key_range range; /* the part of the keys that is merged; borrowed */
    uint64_t *snapshots;       /* owned copy */
    struct bb_iter *stream;
    struct bb_retain retain;
    struct bb_range_tombstone_cutter ranges;
    bool has_kept; /* a version of the latest key was kept */
    struct bb_read_stats reads;
    struct bb_table_builder *builder; /* of the open output, or NULL */
    struct bb_filter_excess excess;   /* of the finished outputs */
    struct bb_compact_output *outputs;
    size_t output_count;
    size_t output_capacity;
    struct bb_file *unsynced[UNSYNCED_MAX]; /* owned: files of finished outputs */
    size_t unsynced_count;
    size_t unsynced_max;
    uint64_t unsynced_bytes;
    size_t older;                   /* bb_levels_first_older of the output's run */
    const struct bb_run *run_below; /* bb_levels_run_below; may be NULL */
    size_t below;                   /* index in it: the first table not passed yet */
    /* The value of below at the latest entry of the open output. */
    size_t below_last;
    uint64_t overlap_bytes; /* of the open output with that run */
    struct bb_compact_counts counts;
    bool is_committed;
};

static bool is_same_run(const struct bb_plan *plan, size_t a, size_t b)
{
    return plan->input_levels[a] == plan->input_levels[b] &&
           plan->input_runs[a] == plan->input_runs[b];
}

static bool begins_above(const struct bb_compaction *c, const struct bb_table_file *file)
{
    const struct bb_bytes *high = c->range.high;
    return high != NULL &&
           bb_key_compare(c->levels->comparator, bb_buf_bytes(&file->meta.smallest), *high) >= 0;
}

static bool ends_below(const struct bb_compaction *c, const struct bb_table_file *file)
{
    const struct bb_bytes *low = c->range.low;
    return low != NULL && bb_table_file_ends_before(file, c->levels->comparator, *low);
}

/* Opens the stream over inputs [begin, end), which are a run, if any is in the range. */
static enum bb_status open_run(struct bb_compaction *c, size_t begin, size_t end,
                               struct bb_iter **streams, size_t *count)
{
    static const struct bb_read_options options = {.bypass_fill = true};
    while (begin < end && ends_below(c, c->plan.inputs[begin]))
        begin++;
    while (begin < end && begins_above(c, c->plan.inputs[end - 1]))
        end--;
    if (begin == end)
        return BB_OK;
    enum bb_status status =
        bb_run_iter_create(&c->plan.inputs[begin], end - begin, c->levels->comparator, &c->range,
                           &options, &c->reads, &streams[*count]);
    if (status == BB_OK)
        bb_run_iter_keep_stored(streams[(*count)++]);
    return status;
}

/* Opens the streams of the inputs: one for each run, newest first. */
static enum bb_status open_streams(struct bb_compaction *c, struct bb_iter **streams, size_t *count)
{
    enum bb_status status = BB_OK;
    size_t i = 0;
    while (i < c->plan.input_count && status == BB_OK) {
        size_t end = i + 1;
        while (end < c->plan.input_count && is_same_run(&c->plan, i, end))
            end++;
        status = open_run(c, i, end, streams, count);
        i = end;
    }
    return status;
}

/* The block of the first entry may have entries before the range. */
static void seek_begin(struct bb_compaction *c)
{
    const struct bb_bytes *low = c->range.low;
    if (low == NULL)
        bb_iter_seek_first(c->stream);
    else
        bb_iter_seek(c->stream, *low, BB_SEQUENCE_MAX);
}

static enum bb_status open_stream(struct bb_compaction *c)
{
    size_t count = 0;
    struct bb_iter **streams = bb_alloc_zeroed(c->plan.input_count + 1, sizeof(struct bb_iter *));
    if (streams == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a compaction of %zu tables",
                       c->plan.input_count);
    enum bb_status status = open_streams(c, streams, &count);
    if (status == BB_OK) {
        status = bb_merge_create(streams, count, c->levels->comparator, &c->stream);
    } else {
        for (size_t i = 0; i < count; i++)
            bb_iter_destroy(streams[i]);
    }
    bb_free(streams);
    if (status == BB_OK)
        seek_begin(c);
    return status;
}

static enum bb_status copy_snapshots(struct bb_compaction *c,
                                     const struct bb_compact_options *options)
{
    c->snapshots = bb_alloc_zeroed(options->snapshot_count + 1, sizeof(*c->snapshots));
    if (c->snapshots == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu snapshots", options->snapshot_count);
    if (options->snapshot_count > 0)
        memcpy(c->snapshots, options->snapshots, options->snapshot_count * sizeof(*c->snapshots));
    bb_retain_init(&c->retain, c->snapshots, options->snapshot_count, c->levels->comparator);
    return BB_OK;
}

static enum bb_status open_ranges(struct bb_compaction *c)
{
    enum bb_status status =
        bb_range_tombstone_cutter_init(&c->ranges, c->plan.inputs, c->plan.input_count, &c->retain);
    bb_retain_set_ranges(&c->retain, c->ranges.list);
    return status;
}

static size_t outputs_open_max(struct bb_file_system *files)
{
    uint64_t open_files = UINT64_MAX;
    if (files != NULL && files->ops->open_files_max != NULL)
        open_files = files->ops->open_files_max(files);
    uint64_t part = open_files / OPEN_FILES_PART;
    return part < 1 ? 1 : part < UNSYNCED_MAX ? (size_t)part : UNSYNCED_MAX;
}

static enum bb_status create(struct bb_plan *plan, struct bb_levels *levels,
                             const struct bb_compact_options *options, const struct bb_bytes *first,
                             struct bb_compaction **ret_compaction)
{
    BB_DEBUG_ASSERT(plan->input_count > 0 && !plan->is_move);
    struct bb_compaction *c = bb_alloc_zeroed(1, sizeof(*c));
    if (c == NULL) {
        bb_plan_deinit(plan);
        return bb_fail(BB_NO_MEMORY, "no memory for a compaction");
    }
    c->plan = *plan;
    *plan = (struct bb_plan){0};
    c->levels = bb_levels_ref(levels);
    c->options = *options;
    c->range.low = first;
    c->unsynced_max = outputs_open_max(options->table.file_system);
    c->older = bb_levels_first_older(levels, c->plan.output_level, c->plan.output_run);
    c->run_below = bb_levels_run_below(levels, c->plan.output_level, c->plan.output_run);
    for (size_t i = 0; i < c->plan.input_count; i++) {
        c->counts.bytes_read += c->plan.inputs[i]->meta.file_size;
        c->counts.range_tombstones_in += c->plan.inputs[i]->meta.range_tombstone_count;
    }
    enum bb_status status = copy_snapshots(c, options);
    if (status == BB_OK)
        status = open_ranges(c);
    if (status == BB_OK)
        status = open_stream(c);
    if (status != BB_OK) {
        bb_compaction_destroy(c);
        return status;
    }
    *ret_compaction = c;
    return BB_OK;
}

enum bb_status bb_compaction_create(struct bb_plan *plan, struct bb_levels *levels,
                                    const struct bb_compact_options *options,
                                    struct bb_compaction **ret_compaction)
{
    return create(plan, levels, options, NULL, ret_compaction);
}

/* Removes the files of outputs that were not committed. */
static void remove_outputs(struct bb_compaction *c)
{
    for (size_t i = 0; i < c->output_count; i++)
        c->options.env->remove(c->options.env->context, c->outputs[i].number);
}

/* WHY a failure is ignored: the files are removed. */
static void close_outputs(struct bb_compaction *c)
{
    struct bb_error before = *bb_error_last();
    while (c->unsynced_count > 0)
        (void)!bb_file_close(c->unsynced[--c->unsynced_count]);
    (void)bb_error_restore(&before);
}

void bb_compaction_destroy(struct bb_compaction *c)
{
    if (c == NULL)
        return;
    bb_table_builder_destroy(c->builder);
    close_outputs(c);
    if (!c->is_committed)
        remove_outputs(c);
    for (size_t i = 0; i < c->output_count; i++)
        bb_table_meta_deinit(&c->outputs[i].meta);
    bb_free(c->outputs);
    bb_iter_destroy(c->stream);
    bb_retain_deinit(&c->retain);
    bb_range_tombstone_cutter_deinit(&c->ranges);
    bb_free(c->snapshots);
    bb_plan_deinit(&c->plan);
    bb_levels_unref(c->levels);
    bb_free(c);
}

/* Makes the outputs durable that are still open, and closes them. */
static enum bb_status settle_outputs(struct bb_compaction *c)
{
    enum bb_status status = BB_OK;
    while (c->unsynced_count > 0 && status == BB_OK)
        status = bb_table_writer_sync(c->unsynced[--c->unsynced_count]);
    c->unsynced_bytes = 0;
    return status;
}

/* WHY twice: the files that are open may be as many as the process may have. */
static enum bb_status create_builder(struct bb_compaction *c, const char *path)
{
    enum bb_status status = bb_table_builder_create(path, &c->options.table, &c->builder);
    if (status != BB_IO || c->unsynced_count == 0)
        return status;
    status = settle_outputs(c);
    return status == BB_OK ? bb_table_builder_create(path, &c->options.table, &c->builder) : status;
}

static enum bb_status open_output(struct bb_compaction *c)
{
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = 0;
    enum bb_status status = c->options.new_number(c->options.context, &number);
    if (status == BB_OK)
        status = bb_array_reserve(&c->outputs, c->output_count, &c->output_capacity,
                                  sizeof(*c->outputs), "outputs of a compaction");
    if (status != BB_OK)
        return status;
    c->options.env->path(c->options.env->context, number, path);
    status = create_builder(c, path);
    if (status == BB_OK)
        status = bb_output_hooks_begin(&c->options.hooks, c->builder);
    if (status != BB_OK)
        return status;
    bb_table_builder_set_excess(c->builder, c->excess);
    /* Until the output is finished it is not counted, and destroying the builder removes its
     * file. */
    c->outputs[c->output_count] = (struct bb_compact_output){.number = number};
    c->overlap_bytes = 0;
    return BB_OK;
}

static enum bb_status finish_output(struct bb_compaction *c)
{
    if (c->builder == NULL)
        return BB_OK;
    struct bb_compact_output *output = &c->outputs[c->output_count];
    enum bb_status status = bb_output_hooks_finish(&c->options.hooks);
    if (status == BB_OK)
        status = bb_table_builder_finish_file(c->builder, &output->meta,
                                              &c->unsynced[c->unsynced_count]);
    if (status != BB_OK)
        return status;
    c->unsynced_count++;
    c->excess = bb_table_builder_excess(c->builder);
    bb_table_builder_destroy(c->builder);
    c->builder = NULL;
    c->counts.bytes_written += output->meta.file_size;
    c->output_count++;
    c->unsynced_bytes += output->meta.file_size;
    bool is_enough =
        c->unsynced_count >= c->unsynced_max || c->unsynced_bytes >= UNSYNCED_BYTES_MAX;
    return is_enough ? settle_outputs(c) : BB_OK;
}

/* Writes the range tombstones up to high (NULL: to the end) to the open output, or to a new one. */
static enum bb_status write_ranges(struct bb_compaction *c, const struct bb_bytes *high)
{
    struct bb_range_tombstone_array array = {0};
    enum bb_status status =
        bb_range_tombstone_cutter_take(&c->ranges, high, c->levels, &c->plan, &c->retain, &array);
    if (status == BB_OK && c->builder == NULL && array.count > 0)
        status = open_output(c);
    for (size_t i = 0; i < array.count && status == BB_OK; i++)
        status = bb_table_builder_add_range_tombstone(c->builder, array.tombstones[i].low,
                                                      array.tombstones[i].high,
                                                      array.tombstones[i].sequence);
    bb_range_tombstone_array_deinit(&array);
    if (status == BB_OK && high != NULL)
        status = bb_range_tombstone_cutter_cut(&c->ranges, *high);
    return status;
}

/* The range tombstones after the latest entry, and before high, may overlap too much of the run
 * below. Then cuts them into several outputs. */
static enum bb_status cut_ranges(struct bb_compaction *c, const struct bb_bytes *high)
{
    const struct bb_run *below = c->run_below;
    uint64_t bytes = 0;
    enum bb_status status = BB_OK;
    if (below == NULL || c->plan.output_level == 0)
        return BB_OK;
    for (size_t i = c->below_last;
         i < below->count && !bb_range_tombstone_cutter_is_done(&c->ranges); i++) {
        struct bb_bytes key = bb_buf_bytes(&below->files[i]->meta.smallest);
        if (high != NULL && bb_key_compare(c->levels->comparator, key, *high) >= 0)
            break;
        if (i > c->below_last && bytes > OVERLAP_TABLES_MAX * c->options.table_size_bytes) {
            status = write_ranges(c, &key);
            if (status == BB_OK)
                status = finish_output(c);
            bytes = 0;
        }
        if (status != BB_OK)
            return status;
        bytes += below->files[i]->meta.file_size;
    }
    return BB_OK;
}

/* Ends the open output, if any, before high, where the next one begins. NULL: at the end. */
static enum bb_status close_output(struct bb_compaction *c, const struct bb_bytes *high)
{
    enum bb_status status = cut_ranges(c, high);
    if (status == BB_OK)
        status = write_ranges(c, high);
    return status == BB_OK ? finish_output(c) : status;
}

/* Skips the tables of the run below that end before the key. */
static void pass_below(struct bb_compaction *c, struct bb_bytes key)
{
    const struct bb_run *run = c->run_below;
    if (run == NULL)
        return;
    while (c->below < run->count &&
           bb_table_file_ends_before(run->files[c->below], c->levels->comparator, key))
        c->overlap_bytes += run->files[c->below++]->meta.file_size;
}

/* True when the output should end before the key. Its size includes the range tombstones up to the
 * key, which are written when the output is closed. */
static bool is_full(struct bb_compaction *c, struct bb_bytes key)
{
    uint64_t ranges = bb_range_tombstone_cutter_pass(&c->ranges, key);
    return bb_table_builder_size_estimate(c->builder) + ranges >= c->options.table_size_bytes ||
           c->overlap_bytes > OVERLAP_TABLES_MAX * c->options.table_size_bytes;
}

/* True when no run older than the output may have the key. */
static bool is_bottom(const struct bb_compaction *c, struct bb_bytes key)
{
    for (size_t i = c->older; i < c->levels->turn_count; i++) {
        if (bb_run_find(c->levels->turns[i].run, c->levels->comparator, key) != NULL)
            return false;
    }
    return true;
}

/* Reuses the entry's stored block if the stream has it. */
static enum bb_status write_entry(struct bb_compaction *c, const struct bb_entry *entry)
{
    struct bb_stored_entry stored;
    bool is_taken = false;
    if (!bb_iter_stored(c->stream, &stored))
        return bb_table_builder_add(c->builder, entry);
    enum bb_status status = bb_table_builder_add_stored(c->builder, entry, &stored, &is_taken);
    c->counts.entries_as_stored += is_taken;
    return status;
}

static enum bb_status keep_entry(struct bb_compaction *c, const struct bb_entry *entry)
{
    enum bb_status status = BB_OK;
    /* The first kept version of its key. Newer versions of the key may have been dropped. */
    bool is_first = !c->has_kept;
    if (is_first)
        pass_below(c, entry->key);
    /* A table of level 0 is never cut: it remains one run. */
    if (c->builder != NULL && is_first && c->plan.output_level > 0 && is_full(c, entry->key))
        status = close_output(c, &entry->key);
    c->has_kept = true;
    if (status == BB_OK && c->builder == NULL)
        status = open_output(c);
    if (status == BB_OK)
        status = write_entry(c, entry);
    c->below_last = c->below;
    c->counts.entries_kept++;
    return status;
}

static enum bb_status merge_entry(struct bb_compaction *c)
{
    const struct bb_entry *entry = &c->stream->entry;
    bool keep = false;
    if (bb_retain_is_new_key(&c->retain, entry->key))
        c->has_kept = false;
    bool bottom = entry->kind == BB_ENTRY_DELETE && is_bottom(c, entry->key);
    enum bb_status status = bb_retain_judge(&c->retain, entry, bottom, &keep);
    if (status != BB_OK)
        return status;
    c->counts.entries_in++;
    return keep ? keep_entry(c, entry) : BB_OK;
}

enum bb_status bb_compaction_check(const struct bb_compaction *c, const struct bb_compaction *other)
{
    uint64_t entries = c->counts.entries_in + (other == NULL ? 0 : other->counts.entries_in);
    uint64_t expected = 0;
    for (size_t i = 0; i < c->plan.input_count; i++)
        expected += c->plan.inputs[i]->meta.entry_count;
    if (entries == expected)
        return BB_OK;
    return bb_fail(BB_CORRUPT,
                   "a compaction of %zu tables has read %llu entries, their properties record %llu",
                   c->plan.input_count, (unsigned long long)entries, (unsigned long long)expected);
}

/* True when an entry of the range is next. */
static bool has_entry(const struct bb_compaction *c)
{
    const struct bb_bytes *high = c->range.high;
    return c->stream->is_valid &&
           (high == NULL || bb_key_compare(c->levels->comparator, c->stream->entry.key, *high) < 0);
}

enum bb_status bb_compaction_step(struct bb_compaction *c, uint64_t entry_count_max,
                                  bool *ret_is_done)
{
    enum bb_status status = c->stream->status;
    for (uint64_t i = 0; i < entry_count_max && status == BB_OK && has_entry(c); i++) {
        status = merge_entry(c);
        if (status == BB_OK) {
            bb_iter_next(c->stream);
            status = c->stream->status;
        }
    }
    bool is_done = status == BB_OK && !has_entry(c);
    if (is_done)
        status = close_output(c, NULL);
    if (is_done && status == BB_OK)
        status = settle_outputs(c);
    if (status == BB_OK)
        *ret_is_done = is_done;
    return status;
}

bool bb_compaction_next_key(const struct bb_compaction *c, struct bb_bytes *ret_key)
{
    if (!has_entry(c))
        return false;
    *ret_key = c->stream->entry.key;
    return true;
}

enum bb_status bb_compaction_divide(struct bb_compaction *c, const struct bb_bytes *first,
                                    struct bb_compaction **ret_upper)
{
    struct bb_plan copy = {0};
    struct bb_compact_options options = c->options;
    BB_DEBUG_ASSERT(c->range.high == NULL && c->counts.range_tombstones_in == 0);
    BB_DEBUG_ASSERT(has_entry(c) &&
                    bb_key_compare(c->levels->comparator, *first, c->stream->entry.key) > 0);
    options.snapshots = c->snapshots;
    options.hooks = (struct bb_output_hooks){0};
    enum bb_status status = bb_plan_copy(&c->plan, &copy);
    if (status == BB_OK)
        status = create(&copy, c->levels, &options, first, ret_upper);
    if (status == BB_OK)
        c->range.high = first;
    return status;
}

const struct bb_plan *bb_compaction_plan(const struct bb_compaction *c)
{
    return &c->plan;
}

const struct bb_compact_counts *bb_compaction_counts(const struct bb_compaction *c)
{
    return &c->counts;
}

const struct bb_compact_output *bb_compaction_outputs(const struct bb_compaction *c,
                                                      size_t *ret_count)
{
    *ret_count = c->output_count;
    return c->outputs;
}

void bb_compaction_commit(struct bb_compaction *c)
{
    c->is_committed = true;
}
