/* Many gets in one call, which wait for their reads together.
 *
 *     window of 64   memtables, for every key; then the ready table filters of all runs, prefetched
 *                    (denials.h). Nearly all absent keys end here
 *     group of 1024  for the remaining keys, run by run, newest first:
 *                        index and filters -> the required blocks, sorted by file and offset
 *                        -> blocks in memory are searched, the others are announced to the system
 *                        -> the announced blocks are read and searched
 *
 * A key that was found is skipped from then on, so that all visits, requests and counts equal those
 * for single gets. Probes of table filters beyond that point are not counted.
 */
#include "base/alloc.h"
#include "base/counter.h"
#include "base/status.h"
#include "kv/call_options.h"
#include "kv/memtable/memtable.h"
#include "kv/read/denials.h"
#include "kv/read/shadow.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"
#include "sstable/table/read_options.h"

#define GROUP_KEYS 1024
/* The number of blocks that the system reads ahead. */
#define BLOCKS_AHEAD 128

/* State of one key during the lookup. */
struct question {
    struct bb_table_question ask;
    struct bb_table_lookup in_table; /* of the current run */
    /* Bit r is run r; see denials.h. */
    uint64_t outside;
    uint64_t denied;
    uint64_t let_through;
    enum bb_status *status; /* set when decided */
    bool is_decided;
    uint64_t table_number; /* in the current run */
};

/* Keys that no memtable has decided. */
struct window {
    struct bb_bytes keys[BB_DENIALS_KEYS];
    uint64_t hashes[BB_DENIALS_KEYS];
    size_t indexes[BB_DENIALS_KEYS]; /* indexes in the call's arrays */
    size_t count;
};

/* State of one call. */
struct lookup {
    struct bb_db *db;
    const struct bb_get_call *options;
    const struct bb_bytes *keys;
    size_t count;
    struct bb_buf *values; /* NULL: values are not needed */
    enum bb_status *statuses;
    uint64_t sequence;
    struct bb_reader *reader;
    const struct bb_levels *levels;
    struct bb_shadow *shadow;   /* NULL: filters are trusted */
    struct question *questions; /* of the group */
    size_t question_count;
    struct question **pending; /* questions whose blocks must be read */
    size_t pending_count;
    struct bb_read_stats reads[BB_LEVEL_COUNT];
    struct bb_buf scratch;   /* for unneeded values */
    struct bb_error failure; /* the first failure; BB_OK until then */
};

static struct bb_buf *value_of(struct lookup *lookup, size_t index)
{
    return lookup->values == NULL ? &lookup->scratch : &lookup->values[index];
}

static enum bb_status note(struct lookup *lookup, enum bb_status status)
{
    if (lookup->failure.status == BB_OK)
        lookup->failure = *bb_error_last();
    return status;
}

static void decide(struct question *question, enum bb_status status)
{
    question->is_decided = true;
    *question->status = status;
}

static void fail(struct lookup *lookup, struct question *question, enum bb_status status)
{
    decide(question, note(lookup, status));
}

/* ---- memtables ---- */

/* True when the memtable decides the key; *status is the result. */
static bool ask_memtable(struct lookup *lookup, const struct bb_write_buffer *buffer, size_t index,
                         uint64_t hash, enum bb_status *status)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    uint64_t sequence = 0;
    bb_counter_add(&lookup->reader->counts.memtable_visits, 1);
    if (!bb_memtable_may_contain(buffer->memtable, hash))
        return false;
    enum bb_status found = bb_memtable_get(buffer->memtable, lookup->keys[index], hash,
                                           lookup->sequence, &value, &kind, &sequence);
    if (found == BB_NOT_FOUND)
        return false;
    if (found == BB_OK) {
        bb_counter_add(&lookup->reader->counts.memtable_hits, 1);
        found = kind == BB_ENTRY_PUT ? bb_buf_assign(value_of(lookup, index), value) : BB_NOT_FOUND;
    }
    *status = found == BB_OK || found == BB_NOT_FOUND ? found : note(lookup, found);
    return true;
}

