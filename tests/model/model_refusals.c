/* See model_store.h: calls that must be refused, without effect. */
#include "bb/db_files.h"
#include "tests/model/model_keys.h"

static void refused(const struct model *model, enum bb_status status, enum bb_status expected,
                    const char *what)
{
    if (status != expected)
        model_differ(model, what);
}

static void open_twice(struct model *model)
{
    struct bb_db *second = NULL;
    struct bb_db_options options = model->options;
    refused(model, bb_db_open(MODEL_DIRECTORY, &options, &second), BB_BUSY,
            "a store is opened twice");
    refused(model, bb_db_destroy(MODEL_DIRECTORY, &options, NULL), BB_BUSY,
            "an open store is destroyed");
    refused(model, bb_db_repair(MODEL_DIRECTORY, &options, NULL, NULL), BB_BUSY,
            "an open store is repaired");
    refused(model, bb_db_verify(MODEL_DIRECTORY, &options, NULL), BB_BUSY,
            "an open store is verified");
}

static void close_early(struct model *model)
{
    struct bb_db_iter *iter = NULL;
    struct bb_snapshot *snapshot = NULL;
    if (bb_rng_one_in(&model->rng, 2)) {
        model_must(model, bb_db_iter_create(model->db, NULL, &iter), "iterator");
        refused(model, bb_db_close(model->db), BB_BUSY, "a store closes under an iterator");
        bb_db_iter_destroy(iter);
    } else {
        model_must(model, bb_snapshot_create(model->db, &snapshot), "snapshot");
        refused(model, bb_db_close(model->db), BB_BUSY, "a store closes under a snapshot");
        bb_snapshot_release(model->db, snapshot);
    }
}

static void write_too_much(struct model *model)
{
    static uint8_t large[(64 << 10) + 1];
    struct bb_bytes key = {.data = large, .size = sizeof(large)};
    struct bb_bytes none = {0};
    refused(model, bb_db_put(model->db, NULL, key, none), BB_TOO_LARGE, "a key is too large");
    refused(model, bb_db_delete(model->db, NULL, key), BB_TOO_LARGE, "a key is too large");
    if (model->options.wal_off) {
        struct bb_write_options synced = {.sync = true};
        refused(model, bb_db_put(model->db, &synced, none, none), BB_INVALID,
                "a synced write without a log");
    }
}

static void ingest_nothing_good(struct model *model)
{
    const char *missing = "/no-such-table";
    const char *foreign = MODEL_DIRECTORY "/CURRENT";
    refused(model, bb_db_ingest(model->db, &missing, 1, NULL), BB_NOT_FOUND,
            "a table that is not there comes in");
    refused(model, bb_db_ingest(model->db, &foreign, 1, NULL), BB_CORRUPT,
            "what is no table comes in");
    refused(model, bb_db_checkpoint(model->db, MODEL_DIRECTORY), BB_EXISTS,
            "a checkpoint is made over a store");
}

void model_refuse(struct model *model)
{
    static void (*const requests[])(struct model *) = {open_twice, close_early, write_too_much,
                                                       ingest_nothing_good};
    requests[bb_rng_below(&model->rng, sizeof(requests) / sizeof(requests[0]))](model);
    model->coverage->refusals++;
}
