/* Goal: closing a store with open iterators and snapshots releases the directory, and the remaining
 * handles are harmless, whenever they are destroyed. Method: every call on handles of every kind;
 * the sanitizers check memory. */
#include "tests/leveldb/opened.h"

#include <pthread.h>

static void expect_shell(leveldb_iterator_t *iterator)
{
    char *error = NULL;
    size_t size = 4711;
    leveldb_iter_seek_to_first(iterator);
    leveldb_iter_seek_to_last(iterator);
    leveldb_iter_seek(iterator, "a", 1);
    leveldb_iter_next(iterator);
    leveldb_iter_prev(iterator);
    assert_false(leveldb_iter_valid(iterator));
    assert_non_null(leveldb_iter_key(iterator, &size));
    assert_int_equal(size, 0);
    assert_non_null(leveldb_iter_value(iterator, &size));
    assert_int_equal(size, 0);
    leveldb_iter_get_error(iterator, &error);
    assert_non_null(error);
    assert_non_null(strstr(error, "closed"));
    leveldb_free(error);
}

static void close_lets_go_of_iterators(void **state)
{
    struct opened o;
    leveldb_iterator_t *iterators[3];
    (void)state;
    opened_init(&o);
    opened_put(&o, "a", "1");
    for (int i = 0; i < 3; i++) {
        iterators[i] = leveldb_create_iterator(o.db, o.read);
        leveldb_iter_seek_to_first(iterators[i]);
        assert_true(leveldb_iter_valid(iterators[i]));
    }
    leveldb_iter_destroy(iterators[1]);
    leveldb_close(o.db);
    expect_shell(iterators[0]);
    opened_again(&o);
    opened_expect(&o, "a", "1");
    expect_shell(iterators[2]);
    leveldb_iter_destroy(iterators[0]);
    opened_deinit(&o);
    leveldb_iter_destroy(iterators[2]);
}

static void close_lets_go_of_snapshots(void **state)
{
    struct opened o;
    char *error = NULL;
    size_t size = 4711;
    (void)state;
    opened_init(&o);
    opened_put(&o, "a", "1");
    const leveldb_snapshot_t *first = leveldb_create_snapshot(o.db);
    const leveldb_snapshot_t *second = leveldb_create_snapshot(o.db);
    leveldb_t *closed = o.db;
    leveldb_close(o.db);
    opened_again(&o);
    leveldb_readoptions_set_snapshot(o.read, first);
    assert_null(leveldb_get(o.db, o.read, "a", 1, &size, &error));
    assert_int_equal(size, 0);
    assert_non_null(strstr(error, "snapshot"));
    leveldb_iterator_t *iterator = leveldb_create_iterator(o.db, o.read);
    leveldb_iter_seek_to_first(iterator);
    assert_false(leveldb_iter_valid(iterator));
    leveldb_iter_destroy(iterator);
    leveldb_free(error);
    /* The store is not there any more; LevelDB would look into it. */
    leveldb_release_snapshot(closed, first);
    leveldb_release_snapshot(closed, second);
    leveldb_readoptions_set_snapshot(o.read, NULL);
    opened_expect(&o, "a", "1");
    opened_deinit(&o);
}

/* An iterator of a snapshot outlives the snapshot, as in LevelDB. */
static void iterator_outlives_its_snapshot(void **state)
{
    struct opened o;
    size_t size = 0;
    (void)state;
    opened_init(&o);
    opened_put(&o, "a", "1");
    const leveldb_snapshot_t *snapshot = leveldb_create_snapshot(o.db);
    opened_put(&o, "a", "2");
    leveldb_readoptions_set_snapshot(o.read, snapshot);
    leveldb_iterator_t *iterator = leveldb_create_iterator(o.db, o.read);
    leveldb_readoptions_set_snapshot(o.read, NULL);
    leveldb_release_snapshot(o.db, snapshot);
    leveldb_compact_range(o.db, NULL, 0, NULL, 0);
    leveldb_iter_seek_to_first(iterator);
    assert_true(leveldb_iter_valid(iterator));
    assert_memory_equal(leveldb_iter_value(iterator, &size), "1", 1);
    leveldb_iter_destroy(iterator);
    opened_deinit(&o);
}

enum { FINALIZED = 200 };

static void *finalize(void *context)
{
    leveldb_iterator_t **iterators = context;
    for (int i = 0; i < FINALIZED; i++)
        leveldb_iter_destroy(iterators[i]);
    return NULL;
}

/* As the finalizers of a garbage collector do. */
static void another_thread_destroys_beside_close(void **state)
{
    struct opened o;
    leveldb_iterator_t *iterators[FINALIZED];
    pthread_t thread;
    (void)state;
    opened_init(&o);
    opened_put(&o, "a", "1");
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < FINALIZED; i++)
            iterators[i] = leveldb_create_iterator(o.db, o.read);
        assert_int_equal(pthread_create(&thread, NULL, finalize, iterators), 0);
        leveldb_close(o.db);
        pthread_join(thread, NULL);
        opened_again(&o);
    }
    opened_deinit(&o);
}

static void nothing_is_destroyed(void **state)
{
    (void)state;
    leveldb_close(NULL);
    leveldb_iter_destroy(NULL);
    leveldb_release_snapshot(NULL, NULL);
    leveldb_writebatch_destroy(NULL);
    leveldb_options_destroy(NULL);
    leveldb_readoptions_destroy(NULL);
    leveldb_writeoptions_destroy(NULL);
    leveldb_comparator_destroy(NULL);
    leveldb_filterpolicy_destroy(NULL);
    leveldb_cache_destroy(NULL);
    leveldb_env_destroy(NULL);
    leveldb_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_lets_go_of_iterators),
        cmocka_unit_test(close_lets_go_of_snapshots),
        cmocka_unit_test(iterator_outlives_its_snapshot),
        cmocka_unit_test(another_thread_destroys_beside_close),
        cmocka_unit_test(nothing_is_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
