/* Goal: occasional failures of file system calls, under a store with its thread and several writers
 * and readers, cost only errors: no wrong result, no lost acknowledged write, no writer or reader
 * waits forever, and after the failures the store continues. Method: each writer has separate keys
 * and records the result of each write; one thread lets calls fail, once or for a while, while the
 * others work. The places of the failures differ between runs; the conditions do not. */
#include "tests/support/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/sync.h"
#include "tests/support/file_fault.h"
#include "tests/support/rng.h"

#define WRITERS    3
#define KEYS       30 /* of each writer */
#define WRITES     5000
#define VALUE_SIZE 300

struct crowd {
    struct bb_db *db;
    struct bb_file_fault *fault;
    uint64_t seed;
    _Atomic uint32_t writing;
    _Atomic uint64_t failed; /* writes that got a failure */
    _Atomic uint64_t bad;
};

struct writer {
    struct crowd *crowd;
    struct bb_thread thread;
    uint32_t index;
    struct bb_rng rng;
    uint32_t acknowledged[KEYS]; /* number of the last write that was, 0 for none */
    uint32_t last_attempt[KEYS]; /* that failed since: it or any between may be there */
};

static struct bb_bytes key_of(uint32_t writer, uint32_t key, char text[16])
{
    snprintf(text, 16, "w%u-%03u", writer, key);
    return bb_bytes_of_text(text);
}

static void pause_briefly(void)
{
    struct timespec pause = {.tv_nsec = 2000000};
    (void)nanosleep(&pause, NULL);
}

static void write_once(struct writer *writer, uint32_t number)
{
    char key[16];
    uint8_t value[VALUE_SIZE] = {0};
    uint32_t which = (uint32_t)bb_rng_below(&writer->rng, KEYS);
    struct bb_write_options options = {.sync = bb_rng_one_in(&writer->rng, 8)};
    memcpy(value, &number, sizeof(number));
    enum bb_status status =
        bb_db_put(writer->crowd->db, &options, key_of(writer->index, which, key),
                  bb_bytes_of(value, sizeof(value)));
    if (status == BB_OK) {
        writer->acknowledged[which] = number;
        writer->last_attempt[which] = 0;
        return;
    }
    writer->last_attempt[which] = number;
    writer->crowd->failed++;
    if (status != BB_IO && status != BB_NO_SPACE && status != BB_READ_ONLY)
        writer->crowd->bad++;
    pause_briefly();
}

/* 0 when it is absent, UINT32_MAX when reading failed. */
static uint32_t read_once(struct bb_db *db, uint32_t writer, uint32_t key)
{
    char text[16];
    uint32_t number = 0;
    struct bb_buf value = {0};
    enum bb_status status = bb_db_get(db, NULL, key_of(writer, key, text), &value);
    if (status == BB_OK && value.size == VALUE_SIZE)
        memcpy(&number, value.data, sizeof(number));
    else if (status != BB_NOT_FOUND)
        number = UINT32_MAX;
    bb_buf_deinit(&value);
    return number;
}

static bool may_be(const struct writer *writer, uint32_t key, uint32_t found)
{
    return found == writer->acknowledged[key] ||
           (found > writer->acknowledged[key] && found <= writer->last_attempt[key]);
}

static void write_often(void *argument)
{
    struct writer *writer = argument;
    for (uint32_t i = 1; i <= WRITES; i++) {
        write_once(writer, i);
        uint32_t key = (uint32_t)bb_rng_below(&writer->rng, KEYS);
        uint32_t found = read_once(writer->crowd->db, writer->index, key);
        if (found != UINT32_MAX && !may_be(writer, key, found))
            writer->crowd->bad++;
    }
    writer->crowd->writing--;
}

/* A scan ends with an error or shows keys in order. */
static void scan_often(void *argument)
{
    struct crowd *crowd = argument;
    while (crowd->writing > 0) {
        struct bb_db_iter *iter = NULL;
        char before[16] = "";
        if (bb_db_iter_create(crowd->db, NULL, &iter) != BB_OK)
            continue;
        for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
            char key[16];
            snprintf(key, sizeof(key), "%.*s", (int)bb_db_iter_key(iter).size,
                     (const char *)bb_db_iter_key(iter).data);
            crowd->bad += strcmp(key, before) <= 0;
            memcpy(before, key, sizeof(key));
        }
        bb_db_iter_destroy(iter);
        pause_briefly();
    }
}

