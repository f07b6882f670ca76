/* Goal: while one process repeatedly opens, writes and closes a store, others find it intact, or
 * busy, and never damaged. Method: a thread that does that, on disk; at the same time
 * verifications, openings that make no store and dry repairs, each of which reads the directory
 * before it has the lock. */
#include "tests/support/store.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/sync.h"
#include "tests/support/temp_dir.h"

#define ROUNDS 60

struct writer {
    char path[PATH_MAX];
    _Atomic bool is_over;
};

static struct bb_db_options options_of(bool may_create)
{
    return (struct bb_db_options){.create_if_missing = may_create,
                                  .write_buffer_bytes = 64 * 1024,
                                  .level0_run_count_compact = 2,
                                  .deterministic = true};
}

static void write_and_close(struct bb_db *db, int round)
{
    if (bb_db_put(db, NULL, bb_bytes_of(&round, sizeof(round)), (struct bb_bytes){0}) != BB_OK ||
        bb_db_flush(db) != BB_OK || bb_db_close(db) != BB_OK)
        abort();
}

static void write_all_the_time(void *argument)
{
    struct writer *writer = argument;
    const struct bb_db_options options = options_of(true);
    for (int round = 0; round < ROUNDS; round++) {
        struct bb_db *db = NULL;
        enum bb_status status = BB_BUSY;
        while (status == BB_BUSY) {
            status = bb_db_open(writer->path, &options, &db);
            if (status == BB_BUSY)
                (void)sched_yield();
        }
        if (status != BB_OK)
            abort();
        write_and_close(db, round);
    }
    atomic_store(&writer->is_over, true);
}

/* Before the store is made there is no store. */
static void check_look(enum bb_status status, uint64_t *whole)
{
    if (status != BB_BUSY && status != BB_NOT_FOUND)
        assert_ok(status);
    *whole += status == BB_OK;
}

static void db_open_threads__whole_or_busy(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    struct bb_thread thread;
    struct writer writer = {.is_over = false};
    const struct bb_db_options options = options_of(false);
    const struct bb_db_repair_options dry = {.dry_run = true};
    uint64_t whole = 0;
    bb_temp_dir_init(&dir, "db_open_threads_test");
    bb_temp_dir_path(&dir, "store", writer.path);
    assert_ok(bb_thread_create(&thread, write_all_the_time, &writer));
    for (bool is_over = false; !is_over;) {
        struct bb_db *db = NULL;
        is_over = atomic_load(&writer.is_over); /* and then again */
        check_look(bb_db_verify(writer.path, &options, NULL), &whole);
        check_look(bb_db_repair(writer.path, &options, &dry, NULL), &whole);
        check_look(bb_db_open(writer.path, &options, &db), &whole);
        assert_ok(bb_db_close(db));
        (void)sched_yield();
    }
    bb_thread_join(&thread);
    assert_true(whole >= 3);
    bb_temp_dir_deinit(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(db_open_threads__whole_or_busy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