static bool ask_memtables(struct lookup *lookup, const struct bb_view *view, size_t index,
                          uint64_t hash)
{
    enum bb_status *status = &lookup->statuses[index];
    bool is_decided = ask_memtable(lookup, view->buffers[0], index, hash, status);
    for (size_t i = 1; i < view->buffer_count && !is_decided; i++)
        is_decided = ask_memtable(lookup, view->buffers[i], index, hash, status);
    return is_decided;
}

/* ---- windows ---- */

static void add_key(struct lookup *lookup, const struct bb_view *view, size_t index,
                    struct window *window)
{
    struct bb_bytes key = lookup->keys[index];
    if (key.size > BB_KEY_SIZE_MAX) {
        lookup->statuses[index] =
            note(lookup, bb_fail(BB_TOO_LARGE, "key %zu has %zu bytes: the limit is %d", index,
                                 key.size, BB_KEY_SIZE_MAX));
        return;
    }
    uint64_t hash = bb_hash_key(&lookup->db->secret, key);
    if (ask_memtables(lookup, view, index, hash))
        return;
    window->keys[window->count] = key;
    window->hashes[window->count] = hash;
    window->indexes[window->count++] = index;
}

/* Counts the visits of the keys that every run rules out. For the others, ask_index counts. */
static void count_denied(struct lookup *lookup, const struct bb_denials *denials)
{
    for (size_t run = 0; run < lookup->levels->turn_count && run < BB_DENIALS_RUNS; run++) {
        struct bb_read_stats *stats = &lookup->reads[lookup->levels->turns[run].level];
        uint64_t count = (uint64_t)__builtin_popcountll(denials->denied[run] & ~denials->open);
        bb_counter_add(&stats->avoided_requests, count);
        bb_counter_add(&stats->visits[BB_VISIT_TABLE_FILTER_NEGATIVE], count);
    }
}

static void take_denials(struct question *question, const struct bb_denials *denials, size_t key,
                         size_t runs)
{
    for (size_t run = 0; run < runs && run < BB_DENIALS_RUNS; run++) {
        question->outside |= (denials->outside[run] >> key & 1) << run;
        question->denied |= (denials->denied[run] >> key & 1) << run;
        question->let_through |= (denials->let_through[run] >> key & 1) << run;
    }
}

static void add_question(struct lookup *lookup, const struct window *window, size_t key,
                         const struct bb_denials *denials)
{
    struct question *question = &lookup->questions[lookup->question_count++];
    size_t index = window->indexes[key];
    *question = (struct question){.ask = {.options = lookup->options->read,
                                          .key = window->keys[key],
                                          .key_hash = window->hashes[key],
                                          .sequence = lookup->sequence,
                                          .value = value_of(lookup, index)},
                                  .status = &lookup->statuses[index]};
    if (denials != NULL)
        take_denials(question, denials, key, lookup->levels->turn_count);
}

static void ask_window(struct lookup *lookup, const struct bb_view *view, size_t first, size_t end)
{
    struct window window;
    struct bb_denials denials;
    window.count = 0;
    for (size_t index = first; index < end; index++)
        add_key(lookup, view, index, &window);
    if (window.count == 0)
        return;
    bool is_asked =
        bb_read_options_permit_denials(&lookup->options->read) && lookup->shadow == NULL;
    if (is_asked) {
        bb_denials_find(lookup->levels, window.keys, window.hashes, window.count, &denials);
        count_denied(lookup, &denials);
    }
    for (size_t key = 0; key < window.count; key++) {
        if (is_asked && (denials.open >> key & 1) == 0)
            lookup->statuses[window.indexes[key]] = BB_NOT_FOUND;
        else
            add_question(lookup, &window, key, is_asked ? &denials : NULL);
    }
}

/* ---- runs: of level 0, then of the deeper ones, newest first ---- */

