/* A get: hashes the key once, pins the view, and searches every part that may have the key, newest
 * first. Allocates nothing when the value buffer has enough space and the block is cached. */
#include "base/buf.h"
#include "base/counter.h"
#include "base/pinned.h"
#include "base/status.h"
#include "kv/call_options.h"
#include "kv/memtable/memtable.h"
#include "kv/read/denials.h"
#include "kv/read/shadow.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"
#include "sstable/entry.h"
#include "sstable/table/read_options.h"

/* State of one lookup. */
struct lookup {
    struct bb_db *db;
    const struct bb_get_call *options;
    struct bb_table_question ask; /* also for the memtables */
    struct bb_reader *reader;
    struct bb_reader_counts *counts; /* the reader's, or those of a lookup that may be repeated */
    struct bb_shadow *shadow;        /* NULL: filters are trusted */
    bool is_plain;   /* no counts for the caller, and ready table filters may end it */
    bool is_decided; /* a value or a tombstone was found */
    bool is_present;
};

static void unref_buffer(void *buffer)
{
    bb_write_buffer_unref(buffer);
}

/* The view has a reference to the buffer, and the reader has pinned the view. */
static enum bb_status deliver(struct lookup *lookup, struct bb_write_buffer *buffer,
                              struct bb_bytes value)
{
    if (lookup->ask.pinned == NULL)
        return bb_buf_assign(lookup->ask.value, value);
    *lookup->ask.pinned = bb_pinned_of(value, bb_write_buffer_ref(buffer), unref_buffer);
    return BB_OK;
}

static __attribute__((noinline)) enum bb_status take_from_memtable(struct lookup *lookup,
                                                                   struct bb_write_buffer *buffer)
{
    const struct bb_table_question *ask = &lookup->ask;
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    uint64_t sequence = 0;
    enum bb_status status = bb_memtable_get(buffer->memtable, ask->key, ask->key_hash,
                                            ask->sequence, &value, &kind, &sequence);
    if (status != BB_OK)
        return status == BB_NOT_FOUND ? BB_OK : status;
    bb_counter_add(&lookup->counts->memtable_hits, 1);
    lookup->reader->was_in_memtable = true;
    lookup->is_decided = true;
    lookup->is_present = kind == BB_ENTRY_PUT;
    return lookup->is_present ? deliver(lookup, buffer, value) : BB_OK;
}

/* WHY this function is short: it is inlined twice, for the active memtable and the frozen ones. */
static inline enum bb_status ask_memtable(struct lookup *lookup, struct bb_write_buffer *buffer)
{
    bb_counter_add(&lookup->counts->memtable_visits, 1);
    if (!bb_memtable_may_contain(buffer->memtable, lookup->ask.key_hash))
        return BB_OK;
    return take_from_memtable(lookup, buffer);
}

static enum bb_status ask_memtables(struct lookup *lookup, const struct bb_view *view)
{
    enum bb_status status = ask_memtable(lookup, view->buffers[0]);
    for (size_t i = 1; i < view->buffer_count && status == BB_OK && !lookup->is_decided; i++)
        status = ask_memtable(lookup, view->buffers[i]);
    return status;
}

static __attribute__((noinline)) enum bb_status ask_table(struct lookup *lookup, int level,
                                                          struct bb_table_file *file,
                                                          enum bb_table_lookup_state state)
{
    struct bb_read_stats own;
    struct bb_read_stats *counts = &lookup->counts->level_reads[level];
    struct bb_read_stats *wanted = lookup->options->stats;
    struct bb_table_lookup in_table;
    struct bb_table *table = NULL;
    bool waits = lookup->ask.is_immediate && !bb_table_file_is_open(file);
    enum bb_status status = waits ? BB_WOULD_WAIT : bb_table_file_open(file, &table);
    if (status != BB_OK)
        return status;
    if (wanted != NULL)
        own = (struct bb_read_stats){0};
    bb_table_lookup_init(&in_table, table, &lookup->ask, wanted == NULL ? counts : &own, state);
    status = bb_table_lookup_run(&in_table);
    if (wanted != NULL) {
        bb_readers_add_stats(counts, &own);
        bb_readers_add_stats(wanted, &own);
    }
    if (status == BB_OK && lookup->shadow != NULL)
        status = bb_shadow_check(lookup->shadow, file, &in_table);
    if (status != BB_OK)
        return status;
    lookup->is_present = in_table.visit == BB_VISIT_PRESENT;
    lookup->is_decided = lookup->is_present || in_table.visit == BB_VISIT_TOMBSTONE;
    return BB_OK;
}

