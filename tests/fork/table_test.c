/* Goal: tables without a store survive a fork: a child that destroys a builder does not touch its
 * parent's file, and a child that reads a table never waits, for any concurrent work of the
 * parent's threads in the cache. Otherwise the child would remove the file, or wait for a mutex
 * forever. Method: real processes; each child has an alarm. */
#include "tests/support/assert_status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "bb/table.h"
#include "tests/support/temp_dir.h"

#define ROW_COUNT       4000
#define TIMEOUT_SECONDS 120

/* The sanitizers' allocator does not survive a fork while other threads use it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FORK_COUNT 4
#define HAS_THREAD false
#else
#define FORK_COUNT 100
#define HAS_THREAD true
#endif

struct place {
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    struct bb_hash_secret secret;
    struct bb_table_options options;
};

static void place_init(struct place *place)
{
    bb_temp_dir_init(&place->dir, "fork_table");
    bb_temp_dir_path(&place->dir, "a.bbt", place->path);
    bb_hash_secret_from_seed(1, &place->secret);
    place->options = (struct bb_table_options){.secret = &place->secret, .block_size_bytes = 1024};
}

/* Even numbers are there. */
static struct bb_bytes key_of(unsigned number, char key[16])
{
    snprintf(key, 16, "%08u", number);
    return bb_bytes_of_text(key);
}

static enum bb_status add_rows(struct bb_table_builder *builder, unsigned from, unsigned to)
{
    enum bb_status status = BB_OK;
    char key[16];
    for (unsigned row = from; row < to && status == BB_OK; row++) {
        struct bb_bytes bytes = key_of(2 * row, key);
        const struct bb_entry entry = {
            .key = bytes, .sequence = 1, .kind = BB_ENTRY_PUT, .value = bytes};
        status = bb_table_builder_add(builder, &entry);
    }
    return status;
}

static void assert_child(pid_t child)
{
    int result = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void fork_table__child_that_destroys_a_builder_leaves_the_file(void **state)
{
    (void)state;
    struct place place;
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta;
    place_init(&place);
    assert_ok(bb_table_builder_create(place.path, &place.options, &builder));
    assert_ok(add_rows(builder, 0, ROW_COUNT / 2));
    for (int finishes = 0; finishes < 2; finishes++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(TIMEOUT_SECONDS);
            enum bb_status status = BB_INVALID;
            if (finishes != 0)
                status = bb_table_builder_finish(builder, NULL);
            bb_table_builder_destroy(builder);
            _exit(status == BB_INVALID ? 0 : 1);
        }
        assert_child(child);
    }
    assert_ok(add_rows(builder, ROW_COUNT / 2, ROW_COUNT));
    assert_ok(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    assert_int_equal(meta.key_count, ROW_COUNT);
    bb_table_meta_deinit(&meta);
    assert_ok(bb_table_verify(place.path, &place.options, NULL));
    bb_temp_dir_deinit(&place.dir);
}

struct reading {
    struct place *place;
    struct bb_table *table;
    struct bb_block_cache *cache;
    _Atomic bool is_done;
};

/* Is the answer right? */
static bool read_row(const struct reading *reading, unsigned number)
{
    char key[16];
    struct bb_buf value = {0};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    struct bb_bytes bytes = key_of(number, key);
    enum bb_status status =
        bb_table_get(reading->table, NULL, bytes, bb_hash_key(&reading->place->secret, bytes),
                     UINT64_MAX, NULL, &value, &sequence, &visit);
    bool is_right = status == BB_OK && (visit == BB_VISIT_PRESENT) == (number % 2 == 0);
    if (visit == BB_VISIT_PRESENT)
        is_right = is_right && value.size == 8 && memcmp(value.data, key, 8) == 0;
    bb_buf_deinit(&value);
    return is_right;
}

static void *keep_reading(void *argument)
{
    struct reading *reading = argument;
    for (unsigned number = 0; !atomic_load(&reading->is_done);
         number = (number * 5 + 7) % (2 * ROW_COUNT))
        (void)read_row(reading, number);
    return NULL;
}

static _Noreturn void read_in_child(struct reading *reading)
{
    bool is_right = true;
    alarm(TIMEOUT_SECONDS);
    for (unsigned number = 1; number < 2 * ROW_COUNT; number += 37)
        is_right = is_right && read_row(reading, number);
    bb_table_close(reading->table);
    bb_block_cache_destroy(reading->cache);
    _exit(is_right ? 0 : 1);
}

/* A cache of one shard, far smaller than the table: the thread changes it nearly always. */
static void fork_table__child_reads_beside_what_a_thread_left_locked(void **state)
{
    (void)state;
    struct place place;
    struct reading reading = {.place = &place};
    struct bb_table_builder *builder = NULL;
    pthread_t thread;
    place_init(&place);
    assert_ok(bb_table_builder_create(place.path, &place.options, &builder));
    assert_ok(add_rows(builder, 0, ROW_COUNT));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_ok(bb_block_cache_create(16 * 1024, &reading.cache));
    place.options.cache = reading.cache;
    assert_ok(bb_table_open(place.path, &place.options, &reading.table));
    if (HAS_THREAD)
        assert_int_equal(pthread_create(&thread, NULL, keep_reading, &reading), 0);
    for (int i = 0; i < FORK_COUNT; i++) {
        pid_t child = fork();
        if (child == 0)
            read_in_child(&reading);
        assert_child(child);
    }
    atomic_store(&reading.is_done, true);
    if (HAS_THREAD)
        assert_int_equal(pthread_join(thread, NULL), 0);
    bb_table_close(reading.table);
    bb_block_cache_destroy(reading.cache);
    bb_temp_dir_deinit(&place.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork_table__child_that_destroys_a_builder_leaves_the_file),
        cmocka_unit_test(fork_table__child_reads_beside_what_a_thread_left_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
