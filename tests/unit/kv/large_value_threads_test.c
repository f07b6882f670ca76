/* Goal: a value that is too large to be copied is borrowed only during its put, for any leader of
 * the group of writers. Method: threads that alternately put large and small values, and overwrite
 * the borrowed bytes as soon as a put returns; everything is read back, also from the logs. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "base/sync.h"
#include "tests/support/must_alloc.h"

#define WRITERS      4
#define WRITER_PUTS  6
#define WRITER_BYTES (((size_t)1 << 20) + 1) /* the smallest that is not copied into a batch */

struct writer {
    struct bb_thread thread;
    struct bb_db *db;
    uint8_t name;
    enum bb_status status;
};

static void fill(uint8_t *bytes, uint8_t writer, uint8_t put)
{
    memset(bytes, writer * WRITER_PUTS + put, WRITER_BYTES);
}

/* Alternates small and large values; the borrowed bytes change as soon as the put returns. */
static void write_values(void *argument)
{
    struct writer *writer = argument;
    uint8_t *bytes = bb_must_alloc_zeroed(WRITER_BYTES);
    for (uint8_t i = 0; i < WRITER_PUTS && writer->status == BB_OK; i++) {
        uint8_t key[2] = {writer->name, i};
        struct bb_write_options options = {.sync = i == 3};
        fill(bytes, writer->name, i);
        writer->status = bb_db_put(writer->db, &options, bb_bytes_of(key, 2),
                                   bb_bytes_of(bytes, i % 2 == 0 ? WRITER_BYTES : 10));
        memset(bytes, 0xff, WRITER_BYTES);
    }
    free(bytes);
}

static void check_writers(struct store *store)
{
    uint8_t *bytes = bb_must_alloc_zeroed(WRITER_BYTES);
    for (uint8_t name = 0; name < WRITERS; name++) {
        for (uint8_t i = 0; i < WRITER_PUTS; i++) {
            uint8_t key[2] = {name, i};
            struct bb_pinned found = {0};
            assert_ok(bb_db_get_pinned(store->db, NULL, bb_bytes_of(key, 2), &found));
            fill(bytes, name, i);
            assert_true(
                bb_bytes_equal(found.bytes, bb_bytes_of(bytes, i % 2 == 0 ? WRITER_BYTES : 10)));
            bb_pinned_release(&found);
        }
    }
    free(bytes);
}

static void large_value_threads__come_back_whole(void **state)
{
    (void)state;
    struct store store;
    struct writer writers[WRITERS];
    store_init(&store);
    store.options.deterministic = false;
    store.options.write_buffer_bytes = (uint64_t)8 << 20;
    store_open(&store);
    for (uint8_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.db = store.db, .name = i};
        assert_ok(bb_thread_create(&writers[i].thread, write_values, &writers[i]));
    }
    for (size_t i = 0; i < WRITERS; i++) {
        bb_thread_join(&writers[i].thread);
        assert_int_equal(writers[i].status, BB_OK);
    }
    check_writers(&store);
    store_kill(&store);
    check_writers(&store);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_value_threads__come_back_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
