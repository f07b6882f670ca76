/* See upper_merge.h. */
#include "kv/background/upper_merge.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "kv/indexes/index_build.h"
#include "sstable/table/table.h"

/* A merge of at least this many tables of the full size is divided. */
#define TABLES_MIN 8
/* Entries between two looks whether the thread should end: about a millisecond. */
#define STEP_ENTRY_COUNT 4096

struct bb_upper_merge {
    struct bb_db *db;
    struct bb_buf key;         /* the first of the part */
    struct bb_bytes first_key; /* the same */
    struct bb_compaction *compaction;
    bool was_started; /* or the worker merges the part */
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

static bool may_divide(const struct bb_db *db, const struct bb_plan *plan)
{
    uint64_t ranges = 0;
    for (size_t i = 0; i < plan->input_count; i++)
        ranges += plan->inputs[i]->meta.range_tombstone_count;
    return !db->options.deterministic && plan->output_level > 0 && ranges == 0 &&
           db->index_build->catalog == NULL &&
           bytes_of(plan, 0, plan->input_count) >= TABLES_MIN * db->options.table_size_bytes;
}

static size_t run_end(const struct bb_plan *plan, size_t begin)
{
    size_t end = begin + 1;
    while (end < plan->input_count && plan->input_levels[end] == plan->input_levels[begin] &&
           plan->input_runs[end] == plan->input_runs[begin])
        end++;
    return end;
}

/* The table of inputs [begin, end) before which half of their bytes are; not the first one. */
static size_t middle_of(const struct bb_plan *plan, size_t begin, size_t end)
{
    uint64_t half = bytes_of(plan, begin, end) / 2;
    uint64_t before = plan->inputs[begin]->meta.file_size;
    size_t middle = begin + 1;
    while (middle + 1 < end && before < half)
        before += plan->inputs[middle++]->meta.file_size;
    return middle;
}

/* A run of level 0 has one table. */
static enum bb_status middle_key(const struct bb_plan *plan, size_t begin, size_t end,
                                 struct bb_buf *ret_key)
{
    struct bb_table *table = NULL;
    if (end - begin > 1)
        return bb_buf_assign(
            ret_key, bb_buf_bytes(&plan->inputs[middle_of(plan, begin, end)]->meta.smallest));
    enum bb_status status = bb_table_file_open(plan->inputs[begin], &table);
    return status == BB_OK ? bb_table_middle_key(table, ret_key) : status;
}

/* A key before which half of the largest run is; empty: the merge is not divided. */
static enum bb_status find_key(const struct bb_db *db, const struct bb_plan *plan,
                               struct bb_buf *ret_key)
{
    size_t largest = 0;
    uint64_t most = 0;
    if (!may_divide(db, plan))
        return BB_OK;
    for (size_t begin = 0; begin < plan->input_count; begin = run_end(plan, begin)) {
        uint64_t bytes = bytes_of(plan, begin, run_end(plan, begin));
        largest = bytes > most ? begin : largest;
        most = bytes > most ? bytes : most;
    }
    return middle_key(plan, largest, run_end(plan, largest), ret_key);
}

/* ---- the part ---- */

static enum bb_status begin_part(struct bb_upper_merge *upper, const struct bb_plan *plan,
                                 struct bb_levels *levels, struct bb_compact_options options)
{
    struct bb_plan copy = {0};
    upper->first_key = bb_buf_bytes(&upper->key);
    options.range.low = &upper->first_key;
    options.hooks = (struct bb_output_hooks){0};
    enum bb_status status = bb_plan_copy(plan, &copy);
    return status == BB_OK ? bb_compaction_create(&copy, levels, &options, &upper->compaction)
                           : status;
}

enum bb_status bb_upper_merge_create(struct bb_db *db, const struct bb_plan *plan,
                                     struct bb_levels *levels,
                                     const struct bb_compact_options *options,
                                     struct bb_upper_merge **ret_upper)
{
    struct bb_upper_merge *upper = bb_alloc_zeroed(1, sizeof(*upper));
    if (upper == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a part of a merge");
    upper->db = db;
    enum bb_status status = find_key(db, plan, &upper->key);
    bool is_divided = upper->key.size > 0;
    if (status == BB_OK && is_divided)
        status = begin_part(upper, plan, levels, *options);
    if (status == BB_OK && is_divided)
        *ret_upper = upper;
    else
        bb_upper_merge_destroy(upper);
    return status;
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

struct bb_key_range bb_upper_merge_rest(const struct bb_upper_merge *upper)
{
    return (struct bb_key_range){.high = &upper->first_key};
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

/* True when writes have paused, or a caller waits for merges. */
static bool is_due(struct bb_upper_merge *upper)
{
    struct bb_db *db = upper->db;
    uint64_t now = db->system->ops->now(db->system);
    bb_mutex_lock(&db->mutex);
    bool has_paused = bb_pace_has_paused(&db->pace, now) && bb_view_frozen_count(db->view) == 0;
    bool is_waited_for = db->compact_requested > db->compact_done || db->range_requests != NULL;
    bb_mutex_unlock(&db->mutex);
    return db->limit == NULL && (has_paused || is_waited_for);
}

/* A thread that cannot be created is no failure: the worker merges the part. */
void bb_upper_merge_start(struct bb_upper_merge *upper)
{
    if (upper->was_started || !is_due(upper))
        return;
    struct bb_error before = *bb_error_last();
    upper->was_started = true;
    upper->has_thread = bb_thread_create(&upper->thread, run, upper) == BB_OK;
    upper->had_thread = upper->has_thread;
    if (!upper->has_thread)
        (void)bb_error_restore(&before);
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
    upper->was_started = true;
    if (upper->failure.status != BB_OK)
        return bb_error_restore(&upper->failure);
    if (!upper->is_done)
        status = bb_compaction_step(upper->compaction, entry_count_max, &upper->is_done);
    *ret_is_done = status == BB_OK && upper->is_done;
    return status;
}
