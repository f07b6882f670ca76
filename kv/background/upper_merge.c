/* See upper_merge.h. */
#include "kv/background/upper_merge.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "kv/indexes/index_build.h"
#include "sstable/table/table.h"

/* A merge is divided if at least this many tables of the full size remain. */
#define TABLES_MIN 8
/* Entries between two looks whether the thread should end: about a millisecond. */
#define STEP_ENTRY_COUNT 4096

struct bb_upper_merge {
    struct bb_db *db;
    struct bb_buf key;         /* the first of the part */
    struct bb_bytes first_key; /* the same */
    struct bb_compaction *compaction;
    bool had_thread;
    bool has_thread; /* it is not joined */
    struct bb_thread thread;
    _Atomic bool is_cancelled;
    /* The thread's, until it is joined. */
    bool is_done;
    struct bb_error failure; /* status BB_OK: none */
    _Atomic bool has_failed;
};

/* ---- dividing ---- */

static uint64_t bytes_of(const struct bb_plan *plan, size_t begin, size_t end)
{
    uint64_t bytes = 0;
    for (size_t i = begin; i < end; i++)
        bytes += plan->inputs[i]->meta.file_size;
    return bytes;
}

static uint64_t bytes_min(const struct bb_db *db)
{
    return TABLES_MIN * db->options.table_size_bytes;
}

bool bb_upper_merge_is_possible(const struct bb_db *db, const struct bb_plan *plan)
{
    uint64_t ranges = 0;
    for (size_t i = 0; i < plan->input_count; i++)
        ranges += plan->inputs[i]->meta.range_tombstone_count;
    return !db->options.deterministic && plan->output_level > 0 && ranges == 0 &&
           db->index_build->catalog == NULL && db->limit == NULL &&
           bytes_of(plan, 0, plan->input_count) >= bytes_min(db);
}

bool bb_upper_merge_is_due(struct bb_db *db)
{
    uint64_t now = db->system->ops->now(db->system);
    bb_mutex_lock(&db->mutex);
    bool has_paused = bb_pace_has_paused(&db->pace, now) && bb_view_frozen_count(db->view) == 0;
    bool is_waited_for = db->compact_requested > db->compact_done || db->range_requests != NULL;
    bb_mutex_unlock(&db->mutex);
    return has_paused || is_waited_for;
}

static size_t run_end(const struct bb_plan *plan, size_t begin)
{
    size_t end = begin + 1;
    while (end < plan->input_count && plan->input_levels[end] == plan->input_levels[begin] &&
           plan->input_runs[end] == plan->input_runs[begin])
        end++;
    return end;
}

/* What remains of a run: a part of its first table, and all others. */
struct rest {
    size_t first;
    size_t end;
    uint64_t first_bytes;
    uint64_t bytes; /* of all */
};

/* Of inputs [begin, end), from the key on. */
static enum bb_status measure_rest(const struct bb_plan *plan, size_t begin, size_t end,
                                   const struct bb_comparator *comparator, struct bb_bytes key,
                                   struct rest *ret_rest)
{
    struct bb_table *table = NULL;
    uint64_t offset = 0;
    while (begin < end && bb_table_file_ends_before(plan->inputs[begin], comparator, key))
        begin++;
    *ret_rest = (struct rest){.first = begin, .end = end};
    if (begin == end)
        return BB_OK;
    enum bb_status status = bb_table_file_open(plan->inputs[begin], &table);
    if (status == BB_OK)
        status = bb_table_offset(table, key, NULL, &offset);
    uint64_t size = bytes_of(plan, begin, begin + 1);
    ret_rest->first_bytes = size - (offset < size ? offset : size);
    ret_rest->bytes = ret_rest->first_bytes + bytes_of(plan, begin + 1, end);
    return status;
}

/* Finds the largest rest of a run, and how many bytes of all runs remain. */
static enum bb_status find_rest(const struct bb_plan *plan, const struct bb_comparator *comparator,
                                struct bb_bytes key, struct rest *ret_largest, uint64_t *ret_bytes)
{
    enum bb_status status = BB_OK;
    *ret_largest = (struct rest){0};
    *ret_bytes = 0;
    for (size_t i = 0; i < plan->input_count && status == BB_OK; i = run_end(plan, i)) {
        struct rest rest;
        status = measure_rest(plan, i, run_end(plan, i), comparator, key, &rest);
        *ret_bytes += rest.bytes;
        if (rest.bytes > ret_largest->bytes)
            *ret_largest = rest;
    }
    return status;
}

/* A key after `key` in the middle of the rest of the table. Empty if there is no such key. */
static enum bb_status find_in_table(struct bb_table_file *file,
                                    const struct bb_comparator *comparator, struct bb_bytes key,
                                    struct bb_buf *ret_middle)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_middle_key(table, key, ret_middle);
    if (status != BB_OK || ret_middle->size == 0)
        return status;
    /* Versions of one key may fill several pages. */
    if (bb_key_compare(comparator, bb_buf_bytes(ret_middle), key) <= 0)
        bb_buf_reset(ret_middle);
    return BB_OK;
}

/* A key after `key` that divides the rest: in the table in its middle, if that is a large part of
 * it, otherwise before that table. Empty if there is no such key. */
