/* See compaction_work.h. */
#include "kv/background/compaction_work.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "compaction/merge/compaction.h"
#include "compaction/pick/pick_covered.h"
#include "compaction/pick/plan_rates.h"
#include "kv/background/deferred.h"
#include "kv/background/edit_install.h"
#include "kv/background/range_request.h"
#include "kv/background/upper_merge.h"
#include "kv/background/waste_target.h"
#include "kv/indexes/index_build.h"
#include "kv/indexes/store_catalog.h"
#include "kv/options.h"
#include "kv/store/current_view.h"
#include "kv/store/file_number.h"
#include "kv/store/work.h"

/* Entries between two checks whether the store is being closed or, in deterministic mode, a
 * memtable waits: about a millisecond of merging. */
#define STEP_ENTRY_COUNT 4096

static enum bb_status new_number(void *context, uint64_t *ret_number)
{
    return bb_file_number_new(context, ret_number);
}

/* The oldest pending request for a full compaction; 0 if none. */
static uint64_t requested(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    uint64_t ticket = db->compact_requested > db->compact_done ? db->compact_requested : 0;
    bb_mutex_unlock(&db->mutex);
    return ticket;
}

static void set_done(struct bb_db *db, uint64_t ticket)
{
    if (ticket == 0)
        return;
    bb_mutex_lock(&db->mutex);
    db->compact_done = ticket;
    bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
}

/* Call after the compaction that uses it is destroyed. */
static void end_indexes(struct bb_db *db)
{
    if (db->index_build == NULL)
        return;
    bb_index_build_deinit(db->index_build);
    bb_free(db->index_build);
    db->index_build = NULL;
}

static enum bb_status begin_indexes(struct bb_db *db)
{
    struct bb_index_build *build = bb_alloc_zeroed(1, sizeof(*build));
    if (build == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the indexes of a compaction");
    bb_index_build_init(build, db, bb_work_file_system(db, BB_WORK_COMPACTION));
    if (db->options.defer_index_files)
        bb_index_build_defer(build);
    end_indexes(db);
    db->index_build = build;
    return BB_OK;
}

static enum bb_status begin_with(struct bb_db *db, struct bb_levels *levels, struct bb_plan *plan,
                                 const struct bb_table_options *table, uint64_t *snapshots,
                                 size_t snapshot_count)
{
    BB_DEBUG_ASSERT(db->compaction == NULL && plan->reason != BB_PLAN_NOTHING);
    struct bb_compact_options options = {
        .env = &db->table_env,
        .table = *table,
        .table_size_bytes = db->options.table_size_bytes,
        .snapshots = snapshots,
        .snapshot_count = snapshot_count,
        .new_number = new_number,
        .context = db,
        .hooks = bb_index_build_hooks(db->index_build),
    };
    db->compaction_begin = db->system->ops->now(db->system);
    db->is_lower_done = false;
    db->may_divide = bb_upper_merge_is_possible(db, plan);
    return bb_compaction_create(plan, levels, &options, &db->compaction);
}

static enum bb_status begin(struct bb_db *db, struct bb_levels *levels, struct bb_plan *plan,
                            const struct bb_table_options *table)
{
    uint64_t *snapshots = NULL;
    size_t snapshot_count = 0;
    enum bb_status status = bb_work_list_snapshots(db, &snapshots, &snapshot_count);
    if (status == BB_OK)
        status = begin_indexes(db);
    if (status == BB_OK)
        status = begin_with(db, levels, plan, table, snapshots, snapshot_count);
    bb_plan_deinit(plan);
    bb_free(snapshots);
    return status;
}

static enum bb_status remove_inputs(const struct bb_plan *plan, struct bb_edit *edit)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < plan->input_count && status == BB_OK; i++)
        status = bb_edit_remove_table(edit, plan->inputs[i]->number);
    return status;
}

static enum bb_status describe_move(const struct bb_plan *plan, struct bb_edit *edit)
{
    enum bb_status status = remove_inputs(plan, edit);
    for (size_t i = 0; i < plan->input_count && status == BB_OK; i++) {
        struct bb_table_file *file = plan->inputs[i];
        status = bb_edit_add_table(edit, plan->output_level, plan->output_run, file->number,
                                   &file->meta);
    }
    return status;
}

static enum bb_status move_tables(struct bb_db *db, const struct bb_plan *plan)
{
    struct bb_edit edit = {0};
    enum bb_status status = describe_move(plan, &edit);
    const struct bb_placing placing = {.share = &db->work_shares[BB_WORK_COMPACTION]};
    if (status == BB_OK)
        status = bb_edit_install_placed(db, &edit, &placing);
    bb_edit_deinit(&edit);
    return status;
}

