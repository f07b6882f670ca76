/* Goal: an index file of lines is complete, the old one, or missing, and failures are reported.
 * Method: each call, each allocation, and the power before each changing call, fail one by one. */
#include "tests/unit/skip/lines_fixture.h"

#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"

#define PATH  "access.log"
#define INDEX PATH BB_LINES_INDEX_SUFFIX

struct trouble {
    struct bb_file_memory *memory;
    struct bb_file_fault *fault;
    struct bb_file_system *fs;
    struct line_schema schema;
    struct bb_buf bytes;
};

static void trouble_init(struct trouble *trouble)
{
    struct bb_rng rng;
    *trouble = (struct trouble){.memory = bb_file_memory_create(1)};
    trouble->fault = bb_file_fault_create(bb_file_memory_system(trouble->memory));
    trouble->fs = bb_file_fault_system(trouble->fault);
    line_schema_init(&trouble->schema);
    bb_rng_init(&rng, bb_rng_seed("lines_alloc_test", 1));
    draw_lines(&rng, 30000, &trouble->bytes);
    write_file(trouble->fs, PATH, bb_buf_bytes(&trouble->bytes));
    assert_ok(trouble->fs->ops->sync_directory(trouble->fs, "."));
}

static void trouble_deinit(struct trouble *trouble)
{
    line_schema_deinit(&trouble->schema);
    bb_buf_deinit(&trouble->bytes);
    bb_file_fault_destroy(trouble->fault);
    bb_file_memory_destroy(trouble->memory);
}

static enum bb_status create_index(const struct trouble *trouble, struct bb_file_system *fs)
{
    struct bb_lines_index_options options = {.file_system = fs,
                                             .schema = trouble->schema.schema,
                                             .specs = trouble->schema.specs,
                                             .spec_count = BB_ARRAY_LENGTH(trouble->schema.specs),
                                             .granule_bytes = BB_GRANULE_BYTES_MIN};
    return bb_lines_index_create(PATH, &options, NULL);
}

static enum bb_status count_lines(const struct trouble *trouble, struct bb_file_system *fs,
                                  uint64_t *ret_count)
{
    struct bb_lines *lines = NULL;
    struct bb_lines_options open = {.file_system = fs};
    struct bb_lines_select_options options = {.schema = trouble->schema.schema,
                                              .where = "kind = 'GET' OR has_token(words, 'w1')"};
    enum bb_status status = bb_lines_open(PATH, &open, &lines);
    if (status == BB_OK)
        status = bb_lines_count(lines, &options, ret_count, NULL);
    bb_lines_close(lines);
    return status;
}

static void expect_files(struct bb_file_system *fs, size_t count)
{
    struct bb_file_names names;
    assert_ok(fs->ops->list(fs, ".", &names));
    assert_int_equal(names.count, count);
    bb_file_names_deinit(&names);
}

/* If its creation fails anywhere: the old state or the new one, and no other file. */
static void index_create__with_each_call_failing(void **state)
{
    (void)state;
    struct trouble trouble;
    uint64_t expected = 0;
    uint64_t failures = 0;
    trouble_init(&trouble);
    assert_ok(count_lines(&trouble, trouble.fs, &expected));
    assert_true(expected > 0);
    for (uint64_t nth = 1; failures + 1 == nth; nth++) {
        struct bb_file_fault_plan plan = {
            .mode = BB_FILE_FAULT_ERROR, .call = BB_FILE_CALL_ANY, .nth = nth};
        uint64_t count = 0;
        bb_file_fault_arm(trouble.fault, &plan);
        enum bb_status status = create_index(&trouble, trouble.fs);
        bool was_hit = bb_file_fault_hits(trouble.fault) > 0;
        bb_file_fault_disarm(trouble.fault);
        failures += was_hit;
        assert_true(status == BB_OK || was_hit);
        assert_ok(count_lines(&trouble, trouble.fs, &count));
        assert_int_equal(count, expected);
    }
    assert_true(failures > 10);
    assert_int_equal(bb_file_fault_writes_after_failure(trouble.fault), 0);
    expect_files(trouble.fs, 2);
    trouble_deinit(&trouble);
}

/* For a selection: the same count, or a reported failure. */
static void count__with_each_call_failing(void **state)
{
    (void)state;
    static const enum bb_file_fault_mode modes[] = {BB_FILE_FAULT_ERROR, BB_FILE_FAULT_SHORT_READ};
    struct trouble trouble;
    uint64_t expected = 0;
    trouble_init(&trouble);
    assert_ok(create_index(&trouble, trouble.fs));
    assert_ok(count_lines(&trouble, trouble.fs, &expected));
    for (size_t mode = 0; mode < BB_ARRAY_LENGTH(modes); mode++) {
        bool was_hit = true;
        for (uint64_t nth = 1; was_hit; nth++) {
            struct bb_file_fault_plan plan = {.mode = modes[mode],
                                              .call = modes[mode] == BB_FILE_FAULT_ERROR
                                                          ? BB_FILE_CALL_ANY
                                                          : BB_FILE_CALL_READ_AT,
                                              .nth = nth};
            uint64_t count = 0;
            bb_file_fault_arm(trouble.fault, &plan);
            enum bb_status status = count_lines(&trouble, trouble.fs, &count);
            was_hit = bb_file_fault_hits(trouble.fault) > 0;
            bb_file_fault_disarm(trouble.fault);
            assert_true(status == BB_OK ? count == expected : was_hit);
        }
    }
    trouble_deinit(&trouble);
}

