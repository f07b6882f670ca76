/* Goal: the pool keeps its limit on open descriptors, always reads the right bytes, notices files
 * that vanished or changed, and forwards all other calls. Method: over files in memory, which count
 * open descriptors; then 8 threads that read 200 files through 16 descriptors (also run under
 * ThreadSanitizer). */
#include "tests/support/assert_status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file_pool.h"
#include "base/sync.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define FILES   200
#define LIMIT   16
#define THREADS 8

struct place {
    struct bb_file_memory *memory;
    struct bb_file_fault *fault;
    struct bb_file_pool *pool;
    struct bb_file_system *fs;
    struct bb_file *files[FILES];
};

/* Contents that tell file and offset apart: size 100 + 7 i, byte j is a mix of both. */
static size_t size_of_file(size_t i)
{
    return 100 + 7 * i;
}

static uint8_t byte_of_file(size_t i, size_t j)
{
    return (uint8_t)(i * 31 + j * 7 + (j >> 3));
}

static void path_of_file(size_t i, char path[32])
{
    snprintf(path, 32, "/f%03zu", i);
}

static void put_file(struct place *place, size_t i)
{
    uint8_t bytes[100 + 7 * FILES];
    char path[32];
    for (size_t j = 0; j < size_of_file(i); j++)
        bytes[j] = byte_of_file(i, j);
    path_of_file(i, path);
    bb_file_memory_put(place->memory, path, bb_bytes_of(bytes, size_of_file(i)));
}

static void open_file(struct place *place, size_t i)
{
    char path[32];
    path_of_file(i, path);
    assert_ok(bb_file_open(place->fs, path, &place->files[i]));
}

static void close_file(struct place *place, size_t i)
{
    assert_ok(bb_file_close(place->files[i]));
    place->files[i] = NULL;
}

static struct bb_file_pool_counters counters(struct place *place)
{
    struct bb_file_pool_counters found;
    bb_file_pool_counters(place->pool, &found);
    return found;
}

/* False instead of an assertion, because threads call it. */
static bool is_read_right(struct bb_file *file, size_t i, struct bb_rng *rng)
{
    uint8_t bytes[64];
    size_t offset = bb_rng_below(rng, size_of_file(i));
    size_t size = 0;
    size_t left = size_of_file(i) - offset;
    if (bb_rng_below(rng, 2) == 0)
        bb_file_will_need(file, offset, left);
    if (bb_file_read_now(file, offset, bytes, sizeof(bytes)))
        size = sizeof(bytes);
    else if (bb_file_read_at(file, offset, bytes, sizeof(bytes), &size) != BB_OK)
        return false;
    if (size != (left < sizeof(bytes) ? left : sizeof(bytes)))
        return false;
    for (size_t j = 0; j < size; j++) {
        if (bytes[j] != byte_of_file(i, offset + j))
            return false;
    }
    return true;
}

static int setup(void **state)
{
    static struct place place;
    place = (struct place){.memory = bb_file_memory_create(1)};
    place.fault = bb_file_fault_create(bb_file_memory_system(place.memory));
    assert_ok(bb_file_pool_create(bb_file_fault_system(place.fault), LIMIT, &place.pool));
    place.fs = bb_file_pool_system(place.pool);
    for (size_t i = 0; i < FILES; i++)
        put_file(&place, i);
    *state = &place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    for (size_t i = 0; i < FILES; i++)
        assert_ok(bb_file_close(place->files[i]));
    bb_file_pool_destroy(place->pool);
    bb_file_fault_destroy(place->fault);
    bb_file_memory_destroy(place->memory);
    return 0;
}

