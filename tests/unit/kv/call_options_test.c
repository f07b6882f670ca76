/* Goal: the options of single calls are understood from callers of other versions of the header, or
 * refused before anything is done. Method: every size, in a store that has one key. */
#include "tests/support/sizes.h"
#include "tests/support/store.h"

#include "bb/db_explain.h"
#include "bb/db_files.h"

static enum bb_status take_get(const void *options, void *context)
{
    struct store *store = context;
    struct bb_db_iter *iter = NULL;
    struct bb_explain explain = {0};
    struct bb_buf value = {0};
    struct bb_bytes key = bb_bytes_of_text("key");
    enum bb_status each = BB_OK;
    enum bb_status status = bb_db_get(store->db, options, key, &value);
    assert_true(status == BB_OK || status == BB_INVALID);
    assert_status(bb_db_get_many(store->db, options, &key, 1, &value, &each), status);
    assert_int_equal(each, status);
    assert_status(bb_db_explain(store->db, options, key, NULL, &explain), status);
    assert_status(bb_db_iter_create(store->db, options, &iter), status);
    bb_db_iter_destroy(iter);
    bb_explain_deinit(&explain);
    bb_buf_deinit(&value);
    return status;
}

static enum bb_status take_write(const void *options, void *context)
{
    struct store *store = context;
    uint64_t before = store_stats(store).writes;
    enum bb_status status =
        bb_db_put(store->db, options, bb_bytes_of_text("key"), bb_bytes_of_text("value"));
    assert_int_equal(store_stats(store).writes, before + (status == BB_OK));
    return status;
}

static enum bb_status take_ingest(const void *options, void *context)
{
    struct store *store = context;
    return bb_db_ingest(store->db, NULL, 0, options);
}

static enum bb_status take_scrub(const void *options, void *context)
{
    struct store *store = context;
    return bb_db_scrub(store->db, options, NULL);
}

static void call_options__of_other_versions(void **state)
{
    (void)state;
    struct store store;
    struct bb_get_options get = {.account_avoided = true};
    struct bb_write_options write = {.sync = true};
    struct bb_ingest_options ingest = {.verify = true};
    struct bb_db_scrub_options scrub = {.bytes_per_second = 1};
    store_init(&store);
    store_open(&store);
    assert_sizes(&write, sizeof(write), take_write, &store);
    assert_sizes(&get, sizeof(get), take_get, &store);
    assert_sizes(&ingest, sizeof(ingest), take_ingest, &store);
    assert_sizes(&scrub, sizeof(scrub), take_scrub, &store);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_options__of_other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
