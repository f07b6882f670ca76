/* See model_store.h: operations on keys, each on store and oracle. */
#include "tests/model/model_keys.h"

#include <stdio.h>

#include "base/bytes.h"
#include "bb/db_explain.h"
#include "tests/support/must_alloc.h"

/* Key i always has the same bytes: mostly a shared prefix and a number, some very short, some with
 * NULs. */
static struct bb_bytes key_of(uint32_t i, struct model_key *key)
{
    char *text = (char *)key->data;
    if (i == 0)
        key->size = 0;
    else if (i % 7 == 0)
        key->size = (size_t)snprintf(text, MODEL_KEY_SIZE_MAX, "%u", i);
    else if (i % 11 == 0)
        key->size =
            (size_t)snprintf(text, MODEL_KEY_SIZE_MAX,
                             "http://example.org/a/long/shared/prefix/%08u", i * 2654435761u);
    else
        key->size = (size_t)snprintf(text, MODEL_KEY_SIZE_MAX, "k%06u", i);
    if (i % 5 == 0 && key->size > 2)
        key->data[key->size / 2] = 0;
    return bb_bytes_of(key->data, key->size);
}

struct bb_bytes model_draw_key(struct model *model, struct model_key *key)
{
    return key_of((uint32_t)bb_rng_below(&model->rng, model->key_space), key);
}

void model_key_number(const struct model *model, uint64_t number, struct model_key *key)
{
    (void)key_of((uint32_t)(number % model->key_space), key);
}

static struct bb_bytes draw_value(struct model *model, struct bb_buf *buf)
{
    size_t size = bb_rng_one_in(&model->rng, 50)
                      ? bb_rng_below(&model->rng, 20000)
                      : bb_rng_below(&model->rng, (uint64_t)model->value_max + 1);
    uint8_t *data = NULL;
    buf->size = 0;
    model_must(model, bb_buf_extend(buf, size, &data), "value");
    /* Half random, half compressible. */
    bb_rng_bytes(&model->rng, data, size / 2);
    return bb_buf_bytes(buf);
}

static const struct bb_write_options *draw_sync(struct model *model, bool *ret_sync)
{
    static const struct bb_write_options synced = {.sync = true};
    *ret_sync = bb_rng_one_in(&model->rng, 20);
    return *ret_sync ? &synced : NULL;
}

static void committed(struct model *model, bool sync)
{
    if (sync) {
        model_set_durable(model);
        return;
    }
    model->commits = bb_must_grow(model->commits, model->commit_count, &model->commit_capacity,
                                  sizeof(*model->commits));
    model->commits[model->commit_count++] = model->sequence;
}

void model_put(struct model *model)
{
    struct model_key key;
    bool sync = false;
    struct bb_bytes k = model_draw_key(model, &key);
    struct bb_bytes v = draw_value(model, &model->value);
    model_must(model, bb_db_put(model->db, draw_sync(model, &sync), k, v), "put");
    oracle_apply(model->oracle, ++model->sequence, k, &v);
    committed(model, sync);
}

void model_delete(struct model *model)
{
    struct model_key key;
    bool sync = false;
    struct bb_bytes k = model_draw_key(model, &key);
    model_must(model, bb_db_delete(model->db, draw_sync(model, &sync), k), "delete");
    oracle_apply(model->oracle, ++model->sequence, k, NULL);
    committed(model, sync);
}

/* Between keys of different shapes lies much: seldom. The bounds may come in the wrong order: then the
 * range is empty. */
static void draw_range(struct model *model, struct model_key keys[2], struct bb_bytes *ret_low,
                       struct bb_bytes *ret_high)
{
    uint32_t first = (uint32_t)bb_rng_below(&model->rng, model->key_space);
    bool is_any = bb_rng_one_in(&model->rng, 1000);
    while (!is_any && (first % 7 == 0 || first % 11 == 0))
        first++;
    uint32_t count = (uint32_t)bb_rng_below(&model->rng, bb_rng_one_in(&model->rng, 20) ? 100 : 6);
    *ret_low = key_of(first, &keys[0]);
    *ret_high = bb_rng_one_in(&model->rng, 1000) ? model_draw_key(model, &keys[1])
                                                 : key_of(first + count, &keys[1]);
}