/* ---- hidden tables ---- */

static void count_covered(struct bb_db *db, const struct bb_plan *plan)
{
    bb_mutex_lock(&db->mutex);
    db->counts.covered_tables += plan->input_count;
    for (size_t i = 0; i < plan->input_count; i++)
        db->counts.covered_bytes += plan->inputs[i]->meta.file_size;
    bb_mutex_unlock(&db->mutex);
}

static enum bb_status remove_tables(struct bb_db *db, const struct bb_plan *plan)
{
    struct bb_edit edit = {0};
    enum bb_status status = remove_inputs(plan, &edit);
    if (status == BB_OK)
        status = bb_edit_install(db, &edit);
    bb_edit_deinit(&edit);
    if (status == BB_OK)
        count_covered(db, plan);
    return status;
}

/* Runs before other compactions, because it reads no table and can save the reading of a merge.
 * Edits installed in the meantime are newer than these levels, and hide at least as much. */
static enum bb_status remove_covered(struct bb_db *db, bool *ret_did)
{
    struct bb_plan plan = {0};
    uint64_t *snapshots = NULL;
    size_t snapshot_count = 0;
    struct bb_levels *levels = bb_current_view_ref_levels(db);
    enum bb_status status = bb_work_list_snapshots(db, &snapshots, &snapshot_count);
    if (status == BB_OK)
        status = bb_pick_covered(levels, snapshots, snapshot_count, &plan);
    *ret_did = status == BB_OK && plan.reason == BB_PLAN_COVERED;
    if (*ret_did)
        status = remove_tables(db, &plan);
    bb_plan_deinit(&plan);
    bb_free(snapshots);
    bb_levels_unref(levels);
    return status;
}

/* The upper part of the current compaction; NULL if it is not divided. */
static struct bb_compaction *upper_part(const struct bb_db *db)
{
    return db->upper_merge == NULL ? NULL : bb_upper_merge_compaction(db->upper_merge);
}

/* Both parts count all inputs as read. */
static struct bb_compact_counts counts_of(const struct bb_db *db)
{
    struct bb_compact_counts counts = *bb_compaction_counts(db->compaction);
    if (upper_part(db) != NULL)
        counts.bytes_written += bb_compaction_counts(upper_part(db))->bytes_written;
    return counts;
}

static void count_compaction(struct bb_db *db)
{
    const struct bb_compact_counts counts = counts_of(db);
    struct bb_event event = {.kind = BB_EVENT_COMPACTION,
                             .level = bb_compaction_plan(db->compaction)->output_level,
                             .nanoseconds = bb_file_elapsed(db->system, db->compaction_begin),
                             .bytes_read = counts.bytes_read,
                             .bytes_written = counts.bytes_written,
                             .message = ""};
    bb_mutex_lock(&db->mutex);
    db->counts.compactions++;
    db->counts.divided_compactions +=
        db->upper_merge != NULL && bb_upper_merge_had_thread(db->upper_merge);
    db->counts.compaction_bytes_read += counts.bytes_read;
    db->counts.compaction_bytes_written += counts.bytes_written;
    db->counts.compaction_range_tombstones += counts.range_tombstones_in;
    bb_mutex_unlock(&db->mutex);
    bb_store_event(db, &event);
}

static enum bb_status describe_outputs(const struct bb_compaction *compaction, struct bb_edit *edit)
{
    const struct bb_plan *plan = bb_compaction_plan(compaction);
    size_t count = 0;
    const struct bb_compact_output *outputs = bb_compaction_outputs(compaction, &count);
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = bb_edit_add_table(edit, plan->output_level, plan->output_run, outputs[i].number,
                                   &outputs[i].meta);
    return status;
}

static enum bb_status describe_result(const struct bb_db *db, struct bb_edit *edit)
{
    enum bb_status status = bb_compaction_check(db->compaction, upper_part(db));
    if (status == BB_OK)
        status = remove_inputs(bb_compaction_plan(db->compaction), edit);
    if (status == BB_OK)
        status = describe_outputs(db->compaction, edit);
    if (status == BB_OK && upper_part(db) != NULL)
        status = describe_outputs(upper_part(db), edit);
    return status;
}

/* Records that a piece of the first requested range is done. */
static void finish_range(struct bb_db *db)
{
    const struct bb_plan *plan = bb_compaction_plan(db->compaction);
    struct bb_range_request *request = bb_range_request_first(db);
    if (plan->reason == BB_PLAN_RANGE && request != NULL)
        bb_range_progress_finish(&request->progress, plan);
}

