/* Goal: a builder reports a failing call, writes no more and leaves no file; a successful one makes
 * few calls and the same bytes for the same input. Method: each call fails one by one; the calls
 * are counted. */
#include "tests/unit/sstable/table_fixture.h"

#include <errno.h>

#include "sstable/table/table.h"
#include "tests/support/file_fault.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_file_fault *fault;
    struct bb_table_options options;
};

static void world_init(struct world *world)
{
    world->memory = bb_file_memory_create(61);
    world->fault = bb_file_fault_create(bb_file_memory_system(world->memory));
    world->options = (struct bb_table_options){.file_system = bb_file_fault_system(world->fault),
                                               .compression = BB_COMPRESSION_NONE};
}

static void world_deinit(struct world *world)
{
    bb_file_fault_destroy(world->fault);
    bb_file_memory_destroy(world->memory);
}

static enum bb_status add_entries(struct bb_table_builder *builder, int count)
{
    uint8_t value[1000] = {0};
    enum bb_status status = BB_OK;
    for (int i = 0; i < count && status == BB_OK; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%08d", i);
        struct bb_entry entry = {.key = bb_bytes_of_text(key),
                                 .sequence = 1,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of(value, sizeof(value))};
        status = bb_table_builder_add(builder, &entry);
    }
    return status;
}

/* Build and destroy; the first failure. */
static enum bb_status build(struct world *world, int count)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta = {0};
    enum bb_status status = bb_table_builder_create(FIXTURE_PATH, &world->options, &builder);
    if (status != BB_OK)
        return status;
    status = add_entries(builder, count);
    enum bb_status finished = bb_table_builder_finish(builder, &meta);
    if (status != BB_OK)
        assert_int_equal(finished, status); /* sticky */
    bb_table_meta_deinit(&meta);
    bb_table_builder_destroy(builder);
    return finished;
}

static bool file_exists(struct world *world)
{
    size_t size = 0;
    return bb_file_memory_bytes(world->memory, FIXTURE_PATH, &size) != NULL;
}

static void check_failing(enum bb_file_call call, enum bb_file_fault_mode mode, int error_number,
                          enum bb_status expected)
{
    for (uint64_t nth = 1;; nth++) {
        struct world world;
        world_init(&world);
        struct bb_file_fault_plan plan = {
            .mode = mode, .call = call, .nth = nth, .error_number = error_number};
        bb_file_fault_arm(world.fault, &plan);
        enum bb_status status = build(&world, 2000);
        bool is_over = bb_file_fault_hits(world.fault) == 0;
        assert_int_equal(status, is_over ? BB_OK : expected);
        assert_int_equal(file_exists(&world), is_over);
        assert_true(bb_file_fault_writes_after_failure(world.fault) == 0);
        world_deinit(&world);
        if (is_over) {
            assert_true(nth > 1);
            return;
        }
    }
}

static void table_builder__failing_calls(void **state)
{
    (void)state;
    check_failing(BB_FILE_CALL_CREATE, BB_FILE_FAULT_ERROR, 0, BB_IO);
    check_failing(BB_FILE_CALL_APPEND, BB_FILE_FAULT_ERROR, ENOSPC, BB_NO_SPACE);
    check_failing(BB_FILE_CALL_APPEND, BB_FILE_FAULT_SHORT_WRITE, EIO, BB_IO);
    check_failing(BB_FILE_CALL_SYNC, BB_FILE_FAULT_ERROR, EIO, BB_IO);
    check_failing(BB_FILE_CALL_CLOSE, BB_FILE_FAULT_ERROR, EIO, BB_IO);
    check_failing(BB_FILE_CALL_RANDOM, BB_FILE_FAULT_ERROR, EIO, BB_IO);
}

static void table_builder__full_disk(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    bb_file_memory_set_space(world.memory, 500000);
    assert_int_equal(build(&world, 2000), BB_NO_SPACE);
    assert_false(file_exists(&world));
    bb_file_memory_set_space(world.memory, 0);
    assert_ok(build(&world, 2000));
    world_deinit(&world);
}

static void table_builder__few_calls(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    assert_ok(build(&world, 2000)); /* 2 MB */
    assert_true(bb_file_fault_calls(world.fault, BB_FILE_CALL_APPEND) < 12);
    assert_true(bb_file_fault_calls(world.fault, BB_FILE_CALL_SYNC) == 1);
    assert_true(bb_file_fault_calls(world.fault, BB_FILE_CALL_READ_AT) == 0);
    world_deinit(&world);
}

