/* See model_store.h: requests for many keys or key ranges. */
#include "bb/db_files.h"
#include "tests/model/model_keys.h"

#include "base/bytes.h"
#include "base/sync.h"

#define MANY_MAX   60
#define WRITES_MAX 50
#define CHECKPOINT "/checkpoint"

static void compare_answer(struct model *model, struct bb_bytes key, uint64_t sequence,
                           enum bb_status status, const struct bb_buf *value)
{
    enum oracle_answer answer = oracle_get(model->oracle, key, sequence, &model->expected);
    if (status != (answer == ORACLE_PRESENT ? BB_OK : BB_NOT_FOUND))
        model_differ(model, "one of many gets has another status");
    if (status == BB_OK && !bb_bytes_equal(bb_buf_bytes(value), bb_buf_bytes(&model->expected)))
        model_differ(model, "one of many gets gives another value");
    model->coverage->gets_of_many += status == BB_OK;
}

void model_get_many(struct model *model)
{
    struct model_key drawn[MANY_MAX];
    struct bb_bytes keys[MANY_MAX];
    struct bb_buf values[MANY_MAX] = {{0}};
    enum bb_status statuses[MANY_MAX];
    uint64_t sequence = 0;
    struct bb_get_options options = model_draw_get_options(model, &sequence);
    size_t count = bb_rng_below(&model->rng, MANY_MAX + 1);
    for (size_t i = 0; i < count; i++)
        keys[i] = model_draw_key(model, &drawn[i]);
    model_must(model, bb_db_get_many(model->db, &options, keys, count, values, statuses),
               "get many");
    for (size_t i = 0; i < count; i++) {
        compare_answer(model, keys[i], sequence, statuses[i], &values[i]);
        bb_buf_deinit(&values[i]);
    }
}

/* An entry of a table that a compaction of its key's range has passed. */
static void check_compacted(struct model *model, const struct bb_entry *entry)
{
    enum oracle_answer answer = ORACLE_NEVER;
    if (entry->kind != BB_ENTRY_PUT)
        return; /* a tombstone may stay, without data that it hides */
    answer = oracle_get(model->oracle, entry->key, model->sequence, &model->expected);
    if (answer != ORACLE_PRESENT)
        model_differ(model, "a compacted range has deleted data");
    if (!bb_bytes_equal(entry->value, bb_buf_bytes(&model->expected)))
        model_differ(model, "a compacted range has an old version");
    model->coverage->entries_of_compacted_ranges++;
}

static void check_compacted_table(struct model *model, const char *path,
                                  const struct bb_key_range *range)
{
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    struct bb_table_options options = {.file_system = bb_file_memory_system(model->memory),
                                       .comparator = model->options.comparator};
    model_must(model, bb_table_open(path, &options, &table), "open a table");
    model_must(model, bb_table_iter_create(table, NULL, NULL, &iter), "read a table");
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter)) {
        struct bb_bytes key = iter->entry.key;
        bool is_in_range = (range->low == NULL || model_compare(model, key, *range->low) >= 0) &&
                           (range->high == NULL || model_compare(model, key, *range->high) < 0);
        if (is_in_range)
            check_compacted(model, &iter->entry);
    }
    model_must(model, iter->status, "read a table");
    bb_iter_destroy(iter);
    bb_table_close(table);
}

/* Without snapshots, the tables have only the newest version of each key of the range. */
static void check_compacted_range(struct model *model, const struct bb_key_range *range)
{
    struct bb_db_table_list list = {0};
    model_must(model, bb_db_tables(model->db, &list), "list tables");
    for (size_t i = 0; i < list.count; i++)
        check_compacted_table(model, list.tables[i].path, range);
    bb_db_table_list_deinit(&list);
}