static void file_pool__keeps_the_limit(void **state)
{
    struct place *place = *state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("file_pool__keeps_the_limit", 7));
    for (size_t i = 0; i < FILES; i++) {
        open_file(place, i);
        assert_int_equal(bb_file_memory_open_files(place->memory), i < LIMIT ? i + 1 : LIMIT);
    }
    for (size_t n = 0; n < 5000; n++) {
        size_t i = bb_rng_below(&rng, FILES);
        assert_true(is_read_right(place->files[i], i, &rng));
        assert_int_equal(bb_file_memory_open_files(place->memory), LIMIT);
    }
    assert_int_equal(counters(place).open_files, FILES);
    assert_int_equal(counters(place).descriptors, LIMIT);
    assert_int_equal(counters(place).descriptors_max, LIMIT);
    assert_true(counters(place).reopens > 4000);
    for (size_t i = 0; i < FILES; i++)
        close_file(place, i);
    assert_int_equal(counters(place).descriptors, 0);
    assert_int_equal(bb_file_memory_open_files(place->memory), 0);
}

static void file_pool__what_is_read_stays_open(void **state)
{
    struct place *place = *state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    open_file(place, 0);
    for (size_t i = 1; i < FILES; i++) {
        open_file(place, i);
        assert_true(is_read_right(place->files[0], 0, &rng));
    }
    assert_int_equal(counters(place).reopens, 0);
}

static void file_pool__unread_goes_in_order_of_opening(void **state)
{
    struct place *place = *state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    for (size_t i = 0; i < LIMIT + 2; i++)
        open_file(place, i); /* 0 and 1 are closed */
    for (size_t i = LIMIT + 1; i >= 2; i--)
        assert_true(is_read_right(place->files[i], i, &rng));
    assert_int_equal(counters(place).reopens, 0);
    assert_true(is_read_right(place->files[0], 0, &rng));
    assert_true(is_read_right(place->files[1], 1, &rng));
    assert_int_equal(counters(place).reopens, 2);
}

/* A file that its user closes does not change which one is closed next. */
static void file_pool__order_after_a_close(void **state)
{
    struct place *place = *state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    for (size_t i = 0; i < LIMIT; i++)
        open_file(place, i);
    close_file(place, 1);
    for (size_t i = LIMIT; i < LIMIT + 2; i++)
        open_file(place, i); /* 0 is closed */
    for (size_t i = LIMIT + 1; i >= 2; i--)
        assert_true(is_read_right(place->files[i], i, &rng));
    assert_int_equal(counters(place).reopens, 0);
    assert_true(is_read_right(place->files[0], 0, &rng));
    assert_int_equal(counters(place).reopens, 1);
}

static void file_pool__missing_and_replaced(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    uint8_t byte = 0;
    size_t size = 0;
    assert_status(bb_file_open(place->fs, "/none", &file), BB_NOT_FOUND);
    assert_null(file);
    open_file(place, 0);
    open_file(place, 1);
    open_file(place, 2);
    for (size_t i = 3; i < 3 + LIMIT; i++)
        open_file(place, i);
    assert_ok(place->fs->ops->remove(place->fs, "/f000"));
    assert_status(bb_file_read_at(place->files[0], 0, &byte, 1, &size), BB_IO);
    assert_message("/f000");
    assert_false(bb_file_read_now(place->files[0], 0, &byte, 1));
    bb_file_will_need(place->files[0], 0, 1);
    bb_file_memory_put(place->memory, "/f001", bb_bytes_of_text("short"));
    assert_status(bb_file_read_at(place->files[1], 0, &byte, 1, &size), BB_IO);
    assert_message("/f001: has 5 bytes, but had 107");
    assert_status(bb_file_read_at(place->files[1], 0, &byte, 1, &size), BB_IO);
    assert_true(bb_file_memory_open_files(place->memory) <= LIMIT);
    assert_ok(bb_file_read_at(place->files[2], 0, &byte, 1, &size));
    assert_int_equal(byte, byte_of_file(2, 0));
}

static void file_pool__gives_way_when_the_process_has_no_descriptors(void **state)
{
    struct place *place = *state;
    struct bb_file *file = NULL;
    struct bb_file_fault_plan once = {.call = BB_FILE_CALL_OPEN, .nth = 1, .error_number = EMFILE};
    for (size_t i = 0; i < 4; i++)
        open_file(place, i);
    bb_file_fault_arm(place->fault, &once);
    open_file(place, 4);
    assert_int_equal(bb_file_fault_hits(place->fault), 1);
    assert_int_equal(counters(place).descriptors, 4);
    struct bb_file_fault_plan lasting = {
        .call = BB_FILE_CALL_OPEN, .nth = 1, .lasting = true, .error_number = EMFILE};
    bb_file_fault_arm(place->fault, &lasting);
    assert_status(bb_file_open(place->fs, "/f005", &file), BB_IO);
    assert_null(file);
    bb_file_fault_disarm(place->fault);
}

