/* See model_store.h: the store opened read-only, without the lock. */
#include "bb/db_files.h"
#include "tests/model/model_keys.h"

#include "base/bytes.h"

/* The visible state is that after some commit: the last one given to the operating system. */
static void check_state(struct model *model)
{
    struct bb_db_stats stats;
    bb_db_stats(model->view, &stats);
    if (stats.last_sequence != model->sequence && !model_may_lose(model))
        model_differ(model, "a store read beside its writer does not show its last commit");
    if (stats.last_sequence != model->sequence && !model_is_commit(model, stats.last_sequence))
        model_differ(model, "a store read beside its writer shows a part of a commit");
    model->view_sequence = stats.last_sequence;
}

static void open_view(struct model *model)
{
    struct bb_db_options options = model->options;
    options.create_if_missing = false;
    options.read_only = true;
    options.open_tables_max = 0;
    options.deterministic = false;
    options.scrub_interval_seconds = 0;
    model_must(model, bb_db_open(MODEL_DIRECTORY, &options, &model->view), "open read-only");
    check_state(model);
    model->coverage->views++;
}

/* All writes and requested work are refused. */
static void check_refusals(struct model *model)
{
    struct bb_db *view = model->view;
    struct bb_bytes none = {0};
    if (bb_db_put(view, NULL, none, none) != BB_READ_ONLY ||
        bb_db_delete(view, NULL, none) != BB_READ_ONLY ||
        bb_db_delete_range(view, NULL, none, none) != BB_READ_ONLY ||
        bb_db_flush(view) != BB_READ_ONLY || bb_db_compact(view) != BB_READ_ONLY ||
        bb_db_compact_range(view, NULL, NULL) != BB_READ_ONLY ||
        bb_db_checkpoint(view, "/elsewhere") != BB_READ_ONLY)
        model_differ(model, "a store that is only read does not refuse a change");
}

static void compare_gets(struct model *model)
{
    for (int i = 0; i < 10; i++) {
        struct model_key drawn;
        struct bb_bytes key = model_draw_key(model, &drawn);
        enum bb_status status = bb_db_get(model->view, NULL, key, &model->value);
        if (status != BB_OK && status != BB_NOT_FOUND)
            model_must(model, status, "get beside the writer");
        enum oracle_answer answer =
            oracle_get(model->oracle, key, model->view_sequence, &model->expected);
        if ((status == BB_OK) != (answer == ORACLE_PRESENT))
            model_differ(model, "a get beside the writer has another status");
        if (status == BB_OK &&
            !bb_bytes_equal(bb_buf_bytes(&model->value), bb_buf_bytes(&model->expected)))
            model_differ(model, "a get beside the writer gives another value");
    }
}

static void compare_everything(struct model *model)
{
    struct bb_db *writer = model->db;
    model->db = model->view;
    model_compare_at(model, model->view_sequence);
    model->db = writer;
}

void model_view(struct model *model)
{
    uint64_t draw = bb_rng_below(&model->rng, 24);
    if (model->view == NULL) {
        open_view(model);
    } else if (draw < 4) {
        model_must(model, bb_db_refresh(model->view), "refresh");
        check_state(model);
        model->coverage->refreshes++;
    } else if (draw == 4) {
        model_end_view(model);
        return;
    } else if (draw == 5) {
        check_refusals(model);
    } else if (draw == 6) {
        compare_everything(model);
    } else if (draw == 7) {
        model_scrub(model, model->view);
    }
    compare_gets(model);
    if (draw % 4 == 0)
        model_compare_selection(model, model->view, model->view_sequence);
    model->coverage->gets_of_the_past += model->view_sequence < model->sequence;
}

void model_end_view(struct model *model)
{
    if (model->view != NULL)
        model_must(model, bb_db_close(model->view), "close what was read beside the writer");
    model->view = NULL;
}
