/* A get: hashes the key once, pins the view, and searches every part that may have the key, newest
 * first. Allocates nothing when the value buffer has enough space and the block is cached. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/pinned.h"
#include "base/status.h"
#include "kv/call_options.h"
#include "kv/inherited.h"
#include "kv/memtable/memtable.h"
#include "kv/read/shadow.h"
#include "kv/store.h"
#include "sstable/entry.h"
#include "sstable/table_visit.h"

/* State of one lookup. */
struct lookup {
    struct bb_db *db;
    const struct bb_get_call *options;
    struct bb_bytes key;
    uint64_t hash;
    uint64_t sequence;
    struct bb_buf *value;     /* receives a copy */
    struct bb_pinned *pinned; /* if not NULL, the value stays in place */
    struct bb_reader *reader;
    struct bb_shadow *shadow; /* NULL: filters are trusted */
    /* The table that passes_by found, when its table filter returned maybe; else NULL. */
    struct bb_table_file *let_through;
    bool is_plain;   /* only the value is needed */
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
    if (lookup->pinned == NULL)
        return bb_buf_assign(lookup->value, value);
    *lookup->pinned = bb_pinned_of(value, bb_write_buffer_ref(buffer), unref_buffer);
    return BB_OK;
}

static enum bb_status ask_memtable(struct lookup *lookup, struct bb_write_buffer *buffer)
{
    struct bb_bytes value = {0};
    enum bb_entry_kind kind = BB_ENTRY_DELETE;
    uint64_t sequence = 0;
    lookup->reader->counts.memtable_visits++;
    if (!bb_memtable_may_contain(buffer->memtable, lookup->hash))
        return BB_OK;
    enum bb_status status = bb_memtable_get(buffer->memtable, lookup->key, lookup->hash,
                                            lookup->sequence, &value, &kind, &sequence);
    if (status != BB_OK)
        return status == BB_NOT_FOUND ? BB_OK : status;
    lookup->reader->counts.memtable_hits++;
    lookup->is_decided = true;
    lookup->is_present = kind == BB_ENTRY_PUT;
    return lookup->is_present ? deliver(lookup, buffer, value) : BB_OK;
}

static enum bb_status ask_memtables(struct lookup *lookup, const struct bb_view *view)
{
    enum bb_status status = ask_memtable(lookup, view->active);
    for (size_t i = 0; i < view->frozen_count && status == BB_OK && !lookup->is_decided; i++)
        status = ask_memtable(lookup, view->frozen[i]);
    return status;
}

static enum bb_status get_from_table(struct lookup *lookup, struct bb_table *table,
                                     struct bb_read_stats *stats, enum bb_visit *ret_visit)
{
    uint64_t sequence = 0;
    const struct bb_read_options *options = &lookup->options->read;
    if (lookup->let_through != NULL)
        return bb_table_get_let_through(table, options, lookup->key, lookup->hash, lookup->sequence,
                                        stats, lookup->value, lookup->pinned, &sequence, ret_visit);
    if (lookup->pinned != NULL)
        return bb_table_get_pinned(table, options, lookup->key, lookup->hash, lookup->sequence,
                                   stats, lookup->pinned, &sequence, ret_visit);
    return bb_table_get(table, options, lookup->key, lookup->hash, lookup->sequence, stats,
                        lookup->value, &sequence, ret_visit);
}

static __attribute__((noinline)) enum bb_status ask_table(struct lookup *lookup, int level,
                                                          struct bb_table_file *file)
{
    struct bb_table *table = NULL;
    enum bb_visit visit = BB_VISIT_NOT_VISIBLE;
    struct bb_read_stats own = {0};
    struct bb_read_stats *counts = &lookup->reader->counts.level_reads[level];
    struct bb_read_stats *wanted = lookup->options->stats;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = get_from_table(lookup, table, wanted == NULL ? counts : &own, &visit);
    if (wanted != NULL) {
        bb_read_stats_add(counts, &own);
        bb_read_stats_add(wanted, &own);
    }
    if (status == BB_OK && lookup->shadow != NULL)
        status = bb_shadow_check(lookup->shadow, file, lookup->key, lookup->hash, lookup->sequence,
                                 lookup->value, lookup->pinned, &visit);
    if (status != BB_OK)
        return status;
    lookup->is_present = visit == BB_VISIT_PRESENT;
    lookup->is_decided = lookup->is_present || visit == BB_VISIT_TOMBSTONE;
    return BB_OK;
}

