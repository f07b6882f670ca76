/* Goal: the documented limits of arguments hold for every call: keys and bounds that are too long,
 * pointers that are NULL. Method: one store, each call of the public header once with the longest
 * key and once with one byte more. */
#include "bb/db_explain.h"
#include "tests/support/store.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEYOND (BB_KEY_SIZE_MAX + 1)

/* A store with a key in a table and one in memory, and a key that is one byte too long. */
struct fixture {
    struct store store;
    uint8_t *memory;
    struct bb_bytes longest;
    struct bb_bytes beyond;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->memory = malloc(BEYOND);
    assert_non_null(f->memory);
    memset(f->memory, 'k', BEYOND);
    f->longest = bb_bytes_of(f->memory, BB_KEY_SIZE_MAX);
    f->beyond = bb_bytes_of(f->memory, BEYOND);
    store_init(&f->store);
    store_open(&f->store);
    store_put(&f->store, "a", "1");
    assert_ok(bb_db_flush(f->store.db));
    store_put(&f->store, "z", "2");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    store_deinit(&f->store);
    free(f->memory);
    free(f);
    return 0;
}

/* ---- Keys that are too long ---- */

static void db_arguments__key_too_long_for_look_ups(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = f->store.db;
    struct bb_buf value = {0};
    struct bb_pinned pinned = {0};
    struct bb_explain explain = {0};
    size_t size = 7;
    enum bb_status each = BB_OK;
    assert_status(bb_db_get(db, NULL, f->longest, &value), BB_NOT_FOUND);
    assert_status(bb_db_get(db, NULL, f->beyond, &value), BB_TOO_LARGE);
    assert_message("65537");
    assert_message("65536");
    assert_status(bb_db_get(db, NULL, f->beyond, NULL), BB_TOO_LARGE);
    assert_status(bb_db_get_pinned(db, NULL, f->beyond, &pinned), BB_TOO_LARGE);
    assert_status(bb_db_get_into(db, NULL, f->beyond, NULL, 0, &size), BB_TOO_LARGE);
    assert_int_equal(size, 7);
    assert_status(bb_db_get_many(db, NULL, &f->beyond, 1, NULL, &each), BB_TOO_LARGE);
    assert_int_equal(each, BB_TOO_LARGE);
    assert_status(bb_db_explain(db, NULL, f->beyond, &value, &explain), BB_TOO_LARGE);
    assert_null(explain.steps);
    bb_buf_deinit(&value);
}

static void db_arguments__key_too_long_for_writes(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = f->store.db;
    struct bb_batch *batch = NULL;
    assert_status(bb_db_put(db, NULL, f->beyond, f->longest), BB_TOO_LARGE);
    assert_status(bb_db_delete(db, NULL, f->beyond), BB_TOO_LARGE);
    assert_status(bb_db_delete_range(db, NULL, f->beyond, f->beyond), BB_TOO_LARGE);
    assert_status(bb_db_delete_range(db, NULL, (struct bb_bytes){0}, f->beyond), BB_TOO_LARGE);
    assert_ok(bb_batch_create(&batch));
    assert_status(bb_batch_put(batch, f->beyond, f->longest), BB_TOO_LARGE);
    assert_status(bb_batch_delete(batch, f->beyond), BB_TOO_LARGE);
    assert_status(bb_batch_delete_range(batch, f->beyond, f->longest), BB_TOO_LARGE);
    assert_status(bb_batch_delete_range(batch, f->longest, f->beyond), BB_TOO_LARGE);
    assert_int_equal(bb_batch_count(batch), 0);
    bb_batch_destroy(batch);
    assert_content(&f->store, "a=1 z=2");
}

/* Also where the other end makes the range empty. */
static void db_arguments__bound_too_long(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = f->store.db;
    struct bb_db_iter *iter = NULL;
    struct bb_bytes least = {0};
    struct bb_key_range ranges[] = {
        {.low = &f->beyond}, {.high = &f->beyond}, {&f->beyond, &least}};
    struct bb_range_size size = {.file_bytes = 7};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const struct bb_key_range *range = &ranges[i];
        assert_status(bb_db_iter_create_range(db, NULL, range, &iter), BB_TOO_LARGE);
        assert_status(bb_db_approximate_sizes(db, range, 1, &size), BB_TOO_LARGE);
        assert_status(bb_db_compact_range(db, range->low, range->high), BB_TOO_LARGE);
    }
    assert_status(bb_db_iter_create_prefix(db, NULL, f->beyond, &iter), BB_TOO_LARGE);
    assert_message("65537");
    assert_null(iter);
    assert_int_equal(size.file_bytes, 7);
    struct bb_key_range longest = {.low = &f->longest};
    assert_ok(bb_db_iter_create_range(db, NULL, &longest, &iter));
    bb_db_iter_seek_first(iter);
    assert_true(bb_db_iter_valid(iter));
    bb_db_iter_destroy(iter);
    assert_ok(bb_db_compact_range(db, &f->longest, NULL));
}

static void db_arguments__seek_to_a_key_too_long(void **state)
{
    struct fixture *f = *state;
    struct bb_db_iter *iter = NULL;
    assert_ok(bb_db_iter_create(f->store.db, NULL, &iter));
    bb_db_iter_seek_first(iter);
    assert_true(bb_db_iter_valid(iter));
    bb_db_iter_seek(iter, f->beyond);
    assert_false(bb_db_iter_valid(iter));
    assert_status(bb_db_iter_status(iter), BB_TOO_LARGE);
    bb_db_iter_seek(iter, f->longest);
    assert_ok(bb_db_iter_status(iter));
    assert_true(bb_db_iter_valid(iter));
    assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text("z")));
    bb_db_iter_destroy(iter);
}

