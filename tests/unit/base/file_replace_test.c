/* Goal: a replaced file has its old contents or the new ones after a power failure before any call
 * to the file system, and a failed call leaves no other file. Method: files in memory; every
 * changing call crashes, or is refused. */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"

#define PATH "/folder/file"

static struct bb_file_memory *memory_with(const char *contents)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    assert_ok(fs->ops->make_directory(fs, "/folder"));
    assert_ok(fs->ops->sync_directory(fs, "/"));
    if (contents != NULL)
        bb_file_memory_put(memory, PATH, bb_bytes_of_text(contents));
    return memory;
}

static bool has(struct bb_file_memory *memory, const char *contents)
{
    struct bb_buf buf = {0};
    enum bb_status status =
        bb_file_read_whole(bb_file_memory_system(memory), PATH, UINT64_MAX, &buf);
    bool equal = contents == NULL ? status == BB_NOT_FOUND
                                  : status == BB_OK && buf.size == strlen(contents) &&
                                        memcmp(buf.data, contents, buf.size) == 0;
    bb_buf_deinit(&buf);
    return equal;
}

/* Examines the files after a power failure before each call; may refuse the call `number`. */
struct observer {
    uint64_t number;
    bool refuses;
    const char *before;
    const char *after;
    uint64_t calls;
};

static enum bb_status observe(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct observer *observer = context;
    (void)number;
    (void)call;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct bb_crash crash = {BB_CRASH_BYTES_ANY, BB_CRASH_NAMES_ANY, 0, seed};
        struct bb_file_memory *left = bb_file_memory_crash(memory, &crash);
        assert_true(has(left, observer->before) || has(left, observer->after));
        bb_file_memory_destroy(left);
    }
    observer->calls++;
    if (observer->refuses && observer->calls == observer->number)
        return bb_fail(BB_IO, "%s: refused by the test", path);
    return BB_OK;
}

static uint64_t replace_observed(const char *before, uint64_t refused)
{
    struct bb_file_memory *memory = memory_with(before);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct observer observer = {refused, refused > 0, before, "new contents", 0};
    bb_file_memory_set_hook(memory, observe, &observer);
    enum bb_status status = bb_file_replace(fs, PATH, bb_bytes_of_text("new contents"));
    bb_file_memory_set_hook(memory, NULL, NULL);
    assert_status(status, refused > 0 ? BB_IO : BB_OK);
    if (refused == 0) {
        const struct bb_crash strict = {0};
        struct bb_file_memory *left = bb_file_memory_crash(memory, &strict);
        assert_true(has(left, "new contents"));
        bb_file_memory_destroy(left);
    }
    struct bb_file_names names = {0};
    assert_ok(fs->ops->list(fs, "/folder", &names));
    assert_true(names.count <= 1);
    bb_file_names_deinit(&names);
    bb_file_memory_destroy(memory);
    return observer.calls;
}

static void file_replace__leaves_the_old_contents_or_the_new(void **state)
{
    (void)state;
    assert_int_equal(replace_observed(NULL, 0), 5);
    assert_int_equal(replace_observed("old", 0), 5);
}

static void file_replace__leaves_no_other_file_after_a_failure(void **state)
{
    (void)state;
    for (uint64_t call = 1; call <= 5; call++) {
        (void)replace_observed(NULL, call);
        (void)replace_observed("old", call);
    }
}

/* A name that is not random may be another writer's. */
static void file_replace__needs_a_random_name(void **state)
{
    (void)state;
    struct bb_file_memory *memory = memory_with("old");
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_RANDOM, .nth = 1});
    assert_status(
        bb_file_replace(bb_file_fault_system(fault), PATH, bb_bytes_of_text("new contents")),
        BB_IO);
    assert_int_equal(bb_file_fault_calls(fault, BB_FILE_CALL_CREATE), 0);
    assert_true(has(memory, "old"));
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_replace__leaves_the_old_contents_or_the_new),
        cmocka_unit_test(file_replace__leaves_no_other_file_after_a_failure),
        cmocka_unit_test(file_replace__needs_a_random_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
