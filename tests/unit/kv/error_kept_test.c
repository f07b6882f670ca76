/* Successful calls leave bb_error_last() as it is, as <bb/base.h> says: the calls of a store's life
 * that meet expected failures inside, such as a file that does not exist yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bb/db.h"
#include "base/status.h"
#include "bb/db_files.h"
#include "tests/support/store.h"
#include "tests/support/temp_dir.h"

static struct bb_temp_dir dir;

/* A failure that nothing else repeats. */
static void fail_first(void)
{
    struct bb_db *db = NULL;
    assert_int_equal(bb_db_open("", NULL, &db), BB_INVALID);
}

static void assert_kept(const char *what)
{
    const struct bb_error *last = bb_error_last();
    if (last->status != BB_INVALID)
        fail_msg("after %s: %s", what, last->message);
}

#define SUCCEEDS(call)                                                                             \
    do {                                                                                           \
        assert_int_equal(call, BB_OK);                                                             \
        assert_kept(#call);                                                                        \
    } while (0)

static struct bb_bytes text(const char *letters)
{
    return (struct bb_bytes){(const uint8_t *)letters, strlen(letters)};
}

static const char *path_of(const char *name)
{
    static char path[2][PATH_MAX];
    static int turn;
    turn = 1 - turn;
    return bb_temp_dir_path(&dir, name, path[turn]);
}

static void reads(struct bb_db *db)
{
    struct bb_buf value = {0};
    SUCCEEDS(bb_db_get(db, NULL, text("b"), &value));
    bb_buf_deinit(&value);
    struct bb_db_iter *iter = NULL;
    SUCCEEDS(bb_db_iter_create(db, NULL, &iter));
    bb_db_iter_seek_first(iter);
    while (bb_db_iter_valid(iter))
        bb_db_iter_next(iter);
    SUCCEEDS(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    struct bb_db_table_list tables = {0};
    SUCCEEDS(bb_db_tables(db, &tables));
    bb_db_table_list_deinit(&tables);
    assert_kept("reads");
}

static void writes(struct bb_db *db)
{
    SUCCEEDS(bb_db_put(db, NULL, text("a"), text("1")));
    SUCCEEDS(bb_db_put(db, NULL, text("b"), text("2")));
    SUCCEEDS(bb_db_flush(db));
    SUCCEEDS(bb_db_put(db, NULL, text("a"), text("3")));
    SUCCEEDS(bb_db_delete(db, NULL, text("c")));
    SUCCEEDS(bb_db_delete_range(db, NULL, text("x"), text("z")));
    SUCCEEDS(bb_db_flush(db));
    SUCCEEDS(bb_db_compact(db));
    SUCCEEDS(bb_db_wait_idle(db));
}

static void error__kept_by_a_stores_life(void **unused)
{
    (void)unused;
    struct bb_db_options options = {.create_if_missing = true};
    struct bb_db *db = NULL;
    fail_first();
    SUCCEEDS(bb_db_open(path_of("store"), &options, &db));
    writes(db);
    reads(db);
    SUCCEEDS(bb_db_checkpoint(db, path_of("copy")));
    SUCCEEDS(bb_db_close(db));
    SUCCEEDS(bb_db_open(path_of("store"), &options, &db));
    reads(db);
    SUCCEEDS(bb_db_close(db));
    SUCCEEDS(bb_db_verify(path_of("store"), NULL, NULL));
    assert_int_equal(remove(path_of("store/CURRENT")), 0);
    SUCCEEDS(bb_db_repair(path_of("store"), NULL, NULL, NULL));
    SUCCEEDS(bb_db_destroy(path_of("copy"), NULL, NULL));
}

static void error__kept_by_readers(void **unused)
{
    (void)unused;
    struct bb_db_options options = {.read_only = true};
    struct bb_db *db = NULL;
    fail_first();
    SUCCEEDS(bb_db_open(path_of("store"), &options, &db));
    reads(db);
    SUCCEEDS(bb_db_refresh(db));
    SUCCEEDS(bb_db_close(db));
}

/* The second table that is created, the output of a merge, fails. */
static enum bb_status fail_merge(void *context, struct bb_file_memory *memory, uint64_t number,
                                 enum bb_file_call call, const char *path)
{
    int *created = context;
    (void)memory;
    (void)number;
    *created += call == BB_FILE_CALL_CREATE && strstr(path, ".bbt") != NULL;
    return *created == 2 ? bb_fail(BB_IO, "no merge") : BB_OK;
}

/* Regression: a flush succeeded although the merge after it failed, and left the failure. */
static void error__kept_although_a_merge_fails(void **unused)
{
    (void)unused;
    struct store store;
    int created = 0;
    store_init(&store);
    store.options.deterministic = true;
    store.options.level0_run_count_compact = 2;
    store.options.level0_run_count_busy = 2;
    store_open(&store);
    store_put(&store, "a", "1");
    assert_int_equal(bb_db_flush(store.db), BB_OK);
    store_put(&store, "a", "2");
    bb_file_memory_set_hook(store.memory, fail_merge, &created);
    fail_first();
    SUCCEEDS(bb_db_flush(store.db));
    assert_int_equal(created, 2);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    store_deinit(&store);
}

static int make_dir(void **unused)
{
    (void)unused;
    bb_temp_dir_init(&dir, "error_kept");
    return 0;
}

static int remove_dir(void **unused)
{
    (void)unused;
    bb_temp_dir_deinit(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error__kept_by_a_stores_life),
        cmocka_unit_test(error__kept_by_readers),
        cmocka_unit_test(error__kept_although_a_merge_fails),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