/* Opens the file while the nth read fails. Returns false if fewer reads were made. */
static bool open_with_a_failing_read(const struct trouble *trouble, uint64_t nth,
                                     enum bb_status *ret_status,
                                     enum bb_lines_index_state *ret_state)
{
    struct bb_lines *lines = NULL;
    struct bb_lines_options options = {.file_system = trouble->fs};
    struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = nth};
    bb_file_fault_arm(trouble->fault, &plan);
    *ret_status = bb_lines_open(PATH, &options, &lines);
    bool was_hit = bb_file_fault_hits(trouble->fault) > 0;
    bb_file_fault_disarm(trouble->fault);
    if (*ret_status == BB_OK) {
        struct bb_lines_info info;
        bb_lines_info(lines, &info);
        *ret_state = info.index_state;
    }
    bb_lines_close(lines);
    return was_hit;
}

/* Reads of the index file that fail make it unreadable. The two reads of the file's ends fail the
 * opening: the index was reported as stale. */
static void a_failing_read_of_the_ends__is_not_a_stale_index(void **state)
{
    (void)state;
    struct trouble trouble;
    enum bb_status status = BB_OK;
    enum bb_lines_index_state index = BB_LINES_INDEX_NONE;
    int failures = 0;
    trouble_init(&trouble);
    assert_ok(create_index(&trouble, trouble.fs));
    for (uint64_t nth = 1; open_with_a_failing_read(&trouble, nth, &status, &index); nth++)
        if (status == BB_OK) {
            assert_int_equal(index, BB_LINES_INDEX_UNREADABLE);
        } else {
            assert_int_equal(status, BB_IO);
            assert_message(PATH ": read_at: ");
            failures++;
        }
    assert_int_equal(failures, 2);
    assert_ok(status);
    assert_int_equal(index, BB_LINES_INDEX_USED);
    trouble_deinit(&trouble);
}

static enum bb_status scenario(void *context)
{
    const struct trouble *trouble = context;
    uint64_t count = 0;
    enum bb_status status = create_index(trouble, trouble->fs);
    return status == BB_OK ? count_lines(trouble, trouble->fs, &count) : status;
}

static void calls__without_memory(void **state)
{
    (void)state;
    struct trouble trouble;
    uint64_t count = 0;
    trouble_init(&trouble);
    assert_ok(create_index(&trouble, trouble.fs));
    assert_true(bb_alloc_fault_sweep(scenario, &trouble, true) > 100);
    assert_ok(count_lines(&trouble, trouble.fs, &count));
    trouble_deinit(&trouble);
}

struct power {
    const struct trouble *trouble;
    uint64_t expected;
    uint64_t crashes;
};

static enum bb_status crash_before(void *context, struct bb_file_memory *memory, uint64_t number,
                                   enum bb_file_call call, const char *path)
{
    struct power *power = context;
    uint64_t count = 0;
    (void)call;
    (void)path;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct bb_crash crash = {.bytes = seed == 0 ? BB_CRASH_BYTES_NONE : BB_CRASH_BYTES_ANY,
                                 .names = seed == 0 ? BB_CRASH_NAMES_NONE : BB_CRASH_NAMES_ANY,
                                 .seed = number * 4 + seed};
        struct bb_file_memory *after = bb_file_memory_crash(memory, &crash);
        struct bb_file_system *fs = bb_file_memory_system(after);
        assert_ok(count_lines(power->trouble, fs, &count));
        assert_int_equal(count, power->expected);
        assert_ok(create_index(power->trouble, fs));
        bb_file_memory_destroy(after);
        power->crashes++;
    }
    return BB_OK;
}

/* After a power failure the index file is an old or a new one, and both are right. */
static void index_create__with_the_power_failing(void **state)
{
    (void)state;
    struct trouble trouble;
    struct power power = {.trouble = &trouble};
    trouble_init(&trouble);
    assert_ok(count_lines(&trouble, trouble.fs, &power.expected));
    bb_file_memory_set_hook(trouble.memory, crash_before, &power);
    assert_ok(create_index(&trouble, trouble.fs));
    assert_ok(create_index(&trouble, trouble.fs));
    bb_file_memory_set_hook(trouble.memory, NULL, NULL);
    assert_true(power.crashes > 20);
    trouble_deinit(&trouble);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_create__with_each_call_failing),
        cmocka_unit_test(count__with_each_call_failing),
        cmocka_unit_test(a_failing_read_of_the_ends__is_not_a_stale_index),
        cmocka_unit_test(calls__without_memory),
        cmocka_unit_test(index_create__with_the_power_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
