/* See script.h. */
#include "base/buf.h"
#include "base/bytes.h"
#include "bb/db_files.h"
#include "tests/fault/script.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/rng.h"

static uint64_t variant;

void script_choose_variant(uint64_t number)
{
    variant = number;
}

/* Options that change the calls of the file system and the allocations, and no guarantee. */
static void draw_variant(struct bb_db_options *options)
{
    static const uint32_t block_sizes[] = {64, 256, 512, 2048, 8192};
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_RIBBON, BB_FILTER_BLOOM,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_NONE};
    struct bb_rng rng;
    bb_rng_init(&rng, variant);
    options->block_size_bytes = block_sizes[bb_rng_below(&rng, 5)];
    options->restart_interval = (uint32_t)bb_rng_between(&rng, 1, 20);
    options->filter_kind = kinds[bb_rng_below(&rng, 5)];
    options->filter_granularity = (uint32_t)bb_rng_between(&rng, 1, 4);
    options->compression = bb_rng_one_in(&rng, 2) ? BB_COMPRESSION_NONE : BB_COMPRESSION_LZ4;
    options->cache_off = bb_rng_one_in(&rng, 4);
    options->read_mode = (enum bb_read_mode)bb_rng_below(&rng, 3);
    options->index_residency =
        bb_rng_one_in(&rng, 2) || options->cache_off ? BB_INDEX_PINNED : BB_INDEX_CACHED;
    options->table_size_bytes = bb_rng_between(&rng, 4, 64) * 1024;
    options->level0_run_count_compact = (uint32_t)bb_rng_between(&rng, 1, 3);
    options->level_size_ratio = (uint32_t)bb_rng_between(&rng, 2, 4);
}

struct bb_db_options script_options(struct bb_file_system *system)
{
    struct bb_db_options options = {
        .create_if_missing = true,
        .file_system = system,
        .write_buffer_bytes = 64 * 1024,
        .cache_bytes = 64 * 1024,
        .block_size_bytes = 512,
        .table_size_bytes = 16 * 1024,
        .level0_run_count_compact = 2,
        .level0_run_count_busy = 2,
        .level0_run_count_stop = 4,
        .level1_size_bytes = 32 * 1024,
        .level_size_ratio = 2,
        .open_tables_max = 16,
        .deterministic = true,
    };
    if (variant != 0)
        draw_variant(&options);
    return options;
}

void script_init(struct script *script, struct bb_file_system *system)
{
    *script = (struct script){.system = system};
}

void script_deinit(struct script *script)
{
    diary_deinit(&script->diary);
}

/* Every status of the store is checked here. */
static bool is_ok(struct script *script, enum bb_status status)
{
    if (status == BB_OK)
        return true;
    script->failure_count++;
    script->failures[(unsigned)status % SCRIPT_STATUSES]++;
    if (bb_error_last()->status != status || bb_error_last()->message[0] == 0)
        snprintf(script->wrong, sizeof(script->wrong), "\"%s\" without its message",
                 bb_status_name(status));
    return false;
}

static void hear(void *context, const struct bb_event *event)
{
    struct script *script = context;
    script->errors_told += event->kind == BB_EVENT_ERROR || event->kind == BB_EVENT_RECOVERY;
}

void script_open(struct script *script)
{
    struct bb_db_options options = script_options(script->system);
    options.on_event = hear;
    options.event_context = script;
    options.compaction_style =
        (enum bb_compaction_style)(BB_COMPACTION_LEVELED + script->openings % 3);
    if (script->db != NULL)
        return;
    script->openings++;
    if (is_ok(script, bb_db_open(SCRIPT_PATH, &options, &script->db)))
        diary_set_durable(&script->diary);
    else
        script->db = NULL;
}

