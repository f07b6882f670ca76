/* See model_store.h: values that stay pinned while the store works, and are unchanged when they are
 * released. */
#include "tests/model/model_keys.h"

#include "base/bytes.h"

static void release(struct model *model, struct model_pin *pin)
{
    if (!pin->is_held)
        return;
    if (!bb_bytes_equal(pin->pinned.bytes, bb_buf_bytes(&pin->expected)))
        model_differ(model, "a pinned value has changed");
    if (model_compaction_count(model) > pin->compactions_before)
        model->coverage->pins_over_compactions++;
    bb_pinned_release(&pin->pinned);
    pin->is_held = false;
}

void model_release_pins(struct model *model)
{
    for (size_t i = 0; i < MODEL_PINS_MAX; i++) {
        release(model, &model->pins[i]);
        bb_buf_deinit(&model->pins[i].expected);
    }
}

/* The same value in a fixed buffer, cut at any size. */
static void compare_into(struct model *model, const struct bb_get_options *options,
                         struct bb_bytes key, enum bb_status expected, struct bb_bytes value)
{
    uint8_t buffer[64];
    size_t size = 0;
    size_t capacity = bb_rng_below(&model->rng, sizeof(buffer) + 1);
    enum bb_status status = bb_db_get_into(model->db, options, key, buffer, capacity, &size);
    if (status != expected)
        model_differ(model, "a get into a buffer has another status than a pinned one");
    if (status != BB_OK)
        return;
    size_t copied = size < capacity ? size : capacity;
    if (size != value.size || (copied > 0 && memcmp(buffer, value.data, copied) != 0))
        model_differ(model, "a get into a buffer gives another value than a pinned one");
}

/* The same value, or BB_WOULD_WAIT. */
static void compare_now(struct model *model, const struct bb_get_options *options,
                        struct bb_bytes key, enum bb_status expected, struct bb_bytes value)
{
    struct bb_buf now = {0};
    enum bb_status status = bb_db_get_now(model->db, options, key, &now);
    if (status != expected && status != BB_WOULD_WAIT)
        model_differ(model, "an immediate get has another status than a pinned one");
    if (status == BB_OK && !bb_bytes_equal(bb_buf_bytes(&now), value))
        model_differ(model, "an immediate get gives another value than a pinned one");
    bb_buf_deinit(&now);
}

void model_pin(struct model *model)
{
    struct model_key drawn;
    struct model_pin *pin = &model->pins[bb_rng_below(&model->rng, MODEL_PINS_MAX)];
    struct bb_bytes key = model_draw_key(model, &drawn);
    uint64_t sequence = 0;
    struct bb_get_options options = model_draw_get_options(model, &sequence);
    release(model, pin);
    enum bb_status status = bb_db_get_pinned(model->db, &options, key, &pin->pinned);
    if (status != BB_OK && status != BB_NOT_FOUND)
        model_must(model, status, "pin");
    enum oracle_answer answer = oracle_get(model->oracle, key, sequence, &pin->expected);
    if ((status == BB_OK) != (answer == ORACLE_PRESENT))
        model_differ(model, "a pinned get has another status");
    if (status == BB_OK && !bb_bytes_equal(pin->pinned.bytes, bb_buf_bytes(&pin->expected)))
        model_differ(model, "a pinned get gives another value");
    compare_into(model, &options, key, status, pin->pinned.bytes);
    compare_now(model, &options, key, status, pin->pinned.bytes);
    pin->compactions_before = model_compaction_count(model);
    pin->is_held = status == BB_OK;
    model->coverage->pins += pin->is_held;
}