static bool has_bit(uint64_t runs, size_t run)
{
    return run < BB_DENIALS_RUNS && (runs >> run & 1) != 0;
}

static enum bb_status begin(struct question *question, size_t run, struct bb_table_file *file,
                            struct bb_read_stats *stats)
{
    question->table_number = file->number;
    bb_table_lookup_init(&question->in_table, NULL, &question->ask, stats,
                         has_bit(question->let_through, run) ? BB_LOOKUP_LET_THROUGH
                                                             : BB_LOOKUP_NEW);
    enum bb_status status = bb_table_file_open(file, &question->in_table.table);
    return status == BB_OK ? bb_table_lookup_begin(&question->in_table) : status;
}

/* Takes the result of a lookup in a table that has ended. */
static void take_result(struct lookup *lookup, struct question *question, enum bb_status status)
{
    if (status != BB_OK)
        fail(lookup, question, status);
    else if (question->in_table.visit == BB_VISIT_PRESENT)
        decide(question, BB_OK);
    else if (question->in_table.visit == BB_VISIT_TOMBSTONE)
        decide(question, BB_NOT_FOUND);
}

static void ask_index(struct lookup *lookup, struct question *question, size_t run,
                      struct bb_read_stats *stats)
{
    if (has_bit(question->denied, run))
        bb_read_stats_add_denial(stats);
    if (has_bit(question->denied | question->outside, run))
        return;
    struct bb_table_file *file =
        bb_run_find(lookup->levels->turns[run].run, lookup->levels->comparator, question->ask.key);
    if (file == NULL)
        return;
    enum bb_status status = begin(question, run, file, stats);
    bool has_ended = status != BB_OK || question->in_table.state == BB_LOOKUP_ENDED;
    if (status == BB_OK && has_ended && lookup->shadow != NULL)
        status = bb_shadow_check(lookup->shadow, file, &question->in_table);
    if (has_ended) /* a range tombstone or the filters decided */
        take_result(lookup, question, status);
    else
        lookup->pending[lookup->pending_count++] = question;
}

