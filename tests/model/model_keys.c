/* See model_store.h: operations on keys, each on store and oracle. */
#include "tests/model/model_keys.h"

#include <stdio.h>

#include "base/bytes.h"
#include "bb/db_explain.h"
#include "tests/support/must_alloc.h"

/* Key i always has the same bytes: mostly a shared prefix and a number, some very short, some with
 * NULs; a third are long enough for the fast path of runs and their table filters
 * (compaction/levels/run.h). */
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
        key->size = (size_t)snprintf(text, MODEL_KEY_SIZE_MAX,
                                     i % 3 == 0 ? "k%06u and a tail" : "k%06u", i);
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
    *ret_sync = bb_rng_one_in(&model->rng, 20) && !model->options.wal_off;
    return *ret_sync ? &synced : NULL;
}

void model_committed(struct model *model, bool sync)
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
    model_committed(model, sync);
}

void model_delete(struct model *model)
{
    struct model_key key;
    bool sync = false;
    struct bb_bytes k = model_draw_key(model, &key);
    model_must(model, bb_db_delete(model->db, draw_sync(model, &sync), k), "delete");
    oracle_apply(model->oracle, ++model->sequence, k, NULL);
    model_committed(model, sync);
}

/* Keys of different shapes are far apart: rarely. The bounds may be reversed: then the range is
 * empty. */
static void draw_range(struct model *model, struct model_key keys[2], struct bb_bytes *ret_low,
                       struct bb_bytes *ret_high)
{
    uint32_t first = (uint32_t)bb_rng_below(&model->rng, model->key_space);
    bool is_any = bb_rng_one_in(&model->rng, 1000);
    while (!is_any && (first % 7 == 0 || first % 11 == 0))
        first++;
    uint32_t count = (uint32_t)bb_rng_below(&model->rng, bb_rng_one_in(&model->rng, 20) ? 100 : 6);
    bool is_upwards = model->options.comparator == NULL;
    struct bb_bytes one = key_of(first, &keys[0]);
    struct bb_bytes other = bb_rng_one_in(&model->rng, 1000) ? model_draw_key(model, &keys[1])
                                                             : key_of(first + count, &keys[1]);
    *ret_low = is_upwards ? one : other;
    *ret_high = is_upwards ? other : one;
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
    model_committed(model, sync);
}

static void add_range(struct model *model, struct bb_batch *batch)
{
    struct model_key keys[2];
    struct bb_bytes low;
    struct bb_bytes high;
    draw_range(model, keys, &low, &high);
    model_must(model, bb_batch_delete_range(batch, low, high), "batch");
}

static void add_operations(struct model *model, struct bb_batch *batch, size_t count)
{
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
    }
    if (bb_batch_count(batch) != count)
        model_differ(model, "a batch has another number of operations");
}

/* The oracle gets a batch by walking it: the store's result is the same. */
static enum bb_status tell_oracle(void *context, enum bb_entry_kind kind, struct bb_bytes key,
                                  struct bb_bytes value)
{
    struct model *model = context;
    model->sequence++;
    if (kind == BB_ENTRY_DELETE_RANGE)
        oracle_delete_range(model->oracle, model->sequence, key, value);
    else
        oracle_apply(model->oracle, model->sequence, key, kind == BB_ENTRY_PUT ? &value : NULL);
    model->coverage->batch_operations++;
    return BB_OK;
}

void model_batch(struct model *model)
{
    struct bb_batch *batch = NULL;
    bool sync = false;
    model_must(model, bb_batch_create(&batch), "batch");
    size_t empty_size = bb_batch_size_bytes(batch);
    if (bb_rng_one_in(&model->rng, 4)) {
        add_operations(model, batch, bb_rng_below(&model->rng, 5));
        bb_batch_reset(batch);
    }
    if (bb_batch_size_bytes(batch) != empty_size)
        model_differ(model, "a batch that was reset is not empty");
    add_operations(model, batch, bb_rng_below(&model->rng, 20));
    enum bb_status checked = bb_db_write_check(model->db, batch);
    if (checked != BB_WOULD_WAIT)
        model_must(model, checked, "check a write");
    model_must(model, bb_db_write(model->db, draw_sync(model, &sync), batch), "write");
    model_must(model, bb_batch_iterate(batch, tell_oracle, model), "walk through a batch");
    bb_batch_destroy(batch);
    model_committed(model, sync);
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

/* The last step decides, and the steps' result for the key equals the total result. */
static void check_steps(const struct model *model, const struct bb_explain *explain)
{
    bool is_found = false;
    for (size_t i = 0; i < explain->step_count; i++) {
        const struct bb_explain_step *step = &explain->steps[i];
        is_found = step->found == BB_EXPLAIN_VALUE;
        if (step->found != BB_EXPLAIN_NOTHING &&
            (i + 1 < explain->step_count || step->sequence > explain->sequence))
            model_differ(model, "a report goes on beyond what it has found, or finds the future");
    }
    if (is_found != explain->is_found)
        model_differ(model, "the steps of a report say something else than its end");
}

/* A get, or its report. */
static enum bb_status ask(struct model *model, const struct bb_get_options *options,
                          struct bb_bytes key)
{
    struct bb_explain explain;
    if (bb_rng_one_in(&model->rng, 30)) { /* first only the status */
        enum bb_status status = bb_db_get(model->db, options, key, NULL);
        if (status != BB_OK)
            return status;
    }
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

struct bb_get_options model_draw_get_options(struct model *model, uint64_t *ret_sequence)
{
    struct bb_get_options options = {.snapshot = model_draw_snapshot(model, ret_sequence)};
    options.ignore_filters = bb_rng_one_in(&model->rng, 20);
    options.account_avoided = bb_rng_one_in(&model->rng, 20);
    options.bypass_fill = bb_rng_one_in(&model->rng, 20);
    options.stats = bb_rng_one_in(&model->rng, 20) ? &model->read_stats : NULL;
    return options;
}

static void compare_get(struct model *model, struct bb_bytes key)
{
    uint64_t sequence = 0;
    struct bb_get_options options = model_draw_get_options(model, &sequence);
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