void model_delete_range(struct model *model)
{
    struct model_key keys[2];
    struct bb_bytes low;
    struct bb_bytes high;
    bool sync = false;
    draw_range(model, keys, &low, &high);
    model_must(model, bb_db_delete_range(model->db, draw_sync(model, &sync), low, high),
               "delete range");
    oracle_delete_range(model->oracle, ++model->sequence, low, high);
    committed(model, sync);
}

static void add_range(struct model *model, struct bb_batch *batch)
{
    struct model_key keys[2];
    struct bb_bytes low;
    struct bb_bytes high;
    draw_range(model, keys, &low, &high);
    model_must(model, bb_batch_delete_range(batch, low, high), "batch");
    oracle_delete_range(model->oracle, ++model->sequence, low, high);
}

void model_batch(struct model *model)
{
    struct bb_batch *batch = NULL;
    bool sync = false;
    model_must(model, bb_batch_create(&batch), "batch");
    size_t count = bb_rng_below(&model->rng, 20);
    for (size_t i = 0; i < count; i++) {
        struct model_key key;
        if (bb_rng_one_in(&model->rng, 30)) {
            add_range(model, batch);
            continue;
        }
        struct bb_bytes k = model_draw_key(model, &key);
        bool is_put = !bb_rng_one_in(&model->rng, 3);
        struct bb_bytes v = draw_value(model, &model->value);
        model_must(model, is_put ? bb_batch_put(batch, k, v) : bb_batch_delete(batch, k), "batch");
        oracle_apply(model->oracle, ++model->sequence, k, is_put ? &v : NULL);
    }
    model_must(model, bb_db_write(model->db, draw_sync(model, &sync), batch), "write");
    bb_batch_destroy(batch);
    committed(model, sync);
}

const struct bb_snapshot *model_draw_snapshot(struct model *model, uint64_t *ret_sequence)
{
    *ret_sequence = model->sequence;
    if (model->snapshot_count == 0 || bb_rng_one_in(&model->rng, 2))
        return NULL;
    const struct model_snapshot *snapshot =
        &model->snapshots[bb_rng_below(&model->rng, model->snapshot_count)];
    *ret_sequence = snapshot->sequence;
    return snapshot->handle;
}

/* The steps decide at the last one, and what they say of the key is what is said in sum. */
static void check_steps(const struct model *model, const struct bb_explain *explain)
{
    bool is_found = false;
    for (size_t i = 0; i < explain->step_count; i++) {
        const struct bb_explain_step *step = &explain->steps[i];
        is_found = step->found == BB_EXPLAIN_VALUE;
        if (step->found != BB_EXPLAIN_NOTHING &&
            (i + 1 < explain->step_count || step->sequence > explain->sequence))
            model_differ(model, "a report goes on behind what it has found, or finds the future");
    }
    if (is_found != explain->is_found)
        model_differ(model, "the steps of a report say something else than its end");
}

/* A get, or its report. */
static enum bb_status ask(struct model *model, const struct bb_get_options *options,
                          struct bb_bytes key)
{
    struct bb_explain explain;
    if (!bb_rng_one_in(&model->rng, 8))
        return bb_db_get(model->db, options, key, &model->value);
    enum bb_status status = bb_db_explain(model->db, options, key, &model->value, &explain);
    if (status != BB_OK)
        return status;
    check_steps(model, &explain);
    bool is_found = explain.is_found;
    bb_explain_deinit(&explain);
    model->coverage->reports++;
    return is_found ? BB_OK : BB_NOT_FOUND;
}

static void compare_get(struct model *model, struct bb_bytes key)
{
    uint64_t sequence = 0;
    struct bb_get_options options = {.snapshot = model_draw_snapshot(model, &sequence)};
    options.read.ignore_filters = bb_rng_one_in(&model->rng, 20);
    options.read.account_avoided = bb_rng_one_in(&model->rng, 20);
    options.read.bypass_fill = bb_rng_one_in(&model->rng, 20);
    enum bb_status status = ask(model, &options, key);
    if (status != BB_OK && status != BB_NOT_FOUND)
        model_must(model, status, "get");
    enum oracle_answer answer = oracle_get(model->oracle, key, sequence, &model->expected);
    if ((status == BB_OK) != (answer == ORACLE_PRESENT))
        model_differ(model, status == BB_OK ? "get finds a key that is not there"
                                            : "get does not find a key");
    if (status == BB_OK &&
        !bb_bytes_equal(bb_buf_bytes(&model->value), bb_buf_bytes(&model->expected)))
        model_differ(model, "get gives another value");
    model->coverage->gets++;
    model->coverage->gets_present += answer == ORACLE_PRESENT;
    model->coverage->gets_deleted += answer == ORACLE_DELETED;
    model->coverage->gets_in_ranges += answer == ORACLE_DELETED_RANGE;
    model->coverage->gets_never += answer == ORACLE_NEVER;
}