void model_compact_range(struct model *model)
{
    struct model_key drawn[2];
    struct bb_bytes low = model_draw_key(model, &drawn[0]);
    struct bb_bytes high = model_draw_key(model, &drawn[1]);
    bool is_open_low = bb_rng_one_in(&model->rng, 8);
    bool is_open_high = bb_rng_one_in(&model->rng, 8);
    bool is_empty = !is_open_low && !is_open_high && model_compare(model, low, high) >= 0;
    const struct bb_key_range range = {.low = is_open_low ? NULL : &low,
                                       .high = is_open_high ? NULL : &high};
    model_must(model, bb_db_compact_range(model->db, range.low, range.high), "compact range");
    if (!is_empty && model->snapshot_count == 0 && model->options.deterministic)
        check_compacted_range(model, &range);
    model->coverage->range_compactions += !is_empty;
    if (!is_empty) /* it begins with a flush */
        model_set_durable(model);
}

/* Cut in three, everything has the size of its parts. */
void model_sizes(struct model *model)
{
    struct model_key drawn[2];
    struct bb_range_size sizes[4];
    struct bb_bytes low = model_draw_key(model, &drawn[0]);
    struct bb_bytes high = model_draw_key(model, &drawn[1]);
    if (model_compare(model, low, high) > 0) {
        struct bb_bytes swapped = low;
        low = high;
        high = swapped;
    }
    struct bb_key_range ranges[] = {{NULL, &low}, {&low, &high}, {&high, NULL}, {NULL, NULL}};
    model_must(model, bb_db_approximate_sizes(model->db, ranges, 4, sizes), "sizes");
    uint64_t rounding = 2 * 3; /* memtables times parts */
    uint64_t memtables =
        sizes[0].memtable_bytes + sizes[1].memtable_bytes + sizes[2].memtable_bytes;
    if (sizes[0].file_bytes + sizes[1].file_bytes + sizes[2].file_bytes != sizes[3].file_bytes ||
        sizes[0].raw_bytes + sizes[1].raw_bytes + sizes[2].raw_bytes != sizes[3].raw_bytes ||
        memtables + rounding < sizes[3].memtable_bytes ||
        memtables > sizes[3].memtable_bytes + rounding)
        model_differ(model, "sizes of neighbouring ranges do not add up");
    model->coverage->sizes += sizes[1].file_bytes > 0;
}

/* The writes of another thread during a checkpoint. */
struct writer {
    struct model *model;
    struct model_key keys[WRITES_MAX];
    size_t count;
    enum bb_status status;
};

static void write_keys(void *argument)
{
    struct writer *writer = argument;
    for (size_t i = 0; i < writer->count && writer->status == BB_OK; i++) {
        struct bb_bytes key = bb_bytes_of(writer->keys[i].data, writer->keys[i].size);
        writer->status = bb_db_put(writer->model->db, NULL, key, key);
    }
}

static void draw_writer(struct model *model, struct writer *writer)
{
    *writer = (struct writer){.model = model};
    writer->count = bb_rng_one_in(&model->rng, 2) ? bb_rng_below(&model->rng, WRITES_MAX) : 0;
    for (size_t i = 0; i < writer->count; i++)
        (void)model_draw_key(model, &writer->keys[i]);
}

static void tell_oracle(struct model *model, const struct writer *writer)
{
    model_must(model, writer->status, "write beside a checkpoint");
    for (size_t i = 0; i < writer->count; i++) {
        struct bb_bytes key = bb_bytes_of(writer->keys[i].data, writer->keys[i].size);
        oracle_apply(model->oracle, ++model->sequence, key, &key);
        model_committed(model, false);
    }
}

/* The state before the writer began. */
static void make_checkpoint_in_two_calls(struct model *model)
{
    struct writer writer;
    struct bb_thread thread;
    struct bb_checkpoint *checkpoint = NULL;
    draw_writer(model, &writer);
    model_must(model, bb_checkpoint_create(model->db, &checkpoint), "begin a checkpoint");
    model_must(model, bb_thread_create(&thread, write_keys, &writer), "thread");
    model_must(model, bb_checkpoint_write(checkpoint, CHECKPOINT), "write a checkpoint");
    bb_thread_join(&thread);
    bb_checkpoint_destroy(checkpoint);
    tell_oracle(model, &writer);
}

