/* Many gets at once: what waiting they have in common is done together.
 *
 *     memtables      every key
 *     summaries      of all runs, for every key that is left; what they look at is fetched ahead
 *     run by run     newest first, for every key that is left:
 *                        index and filters -> the blocks that are asked for, sorted by file and
 *                        offset -> those in memory searched, the others announced to the system
 *                        -> these read and searched
 *
 * A key that was found takes no part in what follows, so that each visit, request and count is that
 * of a single get; only what summaries not yet reached have answered ahead is not counted.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"
#include "kv/call_options.h"
#include "kv/memtable/memtable.h"
#include "kv/store.h"
#include "sstable/table_visit.h"

#define GROUP_KEYS 1024
/* Runs whose summaries are asked ahead: one bit each. */
#define RUNS_AHEAD 64
/* Keys for which their memory is fetched before the first is asked. */
#define KEYS_AHEAD 16
/* Blocks that the system is to fetch at a time. */
#define BLOCKS_AHEAD 128

/* One key on its way. */
struct question {
    struct bb_bytes key;
    uint64_t hash;
    uint64_t denied; /* bit r: the summary of run r says no */
    struct bb_buf *value;
    bool is_decided;
    enum bb_status status; /* once decided */
    uint64_t table_number; /* of the run in hand: where the block is */
    struct bb_table_visit visit;
};

/* One call. */
struct lookup {
    struct bb_db *db;
    const struct bb_get_call *options;
    uint64_t sequence;
    struct bb_reader *reader;
    const struct bb_levels *levels;
    struct question *questions; /* of the group */
    size_t first;               /* its first one among the call's keys */
    size_t count;
    struct question **pending; /* those whose blocks are to be read */
    size_t pending_count;
    struct bb_read_stats reads[BB_LEVEL_COUNT];
    struct bb_buf scratch;   /* for values that nobody wants */
    struct bb_error failure; /* the first; BB_OK: none */
};

static void decide(struct question *question, enum bb_status status)
{
    question->is_decided = true;
    question->status = status;
}

static void fail(struct lookup *lookup, struct question *question, enum bb_status status)
{
    decide(question, status);
    if (lookup->failure.status == BB_OK)
        lookup->failure = *bb_error_last();
}

/* ---- memtables ---- */

static void ask_memtable(struct lookup *lookup, const struct bb_write_buffer *buffer,
                         struct question *question)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    uint64_t sequence = 0;
    lookup->reader->counts.memtable_visits++;
    enum bb_status status = bb_memtable_get(buffer->memtable, question->key, question->hash,
                                            lookup->sequence, &value, &kind, &sequence);
    if (status == BB_NOT_FOUND)
        return;
    if (status == BB_OK) {
        lookup->reader->counts.memtable_hits++;
        status = kind == BB_ENTRY_PUT ? bb_buf_assign(question->value, value) : BB_NOT_FOUND;
    }
    if (status == BB_OK || status == BB_NOT_FOUND)
        decide(question, status);
    else
        fail(lookup, question, status);
}

static void ask_memtables(struct lookup *lookup, const struct bb_view *view)
{
    for (size_t q = 0; q < lookup->count; q++) {
        struct question *question = &lookup->questions[q];
        if (!question->is_decided)
            ask_memtable(lookup, view->active, question);
        for (size_t i = 0; i < view->frozen_count && !question->is_decided; i++)
            ask_memtable(lookup, view->frozen[i], question);
    }
}

/* ---- runs: of level 0, then of the deeper ones, newest first ---- */

static const struct bb_run *run_of(const struct bb_levels *levels, size_t run, int *ret_level)
{
    int level = 0;
    while (run >= levels->levels[level].run_count)
        run -= levels->levels[level++].run_count;
    *ret_level = level;
    return bb_levels_run(levels, level, run);
}

/* The table of the run that may hold the key, borrowed, or NULL. */
static struct bb_table_file *table_of(const struct bb_levels *levels, size_t run,
                                      struct bb_bytes key)
{
    int level = 0;
    return bb_run_find(run_of(levels, run, &level), levels->comparator, key);
}

/* The open table of the run that may hold the key, or NULL: one that is not open yet is asked in its
 * turn. */
static struct bb_table *open_table_of(const struct bb_levels *levels, size_t run,
                                      struct bb_bytes key)
{
    struct bb_table_file *file = table_of(levels, run, key);
    return file == NULL ? NULL : atomic_load_explicit(&file->table, memory_order_acquire);
}