static int compare_places(const void *a, const void *b)
{
    const struct question *x = *(struct question *const *)a;
    const struct question *y = *(struct question *const *)b;
    if (x->table_number != y->table_number)
        return x->table_number < y->table_number ? -1 : 1;
    if (x->in_table.block_offset != y->in_table.block_offset)
        return x->in_table.block_offset < y->in_table.block_offset ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void try_block(struct lookup *lookup, struct question *question)
{
    enum bb_status status = bb_table_lookup_try(&question->in_table);
    if (question->in_table.state == BB_LOOKUP_ENDED)
        take_result(lookup, question, status);
}

static void read_block(struct lookup *lookup, struct question *question)
{
    take_result(lookup, question, bb_table_lookup_end(&question->in_table));
}

static bool is_same_block(const struct question *a, const struct question *b)
{
    return a->table_number == b->table_number &&
           a->in_table.block_offset == b->in_table.block_offset;
}

/* Reads the blocks of all pending questions. [first, end) of the same list is a queue: the
 * questions whose block was announced to the system and is not read yet. A question about the block
 * that was announced last joins the queue without another announcement. The block is then in
 * memory. */
static void read_blocks(struct lookup *lookup)
{
    struct question **pending = lookup->pending;
    size_t first = 0;
    size_t end = 0;
    for (size_t i = 0; i < lookup->pending_count; i++) {
        struct question *question = pending[i];
        if (end - first == BLOCKS_AHEAD)
            read_block(lookup, pending[first++]);
        if (first == end || !is_same_block(pending[end - 1], question))
            try_block(lookup, question);
        if (question->in_table.state != BB_LOOKUP_ENDED)
            pending[end++] = question;
    }
    while (first < end)
        read_block(lookup, pending[first++]);
}

static void ask_run(struct lookup *lookup, size_t run)
{
    struct bb_read_stats *stats = &lookup->reads[lookup->levels->turns[run].level];
    lookup->pending_count = 0;
    for (size_t q = 0; q < lookup->question_count; q++) {
        if (!lookup->questions[q].is_decided)
            ask_index(lookup, &lookup->questions[q], run, stats);
    }
    if (lookup->pending_count == 0)
        return;
    qsort(lookup->pending, lookup->pending_count, sizeof(struct question *), compare_places);
    if (lookup->pending_count == 1)
        read_block(lookup, lookup->pending[0]);
    else
        read_blocks(lookup);
}

/* ---- groups ---- */

static void ask_group(struct lookup *lookup, const struct bb_view *view, size_t first, size_t end)
{
    lookup->question_count = 0;
    for (size_t key = first; key < end; key += BB_DENIALS_KEYS)
        ask_window(lookup, view, key, end - key < BB_DENIALS_KEYS ? end : key + BB_DENIALS_KEYS);
    for (size_t run = 0; run < lookup->levels->turn_count && lookup->question_count > 0; run++)
        ask_run(lookup, run);
    for (size_t q = 0; q < lookup->question_count; q++) {
        if (!lookup->questions[q].is_decided)
            decide(&lookup->questions[q], BB_NOT_FOUND);
    }
}

static void count_gets(struct lookup *lookup)
{
    struct bb_reader_counts *counts = &lookup->reader->counts;
    for (size_t i = 0; i < lookup->count; i++) {
        bb_counter_add(&counts->gets, lookup->statuses[i] != BB_TOO_LARGE);
        bb_counter_add(&counts->gets_found, lookup->statuses[i] == BB_OK);
    }
}

static void count_reads(struct lookup *lookup)
{
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        bb_readers_add_stats(&lookup->reader->counts.level_reads[level], &lookup->reads[level]);
        if (lookup->options->stats != NULL)
            bb_readers_add_stats(lookup->options->stats, &lookup->reads[level]);
    }
}

static void run(struct lookup *lookup)
{
    struct bb_view *view = NULL;
    const struct bb_snapshot *snapshot = lookup->options->snapshot;
    lookup->reader = bb_readers_enter(&lookup->db->readers, &view);
    lookup->levels = view->levels;
    struct bb_shadow shadow;
    lookup->shadow = bb_shadow_begin(&shadow, lookup->db, lookup->reader, view->levels);
    /* The view must be loaded before the sequence: see lookup.c. */
    lookup->sequence =
        snapshot != NULL ? snapshot->sequence : bb_view_sequence(view, &lookup->db->last_sequence);
    for (size_t first = 0; first < lookup->count; first += GROUP_KEYS) {
        size_t left = lookup->count - first;
        ask_group(lookup, view, first, first + (left < GROUP_KEYS ? left : GROUP_KEYS));
    }
    count_gets(lookup);
    count_reads(lookup);
    bb_reader_leave(lookup->reader);
    bb_shadow_end(lookup->shadow);
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
    const struct bb_get_call call = bb_call_options_get(options);
    struct lookup lookup = {.db = db,
                            .options = &call,
                            .keys = keys,
                            .count = count,
                            .values = values,
                            .statuses = statuses};
    size_t group = count < GROUP_KEYS ? count : GROUP_KEYS;
    if (count == 0)
        return BB_OK;
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK)
        return refuse(status, count, statuses);
    lookup.questions = bb_alloc(group * sizeof(*lookup.questions));
    lookup.pending = bb_alloc(group * sizeof(struct question *));
    if (lookup.questions != NULL && lookup.pending != NULL)
        run(&lookup);
    else
        status = refuse(bb_fail(BB_NO_MEMORY, "no memory for a batch of %zu lookups", count), count,
                        statuses);
    bb_buf_deinit(&lookup.scratch);
    bb_free(lookup.questions);
    bb_free(lookup.pending);
    if (status == BB_OK && lookup.failure.status != BB_OK)
        return bb_error_restore(&lookup.failure);
    return status;
}
