/* A get with a report: takes the same steps as lookup.c, in the same order, and records the
 * results. */
#include "bb/db_explain.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/counter.h"
#include "base/status.h"
#include "kv/call_options.h"
#include "kv/manifest/filename.h"
#include "kv/memtable/memtable.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"
#include "sstable/entry.h"

/* State of one lookup. */
struct explaining {
    struct bb_db *db;
    struct bb_get_call options;
    struct bb_bytes key;
    uint64_t hash;
    struct bb_buf *value;
    struct bb_reader *reader;
    bool is_decided; /* a value or a tombstone was found */
    struct bb_explain *explain;
    size_t step_capacity;
};

/* Adds a step to the report. Call before the lookup that it describes, so that no allocation can
 * fail after the lookup. */
static enum bb_status next_step(struct explaining *e, enum bb_explain_kind kind, int level,
                                struct bb_explain_step **ret_step)
{
    struct bb_explain *explain = e->explain;
    enum bb_status status =
        bb_array_reserve(&explain->steps, explain->step_count, &e->step_capacity,
                         sizeof(*explain->steps), "steps of a lookup");
    if (status != BB_OK)
        return status;
    struct bb_explain_step *step = &explain->steps[explain->step_count++];
    *step = (struct bb_explain_step){.kind = kind, .level = level};
    *ret_step = step;
    return BB_OK;
}

static void decide(struct explaining *e, struct bb_explain_step *step, bool is_present,
                   uint64_t sequence)
{
    step->found = is_present ? BB_EXPLAIN_VALUE : BB_EXPLAIN_TOMBSTONE;
    step->sequence = sequence;
    e->is_decided = true;
    e->explain->is_found = is_present;
}

static enum bb_status ask_memtable(struct explaining *e, struct bb_write_buffer *buffer,
                                   size_t number)
{
    struct bb_explain_step *step = NULL;
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    uint64_t sequence = 0;
    enum bb_status status = next_step(e, BB_EXPLAIN_MEMTABLE, -1, &step);
    if (status != BB_OK)
        return status;
    step->memtable = number;
    e->explain->memtable_visits++;
    bb_counter_add(&e->reader->counts.memtable_visits, 1);
    status = bb_memtable_get(buffer->memtable, e->key, e->hash, e->explain->sequence, &value, &kind,
                             &sequence);
    if (status != BB_OK)
        return status == BB_NOT_FOUND ? BB_OK : status;
    bb_counter_add(&e->reader->counts.memtable_hits, 1);
    decide(e, step, kind == BB_ENTRY_PUT, sequence);
    return kind == BB_ENTRY_PUT ? bb_buf_assign(e->value, value) : BB_OK;
}

static enum bb_status name_table(struct explaining *e, int level, const struct bb_table_file *file,
                                 struct bb_explain_step **ret_step)
{
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(e->db->directory, BB_FILE_TABLE, file->number, path);
    enum bb_status status = next_step(e, BB_EXPLAIN_TABLE, level, ret_step);
    if (status != BB_OK)
        return status;
    (*ret_step)->path = bb_strdup(path);
    return (*ret_step)->path != NULL ? BB_OK : bb_fail(BB_NO_MEMORY, "no memory for a path");
}

static void add_reads(struct explaining *e, int level, const struct bb_read_stats *reads)
{
    bb_readers_add_stats(&e->explain->reads, reads);
    bb_readers_add_stats(&e->reader->counts.level_reads[level], reads);
    if (e->options.stats != NULL)
        bb_readers_add_stats(e->options.stats, reads);
}

static enum bb_status ask_table(struct explaining *e, int level, struct bb_table_file *file)
{
    struct bb_explain_step *step = NULL;
    struct bb_table *table = NULL;
    struct bb_read_stats reads = {0};
    enum bb_status status = name_table(e, level, file, &step);
    if (status != BB_OK)
        return status;
    step->was_opened = atomic_load_explicit(&file->table, memory_order_acquire) == NULL;
    e->explain->tables_opened += step->was_opened;
    status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_explain(table, &e->options.read, e->key, e->hash, e->explain->sequence,
                                  &reads, e->value, &step->table);
    add_reads(e, level, &reads);
    if (status != BB_OK)
        return status;
    if (step->table.visit == BB_VISIT_PRESENT || step->table.visit == BB_VISIT_TOMBSTONE)
        decide(e, step, step->table.visit == BB_VISIT_PRESENT, step->table.sequence);
    return BB_OK;
}

/* A run of level 0 is one table. The report names it even if its bounds do not contain the key. */
static enum bb_status ask_turn(struct explaining *e, const struct bb_run_turn *turn)
{
    struct bb_explain_step *step = NULL;
    struct bb_table_file *file = bb_run_find(turn->run, e->db->options.comparator, e->key);
    if (file != NULL)
        return ask_table(e, turn->level, file);
    if (turn->level > 0)
        return next_step(e, BB_EXPLAIN_NO_TABLE, turn->level, &step);
    enum bb_status status = name_table(e, 0, turn->run->files[0], &step);
    if (status == BB_OK)
        step->table.visit = BB_VISIT_OUT_OF_BOUNDS;
    return status;
}

/* Checks each run, newest first, until one decides. */
static enum bb_status ask_runs(struct explaining *e, const struct bb_view *view)
{
    enum bb_status status = BB_OK;
    for (size_t run = 0; run < bb_view_run_count(view) && status == BB_OK && !e->is_decided; run++)
        status = run < view->buffer_count ? ask_memtable(e, view->buffers[run], run)
                                          : ask_turn(e, bb_view_turn(view, run));
    return status;
}

static enum bb_status run(struct explaining *e)
{
    struct bb_view *view = NULL;
    const struct bb_snapshot *snapshot = e->options.snapshot;
    e->reader = bb_readers_enter(&e->db->readers, &view);
    /* The view must be loaded before the sequence: see lookup.c. */
    e->explain->sequence =
        snapshot != NULL ? snapshot->sequence : bb_view_sequence(view, &e->db->last_sequence);
    enum bb_status status = ask_runs(e, view);
    bb_counter_add(&e->reader->counts.gets, 1);
    bb_counter_add(&e->reader->counts.gets_found, status == BB_OK && e->explain->is_found);
    bb_reader_leave(e->reader);
    return status;
}

enum bb_status bb_db_explain(struct bb_db *db, const struct bb_get_options *options,
                             struct bb_bytes key, struct bb_buf *value,
                             struct bb_explain *ret_explain)
{
    struct bb_buf scratch = {0};
    struct bb_explain explain = {0};
    struct explaining e = {.db = db,
                           .key = key,
                           .value = value != NULL ? value : &scratch,
                           .options = bb_call_options_get(options),
                           .explain = &explain};
    enum bb_status status = bb_inherited_check(db);
    if (status == BB_OK)
        status = bb_entry_check_key(key);
    if (status != BB_OK)
        return status;
    e.hash = bb_hash_key(&db->secret, key);
    status = run(&e);
    bb_buf_deinit(&scratch);
    if (status == BB_OK)
        *ret_explain = explain;
    else
        bb_explain_deinit(&explain);
    return status;
}

void bb_explain_deinit(struct bb_explain *explain)
{
    if (explain == NULL)
        return;
    for (size_t i = 0; i < explain->step_count; i++)
        bb_free(explain->steps[i].path);
    bb_free(explain->steps);
    *explain = (struct bb_explain){0};
}