/* First what the questions look at is fetched for some keys, then they are asked. */
static void ask_summaries_of(struct lookup *lookup, struct question *questions, size_t count,
                             size_t runs)
{
    struct bb_table *tables[KEYS_AHEAD][RUNS_AHEAD];
    for (size_t q = 0; q < count; q++) {
        for (size_t run = 0; run < runs && !questions[q].is_decided; run++) {
            tables[q][run] = open_table_of(lookup->levels, run, questions[q].key);
            if (tables[q][run] != NULL)
                bb_table_prefetch(tables[q][run], questions[q].hash);
        }
    }
    for (size_t q = 0; q < count; q++) {
        struct question *question = &questions[q];
        for (size_t run = 0; run < runs && !question->is_decided; run++) {
            if (tables[q][run] != NULL && bb_table_denies(tables[q][run], &lookup->options->read,
                                                          question->key, question->hash))
                question->denied |= UINT64_C(1) << run;
        }
    }
}

static void ask_summaries(struct lookup *lookup)
{
    size_t runs = bb_levels_run_count(lookup->levels);
    if (runs > RUNS_AHEAD)
        runs = RUNS_AHEAD;
    for (size_t first = 0; first < lookup->count; first += KEYS_AHEAD) {
        size_t left = lookup->count - first;
        ask_summaries_of(lookup, &lookup->questions[first], left < KEYS_AHEAD ? left : KEYS_AHEAD,
                         runs);
    }
}

static enum bb_status begin_visit(struct lookup *lookup, struct question *question,
                                  struct bb_table_file *file, struct bb_read_stats *stats)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_visit_begin(table, &lookup->options->read, question->key, question->hash,
                                      lookup->sequence, stats, &question->visit);
    question->table_number = file->number;
    return status;
}

static void ask_index(struct lookup *lookup, struct question *question, size_t run,
                      struct bb_read_stats *stats)
{
    if (run < RUNS_AHEAD && (question->denied >> run & 1) != 0) {
        stats->avoided_requests++;
        stats->visits[BB_VISIT_SUMMARY_NEGATIVE]++;
        return;
    }
    struct bb_table_file *file = table_of(lookup->levels, run, question->key);
    if (file == NULL)
        return;
    enum bb_status status = begin_visit(lookup, question, file, stats);
    if (status != BB_OK)
        fail(lookup, question, status);
    else if (!question->visit.has_ended)
        lookup->pending[lookup->pending_count++] = question;
    else if (question->visit.result == BB_VISIT_TOMBSTONE) /* of a range: no filter was asked */
        decide(question, BB_NOT_FOUND);
}

static int compare_places(const void *a, const void *b)
{
    const struct question *x = *(struct question *const *)a;
    const struct question *y = *(struct question *const *)b;
    if (x->table_number != y->table_number)
        return x->table_number < y->table_number ? -1 : 1;
    if (x->visit.block_offset != y->visit.block_offset)
        return x->visit.block_offset < y->visit.block_offset ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void take_visit(struct lookup *lookup, struct question *question, enum bb_status status)
{
    if (status != BB_OK)
        fail(lookup, question, status);
    else if (question->visit.result == BB_VISIT_PRESENT)
        decide(question, BB_OK);
    else if (question->visit.result == BB_VISIT_TOMBSTONE)
        decide(question, BB_NOT_FOUND);
}

static void try_block(struct lookup *lookup, struct question *question, struct bb_read_stats *stats)
{
    enum bb_status status =
        bb_table_visit_try(&question->visit, &lookup->options->read, question->key,
                           lookup->sequence, stats, question->value);
    if (question->visit.has_ended)
        take_visit(lookup, question, status);
}

static void read_block(struct lookup *lookup, struct question *question,
                       struct bb_read_stats *stats)
{
    enum bb_status status =
        bb_table_visit_end(&question->visit, &lookup->options->read, question->key,
                           lookup->sequence, stats, question->value);
    take_visit(lookup, question, status);
}

static bool is_same_block(const struct question *a, const struct question *b)
{
    return a->table_number == b->table_number && a->visit.block_offset == b->visit.block_offset;
}

/* What has to wait stands at the front of the same list, in its order, [first, end). Who asks for
 * the block that the last of them waits for waits behind it: there it may come from the cache. */
static void read_blocks(struct lookup *lookup, struct bb_read_stats *stats)
{
    struct question **pending = lookup->pending;
    size_t first = 0;
    size_t end = 0;
    for (size_t i = 0; i < lookup->pending_count; i++) {
        struct question *question = pending[i];
        if (end - first == BLOCKS_AHEAD)
            read_block(lookup, pending[first++], stats);
        if (first == end || !is_same_block(pending[end - 1], question))
            try_block(lookup, question, stats);
        if (!question->visit.has_ended)
            pending[end++] = question;
    }
    while (first < end)
        read_block(lookup, pending[first++], stats);
}

static void ask_run(struct lookup *lookup, size_t run)
{
    int level = 0;
    (void)run_of(lookup->levels, run, &level);
    struct bb_read_stats *stats = &lookup->reads[level];
    lookup->pending_count = 0;
    for (size_t q = 0; q < lookup->count; q++) {
        if (!lookup->questions[q].is_decided)
            ask_index(lookup, &lookup->questions[q], run, stats);
    }
    qsort(lookup->pending, lookup->pending_count, sizeof(struct question *), compare_places);
    if (lookup->pending_count == 1)
        read_block(lookup, lookup->pending[0], stats);
    else
        read_blocks(lookup, stats);
}

/* ---- groups ---- */

static void begin_group(struct lookup *lookup, const struct bb_bytes *keys, size_t count,
                        struct bb_buf *values)
{
    lookup->count = count;
    for (size_t i = 0; i < count; i++) {
        struct question *question = &lookup->questions[i];
        *question = (struct question){.key = keys[i],
                                      .value = values == NULL ? &lookup->scratch : &values[i]};
        if (keys[i].size <= BB_KEY_SIZE_MAX)
            question->hash = bb_hash_key(&lookup->db->secret, keys[i]);
        else
            fail(lookup, question,
                 bb_fail(BB_TOO_LARGE, "key %zu has %zu bytes: the limit is %d", lookup->first + i,
                         keys[i].size, BB_KEY_SIZE_MAX));
    }
}

static void end_group(struct lookup *lookup, enum bb_status *statuses)
{
    struct bb_reader_counts *counts = &lookup->reader->counts;
    for (size_t i = 0; i < lookup->count; i++) {
        struct question *question = &lookup->questions[i];
        statuses[i] = question->is_decided ? question->status : BB_NOT_FOUND;
        counts->gets += statuses[i] != BB_TOO_LARGE;
        counts->gets_found += statuses[i] == BB_OK;
    }
}

static void ask_group(struct lookup *lookup, const struct bb_view *view)
{
    ask_memtables(lookup, view);
    ask_summaries(lookup);
    for (size_t run = 0; run < bb_levels_run_count(lookup->levels); run++)
        ask_run(lookup, run);
}

static void count_reads(struct lookup *lookup)
{
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        bb_read_stats_add(&lookup->reader->counts.level_reads[level], &lookup->reads[level]);
        if (lookup->options->stats != NULL)
            bb_read_stats_add(lookup->options->stats, &lookup->reads[level]);
    }
}

