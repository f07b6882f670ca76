/* See model_store.h: iterators, compared with the oracle step by step. */
#include "tests/model/model_keys.h"

#include "base/bytes.h"
#include "tests/model/model_spans.h"

static bool is_inside(const struct model *model, const struct bb_key_range *range,
                      struct bb_bytes key)
{
    return (range->low == NULL || model_compare(model, key, *range->low) >= 0) &&
           (range->high == NULL || model_compare(model, key, *range->high) < 0);
}

static void compare_position(struct model *model, const struct model_walk *walk, const char *what)
{
    const struct bb_db_iter *iter = walk->iter;
    model_must(model, bb_db_iter_status(iter), what);
    if (bb_db_iter_valid(iter) != walk->is_valid)
        model_differ(model, walk->is_valid ? "iterator ends early"
                                           : "iterator goes on where nothing is left");
    if (!walk->is_valid)
        return;
    if (!bb_bytes_equal(bb_db_iter_key(iter), bb_buf_bytes(&walk->key)))
        model_differ(model, "iterator stands on another key");
    struct bb_bytes value =
        walk->is_keys_only ? (struct bb_bytes){0} : bb_buf_bytes(&model->expected);
    if (!bb_bytes_equal(bb_db_iter_value(iter), value))
        model_differ(model, "iterator gives another value");
}

/* ---- The expected position ---- */

static bool expect_first(struct model *model, struct model_walk *walk)
{
    struct bb_buf *key = &walk->key;
    const struct bb_bytes *low = walk->range.low;
    if (low == NULL)
        return oracle_first(model->oracle, walk->sequence, key, &model->expected);
    model_must(model, bb_buf_assign(key, *low), "key");
    return oracle_seek(model->oracle, walk->sequence, false, key, &model->expected);
}

/* The first present key of the range that is not below `from`. */
static bool expect_from(struct model *model, struct model_walk *walk, struct bb_bytes from)
{
    const struct bb_bytes *low = walk->range.low;
    if (low != NULL && model_compare(model, from, *low) < 0)
        from = *low;
    model_must(model, bb_buf_assign(&walk->key, from), "key");
    return oracle_seek(model->oracle, walk->sequence, false, &walk->key, &model->expected);
}

static bool expect_last(struct model *model, struct model_walk *walk)
{
    const struct bb_bytes *high = walk->range.high;
    if (high == NULL)
        return oracle_last(model->oracle, walk->sequence, &walk->key, &model->expected);
    model_must(model, bb_buf_assign(&walk->key, *high), "key");
    return oracle_before(model->oracle, walk->sequence, &walk->key, &model->expected);
}

static void expect(struct model *model, struct model_walk *walk, bool is_found, const char *what)
{
    walk->is_valid = is_found && is_inside(model, &walk->range, bb_buf_bytes(&walk->key));
    compare_position(model, walk, what);
}

static void seek_first(struct model *model, struct model_walk *walk)
{
    bb_db_iter_seek_first(walk->iter);
    expect(model, walk, expect_first(model, walk), "seek to the first");
}

static void seek_last(struct model *model, struct model_walk *walk)
{
    bb_db_iter_seek_last(walk->iter);
    expect(model, walk, expect_last(model, walk), "seek to the last");
}

static void seek(struct model *model, struct model_walk *walk)
{
    struct model_key drawn;
    uint64_t draw = bb_rng_below(&model->rng, 10);
    if (draw == 0) {
        seek_first(model, walk);
        return;
    }
    if (draw == 1) {
        seek_last(model, walk);
        return;
    }
    struct bb_bytes key = model_draw_key(model, &drawn);
    if (draw < 4)
        key.size = bb_rng_key(&model->rng, drawn.data, sizeof(drawn.data));
    bb_db_iter_seek(walk->iter, key);
    expect(model, walk, expect_from(model, walk, key), "seek");
}

static void move(struct model *model, struct model_walk *walk, bool is_forward)
{
    struct bb_buf *key = &walk->key;
    bool is_found = false;
    if (is_forward) {
        bb_db_iter_next(walk->iter);
        is_found = oracle_seek(model->oracle, walk->sequence, true, key, &model->expected);
    } else {
        bb_db_iter_prev(walk->iter);
        is_found = oracle_before(model->oracle, walk->sequence, key, &model->expected);
    }
    expect(model, walk, is_found, is_forward ? "next" : "prev");
}

