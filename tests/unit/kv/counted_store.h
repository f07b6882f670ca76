/* A store whose states are all distinguishable, and openings of it next to its writer. */
#ifndef BB_TESTS_UNIT_KV_COUNTED_STORE_H
#define BB_TESTS_UNIT_KV_COUNTED_STORE_H

#include "tests/support/store.h"

static inline struct bb_db_options reader_options(const struct store *store)
{
    struct bb_db_options options = store->options;
    options.create_if_missing = false;
    options.read_only = true;
    return options;
}

static inline struct bb_db *open_reader(const struct store *store)
{
    struct bb_db_options options = reader_options(store);
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    return db;
}

/* Commit i: both counters are i, and key i is there. So a state is a front part of the commits if
 * and only if the counters agree and exactly the keys up to them are there. */
static inline enum bb_status commit(struct bb_db *db, uint32_t i)
{
    char text[16];
    char key[16];
    struct bb_batch *batch = NULL;
    snprintf(text, sizeof(text), "%u", i);
    snprintf(key, sizeof(key), "key%06u", i);
    enum bb_status status = bb_batch_create(&batch);
    if (status == BB_OK)
        status = bb_batch_put(batch, bb_bytes_of_text("a"), bb_bytes_of_text(text));
    if (status == BB_OK)
        status = bb_batch_put(batch, bb_bytes_of_text(key), bb_bytes_of_text(text));
    if (status == BB_OK)
        status = bb_batch_put(batch, bb_bytes_of_text("z"), bb_bytes_of_text(text));
    if (status == BB_OK)
        status = bb_db_write(db, NULL, batch);
    bb_batch_destroy(batch);
    return status;
}

static inline uint32_t counter(struct bb_db *db, const char *key)
{
    struct bb_buf value = {0};
    enum bb_status status = bb_db_get(db, NULL, bb_bytes_of_text(key), &value);
    if (status != BB_OK && status != BB_NOT_FOUND)
        fail_msg("%s", bb_error_last()->message);
    uint32_t number = 0;
    for (size_t i = 0; status == BB_OK && i < value.size; i++)
        number = number * 10 + (uint32_t)(value.data[i] - '0');
    bb_buf_deinit(&value);
    return number;
}

/* Checks that the state is valid, and returns its number. */
static inline uint32_t state_of(struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    uint32_t count = counter(db, "a");
    uint32_t keys = 0;
    assert_int_equal(counter(db, "z"), count);
    assert_ok(bb_db_iter_create(db, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        keys++;
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    assert_int_equal(keys, count == 0 ? 0 : count + 2);
    return count;
}

#endif