static void table_builder__abandoned(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_builder *builder = NULL;
    world_init(&world);
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    assert_ok(add_entries(builder, 500));
    assert_true(file_exists(&world));
    bb_table_builder_destroy(builder);
    assert_false(file_exists(&world));
    bb_table_builder_destroy(NULL);
    world_deinit(&world);
}

static void table_builder__finished(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_builder *builder = NULL;
    world_init(&world);
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    assert_ok(add_entries(builder, 500));
    assert_ok(bb_table_builder_finish(builder, NULL));
    assert_status(add_entries(builder, 1), BB_INVALID);
    assert_message("finished");
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_builder_create("/other", &world.options, &builder));
    assert_ok(add_entries(builder, 500));
    assert_ok(bb_table_builder_finish(builder, NULL));
    assert_status(bb_table_builder_finish(builder, NULL), BB_INVALID);
    bb_table_builder_destroy(builder);
    assert_true(file_exists(&world));
    world_deinit(&world);
}

static void table_builder__size_estimate(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta = {0};
    uint64_t last = 0;
    world_init(&world);
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    assert_true(bb_table_builder_size_estimate(builder) == 0);
    for (int i = 0; i < 300; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%08d", i);
        struct bb_entry entry = {.key = bb_bytes_of_text(key),
                                 .sequence = 1,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of_text("a value of twenty-four.")};
        assert_ok(bb_table_builder_add(builder, &entry));
        assert_true(bb_table_builder_size_estimate(builder) > last);
        last = bb_table_builder_size_estimate(builder);
    }
    assert_ok(bb_table_builder_finish(builder, &meta));
    assert_true(last > 300 * 24 && last < meta.file_size);
    bb_table_meta_deinit(&meta);
    bb_table_builder_destroy(builder);
    world_deinit(&world);
}

/* A table's bytes depend only on its input and the file system's randomness. */
static void table_builder__same_bytes(void **state)
{
    (void)state;
    struct world a;
    struct world b;
    size_t a_size = 0;
    size_t b_size = 0;
    world_init(&a);
    world_init(&b);
    assert_ok(build(&a, 700));
    assert_ok(build(&b, 700));
    const uint8_t *a_bytes = bb_file_memory_bytes(a.memory, FIXTURE_PATH, &a_size);
    const uint8_t *b_bytes = bb_file_memory_bytes(b.memory, FIXTURE_PATH, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_bytes, b_bytes, a_size);
    world_deinit(&a);
    world_deinit(&b);
}

/* Long prefixes shared by few: a page ends where keeping on would cost it its common prefix. */
static void table_builder__pages_end_with_their_prefix(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_builder *builder = NULL;
    struct bb_table *table = NULL;
    uint32_t aligned = 0;
    world_init(&world);
    world.options.block_size_bytes = 256;
    world.options.index_page_size_bytes = 65536; /* size ends no page here */
    world.options.table_filter_bits = BB_TABLE_FILTER_NONE;
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    for (int host = 0; host < 20; host++) {
        for (int i = 0; i < 1000; i++) {
            char key[64];
            snprintf(key, sizeof(key), "http://www.host-%02d.example.com/%04d", host, i);
            struct bb_entry entry = {
                .key = bb_bytes_of_text(key), .sequence = 1, .kind = BB_ENTRY_DELETE};
            assert_ok(bb_table_builder_add(builder, &entry));
        }
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &table));
    for (uint32_t i = 0; i < table->root.page_count; i++) {
        struct bb_index_page *page = NULL;
        struct bb_read_stats stats = {0};
        assert_ok(bb_table_page_acquire(table, i, &stats, &page));
        aligned += page->fences.common.size >= strlen("http://www.host-00.example.com/");
    }
    assert_true(table->root.page_count >= 20);
    assert_true(aligned * 4 >= table->root.page_count * 3);
    bb_table_close(table);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_builder__failing_calls),
        cmocka_unit_test(table_builder__full_disk),
        cmocka_unit_test(table_builder__few_calls),
        cmocka_unit_test(table_builder__abandoned),
        cmocka_unit_test(table_builder__finished),
        cmocka_unit_test(table_builder__size_estimate),
        cmocka_unit_test(table_builder__same_bytes),
        cmocka_unit_test(table_builder__pages_end_with_their_prefix),
    };
    return cmocka_run_group_tests_name("table_builder", tests, NULL, NULL);
}
