/* Goal: the pool reports a lack of memory and leaks neither memory nor descriptors. Method: linked
 * with tests/support/alloc/alloc_fault.c; every allocation of a scenario with more files than
 * descriptors fails one by one. */
#include "tests/support/assert_status.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/file_pool.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_memory.h"

#define FILES 5

static enum bb_status open_and_read(struct bb_file_system *fs, struct bb_file *files[FILES])
{
    enum bb_status status = BB_OK;
    char path[8];
    uint8_t byte = 0;
    size_t size = 0;
    for (int i = 0; i < FILES && status == BB_OK; i++) {
        snprintf(path, sizeof(path), "/%d", i);
        status = bb_file_open(fs, path, &files[i]);
    }
    for (int i = 0; i < 3 * FILES && status == BB_OK; i++)
        status = bb_file_read_at(files[i % FILES], 0, &byte, 1, &size);
    return status;
}

static enum bb_status run(void *context)
{
    struct bb_file_memory *memory = context;
    struct bb_file_pool *pool = NULL;
    struct bb_file *files[FILES] = {0};
    enum bb_status status = bb_file_pool_create(bb_file_memory_system(memory), 2, &pool);
    if (status != BB_OK)
        return status;
    status = open_and_read(bb_file_pool_system(pool), files);
    for (int i = 0; i < FILES; i++)
        assert_ok(bb_file_close(files[i]));
    bb_file_pool_destroy(pool);
    assert_int_equal(bb_file_memory_open_files(memory), 0);
    return status;
}

static void file_pool_alloc__every_allocation_fails(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    char path[8];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "/%d", i);
        bb_file_memory_put(memory, path, bb_bytes_of_text("x"));
    }
    assert_true(bb_alloc_fault_sweep(run, memory, false) >= 1 + FILES);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_pool_alloc__every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