static void count_damaged_filters(struct script *script)
{
    struct bb_db_stats stats;
    if (script->db == NULL)
        return;
    bb_db_stats(script->db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        script->damaged_filters += stats.level_reads[level].damaged_filters;
}

void script_close(struct script *script)
{
    if (script->db == NULL)
        return;
    count_damaged_filters(script);
    if (is_ok(script, bb_db_close(script->db)))
        diary_set_durable(&script->diary);
    script->db = NULL;
}

static void ended(struct script *script, enum bb_status status, bool is_durable)
{
    bool ok = is_ok(script, status);
    diary_end(&script->diary, ok);
    if (ok && is_durable)
        diary_set_durable(&script->diary);
}

void script_put(struct script *script, uint32_t key, uint32_t value_size, bool sync)
{
    char name[16];
    uint8_t value[DIARY_VALUE_MAX];
    struct diary *diary = &script->diary;
    if (script->db == NULL)
        return;
    (void)diary_begin(diary);
    diary_add(diary, key, true, value_size);
    ended(script,
          bb_db_put(script->db, &(struct bb_write_options){.sync = sync}, diary_key(key, name),
                    diary_value(&diary->operations[diary->operation_count - 1], value)),
          sync);
}

static void erase(struct script *script, uint32_t key, bool sync)
{
    char name[16];
    if (script->db == NULL)
        return;
    (void)diary_begin(&script->diary);
    diary_add(&script->diary, key, false, 0);
    ended(script,
          bb_db_delete(script->db, &(struct bb_write_options){.sync = sync}, diary_key(key, name)),
          sync);
}

static void erase_range(struct script *script, uint32_t low, uint32_t high, bool sync)
{
    char names[2][16];
    if (script->db == NULL)
        return;
    (void)diary_begin(&script->diary);
    diary_add_range(&script->diary, low, high);
    ended(script,
          bb_db_delete_range(script->db, &(struct bb_write_options){.sync = sync},
                             diary_key(low, names[0]), diary_key(high, names[1])),
          sync);
}

static enum bb_status add_to_batch(struct diary *diary, struct bb_batch *batch, uint32_t key,
                                   bool is_put)
{
    char name[16];
    uint8_t value[DIARY_VALUE_MAX];
    diary_add(diary, key, is_put, is_put ? 200 : 0);
    if (!is_put)
        return bb_batch_delete(batch, diary_key(key, name));
    return bb_batch_put(batch, diary_key(key, name),
                        diary_value(&diary->operations[diary->operation_count - 1], value));
}

static void write_batch(struct script *script, uint32_t first, uint32_t count, bool sync)
{
    struct bb_batch *batch = NULL;
    enum bb_status status = BB_OK;
    if (script->db == NULL)
        return;
    (void)diary_begin(&script->diary);
    status = bb_batch_create(&batch);
    for (uint32_t i = 0; i < count && status == BB_OK; i++)
        status = add_to_batch(&script->diary, batch, (first + i) % DIARY_KEYS, i % 4 != 3);
    if (status == BB_OK)
        status = bb_db_write(script->db, &(struct bb_write_options){.sync = sync}, batch);
    ended(script, status, sync);
    bb_batch_destroy(batch);
}

static void flush(struct script *script)
{
    if (script->db != NULL && is_ok(script, bb_db_flush(script->db)))
        diary_set_durable(&script->diary);
}

static void compact(struct script *script)
{
    if (script->db != NULL && is_ok(script, bb_db_compact(script->db)))
        diary_set_durable(&script->diary);
}

/* Reads may fail, but must not be wrong. */
static void look(struct script *script)
{
    if (script->db == NULL)
        return;
    const char *wrong = diary_check(&script->diary, script->db, DIARY_LIVE, &script->failure_count);
    if (wrong != NULL)
        snprintf(script->wrong, sizeof(script->wrong), "%s", wrong);
}

static void fill(struct script *script, uint32_t count, uint32_t step)
{
    for (uint32_t i = 0; i < count; i++)
        script_put(script, i * step % DIARY_KEYS, 3000, i % 10 == 9);
}

static void compact_range(struct script *script)
{
    char names[2][16];
    struct bb_bytes low = diary_key(2, names[0]);
    struct bb_bytes high = diary_key(20, names[1]);
    if (script->db != NULL && is_ok(script, bb_db_compact_range(script->db, &low, &high)))
        diary_set_durable(&script->diary);
}

/* Some keys in a batch; and each separately gives the same, without failures. */
static void get_many(struct script *script)
{
    char names[DIARY_KEYS][16];
    struct bb_bytes keys[DIARY_KEYS];
    enum bb_status statuses[DIARY_KEYS];
    if (script->db == NULL)
        return;
    for (uint32_t i = 0; i < DIARY_KEYS; i++)
        keys[i] = diary_key(i, names[i]);
    (void)is_ok(script, bb_db_get_many(script->db, NULL, keys, DIARY_KEYS, NULL, statuses));
    for (uint32_t i = 0; i < DIARY_KEYS; i++) {
        enum bb_status status = bb_db_get(script->db, NULL, keys[i], NULL);
        bool is_known = status == BB_OK || status == BB_NOT_FOUND;
        script->failure_count += !is_known;
        if (is_known && (statuses[i] == BB_OK || statuses[i] == BB_NOT_FOUND) &&
            statuses[i] != status)
            snprintf(script->wrong, sizeof(script->wrong), "many gets and one differ");
    }
}

static void measure(struct script *script)
{
    char name[16];
    struct bb_range_size size;
    struct bb_bytes low = diary_key(9, name);
    struct bb_key_range range = {.low = &low};
    if (script->db != NULL)
        (void)is_ok(script, bb_db_approximate_sizes(script->db, &range, 1, &size));
}

/* A checkpoint has the store's contents, or does not exist; then it is removed. */
static void make_checkpoint(struct script *script)
{
    struct bb_db_options options = script_options(script->system);
    struct bb_db *original = script->db;
    if (original == NULL || !is_ok(script, bb_db_checkpoint(original, SCRIPT_COPY_PATH)))
        return;
    diary_set_durable(&script->diary);
    options.create_if_missing = false;
    if (is_ok(script, bb_db_open(SCRIPT_COPY_PATH, &options, &script->db))) {
        look(script);
        count_damaged_filters(script);
        (void)is_ok(script, bb_db_close(script->db));
    }
    script->db = original;
    struct bb_db_destroy_report report = {0};
    if (is_ok(script, bb_db_destroy(SCRIPT_COPY_PATH, &options, &report)))
        script->failure_count += report.unreadable + !report.directory_removed;
}

/* Pinned values stay unchanged while reads and writes fail. */
static void pin_over_checkpoint(struct script *script)
{
    char name[16];
    struct bb_pinned pinned = {0};
    struct bb_buf copy = {0};
    struct bb_bytes key = diary_key(7, name);
    enum bb_status status = BB_NOT_FOUND;
    if (script->db != NULL)
        status = bb_db_get_pinned(script->db, NULL, key, &pinned);
    if (status != BB_NOT_FOUND)
        (void)is_ok(script, status);
    bool is_copied = status == BB_OK && bb_buf_assign(&copy, pinned.bytes) == BB_OK;
    make_checkpoint(script);
    if (is_copied && !bb_bytes_equal(pinned.bytes, bb_buf_bytes(&copy)))
        snprintf(script->wrong, sizeof(script->wrong), "a pinned value has changed");
    bb_pinned_release(&pinned);
    bb_buf_deinit(&copy);
}

static enum bb_status build_table(struct script *script, uint32_t first, uint32_t count)
{
    char name[16];
    uint8_t value[DIARY_VALUE_MAX];
    struct diary *diary = &script->diary;
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = script->system};
    enum bb_status status = bb_table_builder_create(SCRIPT_TABLE_PATH, &options, &builder);
    for (uint32_t i = 0; i < count && status == BB_OK; i++) {
        bool is_put = i % 4 != 3;
        diary_add(diary, first + i, is_put, is_put ? 200 : 0);
        struct bb_entry entry = {.key = diary_key(first + i, name),
                                 .kind = is_put ? BB_ENTRY_PUT : BB_ENTRY_DELETE};
        if (is_put)
            entry.value = diary_value(&diary->operations[diary->operation_count - 1], value);
        status = bb_table_builder_add(builder, &entry);
    }
    if (status == BB_OK)
        status = bb_table_builder_finish(builder, NULL);
    bb_table_builder_destroy(builder);
    return status;
}

