/* Goal: files are removed and closed without the store's mutex: opening an iterator or taking a
 * snapshot must not wait until the inputs of a compaction are unlinked. Method: a file system whose
 * remove takes a snapshot of the store first. Under the mutex that never returns, and the alarm
 * ends the test. (Found by reading: views were released, with their logs and tables, under the
 * mutex.) */
#include <unistd.h>

#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "base/file.h"
#include "bb/db.h"
#include "tests/support/file_memory.h"

#define SECONDS_MAX 60

static const struct bb_file_system_ops *inner;
static struct bb_db *store; /* NULL: not open */
static unsigned removed_count;

static enum bb_status remove_and_ask(struct bb_file_system *fs, const char *path)
{
    struct bb_snapshot *snapshot = NULL;
    if (store != NULL) {
        assert_ok(bb_snapshot_create(store, &snapshot));
        bb_snapshot_release(store, snapshot);
        removed_count++;
    }
    return inner->remove(fs, path);
}

static void open_store(struct bb_file_system *fs)
{
    struct bb_db_options options = {.create_if_missing = true,
                                    .file_system = fs,
                                    .level0_run_count_compact = 100,
                                    .level0_run_count_stop = 200,
                                    .deterministic = true};
    assert_ok(bb_db_open("/store", &options, &store));
}

static void put_and_flush(const char *key)
{
    assert_ok(bb_db_put(store, NULL, bb_bytes_of_text(key), bb_bytes_of_text("value")));
    assert_ok(bb_db_flush(store));
}

static void remove_under_mutex__never(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_system_ops ops = *fs->ops;
    struct bb_db_iter *iter = NULL;
    inner = fs->ops;
    ops.remove = remove_and_ask;
    fs->ops = &ops;
    (void)alarm(SECONDS_MAX);
    open_store(fs);
    put_and_flush("a");
    put_and_flush("b");
    /* By the installing of a compaction, */
    assert_ok(bb_db_compact(store));
    unsigned by_installing = removed_count;
    assert_true(by_installing >= 4); /* two logs, two tables */
    /* by the last reader of its inputs, */
    put_and_flush("c");
    assert_ok(bb_db_iter_create(store, NULL, &iter));
    unsigned before = removed_count;
    assert_ok(bb_db_compact(store));
    assert_int_equal(removed_count, before);
    bb_db_iter_destroy(iter);
    assert_int_equal(removed_count, before + 2);
    struct bb_db *last = store;
    store = NULL;
    assert_ok(bb_db_close(last));
    (void)alarm(0);
    fs->ops = inner;
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(remove_under_mutex__never)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