/* ---- NULL ---- */

static void db_arguments__null_is_everything(void **state)
{
    struct fixture *f = *state;
    struct bb_db_iter *iter = NULL;
    assert_ok(bb_db_iter_create_range(f->store.db, NULL, NULL, &iter));
    bb_db_iter_seek_first(iter);
    assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text("a")));
    bb_db_iter_seek_last(iter);
    assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text("z")));
    bb_db_iter_destroy(iter);
    assert_ok(bb_db_compact_range(f->store.db, NULL, NULL));
    assert_content(&f->store, "a=1 z=2");
}

static void db_arguments__null_is_released(void **state)
{
    struct fixture *f = *state;
    bb_batch_destroy(NULL);
    bb_block_cache_destroy(NULL);
    bb_buf_deinit(NULL);
    bb_db_iter_destroy(NULL);
    bb_db_table_list_deinit(NULL);
    bb_explain_deinit(NULL);
    bb_iter_destroy(NULL);
    bb_pinned_release(NULL);
    bb_snapshot_release(f->store.db, NULL);
    bb_table_builder_destroy(NULL);
    bb_table_close(NULL);
    bb_table_meta_deinit(NULL);
    assert_ok(bb_db_close(NULL));
}

/* An empty list at NULL. */
static void db_arguments__null_has_no_elements(void **state)
{
    struct fixture *f = *state;
    struct bb_db *db = f->store.db;
    size_t size = 0;
    const struct bb_bytes none = {0};
    assert_ok(bb_db_get_many(db, NULL, NULL, 0, NULL, NULL));
    assert_ok(bb_db_approximate_sizes(db, NULL, 0, NULL));
    assert_ok(bb_db_ingest(db, NULL, 0, NULL));
    assert_ok(bb_db_put(db, NULL, none, none));
    assert_ok(bb_db_get(db, NULL, none, NULL));
    assert_ok(bb_db_get_into(db, NULL, none, NULL, 0, &size));
    assert_ok(bb_db_delete(db, NULL, none));
    assert_ok(bb_db_delete_range(db, NULL, none, none));
    assert_status(bb_db_write(db, NULL, NULL), BB_INVALID);
    assert_content(&f->store, "a=1 z=2");
}

static void db_arguments__paths_that_are_none(void **state)
{
    struct fixture *f = *state;
    static const char *const paths[] = {NULL, ""};
    const struct bb_db_options *options = &f->store.options;
    struct bb_table_options for_table = {.file_system = options->file_system};
    struct bb_db *db = NULL;
    struct bb_table *table = NULL;
    struct bb_table_builder *builder = NULL;
    for (size_t i = 0; i < 2; i++) {
        assert_status(bb_db_open(paths[i], options, &db), BB_INVALID);
        assert_status(bb_db_verify(paths[i], options, NULL), BB_INVALID);
        assert_status(bb_db_repair(paths[i], options, NULL, NULL), BB_INVALID);
        assert_status(bb_db_destroy(paths[i], options, NULL), BB_INVALID);
        assert_message("has no name");
        assert_status(bb_db_checkpoint(f->store.db, paths[i]), BB_INVALID);
        assert_status(bb_db_ingest(f->store.db, &paths[i], 1, NULL), BB_INVALID);
        assert_status(bb_table_open(paths[i], &for_table, &table), BB_INVALID);
        assert_status(bb_table_verify(paths[i], &for_table, NULL), BB_INVALID);
        assert_status(bb_table_builder_create(paths[i], &for_table, &builder), BB_INVALID);
        assert_message("has no name");
    }
}

static void db_arguments__reports_that_nobody_wants(void **state)
{
    struct fixture *f = *state;
    const struct bb_db_options *options = &f->store.options;
    struct bb_db_table_list list = {0};
    char path[64];
    assert_ok(bb_db_tables(f->store.db, &list));
    snprintf(path, sizeof(path), "%s", list.tables[0].path);
    bb_db_table_list_deinit(&list);
    store_close(&f->store);
    struct bb_table_options for_table = {.file_system = options->file_system};
    assert_ok(bb_table_verify(path, &for_table, NULL));
    assert_ok(bb_db_verify(STORE_PATH, options, NULL));
    assert_ok(bb_db_repair(STORE_PATH, options, NULL, NULL));
    assert_ok(bb_db_destroy(STORE_PATH, options, NULL));
    store_open(&f->store);
}

/* It ends the process, with a message that does not blame the library. */
static void db_arguments__misuse_is_named(void **state)
{
    struct fixture *f = *state;
    struct bb_db_iter *iter = NULL;
    int ends[2];
    char text[256] = {0};
    int result = 0;
    assert_ok(bb_db_iter_create(f->store.db, NULL, &iter));
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        (void)dup2(ends[1], STDERR_FILENO);
        bb_db_iter_next(iter);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    assert_non_null(
        strstr(text, "misuse of bloomblock: bb_db_iter_next requires a valid iterator"));
    (void)close(ends[0]);
    (void)close(ends[1]);
    bb_db_iter_destroy(iter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(db_arguments__key_too_long_for_look_ups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__key_too_long_for_writes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__bound_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__seek_to_a_key_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__null_is_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__null_is_released, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__null_has_no_elements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__paths_that_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__reports_that_nobody_wants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(db_arguments__misuse_is_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