/* A table built elsewhere: a commit like any other. */
static void ingest(struct script *script, uint32_t first, uint32_t count)
{
    const char *path = SCRIPT_TABLE_PATH;
    if (script->db == NULL)
        return;
    (void)diary_begin(&script->diary);
    enum bb_status status = build_table(script, first, count);
    bool is_built = status == BB_OK;
    if (is_built)
        status = bb_db_ingest(script->db, &path, 1, NULL);
    ended(script, status, true);
    if (is_built)
        (void)is_ok(script, script->system->ops->remove(script->system, path));
}

static void take_snapshot_over_compaction(struct script *script)
{
    struct bb_snapshot *snapshot = NULL;
    if (script->db == NULL || !is_ok(script, bb_snapshot_create(script->db, &snapshot)))
        return;
    script_put(script, 5, 100, false);
    erase(script, 6, false);
    erase_range(script, 8, 10, false);
    compact(script);
    bb_snapshot_release(script->db, snapshot);
}

/* Each part leaves something in the log for the next opening. */
static void first_part(struct script *script)
{
    script_open(script);
    script_put(script, 1, 100, false);
    script_put(script, 2, 100, true);
    erase(script, 1, false);
    write_batch(script, 3, 6, false);
    write_batch(script, 4, 5, true);
    flush(script);
    script_put(script, 1, 50, false);
    erase_range(script, 5, 8, false);
    look(script);
    script_close(script);
}

static void second_part(struct script *script)
{
    script_open(script);
    write_batch(script, 7, 4, false);
    take_snapshot_over_compaction(script);
    fill(script, script->is_short ? 4 : 50, 7);
    look(script);
    script_close(script);
}

static void third_part(struct script *script)
{
    script_open(script);
    script_put(script, 3, 100, true);
    flush(script);
    erase(script, 2, true);
    flush(script);
    erase_range(script, 10, 14, true);
    flush(script);
    compact(script);
    write_batch(script, 20, 8, false);
    compact_range(script);
    write_batch(script, 2, 5, false);
    erase_range(script, 5, 9, false);
    measure(script);
    get_many(script);
    pin_over_checkpoint(script);
    ingest(script, 5, 7);
    look(script);
}

void script_run(struct script *script)
{
    first_part(script);
    second_part(script);
    third_part(script);
    count_damaged_filters(script);
}