static void fail_often(void *argument)
{
    struct crowd *crowd = argument;
    static const int errors[] = {EIO, ENOSPC, EMFILE};
    static const char *const parts[] = {NULL, ".wal", ".bbt", "MANIFEST"};
    struct bb_rng rng;
    bb_rng_init(&rng, crowd->seed);
    while (crowd->writing > 0) {
        struct bb_file_fault_plan plan = {.mode = bb_rng_one_in(&rng, 4) ? BB_FILE_FAULT_SHORT_WRITE
                                                                         : BB_FILE_FAULT_ERROR,
                                          .call = BB_FILE_CALL_ANY,
                                          .path_part = parts[bb_rng_below(&rng, 4)],
                                          .nth = bb_rng_between(&rng, 1, 30),
                                          .lasting = bb_rng_one_in(&rng, 4),
                                          .error_number = errors[bb_rng_below(&rng, 3)]};
        bb_file_fault_arm(crowd->fault, &plan);
        for (uint64_t i = bb_rng_between(&rng, 1, 4); i > 0; i--)
            pause_briefly();
        bb_file_fault_disarm(crowd->fault);
        pause_briefly();
    }
}

/* The store's thread retries within ten seconds. */
static void wait_until_it_writes(struct bb_db *db)
{
    enum bb_status status = BB_IO;
    for (int i = 0; i < 15000 && status != BB_OK; i++) {
        status = bb_db_put(db, NULL, bb_bytes_of_text("last"), bb_bytes_of_text("1"));
        if (status != BB_OK)
            pause_briefly();
    }
    assert_status(status, BB_OK);
}

static void assert_all_there(struct bb_db *db, const struct writer writers[WRITERS])
{
    for (uint32_t i = 0; i < WRITERS; i++) {
        for (uint32_t key = 0; key < KEYS; key++) {
            uint32_t found = read_once(db, i, key);
            if (!may_be(&writers[i], key, found))
                fail_msg("writer %u, key %u: write %u is there, acknowledged was %u, tried %u", i,
                         key, found, writers[i].acknowledged[key], writers[i].last_attempt[key]);
        }
    }
}

static void threads__calls_that_fail_now_and_then(void **state)
{
    (void)state;
    static struct writer writers[WRITERS];
    struct store store;
    struct crowd crowd = {.writing = WRITERS, .seed = bb_rng_seed("threads_test", 1)};
    struct bb_thread scanner;
    struct bb_thread saboteur;
    store_init(&store);
    crowd.fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(crowd.fault);
    store.options.deterministic = false;
    store.options.level0_run_count_compact = 2;
    store.options.level0_run_count_busy = 2;
    store.options.cache_off = true;
    store_open(&store);
    crowd.db = store.db;
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.crowd = &crowd, .index = i};
        bb_rng_init(&writers[i].rng, crowd.seed + i + 1);
        assert_ok(bb_thread_create(&writers[i].thread, write_often, &writers[i]));
    }
    assert_ok(bb_thread_create(&scanner, scan_often, &crowd));
    assert_ok(bb_thread_create(&saboteur, fail_often, &crowd));
    for (uint32_t i = 0; i < WRITERS; i++)
        bb_thread_join(&writers[i].thread);
    bb_thread_join(&scanner);
    bb_thread_join(&saboteur);
    printf("%" PRIu64 " writes failed\n", (uint64_t)crowd.failed);
    assert_int_equal(crowd.bad, 0);
    wait_until_it_writes(store.db);
    assert_all_there(store.db, writers);
    assert_int_equal(bb_file_fault_writes_after_failure(crowd.fault), 0);
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    store_close(&store);
    bb_file_fault_destroy(crowd.fault);
    bb_file_memory_destroy(store.memory);
    store.memory = image;
    store.options = store_options(image);
    store_open(&store);
    assert_all_there(store.db, writers);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads__calls_that_fail_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