/* ---- A walk ---- */

/* Draws an iterator's bounds: often no bound, on one side or on both. */
static void draw_bounds(struct model *model, struct model_walk *walk)
{
    walk->low = model_draw_key(model, &walk->low_key);
    walk->high = model_draw_key(model, &walk->high_key);
    walk->range = (struct bb_key_range){
        .low = bb_rng_one_in(&model->rng, 3) ? &walk->low : NULL,
        .high = bb_rng_one_in(&model->rng, 3) ? &walk->high : NULL,
    };
}

/* The same range by its prefix, or a prefix without later keys. */
static void draw_prefix(struct model *model, struct model_walk *walk)
{
    struct bb_bytes key = model_draw_key(model, &walk->low_key);
    size_t size = bb_rng_below(&model->rng, key.size + 1);
    size_t end = size;
    walk->low = bb_bytes_of(walk->low_key.data, size);
    walk->high_key = walk->low_key;
    while (end > 0 && walk->high_key.data[end - 1] == 0xff)
        end--;
    if (end > 0)
        walk->high_key.data[end - 1]++;
    walk->high = bb_bytes_of(walk->high_key.data, end);
    walk->range = (struct bb_key_range){.low = &walk->low, .high = end > 0 ? &walk->high : NULL};
}

static enum bb_status create_range(struct model *model, struct model_walk *walk,
                                   const struct bb_get_options *options)
{
    return walk->is_keys_only
               ? bb_db_iter_create_keys(model->db, options, &walk->range, &walk->iter)
               : bb_db_iter_create_range(model->db, options, &walk->range, &walk->iter);
}

static enum bb_status create_prefix(struct model *model, struct model_walk *walk,
                                    const struct bb_get_options *options)
{
    return walk->is_keys_only
               ? bb_db_iter_create_prefix_keys(model->db, options, walk->low, &walk->iter)
               : bb_db_iter_create_prefix(model->db, options, walk->low, &walk->iter);
}

static void create_iter(struct model *model, struct model_walk *walk,
                        const struct bb_get_options *options)
{
    walk->is_keys_only = bb_rng_one_in(&model->rng, 3);
    if (!bb_rng_one_in(&model->rng, 4)) {
        draw_bounds(model, walk);
        model_must(model, create_range(model, walk, options), "iterator over a range");
        return;
    }
    draw_prefix(model, walk);
    enum bb_status status = create_prefix(model, walk, options);
    if (model->options.comparator == NULL) {
        model_must(model, status, "iterator over a prefix");
        model->coverage->prefix_walks++;
        return;
    }
    if (status != BB_INVALID)
        model_differ(model, "a prefix is taken for a range in another order");
    walk->range = (struct bb_key_range){0};
    walk->is_keys_only = false;
    model_must(model, bb_db_iter_create(model->db, options, &walk->iter), "iterator");
}

static void start(struct model *model, struct model_walk *walk)
{
    struct bb_get_options options = model_draw_get_options(model, &walk->sequence);
    create_iter(model, walk, &options);
    walk->turns = 0;
    walk->was_forward = true;
    model->coverage->keys_walks += walk->is_keys_only;
    model->coverage->snapshot_walks += options.snapshot != NULL;
    seek(model, walk);
}

static void step(struct model *model, struct model_walk *walk)
{
    bool is_forward = bb_rng_one_in(&model->rng, 4) ? !walk->was_forward : walk->was_forward;
    walk->turns += is_forward != walk->was_forward;
    model->coverage->turns += is_forward != walk->was_forward;
    walk->was_forward = is_forward;
    move(model, walk, is_forward);
    model->coverage->moves++;
}

static void end(struct model *model, struct model_walk *walk)
{
    bb_db_iter_destroy(walk->iter);
    bb_buf_deinit(&walk->key);
    const struct bb_key_range *range = &walk->range;
    model->coverage->bounds_met += !walk->is_valid && (range->low != NULL || range->high != NULL);
    *walk = (struct model_walk){0};
}

