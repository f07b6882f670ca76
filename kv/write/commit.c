/* See commit.h. The order for a group: first the log, so that acknowledged writes survive the
 * process; then the memtable; then last_sequence, which makes the whole group visible atomically.
 * After a failed append or sync the log is never written again: the group's sequences are lost, and
 * the next write first moves acknowledged writes into a table under a new log
 * (kv/write/freeze.c). */
#include "kv/write/commit.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "kv/background/compaction_work.h"
#include "kv/batch.h"
#include "kv/memtable/memtable.h"
#include "kv/store/call.h"
#include "kv/store/presence.h"
#include "kv/wal/wal_writer.h"
#include "kv/write/freeze.h"

/* The size limit of a group; small groups keep the latency of small writes small. */
#define GROUP_SIZE_MAX_BYTES ((size_t)1 << 20)

#define SMALL_PAYLOAD_SIZE 512

enum bb_status bb_commit_become_leader(struct bb_db *db, struct bb_commit *commit)
{
    commit->batch = NULL;
    commit->sync = false;
    /* An exclusive commit is never part of another's group: it leads, or is refused. */
    return bb_commit_queue_enter(&db->commits, commit) ? BB_OK : bb_commit_queue_result(commit);
}

void bb_commit_release_leader(struct bb_db *db, struct bb_commit *commit)
{
    bb_commit_queue_leave(&db->commits, commit, commit, commit, BB_OK);
}

/* The leader's group: the commits from the leader to the last. */
struct group {
    const struct bb_commit *leader;
    const struct bb_commit *last;
    struct bb_write_space space;
    size_t batch_count;                  /* non-empty batches */
    const struct bb_batch *latest_batch; /* the last of these; NULL if none */
};

static struct group measure_group(const struct bb_commit *leader, const struct bb_commit *last)
{
    struct group group = {.leader = leader, .last = last};
    for (const struct bb_commit *commit = leader;; commit = commit->next) {
        group.space.entry_count += bb_batch_count(commit->batch);
        group.space.raw_bytes += commit->batch->raw_bytes;
        if (bb_batch_count(commit->batch) > 0) {
            group.batch_count++;
            group.latest_batch = commit->batch;
        }
        if (commit == last)
            return group;
    }
}

/* Numbers the records of a group consecutively, one for each batch. */
static void stamp_group(const struct group *group, uint64_t sequence, struct bb_bytes *records)
{
    size_t count = 0;
    for (const struct bb_commit *commit = group->leader;; commit = commit->next) {
        size_t operations = bb_batch_count(commit->batch);
        if (operations > 0)
            records[count++] = bb_batch_stamp(commit->batch, sequence);
        sequence += operations;
        if (commit == group->last)
            return;
    }
}

/* The frozen buffers whose logs may not be durable yet, oldest first, each with a reference. */
static size_t ref_frozen(struct bb_db *db, struct bb_write_buffer **buffers)
{
    size_t count = 0;
    bb_mutex_lock(&db->mutex);
    for (size_t i = db->view->buffer_count - 1; i > 0; i--)
        buffers[count++] = bb_write_buffer_ref(db->view->buffers[i]);
    bb_mutex_unlock(&db->mutex);
    return count;
}

enum bb_status bb_commit_sync_logs(struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_commit_queue_is_led(&db->commits));
    struct bb_write_buffer *frozen[BB_FROZEN_MAX];
    size_t count = ref_frozen(db, frozen);
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        if (frozen[i]->log != NULL)
            status = bb_wal_writer_sync(frozen[i]->log); /* sync S7 */
    }
    for (size_t i = 0; i < count; i++)
        bb_write_buffer_unref(frozen[i]);
    if (status != BB_OK || db->active->log == NULL)
        return status;
    status = bb_wal_writer_sync(db->active->log); /* sync S8 */
    if (status == BB_OK)
        status = bb_wal_writer_mark(db->active->log);
    /* Only the current log is checked: the log of a frozen memtable is removed once that is in a
     * table. */
    return status == BB_OK ? bb_presence_check_log(db) : status;
}

/* Only the leader counts, so no read-modify-write is needed. */
static void count_up(_Atomic uint64_t *counter, uint64_t value)
{
    uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + value;
    atomic_store_explicit(counter, sum, memory_order_relaxed);
}

/* tail follows the only record; may be empty. */
static enum bb_status append_log(struct bb_db *db, const struct bb_bytes *records, size_t count,
                                 struct bb_bytes tail)
{
    uint64_t size = tail.size;
    for (size_t i = 0; i < count; i++)
        size += records[i].size;
    count_up(&db->wal_bytes, size);
    return tail.size > 0 ? bb_wal_writer_append_parts(db->active->log, records[0], tail)
                         : bb_wal_writer_append(db->active->log, records, count);
}