static void make_checkpoint(struct model *model)
{
    struct writer writer;
    struct bb_thread thread;
    draw_writer(model, &writer);
    model_must(model, bb_thread_create(&thread, write_keys, &writer), "thread");
    model_must(model, bb_db_checkpoint(model->db, CHECKPOINT), "checkpoint");
    bb_thread_join(&thread);
    model_set_durable(model); /* it begins with a flush */
    tell_oracle(model, &writer);
    model->coverage->checkpoints_beside_writer += writer.count > 0;
}

/* Everything from before, and a prefix of the concurrent writes. */
static void compare_checkpoint(struct model *model, uint64_t before)
{
    struct bb_db_stats stats;
    struct bb_db *original = model->db;
    struct bb_db_options options = model->options;
    options.create_if_missing = false;
    model_must(model, bb_db_open(CHECKPOINT, &options, &model->db), "open a checkpoint");
    bb_db_stats(model->db, &stats);
    if (stats.last_sequence < before || stats.last_sequence > model->sequence)
        model_differ(model, "a checkpoint is of another time");
    model_compare_at(model, stats.last_sequence);
    model_compare_selection(model, model->db, stats.last_sequence);
    model_must(model, bb_db_close(model->db), "close a checkpoint");
    model->db = original;
    model_must(model, bb_db_destroy(CHECKPOINT, &options, NULL), "destroy a checkpoint");
    if (bb_db_open(CHECKPOINT, &options, &original) != BB_NOT_FOUND)
        model_differ(model, "a checkpoint that was destroyed is there");
}

void model_checkpoint(struct model *model)
{
    uint64_t before = model->sequence;
    bb_file_memory_set_links(model->memory, bb_rng_one_in(&model->rng, 2));
    if (bb_rng_one_in(&model->rng, 2))
        make_checkpoint_in_two_calls(model);
    else
        make_checkpoint(model);
    compare_checkpoint(model, before);
    model->coverage->checkpoints++;
}

/* ---- The store's statistics ---- */

/* Every table is sound, also in a read-only opening. */
void model_scrub(struct model *model, struct bb_db *db)
{
    struct bb_db_scrub_report report;
    struct bb_db_scrub_options options = {0};
    struct bb_db_stats stats;
    if (bb_rng_one_in(&model->rng, 4))
        options.bytes_per_second = 1000000;
    model_must(model, bb_db_scrub(db, &options, &report), "scrub");
    bb_db_stats(db, &stats);
    if (report.damaged != 0 || report.next_table != 0 || stats.damaged_files != 0)
        model_differ(model, "a check of tables finds damage, or does not come to its end");
    model->coverage->scrubs++;
}

static void check_tables(struct model *model, const struct bb_db_stats *stats)
{
    struct bb_db_table_list list;
    uint64_t tables = 0;
    uint64_t entries = 0;
    model_must(model, bb_db_tables(model->db, &list), "tables");
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        tables += stats->levels[level].table_count;
        entries += stats->levels[level].entry_count;
    }
    for (size_t i = 0; i < list.count; i++)
        entries -= list.tables[i].entry_count;
    if (list.count != tables || entries != 0)
        model_differ(model, "the list of tables is not that of the statistics");
    bb_db_table_list_deinit(&list);
}

void model_inspect(struct model *model)
{
    struct bb_db_stats stats;
    struct bb_hash_secret secret;
    model_must(model, bb_db_refresh(model->db), "refresh what is open for writing");
    model_must(model, bb_db_wait_idle(model->db), "wait until nothing is due");
    if (bb_rng_one_in(&model->rng, 4))
        bb_db_clear_cache(model->db);
    bb_db_stats(model->db, &stats);
    bb_db_secret(model->db, &secret);
    if (memcmp(&secret, &model->secret, sizeof(secret)) != 0)
        model_differ(model, "the store has another secret");
    if (stats.last_sequence != model->sequence)
        model_differ(model, "the statistics tell of another sequence");
    check_tables(model, &stats);
    if (bb_rng_one_in(&model->rng, 4))
        model_scrub(model, model->db);
    model->coverage->inspections++;
}