/* Ends the current compaction. Unless it is committed, this removes its outputs. */
static void end_compaction(struct bb_db *db)
{
    bb_compaction_destroy(db->compaction);
    bb_upper_merge_destroy(db->upper_merge);
    db->compaction = NULL;
    db->upper_merge = NULL;
    end_indexes(db);
    db->compact_ticket = 0;
    bb_work_end_pending(db, BB_WORK_COMPACTION);
}

/* A result while it is installed. */
struct result {
    struct bb_db *db;
    bool is_outdated;
};

/* Runs under the lock on installing, so that no index is created between this and the install. A
 * failed edit may still prove durable, so the compaction must not remove its outputs
 * (kv/manifest/orphans.h). */
static enum bb_status place(void *context, struct bb_levels *levels, struct bb_edit *edit)
{
    struct result *result = context;
    struct bb_db *db = result->db;
    (void)levels;
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    result->is_outdated = bb_index_build_is_outdated(db->index_build);
    if (result->is_outdated)
        return bb_fail(BB_BUSY, "an index was created during a compaction");
    bb_index_build_describe(db->index_build, edit);
    bb_compaction_commit(db->compaction);
    if (upper_part(db) != NULL)
        bb_compaction_commit(upper_part(db));
    bb_index_build_commit(db->index_build);
    return BB_OK;
}

static enum bb_status finish(struct bb_db *db)
{
    struct bb_edit edit = {0};
    struct result result = {.db = db};
    struct bb_placing placing = {
        .place = place, .context = &result, .share = &db->work_shares[BB_WORK_COMPACTION]};
    enum bb_status status = describe_result(db, &edit);
    if (status == BB_OK)
        status = bb_edit_install_placed(db, &edit, &placing);
    bb_edit_deinit(&edit);
    if (result.is_outdated) {
        bb_compaction_work_abandon(db);
        return BB_OK;
    }
    if (status != BB_OK)
        return status;
    count_compaction(db);
    finish_range(db);
    uint64_t ticket = db->compact_ticket;
    end_compaction(db);
    set_done(db, ticket);
    return BB_OK;
}

/* Tries once to divide the rest of the compaction, when that is due. */
static void divide(struct bb_db *db)
{
    if (!db->may_divide || !bb_upper_merge_is_due(db))
        return;
    db->may_divide = false;
    db->upper_merge = bb_upper_merge_create(db, db->compaction);
}

/* Merges some entries: of the lower part, then of the upper one. */
static enum bb_status merge_some(struct bb_db *db, bool *ret_is_done)
{
    divide(db);
    struct bb_upper_merge *upper = db->upper_merge;
    if (db->is_lower_done || (upper != NULL && bb_upper_merge_has_failed(upper)))
        return bb_upper_merge_step(upper, STEP_ENTRY_COUNT, ret_is_done);
    enum bb_status status =
        bb_compaction_step(db->compaction, STEP_ENTRY_COUNT, &db->is_lower_done);
    *ret_is_done = db->is_lower_done && upper == NULL;
    return status;
}

/* An index that is created during a compaction would be missing from its outputs, even if
 * bb_db_index_materialize has since built it for all inputs. The compaction begins again, which
 * costs less than reading the outputs again. */
static enum bb_status step(struct bb_db *db)
{
    bool is_done = false;
    if (bb_index_build_is_outdated(db->index_build)) {
        bb_compaction_work_abandon(db);
        return BB_OK;
    }
    enum bb_status status = merge_some(db, &is_done);
    return status == BB_OK && is_done ? finish(db) : status;
}

/* The next piece of the first requested range that has pieces. */
static enum bb_status pick_range(struct bb_db *db, struct bb_levels *levels, struct bb_plan *plan)
{
    enum bb_status status = BB_OK;
    struct bb_pick_options options = bb_waste_target_pick_options(db, levels);
    struct bb_range_request *request = bb_range_request_first(db);
    while (request != NULL && status == BB_OK) {
        status = bb_range_progress_pick(&request->progress, levels, &options, plan);
        if (status != BB_OK || plan->reason != BB_PLAN_NOTHING)
            return status;
        bb_range_request_finish(db);
        request = bb_range_request_first(db);
    }
    return status;
}

/* The horizon counts operations instead of time, so that the same calls cause the same compactions.
 * Data in tables is older than any future snapshot. */