/* Adds a batch that is in the log to the memtable. */
static enum bb_status add_batch(struct bb_db *db, struct bb_bytes record)
{
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    enum bb_status status =
        bb_batch_cursor_init(&cursor, record, (struct bb_place){.file = "a batch"});
    while (status == BB_OK) {
        status = bb_batch_cursor_next(&cursor, &entry);
        if (status == BB_OK)
            status =
                bb_memtable_add(db->active->memtable, &entry, bb_hash_key(&db->secret, entry.key));
    }
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status log_group(struct bb_db *db, const struct group *group,
                                const struct bb_bytes *records)
{
    if (db->active->log == NULL)
        return BB_OK;
    enum bb_status status = append_log(db, records, group->batch_count, group->leader->batch->tail);
    return status == BB_OK && group->leader->sync ? bb_commit_sync_logs(db) : status;
}

/* A group of a single operation, the most common one. Its path in the memtable is found before the
 * log is written, so that the memory is prefetched during the system call. */
static enum bb_status log_and_add_one(struct bb_db *db, const struct group *group,
                                      const struct bb_bytes *record)
{
    struct bb_memtable_path path;
    const struct bb_entry entry = bb_batch_last(group->latest_batch, db->sequence_allocated);
    uint64_t key_hash = bb_hash_key(&db->secret, entry.key);
    bb_memtable_find_way(db->active->memtable, entry.key, key_hash, &path);
    enum bb_status status = log_group(db, group, record);
    if (status != BB_OK)
        return status;
    return bb_memtable_add_at(db->active->memtable, &path, &entry, key_hash);
}

static enum bb_status log_and_add(struct bb_db *db, const struct group *group,
                                  const struct bb_bytes *records)
{
    if (group->space.entry_count == 1)
        return log_and_add_one(db, group, records);
    enum bb_status status = log_group(db, group, records);
    for (size_t i = 0; i < group->batch_count && status == BB_OK; i++)
        status = add_batch(db, records[i]);
    return status;
}

static void count_group(struct bb_db *db, const struct group *group)
{
    count_up(&db->write_count, group->space.entry_count);
    count_up(&db->write_bytes, group->space.raw_bytes);
    count_up(&db->commit_count, 1);
}

static enum bb_status commit_records(struct bb_db *db, const struct group *group,
                                     struct bb_bytes *records)
{
    if (group->space.entry_count > BB_SEQUENCE_MAX - db->sequence_allocated)
        return bb_fail(BB_TOO_LARGE, "all %llu sequences are used up",
                       (unsigned long long)BB_SEQUENCE_MAX);
    stamp_group(group, db->sequence_allocated + 1, records);
    /* Allocated before the log is written: a failed append may still have reached the disk. */
    db->sequence_allocated += group->space.entry_count;
    enum bb_status status = log_and_add(db, group, records);
    if (status != BB_OK) {
        db->is_log_failed = true;
        return status;
    }
    atomic_store_explicit(&db->last_sequence, db->sequence_allocated, memory_order_release);
    count_group(db, group);
    return BB_OK;
}

/* All of the leader's work for its group. */
static enum bb_status write_group(struct bb_db *db, const struct bb_commit *leader,
                                  const struct bb_commit *last)
{
    struct bb_bytes few[16];
    struct bb_bytes *records = few;
    struct group group = measure_group(leader, last);
    enum bb_status status = bb_freeze_make_space(db, &group.space);
    if (status != BB_OK)
        return status;
    if (group.batch_count > BB_ARRAY_LENGTH(few))
        records = bb_alloc_zeroed(group.batch_count, sizeof(*records));
    if (records == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a group of %zu batches", group.batch_count);
    if (group.batch_count > 0)
        status = commit_records(db, &group, records);
    else if (leader->sync)
        status = bb_commit_sync_logs(db);
    if (records != few)
        bb_free(records);
    return status;
}

/* When space is short, a write gets the space of a merge's outputs, as a flush does. The second
 * attempt has new sequences, and first moves acknowledged writes into a table. */
static enum bb_status write_first(struct bb_db *db, const struct bb_commit *leader,
                                  const struct bb_commit *last)
{
    struct bb_error before;
    bb_error_save(&before);
    uint64_t ends = bb_compaction_work_ends(db);
    enum bb_status status = write_group(db, leader, last);
    if (status != BB_NO_SPACE || !bb_compaction_work_begin_leader_yield(db, ends))
        return status;
    status = write_group(db, leader, last);
    bb_compaction_work_end_leader_yield(db);
    return bb_error_settle(status, &before);
}

/* True if the group of others from `first` need not wait, and is no larger than other groups. */
static bool may_lead_others(struct bb_db *db, const struct bb_commit *first,
                            const struct bb_commit *last, size_t size_max)
{
    const struct group group = measure_group(first, last);
    return bb_batch_size_bytes(first->batch) <= size_max && bb_freeze_has_space(db, &group.space);
}

/* Executes the group from `first`, for other threads: the leader's call has succeeded. If the group
 * has to wait, or the device has no space for it, hands over the lead to `first`, whose thread
 * waits or tries again. */
static void lead_others(struct bb_db *db, const struct bb_commit *leader, struct bb_commit *first,
                        size_t size_max)
{
    struct bb_error before;
    struct bb_commit *last = bb_commit_queue_take(first, size_max);
    enum bb_status status = BB_NO_SPACE;
    bb_error_save(&before);
    if (may_lead_others(db, first, last, size_max))
        status = write_group(db, first, last);
    if (status == BB_NO_SPACE)
        bb_commit_queue_hand_over(&db->commits, first);
    else
        bb_commit_queue_leave(&db->commits, leader, first, last, status);
    if (status != BB_OK)
        (void)bb_error_settle(BB_OK, &before);
}

static enum bb_status lead(struct bb_db *db, struct bb_commit *leader, size_t size_max)
{
    struct bb_commit *last = bb_commit_queue_take(leader, size_max);
    enum bb_status status = write_first(db, leader, last);
    if (status != BB_OK) {
        bb_commit_queue_leave(&db->commits, leader, leader, last, status);
        return status;
    }
    struct bb_commit *next = bb_commit_queue_continue(&db->commits, leader, last);
    if (next != NULL)
        lead_others(db, leader, next, size_max);
    return BB_OK;
}

enum bb_status bb_db_write(struct bb_db *db, const struct bb_write_options *options,
                           const struct bb_batch *batch)
{
    struct bb_commit commit; /* the queue sets the rest: its message has 1 KiB */
    commit.batch = batch;
    commit.sync = options != NULL && options->sync;
    if (batch == NULL)
        return bb_fail(BB_INVALID, "a write has no batch");
    enum bb_status allowed = bb_call_check_change(db, "a write");
    if (allowed != BB_OK)
        return allowed;
    /* Checked before the queue, so that the other commits of a group are not refused. */
    if (commit.sync && db->options.wal_off)
        return bb_fail(
            BB_INVALID,
            "%s: a write with sync needs the log, and the store was opened with wal_off: "
            "write without sync, and call bb_db_flush to make data durable",
            db->directory);
    if (!bb_commit_queue_enter(&db->commits, &commit))
        return bb_commit_queue_result(&commit);
    /* A group fits a write buffer of normal size. */
    size_t size_max = GROUP_SIZE_MAX_BYTES;
    if (size_max > db->options.write_buffer_bytes / 4)
        size_max = (size_t)db->options.write_buffer_bytes / 4;
    return lead(db, &commit, size_max);
}

enum bb_status bb_db_write_check(struct bb_db *db, const struct bb_batch *batch)
{
    struct bb_commit leader;
    leader.batch = NULL; /* the queue sets the rest: its message has 1 KiB */
    leader.sync = false;
    if (batch == NULL)
        return bb_fail(BB_INVALID, "a write has no batch");
    enum bb_status status = bb_call_check_change(db, "a write");
    if (status != BB_OK)
        return status;
    if (!bb_commit_queue_try_enter(&db->commits, &leader))
        return BB_WOULD_WAIT;
    const struct bb_write_space space = {.entry_count = bb_batch_count(batch),
                                         .raw_bytes = batch->raw_bytes};
    status = bb_freeze_check_space(db, &space);
    bb_commit_release_leader(db, &leader);
    return status;
}

/* A batch of one operation. A small payload is on the stack, because allocating it would take 4 %
 * of a put. */
struct single {
    struct bb_batch batch;
    bool is_small;
    uint8_t memory[SMALL_PAYLOAD_SIZE];
};

/* WHY by field: memory is not cleared. */
static void single_init(struct single *single, struct bb_bytes key, struct bb_bytes value)
{
    single->batch = (struct bb_batch){0};
    single->is_small = key.size < SMALL_PAYLOAD_SIZE && value.size < SMALL_PAYLOAD_SIZE &&
                       bb_batch_size_of_one(key.size, value.size) <= SMALL_PAYLOAD_SIZE;
    if (single->is_small)
        single->batch.payload =
            (struct bb_buf){.data = single->memory, .capacity = SMALL_PAYLOAD_SIZE};
}

/* Writes the batch, which was made with `status`, and releases it. */
static enum bb_status single_write(struct bb_db *db, const struct bb_write_options *options,
                                   struct single *single, enum bb_status status)
{
    if (status == BB_OK)
        status = bb_db_write(db, options, &single->batch);
    if (!single->is_small)
        bb_batch_deinit(&single->batch);
    return status;
}

enum bb_status bb_db_put(struct bb_db *db, const struct bb_write_options *options,
                         struct bb_bytes key, struct bb_bytes value)
{
    struct single single;
    single_init(&single, key, value);
    /* A value larger than a group is not copied, and forms its own group. */
    enum bb_status status = value.size > GROUP_SIZE_MAX_BYTES
                                ? bb_batch_put_borrowed(&single.batch, key, value)
                                : bb_batch_put(&single.batch, key, value);
    return single_write(db, options, &single, status);
}

enum bb_status bb_db_delete(struct bb_db *db, const struct bb_write_options *options,
                            struct bb_bytes key)
{
    struct single single;
    single_init(&single, key, (struct bb_bytes){0});
    return single_write(db, options, &single, bb_batch_delete(&single.batch, key));
}

enum bb_status bb_db_delete_range(struct bb_db *db, const struct bb_write_options *options,
                                  struct bb_bytes low, struct bb_bytes high)
{
    struct single single;
    single_init(&single, low, high);
    return single_write(db, options, &single, bb_batch_delete_range(&single.batch, low, high));
}
