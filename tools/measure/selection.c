/* See selection.h. */
#include "tools/measure/selection.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "tools/output/clock.h"
#include "tools/output/interrupt.h"
#include "tools/keys/key_reader.h"
#include "tools/measure/read_stats.h"
#include "tools/records/caret.h"

/* ---- the file of conditions ---- */

static enum bb_status read_lines(struct selections *selections, struct key_reader *reader)
{
    struct key_record line = {0};
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        status = key_reader_next(reader, &line);
        if (status != BB_OK || line.value.size == 0 || line.value.data[0] == '#')
            continue;
        if (memchr(line.value.data, '\0', line.value.size) != NULL)
            return bb_fail(BB_INVALID, "%s: line %llu holds a zero byte", line.path,
                           (unsigned long long)line.line);
        status = bb_buf_append(&selections->text, line.value.data, line.value.size);
        if (status == BB_OK)
            status = bb_buf_append(&selections->text, "", 1);
        selections->count++;
    }
    return status == BB_NOT_FOUND ? BB_OK : status;
}

enum bb_status selections_read(struct selections *selections, const char *path)
{
    char *paths[] = {(char *)(uintptr_t)path};
    struct key_reader reader;
    key_reader_init(&reader, paths, 1);
    reader.is_value = true;
    reader.value_size_max = BB_CONDITION_SIZE_MAX;
    enum bb_status status = key_reader_check(&reader);
    if (status == BB_OK)
        status = read_lines(selections, &reader);
    key_reader_deinit(&reader);
    if (status == BB_OK && selections->count == 0)
        status = bb_fail(BB_INVALID, "%s holds no conditions", path);
    if (status != BB_OK)
        return status;
    selections->list = bb_alloc_zeroed(selections->count, sizeof(*selections->list));
    selections->mismatches = json_array();
    if (selections->list == NULL || selections->mismatches == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu conditions", selections->count);
    const char *where = (const char *)selections->text.data;
    for (size_t i = 0; i < selections->count; i++) {
        selections->list[i].where = where;
        where += strlen(where) + 1;
    }
    return BB_OK;
}

void selections_deinit(struct selections *selections)
{
    bb_buf_deinit(&selections->text);
    bb_free(selections->list);
    json_decref(selections->mismatches);
}

/* ---- one run ---- */

static bool go_on(void *context, const struct bb_select_account *account)
{
    (void)context;
    (void)account;
    return !interrupt_is_wanted();
}

static enum bb_status select_records(struct bb_db *db, const struct bb_select_options *options,
                                     struct selection_run *run)
{
    struct bb_select *select = NULL;
    bool has_record = true;
    enum bb_status status = bb_db_select(db, options, &select);
    while (status == BB_OK && has_record) {
        status = bb_select_next(select, &has_record);
        if (status != BB_OK || !has_record)
            break;
        run->hash = run->hash * 31 + bb_hash_xxh64(bb_select_key(select));
        run->records++;
    }
    if (select != NULL)
        bb_select_account(select, &run->account);
    struct bb_error failure = *bb_error_last();
    bb_select_destroy(select);
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

static enum bb_status run_once(struct selections *selections, const char *where,
                               enum selection_run_kind kind, struct selection_run *run)
{
    struct bb_select_options options = {
        .where = where, .ignore_indexes = kind == SELECTION_UNINDEXED, .progress = go_on};
    *run = (struct selection_run){0};
    if (kind == SELECTION_COUNTED)
        return bb_db_select_count(selections->db, &options, &run->records, &run->account);
    return select_records(selections->db, &options, run);
}

/* Runs a condition and counts its work. An earlier run must have opened the tables and index files,
 * because opening them would count as work. */
static enum bb_status run_measured(struct selections *selections, const char *where,
                                   enum selection_run_kind kind, struct selection_run *run)
{
    struct system_counters *counters = &selections->counters;
    struct bb_db_stats before = {0};
    struct bb_db_stats after = {0};
    struct system_reading start = {0};
    bb_db_stats(selections->db, &before);
    bool has_system = system_counters_are_available(counters);
    if (has_system)
        start = system_counters_read(counters);
    uint64_t begin = clock_now();
    enum bb_status status = run_once(selections, where, kind, run);
    run->nanoseconds = clock_now() - begin;
    if (has_system && system_counters_are_available(counters)) {
        run->system = system_counters_between(counters, start, system_counters_read(counters));
        run->has_system = system_counters_are_available(counters);
    }
    bb_db_stats(selections->db, &after);
    run->engine_reads = after.system_reads - before.system_reads;
    struct bb_read_stats scans = read_stats_between(&before.scan_reads, &after.scan_reads);
    run->other_reads = read_stats_preads(&scans);
    return status;
}

static enum bb_status execute(struct selections *selections, struct selection *selection)
{
    enum bb_status status = BB_OK;
    for (int kind = 0; kind < SELECTION_RUN_COUNT && status == BB_OK; kind++) {
        struct selection_run *run = &selection->runs[kind];
        status = run_once(selections, selection->where, (enum selection_run_kind)kind, run);
        if (status == BB_OK)
            status = run_measured(selections, selection->where, (enum selection_run_kind)kind, run);
    }
    return status;
}

/* ---- all of them ---- */

/* Parses all conditions, so that a mistake is reported before the first measurement. */
static enum bb_status check_conditions(struct selections *selections)
{
    struct bb_schema *schema = NULL;
    enum bb_status status = bb_db_schema(selections->db, &schema);
    for (size_t i = 0; i < selections->count && status == BB_OK; i++) {
        struct bb_condition *condition = NULL;
        status = caret_parse_condition(schema, selections->list[i].where, &condition);
        bb_condition_destroy(condition);
    }
    bb_schema_destroy(schema);
    return status;
}

static enum bb_status execute_all(struct selections *selections)
{
    struct progress progress;
    enum bb_status status = check_conditions(selections);
    progress_start(&progress, "measuring", selections->count, false);
    for (size_t i = 0; i < selections->count && status == BB_OK; i++) {
        status = execute(selections, &selections->list[i]);
        if (status == BB_OK)
            selection_check(selections, &selections->list[i]);
        progress_add(&progress, 1);
    }
    progress_stop(&progress);
    return status;
}

enum bb_status selections_execute(struct selections *selections, const char *directory)
{
    enum bb_status status = store_open_to_read(selections->store, directory, &selections->db);
    if (status != BB_OK)
        return status;
    interrupt_watch();
    system_counters_open(&selections->counters);
    if (selections->no_system)
        system_counters_disable(&selections->counters, "not wanted");
    status = execute_all(selections);
    system_counters_close(&selections->counters);
    struct bb_error failure = *bb_error_last();
    enum bb_status closed = bb_db_close(selections->db);
    selections->db = NULL;
    return status == BB_OK ? closed : bb_error_restore(&failure);
}
