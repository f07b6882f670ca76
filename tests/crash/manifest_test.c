/* Goal: whenever the power fails while a store is created, opened, changed or given a new manifest,
 * the result either opens with everything acknowledged, or is a directory in which the creation can
 * be repeated; also when the power fails a second time during that. Method: before every changing
 * call of a workload, images of possible disk contents are made and checked; each image is then
 * recovered, and the power fails before every call of that recovery too. Without sync S2, S3, S4,
 * S5 or S12 this test fails.
 *
 * BB_TEST_CRASH_SEEDS sets the number of random images per call (default 3), BB_TEST_SEED their
 * seed.
 */
#include "tests/support/assert_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/directory/directory.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define DIRECTORY "/data/db"

/* Random images for each call, in addition to the fixed ones. */
static uint64_t mixture_count(void)
{
    const char *text = getenv("BB_TEST_CRASH_SEEDS");
    return text == NULL ? 3 : strtoull(text, NULL, 10);
}

/* One edit raises the last sequence by one: the sequence tells the state. */
struct run {
    uint64_t seed;
    bool is_created;       /* the creation was acknowledged */
    uint64_t acknowledged; /* sequences */
    uint64_t attempted;
    uint64_t number_max; /* greatest file number that was ever used */
    uint64_t images;
    bool is_nested;
    struct bb_file_memory *memory;
};

static struct bb_manifest_state first_state(struct bb_file_system *fs)
{
    struct bb_manifest_state state = {0};
    struct bb_edit edit = {.has_identity = true, .next_file_number = 1};
    assert_ok(bb_manifest_identity_new(fs, NULL, NULL, &edit.identity));
    assert_ok(bb_manifest_state_apply(&state, &edit, (struct bb_place){0}));
    return state;
}

/* The work of an opening with directory and manifest, as in kv/open/opening.c. */
static enum bb_status create_or_open(struct bb_file_system *fs, struct bb_manifest **ret_manifest)
{
    struct bb_directory directory = {0};
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {.is_whole = true};
    struct bb_directory_report removed;
    uint64_t number = 0;
    enum bb_status status = fs->ops->make_directory(fs, DIRECTORY);
    if (status == BB_OK || status == BB_EXISTS)
        status = fs->ops->sync_directory(fs, "/data");
    if (status == BB_OK)
        status = bb_directory_scan(fs, DIRECTORY, &directory);
    if (status != BB_OK)
        return status;
    status = bb_manifest_load(fs, DIRECTORY, &state, &report);
    if (status == BB_NOT_FOUND) {
        status = bb_directory_check_new(fs, DIRECTORY, &directory);
        state = first_state(fs);
    }
    if (status == BB_OK)
        status = bb_directory_check_complete(DIRECTORY, &directory, &state);
    if (status == BB_OK)
        status = bb_directory_next_number(DIRECTORY, &directory, &state, &number);
    if (status == BB_OK)
        status = bb_manifest_create(fs, DIRECTORY, number, &state, ret_manifest);
    if (status == BB_OK)
        bb_directory_remove_orphans(fs, DIRECTORY, &directory, bb_manifest_state_of(*ret_manifest),
                                    number, &removed);
    bb_manifest_state_deinit(&state);
    bb_directory_deinit(&directory);
    return status;
}

/* ---- requirements for an image ---- */

static void check_loads(const struct run *run, struct bb_file_system *fs)
{
    struct bb_manifest_state state = {0};
    struct bb_directory directory = {0};
    enum bb_status status = bb_manifest_load(fs, DIRECTORY, &state, NULL);
    if (status == BB_NOT_FOUND && !run->is_created) {
        bool is_directory = false;
        uint64_t size = 0;
        if (fs->ops->status(fs, DIRECTORY, &is_directory, &size) == BB_NOT_FOUND)
            return;
        assert_ok(bb_directory_scan(fs, DIRECTORY, &directory));
        assert_ok(bb_directory_check_new(fs, DIRECTORY, &directory));
        bb_directory_deinit(&directory);
        return;
    }
    assert_ok(status);
    assert_true(state.last_sequence >= run->acknowledged);
    assert_true(state.last_sequence <= run->attempted);
    bb_manifest_state_deinit(&state);
}

static void make_images(struct run *run, struct bb_file_memory *memory, uint64_t number);

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    (void)call;
    (void)path;
    make_images(context, memory, number);
    return BB_OK;
}

/* Recovers an image, with separate images before every call, and continues working. */
static void recover(const struct run *outer, struct bb_file_memory *image)
{
    struct bb_file_system *fs = bb_file_memory_system(image);
    struct run inner = {.seed = outer->seed + 77,
                        .is_created = outer->is_created,
                        .acknowledged = outer->acknowledged,
                        .attempted = outer->attempted,
                        .is_nested = true};
    struct bb_manifest *manifest = NULL;
    bb_file_memory_set_hook(image, on_call, &inner);
    assert_ok(create_or_open(fs, &manifest));
    inner.is_created = true;
    inner.acknowledged = bb_manifest_state_of(manifest)->last_sequence;
    struct bb_edit edit = {.last_sequence = inner.acknowledged + 1};
    inner.attempted = edit.last_sequence;
    assert_ok(bb_manifest_append(manifest, &edit));
    inner.acknowledged = inner.attempted;
    make_images(&inner, image, 1000000);
    bb_file_memory_set_hook(image, NULL, NULL);
    assert_ok(bb_manifest_close(manifest));
    check_loads(&inner, fs);
}

static void check_image(struct run *run, struct bb_file_memory *memory,
                        const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    check_loads(run, bb_file_memory_system(image));
    if (!run->is_nested && run->images % bb_test_step() == 0)
        recover(run, image);
    run->images++;
    bb_file_memory_destroy(image);
}

