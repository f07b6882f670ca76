/* Iterators and snapshots of the store: an iterator is a merge over the view, as of a sequence. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "kv/call_options.h"
#include "kv/read/visible.h"
#include "kv/store/current_view.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"
#include "kv/store/work.h"
#include "sstable/entry.h"
#include "sstable/kept_range.h"

struct bb_db_iter {
    struct bb_db *db;
    struct bb_view *view; /* with a reference */
    struct bb_visible visible;
    struct bb_kept_range kept;
    struct bb_read_stats stats;
    struct bb_read_stats *caller_stats; /* may be NULL */
    _Atomic bool is_moving;             /* kv/store/inherited.h */
};

enum bb_status bb_snapshot_create(struct bb_db *db, struct bb_snapshot **ret_snapshot)
{
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&db->mutex);
    uint64_t sequence = atomic_load_explicit(&db->last_sequence, memory_order_acquire);
    status = bb_snapshots_add(&db->snapshots, sequence, ret_snapshot);
    bb_mutex_unlock(&db->mutex);
    return status;
}

void bb_snapshot_release(struct bb_db *db, struct bb_snapshot *snapshot)
{
    if (snapshot == NULL || !bb_mutex_enter(&db->mutex))
        return;
    uint64_t oldest = bb_snapshots_oldest(&db->snapshots);
    bb_snapshots_remove(&db->snapshots, snapshot);
    /* Compactions may have kept some data only for this snapshot. */
    bool may_drop =
        db->options.tombstone_age_max > 0 || bb_levels_have_range_tombstones(db->view->levels);
    if (may_drop && bb_snapshots_oldest(&db->snapshots) != oldest && !bb_store_is_inherited(db))
        bb_work_signal(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
}

static enum bb_status open_iter(struct bb_db_iter *iter, const struct bb_get_call *call,
                                bool skips_values)
{
    struct bb_db *db = iter->db;
    struct bb_iter *stream = NULL;
    /* The view must be loaded before the sequence: see lookup.c. */
    iter->view = bb_current_view_pin(db);
    uint64_t sequence = call->snapshot != NULL ? call->snapshot->sequence
                                               : bb_view_sequence(iter->view, &db->last_sequence);
    enum bb_status status =
        bb_view_iter_create(iter->view, db->options.comparator, sequence, &iter->kept.range,
                            &call->read, skips_values, &iter->stats, &stream);
    if (status != BB_OK) {
        bb_current_view_unpin(db, iter->view);
        return status;
    }
    bb_visible_init(&iter->visible, stream, db->options.comparator, sequence);
    iter->visible.range = iter->kept.range;
    iter->visible.skips_values = skips_values;
    return BB_OK;
}

/* range: NULL for all keys. */
static enum bb_status create_iter(struct bb_db *db, const struct bb_get_options *options,
                                  const struct bb_key_range *range, bool skips_values,
                                  struct bb_db_iter **ret_iter)
{
    const struct bb_get_call call = bb_call_options_get(options);
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK)
        return status;
    struct bb_db_iter *iter = bb_alloc_zeroed(1, sizeof(*iter));
    if (iter == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an iterator");
    iter->db = db;
    iter->caller_stats = call.stats;
    atomic_fetch_add(&db->iterator_count, 1);
    status = bb_kept_range_init(&iter->kept, range);
    if (status == BB_OK)
        status = open_iter(iter, &call, skips_values);
    if (status != BB_OK) {
        bb_kept_range_deinit(&iter->kept);
        bb_free(iter);
        atomic_fetch_sub(&db->iterator_count, 1);
        return status;
    }
    *ret_iter = iter;
    return BB_OK;
}

enum bb_status bb_db_iter_create(struct bb_db *db, const struct bb_get_options *options,
                                 struct bb_db_iter **ret_iter)
{
    return create_iter(db, options, NULL, false, ret_iter);
}

enum bb_status bb_db_iter_create_range(struct bb_db *db, const struct bb_get_options *options,
                                       const struct bb_key_range *range,
                                       struct bb_db_iter **ret_iter)
{
    return create_iter(db, options, range, false, ret_iter);
}

enum bb_status bb_db_iter_create_keys(struct bb_db *db, const struct bb_get_options *options,
                                      const struct bb_key_range *range,
                                      struct bb_db_iter **ret_iter)
{
    return create_iter(db, options, range, true, ret_iter);
}

/* Makes the lowest key above all keys with the prefix: increments the last byte that is not 255 and
 * drops the bytes after it. Empty: no such key exists. */
static void raise_prefix(struct bb_buf *prefix)
{
    while (prefix->size > 0 && prefix->data[prefix->size - 1] == UINT8_MAX)
        prefix->size--;
    if (prefix->size > 0)
        prefix->data[prefix->size - 1]++;
}

static enum bb_status create_prefix_iter(struct bb_db *db, const struct bb_get_options *options,
                                         struct bb_bytes prefix, bool skips_values,
                                         struct bb_db_iter **ret_iter)
{
    struct bb_buf raised = {0};
    if (db->options.comparator != NULL)
        return bb_fail(BB_INVALID,
                       "the keys of a prefix need not be adjacent in the order \"%s\"; give the "
                       "bounds of the range",
                       db->options.comparator->name);
    enum bb_status status = bb_buf_assign(&raised, prefix);
    if (status == BB_OK) {
        raise_prefix(&raised);
        struct bb_bytes high = bb_buf_bytes(&raised);
        struct bb_key_range range = {.low = &prefix, .high = high.size > 0 ? &high : NULL};
        status = create_iter(db, options, &range, skips_values, ret_iter);
    }
    bb_buf_deinit(&raised);
    return status;
}

enum bb_status bb_db_iter_create_prefix(struct bb_db *db, const struct bb_get_options *options,
                                        struct bb_bytes prefix, struct bb_db_iter **ret_iter)
{
    return create_prefix_iter(db, options, prefix, false, ret_iter);
}

enum bb_status bb_db_iter_create_prefix_keys(struct bb_db *db, const struct bb_get_options *options,
                                             struct bb_bytes prefix, struct bb_db_iter **ret_iter)
{
    return create_prefix_iter(db, options, prefix, true, ret_iter);
}

/* Destroys an iterator in a forked child: adds nothing to the statistics and waits for no thread.
 * Does not free an iterator that a thread of the parent was moving. */
static void leave_iter(struct bb_db_iter *iter)
{
    struct bb_db *db = iter->db;
    struct bb_view *view = iter->view;
    if (bb_move_was_begun(&iter->is_moving))
        return;
    bb_visible_deinit(&iter->visible);
    bb_kept_range_deinit(&iter->kept);
    bb_free(iter);
    bb_inherited_release(db, view);
}

/* Wakes the compacting worker if a table may have become due because of its charge. */
static void signal_charges(struct bb_db *db)
{
    _Atomic bool *has_new = &db->table_env.has_new_charges;
    if (!atomic_load_explicit(has_new, memory_order_relaxed) ||
        !atomic_exchange_explicit(has_new, false, memory_order_acquire))
        return;
    bb_mutex_lock(&db->mutex);
    bb_work_signal(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
}

void bb_db_iter_destroy(struct bb_db_iter *iter)
{
    if (iter == NULL)
        return;
    if (bb_store_is_inherited(iter->db)) {
        leave_iter(iter);
        return;
    }
    struct bb_db *db = iter->db;
    bb_visible_deinit(&iter->visible);
    bb_readers_add_scan(&db->readers, &iter->stats);
    if (iter->caller_stats != NULL)
        bb_readers_add_stats(iter->caller_stats, &iter->stats);
    bb_current_view_unpin(db, iter->view);
    bb_kept_range_deinit(&iter->kept);
    bb_free(iter);
    signal_charges(db);
    /* This must be last: a thread that sees the lower count may close the store. */
    atomic_fetch_sub(&db->iterator_count, 1);
}

bool bb_db_iter_valid(const struct bb_db_iter *iter)
{
    return iter->visible.is_valid;
}

/* True when the iterator may move. In a forked child every move fails, and the iterator becomes
 * invalid. */
static bool begin_move(struct bb_db_iter *iter)
{
    if (bb_store_is_inherited(iter->db)) {
        bb_visible_refuse(&iter->visible, bb_inherited_fail(iter->db));
        return false;
    }
    bb_move_begin(&iter->is_moving);
    return true;
}

void bb_db_iter_seek_first(struct bb_db_iter *iter)
{
    if (!begin_move(iter))
        return;
    bb_visible_seek_first(&iter->visible);
    bb_move_end(&iter->is_moving);
}

void bb_db_iter_seek_last(struct bb_db_iter *iter)
{
    if (!begin_move(iter))
        return;
    bb_visible_seek_last(&iter->visible);
    bb_move_end(&iter->is_moving);
}

void bb_db_iter_seek(struct bb_db_iter *iter, struct bb_bytes key)
{
    enum bb_status status = bb_entry_check_key(key);
    if (!begin_move(iter))
        return;
    if (status == BB_OK)
        bb_visible_seek(&iter->visible, key);
    else
        bb_visible_refuse(&iter->visible, status);
    bb_move_end(&iter->is_moving);
}

void bb_db_iter_next(struct bb_db_iter *iter)
{
    BB_REQUIRE(iter->visible.is_valid, "a valid iterator: see bb_db_iter_valid");
    if (!begin_move(iter))
        return;
    bb_visible_next(&iter->visible);
    bb_move_end(&iter->is_moving);
}

void bb_db_iter_prev(struct bb_db_iter *iter)
{
    BB_REQUIRE(iter->visible.is_valid, "a valid iterator: see bb_db_iter_valid");
    if (!begin_move(iter))
        return;
    bb_visible_prev(&iter->visible);
    bb_move_end(&iter->is_moving);
}

struct bb_bytes bb_db_iter_key(const struct bb_db_iter *iter)
{
    BB_REQUIRE(iter->visible.is_valid, "a valid iterator: see bb_db_iter_valid");
    return bb_visible_key(&iter->visible);
}

struct bb_bytes bb_db_iter_value(const struct bb_db_iter *iter)
{
    BB_REQUIRE(iter->visible.is_valid, "a valid iterator: see bb_db_iter_valid");
    return bb_visible_value(&iter->visible);
}

enum bb_status bb_db_iter_status(const struct bb_db_iter *iter)
{
    enum bb_status status = bb_visible_status(&iter->visible);
    bool is_shown =
        iter->visible.is_valid && iter->db->table_env.options.read_mode == BB_READ_MAPPED;
    if (status == BB_OK && is_shown)
        status = bb_view_check_shown(iter->view, bb_visible_value(&iter->visible));
    return status;
}