/* Searches a run that may have the key. index: of the table, or BB_DENIAL_TABLE_UNKNOWN. */
static enum bb_status ask_run(struct lookup *lookup, const struct bb_levels *levels,
                              const struct bb_run_turn *turn, enum bb_denial denial, size_t index)
{
    enum bb_table_lookup_state state =
        denial == BB_DENIAL_LET_THROUGH ? BB_LOOKUP_LET_THROUGH : BB_LOOKUP_NEW;
    struct bb_table_file *file = index == BB_DENIAL_TABLE_UNKNOWN
                                     ? bb_run_find(turn->run, levels->comparator, lookup->ask.key)
                                     : turn->run->files[index];
    return file == NULL ? BB_OK : ask_table(lookup, turn->level, file, state);
}

static inline enum bb_status ask_run_unless_denied(struct lookup *lookup,
                                                   const struct bb_levels *levels,
                                                   const struct bb_run_turn *turn,
                                                   enum bb_denial denial, size_t index)
{
    if (denial == BB_DENIAL_DENIED)
        bb_read_stats_add_denial(&lookup->counts->level_reads[turn->level]);
    else if (denial != BB_DENIAL_OUTSIDE)
        return ask_run(lookup, levels, turn, denial, index);
    return BB_OK;
}

static inline enum bb_status ask_only_run(struct lookup *lookup, const struct bb_levels *levels)
{
    size_t index = 0;
    enum bb_denial denial =
        bb_denial_find(levels->turns[0].run, lookup->ask.key, lookup->ask.key_hash, &index);
    return ask_run_unless_denied(lookup, levels, &levels->turns[0], denial, index);
}

/* runs: those that are prepared; end 0: none. */
static inline enum bb_status ask_runs(struct lookup *lookup, const struct bb_levels *levels,
                                      struct bb_denial_runs *runs)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < levels->turn_count && status == BB_OK && !lookup->is_decided; i++) {
        const struct bb_run_turn *turn = &levels->turns[i];
        if (i == runs->end)
            bb_denial_prepare(levels, i, lookup->ask.key, lookup->ask.key_hash, runs);
        size_t index = runs->indexes[i - runs->begin];
        enum bb_denial denial = bb_denial_probe(turn->run, runs->table_filters[i - runs->begin],
                                                index, lookup->ask.key_hash);
        status = ask_run_unless_denied(lookup, levels, turn, denial, index);
    }
    return status;
}

/* WHY noinline: stores with one run, the shortest path, need no space on the stack for this. */
static __attribute__((noinline)) enum bb_status ask_several_runs(struct lookup *lookup,
                                                                 const struct bb_levels *levels)
{
    struct bb_denial_runs runs;
    runs.end = 0;
    return ask_runs(lookup, levels, &runs);
}

static enum bb_status ask_runs_without_denials(struct lookup *lookup,
                                               const struct bb_levels *levels)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < levels->turn_count && status == BB_OK && !lookup->is_decided; i++)
        status =
            ask_run(lookup, levels, &levels->turns[i], BB_DENIAL_NONE, BB_DENIAL_TABLE_UNKNOWN);
    return status;
}

/* Searches the runs of all levels, newest first. */
static enum bb_status ask_levels(struct lookup *lookup, const struct bb_levels *levels)
{
    if (!lookup->is_plain)
        return ask_runs_without_denials(lookup, levels);
    if (levels->turn_count == 1)
        return ask_only_run(lookup, levels);
    return ask_several_runs(lookup, levels);
}

static enum bb_status ask_in_order(struct lookup *lookup, const struct bb_view *view)
{
    enum bb_status status = ask_memtables(lookup, view);
    if (status != BB_OK || lookup->is_decided)
        return status;
    lookup->reader->was_in_memtable = false;
    return ask_levels(lookup, view->levels);
}

/* Prepares the first runs before it probes the memtables, so that it waits for the memory of both
 * together. */
static __attribute__((noinline)) enum bb_status ask_together(struct lookup *lookup,
                                                             const struct bb_view *view)
{
    struct bb_denial_runs runs;
    for (size_t i = 0; i < view->buffer_count; i++)
        bb_memtable_prefetch(view->buffers[i]->memtable, lookup->ask.key_hash);
    bb_denial_prepare(view->levels, 0, lookup->ask.key, lookup->ask.key_hash, &runs);
    enum bb_status status = ask_memtables(lookup, view);
    return status == BB_OK && !lookup->is_decided ? ask_runs(lookup, view->levels, &runs) : status;
}

/* A key in a memtable needs no run, and preparing runs in vain takes a tenth of its time. */
static enum bb_status ask_all(struct lookup *lookup, const struct bb_view *view)
{
    bool prepares = lookup->is_plain && view->levels->turn_count > 1;
    return prepares && !lookup->reader->was_in_memtable ? ask_together(lookup, view)
                                                        : ask_in_order(lookup, view);
}