static void run(struct lookup *lookup, const struct bb_bytes *keys, size_t count,
                struct bb_buf *values, enum bb_status *statuses)
{
    struct bb_view *view = NULL;
    const struct bb_snapshot *snapshot = lookup->options->snapshot;
    lookup->reader = bb_readers_enter(&lookup->db->readers, &view);
    lookup->levels = view->levels;
    /* The view before the sequence: see lookup.c. */
    lookup->sequence =
        snapshot != NULL ? snapshot->sequence : bb_view_sequence(view, &lookup->db->last_sequence);
    for (size_t first = 0; first < count; first += GROUP_KEYS) {
        size_t size = count - first < GROUP_KEYS ? count - first : GROUP_KEYS;
        lookup->first = first;
        begin_group(lookup, keys + first, size, values == NULL ? NULL : values + first);
        ask_group(lookup, view);
        end_group(lookup, statuses + first);
    }
    count_reads(lookup);
    bb_reader_leave(lookup->reader);
}

static enum bb_status refuse(enum bb_status status, size_t count, enum bb_status *statuses)
{
    for (size_t i = 0; i < count; i++)
        statuses[i] = status;
    return status;
}

enum bb_status bb_db_get_many(struct bb_db *db, const struct bb_get_options *options,
                              const struct bb_bytes *keys, size_t count, struct bb_buf *values,
                              enum bb_status *statuses)
{
    struct bb_get_call call;
    struct lookup lookup = {.db = db, .options = &call};
    size_t group = count < GROUP_KEYS ? count : GROUP_KEYS;
    if (count == 0)
        return BB_OK;
    enum bb_status status = bb_call_options_get(options, &call);
    if (status != BB_OK)
        return refuse(status, count, statuses);
    lookup.questions = bb_alloc_zeroed(group, sizeof(*lookup.questions));
    lookup.pending = bb_alloc_zeroed(group, sizeof(struct question *));
    if (lookup.questions != NULL && lookup.pending != NULL)
        run(&lookup, keys, count, values, statuses);
    else
        status = refuse(bb_fail(BB_NO_MEMORY, "no memory for %zu look-ups at once", count), count,
                        statuses);
    bb_buf_deinit(&lookup.scratch);
    bb_free(lookup.questions);
    bb_free(lookup.pending);
    if (status == BB_OK && lookup.failure.status != BB_OK)
        return bb_error_restore(&lookup.failure);
    return status;
}