static void make_images(struct run *run, struct bb_file_memory *memory, uint64_t number)
{
    static const enum bb_crash_names names[] = {BB_CRASH_NAMES_NONE, BB_CRASH_NAMES_ALL};
    static const enum bb_crash_bytes bytes[] = {BB_CRASH_BYTES_NONE, BB_CRASH_BYTES_ALL};
    for (size_t i = 0; i < 4; i++) {
        struct bb_crash crash = {.names = names[i / 2], .bytes = bytes[i % 2]};
        check_image(run, memory, &crash);
    }
    size_t pending = bb_file_memory_pending_names(memory);
    for (uint64_t mask = 0; pending <= (run->is_nested ? 2 : 4) && mask < UINT64_C(1) << pending;
         mask++) {
        struct bb_crash crash = {.names = BB_CRASH_NAMES_MASK, .names_mask = mask};
        check_image(run, memory, &crash);
    }
    uint64_t mixtures = run->is_nested ? (mixture_count() + 2) / 3 : mixture_count();
    for (uint64_t i = 0; i < mixtures; i++) {
        struct bb_crash crash = {.names = BB_CRASH_NAMES_ANY,
                                 .bytes = BB_CRASH_BYTES_ANY,
                                 .seed = run->seed + number * 1000 + i};
        check_image(run, memory, &crash);
    }
}

/* ---- the workload ---- */

static void begin(struct run *run, const char *name)
{
    *run = (struct run){.seed = bb_rng_seed(name, 1), .memory = bb_file_memory_create(1)};
    struct bb_file_system *fs = bb_file_memory_system(run->memory);
    assert_ok(fs->ops->make_directory(fs, "/data"));
    assert_ok(fs->ops->sync_directory(fs, "/"));
    bb_file_memory_set_hook(run->memory, on_call, run);
}

static void end(struct run *run)
{
    make_images(run, run->memory, 2000000);
    printf("%" PRIu64 " images, each recovered\n", run->images);
    bb_file_memory_set_hook(run->memory, NULL, NULL);
    bb_file_memory_destroy(run->memory);
}

static struct bb_manifest *open_store(struct run *run)
{
    struct bb_manifest *manifest = NULL;
    assert_ok(create_or_open(bb_file_memory_system(run->memory), &manifest));
    run->is_created = true;
    assert_int_equal(bb_manifest_state_of(manifest)->last_sequence, run->acknowledged);
    assert_true(bb_manifest_number(manifest) > run->number_max); /* no number twice */
    run->number_max = bb_manifest_state_of(manifest)->next_file_number - 1;
    return manifest;
}

static void append(struct run *run, struct bb_manifest *manifest)
{
    struct bb_edit edit = {.last_sequence = ++run->attempted};
    assert_ok(bb_manifest_append(manifest, &edit));
    run->acknowledged = run->attempted;
}

static void manifest_crash__create_append_open(void **state)
{
    (void)state;
    struct run run;
    begin(&run, "manifest_crash__create_append_open");
    for (int opening = 0; opening < 3; opening++) {
        struct bb_manifest *manifest = open_store(&run);
        append(&run, manifest);
        append(&run, manifest);
        assert_ok(bb_manifest_close(manifest));
    }
    end(&run);
}

static void manifest_crash__rotate(void **state)
{
    (void)state;
    struct run run;
    begin(&run, "manifest_crash__rotate");
    struct bb_manifest *manifest = open_store(&run);
    for (int rotation = 0; rotation < 3; rotation++) {
        append(&run, manifest);
        assert_ok(bb_manifest_rotate(manifest, bb_manifest_state_of(manifest)->next_file_number));
        append(&run, manifest);
    }
    assert_ok(bb_manifest_close(manifest));
    end(&run);
}

/* The process crashes repeatedly, before each call of creation, one after the other; only then the
 * power fails: the data that the next process found in the page cache was never durable. */
static enum bb_status die(void *context, struct bb_file_memory *memory, uint64_t number,
                          enum bb_file_call call, const char *path)
{
    uint64_t *calls_left = context;
    (void)memory;
    (void)number;
    (void)call;
    (void)path;
    if (*calls_left == 0)
        return bb_fail(BB_IO, "the process is dead");
    --*calls_left;
    return BB_OK;
}

static void manifest_crash__process_dies_then_power(void **state)
{
    (void)state;
    bool is_done = false;
    for (uint64_t calls = 0; !is_done; calls++) {
        struct bb_file_memory *memory = bb_file_memory_create(calls);
        struct bb_file_system *fs = bb_file_memory_system(memory);
        struct bb_manifest *manifest = NULL;
        uint64_t calls_left = calls;
        assert_ok(fs->ops->make_directory(fs, "/data"));
        assert_ok(fs->ops->sync_directory(fs, "/"));
        bb_file_memory_set_hook(memory, die, &calls_left);
        is_done = create_or_open(fs, &manifest) == BB_OK && calls_left > 0;
        if (manifest != NULL && bb_manifest_close(manifest) != BB_OK)
            is_done = false;
        bb_file_memory_set_hook(memory, NULL, NULL);
        assert_ok(create_or_open(fs, &manifest));
        struct bb_edit edit = {.last_sequence = 1};
        assert_ok(bb_manifest_append(manifest, &edit));
        struct run run = {.is_created = true, .acknowledged = 1, .attempted = 1, .seed = calls};
        make_images(&run, memory, calls);
        assert_ok(bb_manifest_close(manifest));
        bb_file_memory_destroy(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifest_crash__create_append_open),
        cmocka_unit_test(manifest_crash__rotate),
        cmocka_unit_test(manifest_crash__process_dies_then_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