static void file_pool__failed_reopen_is_tried_again(void **state)
{
    struct place *place = *state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    uint8_t byte = 0;
    size_t size = 0;
    for (size_t i = 0; i <= LIMIT; i++)
        open_file(place, i);
    struct bb_file_fault_plan opens = {
        .call = BB_FILE_CALL_OPEN, .nth = 1, .lasting = true, .error_number = EIO};
    bb_file_fault_arm(place->fault, &opens);
    assert_status(bb_file_read_at(place->files[0], 0, &byte, 1, &size), BB_IO);
    struct bb_file_fault_plan sizes = {.call = BB_FILE_CALL_SIZE, .nth = 1, .error_number = EIO};
    bb_file_fault_arm(place->fault, &sizes);
    assert_status(bb_file_read_at(place->files[0], 0, &byte, 1, &size), BB_IO);
    bb_file_fault_disarm(place->fault);
    assert_true(is_read_right(place->files[0], 0, &rng));
}

/* "Not found" would mean to a lookup that its key is absent. */
static void file_pool__a_file_that_is_gone_is_a_failure(void **state)
{
    struct place *place = *state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        size_t first = is_shared ? LIMIT + 1 : 0;
        uint8_t byte = 0;
        size_t size = 0;
        for (size_t i = first; i <= first + LIMIT; i++)
            open_file(place, i);
        if (is_shared)
            bb_file_pool_share(place->pool);
        struct bb_file_system *inner = bb_file_memory_system(place->memory);
        assert_ok(inner->ops->remove(inner, place->files[first]->path));
        enum bb_status expected = is_shared ? BB_BUSY : BB_IO;
        for (size_t i = 0; i < (is_shared ? 2 * LIMIT : 1); i++)
            assert_status(bb_file_read_at(place->files[first], 0, &byte, 1, &size), expected);
        /* Where other threads remove files, no descriptor was evicted for it. */
        uint64_t reopens = counters(place).reopens;
        for (size_t i = first + 1; i <= first + LIMIT && is_shared; i++)
            assert_true(is_read_right(place->files[i], i, &rng));
        assert_int_equal(counters(place).reopens, reopens);
    }
}

static void file_pool__passes_the_rest_on(void **state)
{
    struct place *place = *state;
    struct bb_file_system *fs = place->fs;
    struct bb_file *file = NULL;
    struct bb_file *lock = NULL;
    struct bb_file_names names = {0};
    bool is_directory = false;
    uint64_t size = 0;
    assert_ok(fs->ops->make_directory(fs, "/d"));
    assert_ok(bb_file_create(fs, "/d/a", &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text("abc")));
    assert_ok(bb_file_sync(file));
    assert_ok(bb_file_close(file));
    assert_ok(fs->ops->rename(fs, "/d/a", "/d/b"));
    assert_ok(fs->ops->link(fs, "/d/b", "/d/c"));
    assert_ok(fs->ops->remove(fs, "/d/c"));
    assert_ok(fs->ops->sync_directory(fs, "/d"));
    assert_ok(fs->ops->status(fs, "/d/b", &is_directory, &size));
    assert_int_equal(size, 3);
    assert_ok(fs->ops->lock(fs, "/d/LOCK", &lock));
    assert_status(fs->ops->lock(fs, "/d/LOCK", &file), BB_BUSY);
    assert_ok(fs->ops->unlock(fs, lock));
    assert_ok(fs->ops->list(fs, "/d", &names));
    assert_int_equal(names.count, 2);
    bb_file_names_deinit(&names);
    assert_ok(bb_file_open(fs, "/d/b", &file));
    assert_ok(bb_file_size(file, &size));
    assert_int_equal(size, 3);
    assert_status(bb_file_append(file, bb_bytes_of_text("d")), BB_INVALID);
    assert_status(bb_file_sync(file), BB_INVALID);
    assert_ok(bb_file_close(file));
    assert_ok(fs->ops->remove(fs, "/d/b"));
    assert_ok(fs->ops->remove(fs, "/d/LOCK"));
    assert_ok(fs->ops->remove_directory(fs, "/d"));
    assert_ok(fs->ops->free_space(fs, "/", &size));
    assert_ok(fs->ops->random(fs, &size, sizeof(size)));
    assert_true(fs->ops->now(fs) < fs->ops->now(fs));
    struct bb_file_counters through;
    struct bb_file_counters after;
    fs->ops->counters(fs, &through);
    struct bb_file_system *memory = bb_file_memory_system(place->memory);
    memory->ops->counters(memory, &after);
    assert_memory_equal(&through, &after, sizeof(through));
    assert_status(bb_file_pool_create(fs, 0, &place->pool), BB_INVALID);
}