void model_get(struct model *model)
{
    struct model_key key;
    compare_get(model, model_draw_key(model, &key));
}

void model_get_far_away(struct model *model)
{
    uint8_t key[MODEL_KEY_SIZE_MAX];
    size_t size = bb_rng_key(&model->rng, key, sizeof(key));
    compare_get(model, bb_bytes_of(key, size));
}

static void compare_position(struct model *model, const struct bb_db_iter *iter, bool is_expected,
                             const char *what)
{
    model_must(model, bb_db_iter_status(iter), what);
    if (bb_db_iter_valid(iter) != is_expected)
        model_differ(model, is_expected ? "iterator ends early"
                                        : "iterator goes on where nothing is left");
    if (!is_expected)
        return;
    if (!bb_bytes_equal(bb_db_iter_key(iter), bb_buf_bytes(&model->expected_key)))
        model_differ(model, "iterator stands on another key");
    if (!bb_bytes_equal(bb_db_iter_value(iter), bb_buf_bytes(&model->expected)))
        model_differ(model, "iterator gives another value");
}

/* What an iterator is bounded by: often nothing, on one side or on both. */
struct bounds {
    struct model_key low_key;
    struct model_key high_key;
    struct bb_bytes low;
    struct bb_bytes high;
    struct bb_key_range range;
};

static void draw_bounds(struct model *model, struct bounds *bounds)
{
    bounds->low = model_draw_key(model, &bounds->low_key);
    bounds->high = model_draw_key(model, &bounds->high_key);
    bounds->range = (struct bb_key_range){
        .low = bb_rng_one_in(&model->rng, 3) ? &bounds->low : NULL,
        .high = bb_rng_one_in(&model->rng, 3) ? &bounds->high : NULL,
    };
}

static bool is_inside(const struct bb_key_range *range, struct bb_bytes key)
{
    return (range->low == NULL || bb_bytes_compare(key, *range->low) >= 0) &&
           (range->high == NULL || bb_bytes_compare(key, *range->high) < 0);
}

/* The first present key of the range that is not below `from`. */
static bool expect_first(struct model *model, const struct bb_key_range *range, uint64_t sequence,
                         struct bb_bytes from)
{
    struct bb_buf *key = &model->expected_key;
    if (range->low != NULL && bb_bytes_compare(from, *range->low) < 0)
        from = *range->low;
    model_must(model, bb_buf_assign(key, from), "key");
    return oracle_seek(model->oracle, sequence, false, key, &model->expected) &&
           is_inside(range, bb_buf_bytes(key));
}

static bool expect_last(struct model *model, const struct bb_key_range *range, uint64_t sequence)
{
    struct bb_buf *key = &model->expected_key;
    bool is_found = false;
    if (range->high != NULL) {
        model_must(model, bb_buf_assign(key, *range->high), "key");
        is_found = oracle_before(model->oracle, sequence, key, &model->expected);
    } else {
        is_found = oracle_last(model->oracle, sequence, key, &model->expected);
    }
    return is_found && is_inside(range, bb_buf_bytes(key));
}

static bool seek(struct model *model, struct bb_db_iter *iter, const struct bb_key_range *range,
                 uint64_t sequence)
{
    uint64_t draw = bb_rng_below(&model->rng, 10);
    if (draw == 0) {
        bb_db_iter_seek_first(iter);
        return expect_first(model, range, sequence, (struct bb_bytes){0});
    }
    if (draw == 1) {
        bb_db_iter_seek_last(iter);
        return expect_last(model, range, sequence);
    }
    struct model_key drawn;
    struct bb_bytes k = model_draw_key(model, &drawn);
    if (draw < 4)
        k.size = bb_rng_key(&model->rng, drawn.data, sizeof(drawn.data));
    k.data = drawn.data;
    bb_db_iter_seek(iter, k);
    return expect_first(model, range, sequence, k);
}