static void set_horizon(struct bb_db *db, struct bb_pick_options *options)
{
    uint64_t now = atomic_load_explicit(&db->last_sequence, memory_order_acquire);
    uint64_t age = db->options.tombstone_age_max;
    options->tombstone_horizon = age > 0 && now > age ? now - age : 0;
    bb_mutex_lock(&db->mutex);
    options->oldest_snapshot = bb_snapshots_oldest(&db->snapshots);
    bb_mutex_unlock(&db->mutex);
}

/* Memtables waiting for a flush mean that one ends soon. */
static bool is_quiet(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool has_ceased = bb_pace_is_quiet(&db->pace) && bb_view_frozen_count(db->view) == 0;
    bb_mutex_unlock(&db->mutex);
    return has_ceased;
}

/* With the shares of the other work. */
static struct bb_pick_options shared_options(struct bb_db *db, const struct bb_levels *levels)
{
    struct bb_pick_options options = bb_waste_target_pick_options(db, levels);
    options.shares = db->shares;
    options.own_share = &db->work_shares[BB_WORK_COMPACTION];
    return options;
}

static enum bb_status pick_due(struct bb_db *db, struct bb_levels *levels, struct bb_plan *plan)
{
    struct bb_pick_options options = shared_options(db, levels);
    options.needs_companions = !db->options.defer_index_files && bb_store_catalog_has_indexes(db);
    set_horizon(db, &options);
    options.level0_run_count_due =
        is_quiet(db) ? db->options.level0_run_count_compact : db->options.level0_run_count_busy;
    const struct bb_range_request *request = bb_range_request_first(db);
    options.rates_will_change =
        request != NULL && bb_range_progress_is_full(&request->progress, levels);
    db->compact_ticket = requested(db);
    enum bb_status status = BB_OK;
    if (db->compact_ticket != 0)
        status = bb_pick_all(levels, &options, plan);
    if (db->compact_ticket != 0 && status == BB_OK && plan->reason == BB_PLAN_NOTHING) {
        set_done(db, db->compact_ticket);
        db->compact_ticket = 0;
    }
    if (status == BB_OK && plan->reason == BB_PLAN_NOTHING)
        status = bb_pick(levels, &options, plan);
    return status;
}

/* Requested ranges alternate with other compactions. */
static enum bb_status pick(struct bb_db *db, struct bb_levels *levels, struct bb_plan *plan)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    bool is_range_first = !db->was_range;
    enum bb_status status = is_range_first ? pick_range(db, levels, plan) : BB_OK;
    if (status == BB_OK && plan->reason == BB_PLAN_NOTHING)
        status = pick_due(db, levels, plan);
    if (status == BB_OK && plan->reason == BB_PLAN_NOTHING && !is_range_first)
        status = pick_range(db, levels, plan);
    db->was_range = status == BB_OK && plan->reason == BB_PLAN_RANGE;
    return status;
}

/* A bit for each level, as in pending_levels. */
static uint32_t levels_of(const struct bb_plan *plan)
{
    uint32_t levels = UINT32_C(1) << plan->output_level;
    for (size_t i = 0; i < plan->input_count; i++)
        levels |= UINT32_C(1) << plan->input_levels[i];
    return levels & ~UINT32_C(1);
}

/* Sets the filters of a plan's tables, and their share of the target. */
static void plan_tables(struct bb_db *db, const struct bb_levels *levels,
                        const struct bb_plan *plan, struct bb_table_options *ret_table)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    struct bb_pick_options options = shared_options(db, levels);
    bb_options_for_table(&db->options, bb_work_file_system(db, BB_WORK_COMPACTION), &db->secret,
                         NULL, ret_table);
    bb_plan_rates_expect_tables(plan, db->options.table_size_bytes, &options);
    bb_plan_rates_set(levels, &options, plan, ret_table);
    double rate = plan->is_move ? bb_plan_moved_rate(plan) : ret_table->filter_rate;
    db->pending_levels = levels_of(plan);
    db->pending_merge = bb_plan_rates_merge(&options, plan, rate);
    struct bb_hull hull = bb_plan_rates_output_hull(levels, &options, plan);
    bb_waste_share_set(&db->shares, &db->work_shares[BB_WORK_COMPACTION], &hull,
                       bb_plan_rates_waste_added(levels, &options, plan, rate));
}

