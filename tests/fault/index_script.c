/* See index_script.h. */
#include "tests/fault/index_script.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"

struct bb_db_options index_script_options(struct bb_file_system *system)
{
    return (struct bb_db_options){
        .create_if_missing = true,
        .file_system = system,
        .write_buffer_bytes = 64 * 1024,
        .cache_bytes = 64 * 1024,
        .block_size_bytes = 512,
        .table_size_bytes = 16 * 1024,
        .level0_run_count_compact = 4,
        .level0_run_count_busy = 4,
        .level0_run_count_stop = 8,
        .level1_size_bytes = 64 * 1024,
        .level_size_ratio = 4,
        .open_tables_max = 16,
        .deterministic = true,
    };
}

/* Every status of the store is checked here. */
static bool is_ok(struct index_script *script, enum bb_status status)
{
    if (status == BB_OK)
        return true;
    script->failure_count++;
    script->failures[(unsigned)status % 16]++;
    if (bb_error_last()->status != status || bb_error_last()->message[0] == 0)
        snprintf(script->wrong, sizeof(script->wrong), "\"%s\" without its message",
                 bb_status_name(status));
    return false;
}

/* The definition may exist already; after a failure its attributes may be missing. */
static void define(struct index_script *script, enum bb_status status)
{
    bool is_missing = status == BB_INVALID || status == BB_NOT_FOUND;
    if (status != BB_EXISTS && !(is_missing && script->failure_count > 0))
        (void)is_ok(script, status);
}

static void hear(void *context, const struct bb_event *event)
{
    struct index_script *script = context;
    script->errors_told += event->kind == BB_EVENT_ERROR || event->kind == BB_EVENT_RECOVERY ||
                           event->kind == BB_EVENT_DAMAGE;
}

void index_script_open(struct index_script *script)
{
    struct bb_db_options options = index_script_options(script->system);
    options.on_event = hear;
    options.event_context = script;
    if (script->db == NULL && !is_ok(script, bb_db_open(INDEX_SCRIPT_PATH, &options, &script->db)))
        script->db = NULL;
}

/* The probes of key filters by selections: an unreadable table filter is counted. */
static void count_damaged_filters(struct index_script *script)
{
    struct bb_db_stats stats;
    if (script->db == NULL)
        return;
    bb_db_stats(script->db, &stats);
    script->damaged_filters += stats.scan_reads.damaged_filters;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        script->damaged_filters += stats.level_reads[level].damaged_filters;
}

void index_script_close(struct index_script *script)
{
    count_damaged_filters(script);
    if (script->db != NULL)
        (void)is_ok(script, bb_db_close(script->db));
    script->db = NULL;
}

/* ---- rows ---- */

static size_t make_row(uint32_t n, uint32_t round, char row[100])
{
    return (size_t)snprintf(row, 100, "%u,user%u,round%u of some words", n % 7 * 50, n / 8, round);
}

static void put_rows(struct index_script *script, uint32_t first, uint32_t count, uint32_t round,
                     bool sync)
{
    char key[16];
    char row[100];
    for (uint32_t n = first; n < first + count && script->db != NULL; n++) {
        snprintf(key, sizeof(key), "%06u", n);
        struct bb_bytes value = bb_bytes_of(row, make_row(n, round, row));
        (void)is_ok(script, bb_db_put(script->db, &(struct bb_write_options){.sync = sync},
                                      bb_bytes_of_text(key), value));
    }
}

static enum bb_status build_table(struct index_script *script)
{
    char key[16];
    char row[100];
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = script->system};
    enum bb_status status = bb_table_builder_create(INDEX_SCRIPT_TABLE_PATH, &options, &builder);
    for (uint32_t n = 30; n < 60 && status == BB_OK; n++) {
        snprintf(key, sizeof(key), "%06u", n);
        struct bb_entry entry = {.key = bb_bytes_of_text(key), .kind = BB_ENTRY_PUT};
        entry.value = bb_bytes_of(row, make_row(n, 8, row));
        status = bb_table_builder_add(builder, &entry);
    }
    if (status == BB_OK)
        status = bb_table_builder_finish(builder, NULL);
    bb_table_builder_destroy(builder);
    return status;
}

static void ingest(struct index_script *script)
{
    const char *path = INDEX_SCRIPT_TABLE_PATH;
    if (script->db == NULL || !is_ok(script, build_table(script)))
        return;
    (void)is_ok(script, bb_db_ingest(script->db, &path, 1, NULL));
    (void)is_ok(script, script->system->ops->remove(script->system, path));
}

/* ---- selections ---- */

static enum bb_status count_rows(struct index_script *script, const char *where, bool without,
                                 uint64_t *ret_count)
{
    struct bb_select_account account = {0};
    struct bb_select_options options = {.where = where, .ignore_indexes = without};
    enum bb_status status = bb_db_select_count(script->db, &options, ret_count, &account);
    script->damaged_indexes += account.damaged_indexes;
    return status;
}