struct reader {
    struct place *place;
    struct bb_thread thread;
    struct bb_rng rng;
    size_t reads;
    size_t wrong;
};

static void read_at_random(void *argument)
{
    struct reader *reader = argument;
    for (size_t n = 0; n < reader->reads; n++) {
        /* Half of the reads go to few files, so that marks matter. */
        size_t i = bb_rng_below(&reader->rng, bb_rng_one_in(&reader->rng, 2) ? 4 : FILES);
        reader->wrong += !is_read_right(reader->place->files[i], i, &reader->rng);
    }
}

static void file_pool__threads(void **state)
{
    struct place *place = *state;
    struct reader readers[THREADS];
    uint64_t seed = bb_rng_seed("file_pool__threads", 11);
    for (size_t i = 0; i < FILES; i++)
        open_file(place, i);
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){.place = place, .reads = 20000 / bb_test_step()};
        bb_rng_init(&readers[i].rng, seed + i);
        assert_ok(bb_thread_create(&readers[i].thread, read_at_random, &readers[i]));
    }
    for (size_t i = 0; i < THREADS; i++) {
        bb_thread_join(&readers[i].thread);
        assert_int_equal(readers[i].wrong, 0);
    }
    assert_int_equal(counters(place).descriptors_max, LIMIT);
    assert_int_equal(bb_file_memory_open_files(place->memory), LIMIT);
    assert_true(counters(place).reopens > 1000);
}

/* One descriptor for all: nearly every read opens, and none is closed during a read. */
static void file_pool__threads_beyond_the_limit(void **state)
{
    struct place *place = *state;
    struct place narrow = {.memory = place->memory};
    struct reader readers[THREADS];
    assert_ok(bb_file_pool_create(bb_file_memory_system(place->memory), 1, &narrow.pool));
    narrow.fs = bb_file_pool_system(narrow.pool);
    for (size_t i = 0; i < FILES; i++)
        open_file(&narrow, i);
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){.place = &narrow, .reads = 3000};
        bb_rng_init(&readers[i].rng, i);
        assert_ok(bb_thread_create(&readers[i].thread, read_at_random, &readers[i]));
    }
    for (size_t i = 0; i < THREADS; i++) {
        bb_thread_join(&readers[i].thread);
        assert_int_equal(readers[i].wrong, 0);
    }
    assert_true(counters(&narrow).descriptors_max <= THREADS + 1);
    for (size_t i = 0; i < FILES; i++)
        close_file(&narrow, i);
    bb_file_pool_destroy(narrow.pool);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test_setup_teardown(file_pool__threads, setup, teardown),
        cmocka_unit_test_setup_teardown(file_pool__threads_beyond_the_limit, setup, teardown),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_pool__keeps_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(file_pool__what_is_read_stays_open, setup, teardown),
        cmocka_unit_test_setup_teardown(file_pool__unread_goes_in_order_of_opening, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(file_pool__order_after_a_close, setup, teardown),
        cmocka_unit_test_setup_teardown(file_pool__missing_and_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(file_pool__gives_way_when_the_process_has_no_descriptors,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(file_pool__failed_reopen_is_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(file_pool__a_file_that_is_gone_is_a_failure, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(file_pool__passes_the_rest_on, setup, teardown),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