void model_walk(struct model *model)
{
    struct model_walk walk = {0};
    struct model_span span = {0};
    uint64_t crossed_before = oracle_ranges_crossed(model->oracle);
    start(model, &walk);
    for (uint64_t left = bb_rng_below(&model->rng, 40); walk.is_valid && left > 0; left--) {
        model_span_add(model, &span, bb_buf_bytes(&walk.key));
        step(model, &walk);
    }
    model->coverage->turns_across_tables += walk.turns > 0 && model_span_tables(model, &span) >= 2;
    model_span_deinit(&span);
    end(model, &walk);
    model->coverage->walks_over_ranges += oracle_ranges_crossed(model->oracle) > crossed_before;
}

void model_walk_on(struct model *model)
{
    struct model_walk *walk = &model->walks[bb_rng_below(&model->rng, MODEL_WALKS_MAX)];
    if (walk->iter == NULL) {
        start(model, walk);
        walk->compactions_before = model_compaction_count(model);
        return;
    }
    if (!walk->is_valid || bb_rng_one_in(&model->rng, 4))
        seek(model, walk);
    for (uint64_t left = bb_rng_below(&model->rng, 10); walk->is_valid && left > 0; left--)
        step(model, walk);
    model->coverage->walks_over_compactions +=
        model_compaction_count(model) > walk->compactions_before;
    if (bb_rng_one_in(&model->rng, 10))
        end(model, walk);
}

void model_end_walks(struct model *model)
{
    for (size_t i = 0; i < MODEL_WALKS_MAX; i++) {
        if (model->walks[i].iter != NULL)
            end(model, &model->walks[i]);
    }
}

/* ---- Everything ---- */

static bool compare_next(struct model *model, struct model_walk *walk)
{
    struct bb_bytes key = {0};
    struct bb_bytes value = {0};
    walk->is_valid = oracle_scan_next(model->oracle, &key, &value);
    model_must(model, bb_buf_assign(&walk->key, key), "key");
    model_must(model, bb_buf_assign(&model->expected, value), "value");
    compare_position(model, walk, "scan of everything");
    return walk->is_valid;
}

static void compare_scan(struct model *model, const struct bb_snapshot *snapshot, uint64_t sequence,
                         bool is_forward)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct model_walk walk = {0};
    model_must(model, bb_db_iter_create(model->db, &options, &walk.iter), "iterator");
    oracle_scan(model->oracle, sequence, !is_forward);
    if (is_forward) {
        bb_db_iter_seek_first(walk.iter);
        while (compare_next(model, &walk))
            bb_db_iter_next(walk.iter);
    } else {
        bb_db_iter_seek_last(walk.iter);
        while (compare_next(model, &walk))
            bb_db_iter_prev(walk.iter);
    }
    bb_db_iter_destroy(walk.iter);
    bb_buf_deinit(&walk.key);
}

void model_compare_at(struct model *model, uint64_t sequence)
{
    compare_scan(model, NULL, sequence, true);
    compare_scan(model, NULL, sequence, false);
}

void model_compare_all(struct model *model)
{
    model_compare_at(model, model->sequence);
    /* A crash may go back to the durable state, and no further. */
    uint64_t oldest = model->durable < model->sequence ? model->durable : model->sequence;
    for (size_t i = 0; i < model->snapshot_count; i++) {
        const struct model_snapshot *snapshot = &model->snapshots[i];
        compare_scan(model, snapshot->handle, snapshot->sequence, true);
        compare_scan(model, snapshot->handle, snapshot->sequence, false);
        oldest = snapshot->sequence < oldest ? snapshot->sequence : oldest;
    }
    for (size_t i = 0; i < MODEL_WALKS_MAX; i++) {
        const struct model_walk *walk = &model->walks[i];
        oldest = walk->iter != NULL && walk->sequence < oldest ? walk->sequence : oldest;
    }
    if (model->view != NULL && model->view_sequence < oldest)
        oldest = model->view_sequence;
    oracle_prune(model->oracle, oldest);
}