static enum bb_status find_middle(const struct bb_plan *plan,
                                  const struct bb_comparator *comparator, const struct rest *rest,
                                  struct bb_bytes key, struct bb_buf *ret_middle)
{
    size_t middle = rest->first;
    uint64_t bytes = rest->first_bytes; /* of that table */
    uint64_t end = rest->first_bytes;   /* its end in the rest */
    while (end < rest->bytes / 2 && middle + 1 < rest->end) {
        bytes = bytes_of(plan, middle + 1, middle + 2);
        end += bytes;
        middle++;
    }
    if (bytes > rest->bytes / 4) {
        enum bb_status status = find_in_table(plan->inputs[middle], comparator, key, ret_middle);
        if (status != BB_OK || ret_middle->size > 0)
            return status;
    }
    if (middle == rest->first)
        middle++;
    return middle < rest->end
               ? bb_buf_assign(ret_middle, bb_buf_bytes(&plan->inputs[middle]->meta.smallest))
               : BB_OK;
}

/* ---- the part ---- */

/* Divides the merge if enough of it remains; otherwise upper->compaction stays NULL. */
static enum bb_status divide(struct bb_upper_merge *upper, struct bb_compaction *lower)
{
    struct rest rest;
    uint64_t bytes = 0;
    struct bb_bytes next;
    const struct bb_plan *plan = bb_compaction_plan(lower);
    const struct bb_comparator *comparator = upper->db->options.comparator;
    if (!bb_compaction_next_key(lower, &next))
        return BB_OK;
    enum bb_status status = find_rest(plan, comparator, next, &rest, &bytes);
    if (status != BB_OK || bytes < bytes_min(upper->db))
        return status;
    status = find_middle(plan, comparator, &rest, next, &upper->key);
    if (status != BB_OK || upper->key.size == 0)
        return status;
    upper->first_key = bb_buf_bytes(&upper->key);
    return bb_compaction_divide(lower, &upper->first_key, &upper->compaction);
}

static void join(struct bb_upper_merge *upper)
{
    if (upper->has_thread)
        bb_thread_join(&upper->thread);
    upper->has_thread = false;
}

void bb_upper_merge_destroy(struct bb_upper_merge *upper)
{
    if (upper == NULL)
        return;
    atomic_store(&upper->is_cancelled, true);
    join(upper);
    bb_compaction_destroy(upper->compaction);
    bb_buf_deinit(&upper->key);
    bb_free(upper);
}

struct bb_compaction *bb_upper_merge_compaction(const struct bb_upper_merge *upper)
{
    BB_DEBUG_ASSERT(!upper->has_thread);
    return upper->compaction;
}

/* ---- the thread ---- */

static bool should_end(struct bb_upper_merge *upper)
{
    struct bb_db *db = upper->db;
    bb_mutex_lock(&db->mutex);
    bool is_wanted = !db->is_closing && db->yield_count == 0;
    bb_mutex_unlock(&db->mutex);
    return !is_wanted || atomic_load(&upper->is_cancelled) ||
           bb_index_build_is_outdated(db->index_build);
}

static void run(void *argument)
{
    struct bb_upper_merge *upper = argument;
    enum bb_status status = BB_OK;
    while (status == BB_OK && !upper->is_done && !should_end(upper))
        status = bb_compaction_step(upper->compaction, STEP_ENTRY_COUNT, &upper->is_done);
    if (status != BB_OK) {
        upper->failure = *bb_error_last();
        atomic_store(&upper->has_failed, true);
    }
}

/* A thread that cannot be created is no failure: the worker merges the part. */
static void start_thread(struct bb_upper_merge *upper)
{
    struct bb_error before = *bb_error_last();
    upper->has_thread = bb_thread_create(&upper->thread, run, upper) == BB_OK;
    upper->had_thread = upper->has_thread;
    if (!upper->has_thread)
        (void)bb_error_restore(&before);
}

struct bb_upper_merge *bb_upper_merge_create(struct bb_db *db, struct bb_compaction *lower)
{
    struct bb_error before = *bb_error_last();
    struct bb_upper_merge *upper = bb_alloc_zeroed(1, sizeof(*upper));
    if (upper == NULL)
        return NULL;
    upper->db = db;
    if (divide(upper, lower) != BB_OK || upper->compaction == NULL) {
        bb_upper_merge_destroy(upper);
        (void)bb_error_restore(&before);
        return NULL;
    }
    start_thread(upper);
    return upper;
}

bool bb_upper_merge_has_failed(const struct bb_upper_merge *upper)
{
    return atomic_load(&upper->has_failed);
}

bool bb_upper_merge_had_thread(const struct bb_upper_merge *upper)
{
    return upper->had_thread;
}

enum bb_status bb_upper_merge_step(struct bb_upper_merge *upper, uint64_t entry_count_max,
                                   bool *ret_is_done)
{
    enum bb_status status = BB_OK;
    join(upper);
    if (upper->failure.status != BB_OK)
        return bb_error_restore(&upper->failure);
    if (!upper->is_done)
        status = bb_compaction_step(upper->compaction, entry_count_max, &upper->is_done);
    *ret_is_done = status == BB_OK && upper->is_done;
    return status;
}