static enum bb_status run(struct lookup *lookup)
{
    struct bb_view *view = NULL;
    const struct bb_snapshot *snapshot = lookup->options->snapshot;
    lookup->reader = bb_readers_enter(&lookup->db->readers, &view);
    if (lookup->counts == NULL)
        lookup->counts = &lookup->reader->counts;
    struct bb_shadow shadow;
    lookup->shadow = lookup->ask.is_immediate
                         ? NULL
                         : bb_shadow_begin(&shadow, lookup->db, lookup->reader, view->levels);
    lookup->is_plain &= lookup->shadow == NULL;
    /* WHY the view is loaded first: a merge may drop a version older than last_sequence between the
     * two loads, but never from a view that is already pinned. */
    lookup->ask.sequence =
        snapshot != NULL ? snapshot->sequence : bb_view_sequence(view, &lookup->db->last_sequence);
    enum bb_status status = ask_all(lookup, view);
    bb_counter_add(&lookup->counts->gets, 1);
    bb_counter_add(&lookup->counts->gets_found, status == BB_OK && lookup->is_present);
    if (lookup->ask.pinned != NULL && status == BB_OK && lookup->is_present)
        bb_pinned_count(lookup->ask.pinned, &lookup->reader->pinned_values);
    if (lookup->ask.is_immediate && status != BB_WOULD_WAIT)
        bb_reader_add_counts(lookup->reader, lookup->counts);
    bb_reader_leave(lookup->reader);
    if (__builtin_expect(lookup->shadow != NULL, 0))
        bb_shadow_end(lookup->shadow);
    return status;
}

/* Answers a lookup whose key and options are set. WHY noinline: with one caller, all steps of a get
 * are inlined here. With two callers they were not, and absent gets took 15 % longer. */
static __attribute__((noinline)) enum bb_status answer(struct lookup *lookup)
{
    if (lookup->ask.key.size > BB_KEY_SIZE_MAX)
        return bb_entry_check_key(lookup->ask.key);
    if (bb_store_is_inherited(lookup->db))
        return bb_inherited_fail(lookup->db);
    lookup->ask.key_hash = bb_hash_key(&lookup->db->secret, lookup->ask.key);
    enum bb_status status = run(lookup);
    if (status != BB_OK)
        return status;
    return lookup->is_present ? BB_OK : BB_NOT_FOUND;
}

static enum bb_status get(struct bb_db *db, const struct bb_get_options *options,
                          struct bb_bytes key, struct bb_buf *value, struct bb_pinned *pinned)
{
    const struct bb_get_call call = bb_call_options_get(options);
    struct lookup lookup;
    /* WHY by field: an initializer of the whole clears 96 bytes with `rep stos`, which takes 8 ns,
     * a sixth of an absent get. answer and run set the other fields. */
    lookup.db = db;
    lookup.options = &call;
    lookup.ask.options = call.read;
    lookup.ask.key = key;
    lookup.ask.value = value;
    lookup.ask.pinned = pinned;
    lookup.ask.is_immediate = false;
    lookup.counts = NULL;
    lookup.is_plain = call.stats == NULL && bb_read_options_permit_denials(&call.read);
    lookup.is_decided = false;
    lookup.is_present = false;
    return answer(&lookup);
}

enum bb_status bb_db_get_now(struct bb_db *db, const struct bb_get_options *options,
                             struct bb_bytes key, struct bb_buf *value)
{
    const struct bb_get_call given = bb_call_options_get(options);
    const struct bb_get_call call = {.snapshot = given.snapshot,
                                     .read = {.bypass_fill = given.read.bypass_fill}};
    /* WHY not the reader's counts: after BB_WOULD_WAIT, bb_db_get counts the same lookup. */
    struct bb_reader_counts counts = {0};
    struct lookup lookup = {
        .db = db,
        .options = &call,
        .ask = {.options = call.read, .key = key, .value = value, .is_immediate = true},
        .counts = &counts,
        .is_plain = true};
    return answer(&lookup);
}

enum bb_status bb_db_get(struct bb_db *db, const struct bb_get_options *options,
                         struct bb_bytes key, struct bb_buf *value)
{
    size_t size = 0;
    return value != NULL ? get(db, options, key, value, NULL)
                         : bb_db_get_into(db, options, key, NULL, 0, &size);
}

enum bb_status bb_db_get_pinned(struct bb_db *db, const struct bb_get_options *options,
                                struct bb_bytes key, struct bb_pinned *ret_value)
{
    return get(db, options, key, NULL, ret_value);
}

enum bb_status bb_db_get_into(struct bb_db *db, const struct bb_get_options *options,
                              struct bb_bytes key, void *buffer, size_t capacity, size_t *ret_size)
{
    struct bb_pinned pinned = {0};
    enum bb_status status = get(db, options, key, NULL, &pinned);
    if (status != BB_OK)
        return status;
    size_t size = pinned.bytes.size;
    size_t copied = size < capacity ? size : capacity;
    if (copied > 0)
        memcpy(buffer, pinned.bytes.data, copied);
    bb_pinned_release(&pinned);
    *ret_size = size;
    return BB_OK;
}
