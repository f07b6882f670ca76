/* See model_store.h: requests about many keys or ranges of keys at once. */
#include "bb/db_files.h"
#include "tests/model/model_keys.h"

#include "base/bytes.h"

#define MANY_MAX   60
#define CHECKPOINT "/checkpoint"

static void compare_answer(struct model *model, struct bb_bytes key, uint64_t sequence,
                           enum bb_status status, const struct bb_buf *value)
{
    enum oracle_answer answer = oracle_get(model->oracle, key, sequence, &model->expected);
    if (status != (answer == ORACLE_PRESENT ? BB_OK : BB_NOT_FOUND))
        model_differ(model, "one of many gets has another status");
    if (status == BB_OK && !bb_bytes_equal(bb_buf_bytes(value), bb_buf_bytes(&model->expected)))
        model_differ(model, "one of many gets gives another value");
    model->coverage->gets_of_many += status == BB_OK;
}

void model_get_many(struct model *model)
{
    struct model_key drawn[MANY_MAX];
    struct bb_bytes keys[MANY_MAX];
    struct bb_buf values[MANY_MAX] = {{0}};
    enum bb_status statuses[MANY_MAX];
    uint64_t sequence = 0;
    struct bb_get_options options = {.snapshot = model_draw_snapshot(model, &sequence)};
    options.read.ignore_filters = bb_rng_one_in(&model->rng, 20);
    options.read.account_avoided = bb_rng_one_in(&model->rng, 20);
    size_t count = bb_rng_below(&model->rng, MANY_MAX + 1);
    for (size_t i = 0; i < count; i++)
        keys[i] = model_draw_key(model, &drawn[i]);
    model_must(model, bb_db_get_many(model->db, &options, keys, count, values, statuses),
               "get many");
    for (size_t i = 0; i < count; i++) {
        compare_answer(model, keys[i], sequence, statuses[i], &values[i]);
        bb_buf_deinit(&values[i]);
    }
}

void model_compact_range(struct model *model)
{
    struct model_key drawn[2];
    struct bb_bytes low = model_draw_key(model, &drawn[0]);
    struct bb_bytes high = model_draw_key(model, &drawn[1]);
    bool is_open_low = bb_rng_one_in(&model->rng, 8);
    bool is_open_high = bb_rng_one_in(&model->rng, 8);
    bool is_empty = !is_open_low && !is_open_high && bb_bytes_compare(low, high) >= 0;
    model_must(
        model,
        bb_db_compact_range(model->db, is_open_low ? NULL : &low, is_open_high ? NULL : &high),
        "compact range");
    model->coverage->range_compactions += !is_empty;
    if (!is_empty) /* it begins with a flush */
        model_set_durable(model);
}

/* Cut in three, everything has the size of its parts. */
void model_sizes(struct model *model)
{
    struct model_key drawn[2];
    struct bb_range_size sizes[4];
    struct bb_bytes low = model_draw_key(model, &drawn[0]);
    struct bb_bytes high = model_draw_key(model, &drawn[1]);
    if (bb_bytes_compare(low, high) > 0) {
        struct bb_bytes swapped = low;
        low = high;
        high = swapped;
    }
    struct bb_key_range ranges[] = {{NULL, &low}, {&low, &high}, {&high, NULL}, {NULL, NULL}};
    model_must(model, bb_db_approximate_sizes(model->db, ranges, 4, sizes), "sizes");
    uint64_t rounding = 2 * 3; /* memtables times parts */
    uint64_t memtables =
        sizes[0].memtable_bytes + sizes[1].memtable_bytes + sizes[2].memtable_bytes;
    if (sizes[0].file_bytes + sizes[1].file_bytes + sizes[2].file_bytes != sizes[3].file_bytes ||
        sizes[0].raw_bytes + sizes[1].raw_bytes + sizes[2].raw_bytes != sizes[3].raw_bytes ||
        memtables + rounding < sizes[3].memtable_bytes ||
        memtables > sizes[3].memtable_bytes + rounding)
        model_differ(model, "sizes of neighbouring ranges do not add up");
    model->coverage->sizes += sizes[1].file_bytes > 0;
}

void model_checkpoint(struct model *model)
{
    struct bb_db_options options = model->options;
    struct bb_db *original = model->db;
    options.create_if_missing = false;
    bb_file_memory_set_links(model->memory, bb_rng_one_in(&model->rng, 2));
    model_must(model, bb_db_checkpoint(original, CHECKPOINT), "checkpoint");
    model_set_durable(model); /* it begins with a flush */
    model_must(model, bb_db_open(CHECKPOINT, &options, &model->db), "open a checkpoint");
    model_compare_now(model);
    model_must(model, bb_db_close(model->db), "close a checkpoint");
    model->db = original;
    model_must(model, bb_db_destroy(CHECKPOINT, &options, NULL), "destroy a checkpoint");
    model->coverage->checkpoints++;
}