static size_t table_count(struct model *model)
{
    struct bb_db_stats stats;
    size_t count = 0;
    bb_db_stats(model->db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += stats.levels[level].table_count;
    return count;
}

void model_walk(struct model *model)
{
    uint64_t sequence = 0;
    struct bb_get_options options = {.snapshot = model_draw_snapshot(model, &sequence)};
    struct bb_db_iter *iter = NULL;
    uint64_t crossed_before = oracle_ranges_crossed(model->oracle);
    struct bounds bounds;
    draw_bounds(model, &bounds);
    const struct bb_key_range *range = &bounds.range;
    model_must(model, bb_db_iter_create_range(model->db, &options, range, &iter), "iterator");
    bool is_valid = seek(model, iter, range, sequence);
    compare_position(model, iter, is_valid, "seek");
    bool was_forward = true;
    uint64_t turns = 0;
    for (uint64_t left = bb_rng_below(&model->rng, 40); is_valid && left > 0; left--) {
        bool is_forward = bb_rng_one_in(&model->rng, 4) ? !was_forward : was_forward;
        turns += is_forward != was_forward;
        was_forward = is_forward;
        if (is_forward) {
            bb_db_iter_next(iter);
            is_valid =
                oracle_seek(model->oracle, sequence, true, &model->expected_key, &model->expected);
        } else {
            bb_db_iter_prev(iter);
            is_valid =
                oracle_before(model->oracle, sequence, &model->expected_key, &model->expected);
        }
        is_valid = is_valid && is_inside(range, bb_buf_bytes(&model->expected_key));
        model->coverage->moves++;
        compare_position(model, iter, is_valid, is_forward ? "next" : "prev");
    }
    bb_db_iter_destroy(iter);
    model->coverage->turns += turns;
    model->coverage->bounds_met += !is_valid && (range->low != NULL || range->high != NULL);
    model->coverage->walks_over_ranges += oracle_ranges_crossed(model->oracle) > crossed_before;
    model->coverage->snapshot_walks += options.snapshot != NULL;
    model->coverage->turns_across_tables += turns > 0 && table_count(model) >= 2;
}

static void compare_scan(struct model *model, const struct bb_snapshot *snapshot, uint64_t sequence,
                         bool is_forward)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_db_iter *iter = NULL;
    model_must(model, bb_db_iter_create(model->db, &options, &iter), "iterator");
    model->expected_key.size = 0;
    bool is_valid = false;
    if (is_forward) {
        bb_db_iter_seek_first(iter);
        is_valid =
            oracle_seek(model->oracle, sequence, false, &model->expected_key, &model->expected);
    } else {
        bb_db_iter_seek_last(iter);
        is_valid = oracle_last(model->oracle, sequence, &model->expected_key, &model->expected);
    }
    compare_position(model, iter, is_valid, "scan");
    while (is_valid) {
        if (is_forward) {
            bb_db_iter_next(iter);
            is_valid =
                oracle_seek(model->oracle, sequence, true, &model->expected_key, &model->expected);
        } else {
            bb_db_iter_prev(iter);
            is_valid =
                oracle_before(model->oracle, sequence, &model->expected_key, &model->expected);
        }
        compare_position(model, iter, is_valid, "scan");
    }
    bb_db_iter_destroy(iter);
}

void model_compare_now(struct model *model)
{
    compare_scan(model, NULL, model->sequence, true);
    compare_scan(model, NULL, model->sequence, false);
}

void model_compare_all(struct model *model)
{
    model_compare_now(model);
    uint64_t oldest = model->sequence;
    for (size_t i = 0; i < model->snapshot_count; i++) {
        const struct model_snapshot *snapshot = &model->snapshots[i];
        compare_scan(model, snapshot->handle, snapshot->sequence, true);
        compare_scan(model, snapshot->handle, snapshot->sequence, false);
        oldest = snapshot->sequence < oldest ? snapshot->sequence : oldest;
    }
    /* A crash may go back to the durable state, and no further. */
    oracle_prune(model->oracle, oldest < model->durable ? oldest : model->durable);
}