/* Holds one lock, so that a flush is planned entirely before or after this. */
static enum bb_status plan_next(struct bb_db *db, struct bb_levels **ret_levels,
                                struct bb_plan *plan, struct bb_table_options *ret_table)
{
    bb_mutex_lock(&db->installing);
    *ret_levels = bb_current_view_ref_levels(db);
    enum bb_status status = pick(db, *ret_levels, plan);
    if (status == BB_OK && plan->reason != BB_PLAN_NOTHING)
        plan_tables(db, *ret_levels, plan, ret_table);
    bb_mutex_unlock(&db->installing);
    return status;
}

/* Takes the plan. */
static enum bb_status carry_out(struct bb_db *db, struct bb_levels *levels, struct bb_plan *plan,
                                const struct bb_table_options *table)
{
    if (!plan->is_move)
        return begin(db, levels, plan, table);
    enum bb_status status = move_tables(db, plan);
    bb_work_end_pending(db, BB_WORK_COMPACTION);
    bb_plan_deinit(plan);
    return status;
}

/* ---- yielding to flushes and writes when space is short ---- */

static bool begin_merging(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool may_merge = db->yield_count == 0;
    /* Otherwise it stays until the outputs are removed. */
    if (may_merge)
        db->is_merging = true;
    bb_mutex_unlock(&db->mutex);
    return may_merge;
}

static void end_merging(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    db->is_merging = false;
    atomic_fetch_add_explicit(&db->merge_ends, 1, memory_order_relaxed);
    if (db->yield_count > 0)
        bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
}

bool bb_compaction_work_is_level0_stopped(const struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    return bb_levels_table_count(db->view->levels, 0) >= db->options.level0_run_count_stop;
}

bool bb_compaction_work_is_level0_at_limit(const struct bb_db *db, enum bb_new_run new_run)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    uint64_t runs = bb_levels_table_count(db->view->levels, 0);
    if (new_run == BB_NEW_RUN_UNFROZEN)
        runs += bb_view_frozen_count(db->view);
    return runs >= BB_LEVEL0_STOPS_MAX * (uint64_t)db->options.level0_run_count_stop;
}

uint64_t bb_compaction_work_ends(const struct bb_db *db)
{
    return atomic_load_explicit(&db->merge_ends, memory_order_relaxed);
}

bool bb_compaction_work_begin_yield(struct bb_db *db, enum bb_new_run new_run, uint64_t ends)
{
    bb_mutex_lock(&db->mutex);
    bool has_run = db->is_merging || db->yield_count > 0 || bb_compaction_work_ends(db) != ends;
    bool may_help = has_run && !bb_compaction_work_is_level0_at_limit(db, new_run);
    db->yield_count += may_help;
    while (may_help && db->is_merging && !db->is_closing)
        bb_condvar_wait(&db->work_is_done, &db->mutex);
    bb_mutex_unlock(&db->mutex);
    return may_help;
}

void bb_compaction_work_end_yield(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    BB_DEBUG_ASSERT(db->yield_count > 0);
    db->yield_count--;
    bb_work_signal(db, BB_WORK_COMPACTION);
    bb_mutex_unlock(&db->mutex);
}

bool bb_compaction_work_begin_leader_yield(struct bb_db *db, uint64_t ends)
{
    db->leader_yields =
        !db->options.deterministic && bb_compaction_work_begin_yield(db, BB_NEW_RUN_UNFROZEN, ends);
    return db->leader_yields;
}

void bb_compaction_work_end_leader_yield(struct bb_db *db)
{
    db->leader_yields = false;
    bb_compaction_work_end_yield(db);
}

static enum bb_status compact_some(struct bb_db *db, bool *ret_did)
{
    struct bb_table_options table;
    struct bb_plan plan = {0};
    struct bb_levels *levels = NULL;
    *ret_did = true;
    if (db->compaction != NULL)
        return step(db);
    enum bb_status status = remove_covered(db, ret_did);
    if (status != BB_OK || *ret_did)
        return status;
    *ret_did = true;
    status = plan_next(db, &levels, &plan, &table);
    if (status == BB_OK && plan.reason == BB_PLAN_NOTHING)
        status = bb_deferred_build_some(db, is_quiet(db), ret_did);
    else if (status == BB_OK)
        status = carry_out(db, levels, &plan, &table);
    bb_levels_unref(levels);
    return status;
}

enum bb_status bb_compaction_work_do_some(struct bb_db *db, bool *ret_did)
{
    if (!begin_merging(db)) {
        *ret_did = false;
        bb_compaction_work_abandon(db);
        return BB_OK;
    }
    enum bb_status status = compact_some(db, ret_did);
    if (db->compaction == NULL)
        end_merging(db);
    return status;
}

void bb_compaction_work_abandon(struct bb_db *db)
{
    end_compaction(db);
    end_merging(db);
}