/* True when eight bytes of the key and the table filter show that the run does not have the key.
 * This is the result for nearly all runs in a lookup of an absent key. It takes as few instructions
 * as possible, so that the processor starts the next ones while it waits for memory. Otherwise the
 * normal lookup follows: it starts at the search of the table when the table filter returned maybe,
 * else at the bounds. */
static inline bool passes_by(struct lookup *lookup, const struct bb_run *run, int level)
{
    size_t index = 0;
    bool is_let_through = false;
    lookup->let_through = NULL;
    if (!lookup->is_plain || !bb_run_find_at_once(run, lookup->key, &index))
        return false;
    if (index == run->count)
        return true;
    const struct bb_summary *summary = bb_run_summary(run, index);
    if (summary == NULL)
        return false;
    if (!bb_summary_denies(summary, lookup->hash, &is_let_through)) {
        lookup->let_through = is_let_through ? run->files[index] : NULL;
        return false;
    }
    bb_read_stats_add_denial(&lookup->reader->counts.level_reads[level]);
    return true;
}

static enum bb_status ask_run(struct lookup *lookup, const struct bb_levels *levels,
                              const struct bb_run_turn *turn)
{
    struct bb_table_file *file = lookup->let_through;
    if (file == NULL)
        file = bb_run_find(turn->run, levels->comparator, lookup->key);
    return file == NULL ? BB_OK : ask_table(lookup, turn->level, file);
}

/* Searches the runs of all levels, newest first. */
static enum bb_status ask_levels(struct lookup *lookup, const struct bb_levels *levels)
{
    enum bb_status status = BB_OK;
    const struct bb_run_turn *end = levels->turns + levels->turn_count;
    for (const struct bb_run_turn *turn = levels->turns;
         turn < end && status == BB_OK && !lookup->is_decided; turn++) {
        if (!passes_by(lookup, turn->run, turn->level))
            status = ask_run(lookup, levels, turn);
    }
    return status;
}

static enum bb_status run(struct lookup *lookup)
{
    struct bb_view *view = NULL;
    const struct bb_snapshot *snapshot = lookup->options->snapshot;
    lookup->reader = bb_readers_enter(&lookup->db->readers, &view);
    struct bb_shadow shadow;
    lookup->shadow = bb_shadow_begin(&shadow, lookup->db, lookup->reader, view->levels);
    lookup->is_plain &= lookup->shadow == NULL;
    /* WHY the view is loaded first: a merge may drop a version older than last_sequence between the
     * two loads, but never from a view that is already pinned. */
    lookup->sequence =
        snapshot != NULL ? snapshot->sequence : bb_view_sequence(view, &lookup->db->last_sequence);
    enum bb_status status = ask_memtables(lookup, view);
    if (status == BB_OK && !lookup->is_decided)
        status = ask_levels(lookup, view->levels);
    lookup->reader->counts.gets++;
    lookup->reader->counts.gets_found += status == BB_OK && lookup->is_present;
    if (lookup->pinned != NULL && status == BB_OK && lookup->is_present)
        bb_pinned_count(lookup->pinned, &lookup->reader->pinned_values);
    bb_reader_leave(lookup->reader);
    if (__builtin_expect(lookup->shadow != NULL, 0))
        bb_shadow_end(lookup->shadow);
    return status;
}

static bool is_plain(const struct bb_get_call *options)
{
    return options->stats == NULL && !options->read.ignore_filters &&
           !options->read.account_avoided;
}

static enum bb_status get(struct bb_db *db, const struct bb_get_options *options,
                          struct bb_bytes key, struct bb_buf *value, struct bb_pinned *pinned)
{
    static const struct bb_get_call defaults;
    struct bb_get_call call;
    enum bb_status status = options == NULL ? BB_OK : bb_call_options_get(options, &call);
    if (status != BB_OK)
        return status;
    struct lookup lookup = {.db = db,
                            .options = options != NULL ? &call : &defaults,
                            .key = key,
                            .value = value,
                            .pinned = pinned};
    if (key.size > BB_KEY_SIZE_MAX)
        return bb_entry_check_key(key);
    if (bb_store_is_inherited(db))
        return bb_store_fail_inherited(db);
    lookup.is_plain = is_plain(lookup.options);
    lookup.hash = bb_hash_key(&db->secret, key);
    status = run(&lookup);
    if (status != BB_OK)
        return status;
    return lookup.is_present ? BB_OK : BB_NOT_FOUND;
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