static void select_one(struct index_script *script, const char *where)
{
    uint64_t with = 0;
    uint64_t without = 0;
    enum bb_status status = count_rows(script, where, false, &with);
    /* Without the attributes no query is possible. */
    if (status == BB_INVALID && script->failure_count > 0)
        return;
    if (!is_ok(script, status) || !is_ok(script, count_rows(script, where, true, &without)))
        return;
    script->selections++;
    if (with != without)
        snprintf(script->wrong, sizeof(script->wrong), "%s: %llu with indexes, %llu without", where,
                 (unsigned long long)with, (unsigned long long)without);
}

void index_script_select(struct index_script *script)
{
    static const char *const conditions[] = {"number = 100", "NOT (number > 100)",
                                             "name = 'user3' OR number = 250",
                                             "has_token(text, 'round2')", "text LIKE '%ound8%'"};
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]) && script->db != NULL; i++)
        select_one(script, conditions[i]);
}

/* ---- indexes ---- */

static void create_attributes(struct index_script *script)
{
    static const char *const definitions[] = {"number u64 = csv(1)", "name bytes = csv(2)",
                                              "text bytes = csv(3)"};
    for (size_t i = 0; i < 3 && script->db != NULL; i++)
        define(script, bb_db_attribute_create(script->db, definitions[i]));
}

static void create_indexes(struct index_script *script)
{
    static const char *const indexes[][2] = {
        {"numbers", "set(number, values=100)"},    {"bounds", "min_max(number)"},
        {"names", "values(name, rate=0.01)"},      {"words", "tokens(text, rate=0.01)"},
        {"pieces", "ngrams(text, n=3, rate=0.1)"}, {"text", "text(text, counts=yes)"}};
    for (size_t i = 0; i < 6 && script->db != NULL; i++)
        define(script, bb_db_index_create(script->db, indexes[i][0], indexes[i][1]));
}

static void materialize(struct index_script *script, bool rebuild)
{
    struct bb_materialize_options options = {.rebuild = rebuild};
    if (script->db != NULL)
        (void)is_ok(script, bb_db_index_materialize(script->db, &options));
}

/* Then materializing removes the index files. */
static void drop_indexes(struct index_script *script)
{
    static const char *const names[] = {"numbers", "names", "words", "pieces", "text"};
    for (size_t i = 0; i < 5 && script->db != NULL; i++)
        define(script, bb_db_index_drop(script->db, names[i]));
}

static void flush(struct index_script *script)
{
    if (script->db != NULL)
        (void)is_ok(script, bb_db_flush(script->db));
}

/* Builds the files that flushes deferred. */
static void wait(struct index_script *script)
{
    if (script->db != NULL)
        (void)is_ok(script, bb_db_wait_idle(script->db));
}

static void list(struct index_script *script)
{
    struct bb_db_index_list list = {0};
    if (script->db == NULL || !is_ok(script, bb_db_index_list(script->db, &list)))
        return;
    for (size_t i = 0; i < list.count; i++)
        script->errors_told += list.indexes[i].tables_unreadable;
    bb_db_index_list_deinit(&list);
}

/* ---- the whole ---- */

static void make_checkpoint(struct index_script *script)
{
    struct bb_db_options options = index_script_options(script->system);
    struct bb_db *original = script->db;
    if (original == NULL || !is_ok(script, bb_db_checkpoint(original, INDEX_SCRIPT_COPY_PATH)))
        return;
    options.create_if_missing = false;
    if (is_ok(script, bb_db_open(INDEX_SCRIPT_COPY_PATH, &options, &script->db))) {
        index_script_select(script);
        count_damaged_filters(script);
        (void)is_ok(script, bb_db_close(script->db));
    }
    script->db = original;
    struct bb_db_destroy_report report = {0};
    if (is_ok(script, bb_db_destroy(INDEX_SCRIPT_COPY_PATH, &options, &report)))
        script->failure_count += report.unreadable + !report.directory_removed;
}

static void first_part(struct index_script *script)
{
    index_script_open(script);
    create_attributes(script);
    put_rows(script, 0, 25, 1, false);
    flush(script);
    create_indexes(script);
    put_rows(script, 20, 25, 2, false);
    flush(script);
    index_script_select(script);
    materialize(script, false);
    index_script_select(script);
    if (script->db != NULL)
        define(script, bb_db_index_drop(script->db, "bounds"));
    put_rows(script, 10, 10, 3, false);
    index_script_close(script);
}

/* The log has rows: the opening builds an index file. */
static void second_part(struct index_script *script)
{
    index_script_open(script);
    index_script_select(script);
    put_rows(script, 15, 10, 3, false);
    flush(script);
    put_rows(script, 40, 10, 4, true);
    flush(script);
    wait(script);
    put_rows(script, 45, 10, 4, true);
    if (script->db != NULL)
        (void)is_ok(script, bb_db_compact(script->db));
    ingest(script);
    materialize(script, true);
    make_checkpoint(script);
    list(script);
    index_script_select(script);
    drop_indexes(script);
    materialize(script, true);
    index_script_select(script);
}

void index_script_run(struct index_script *script)
{
    first_part(script);
    second_part(script);
    count_damaged_filters(script);
}

void index_script_go_on(struct index_script *script)
{
    put_rows(script, 60, 3, 5, true);
    flush(script);
    create_attributes(script);
    create_indexes(script);
    materialize(script, false);
    index_script_select(script);
}
