/* Goal: without memory, every call on a table fails cleanly and leaks nothing; and a get whose page
 * and block are in memory allocates none. Method: each allocation fails one by one; allocations are
 * counted. */
#include "tests/support/assert_status.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "bb/table.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_memory.h"

#define PATH "/table"

static const struct bb_hash_secret secret = {{1, 2, 3}};

static struct bb_table_options options_of(struct bb_file_memory *memory)
{
    return (struct bb_table_options){.file_system = bb_file_memory_system(memory),
                                     .secret = &secret,
                                     .block_size_bytes = 256,
                                     .index_page_size_bytes = 512,
                                     .table_filter_bits = 4};
}

static enum bb_status add_entries(struct bb_table_builder *builder, int count)
{
    enum bb_status status = BB_OK;
    for (int i = 0; i < count && status == BB_OK; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i);
        struct bb_entry entry = {.key = bb_bytes_of_text(key),
                                 .sequence = 1,
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of_text("value value value value")};
        status = bb_table_builder_add(builder, &entry);
    }
    return status;
}

static enum bb_status build(struct bb_file_memory *memory, int count)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta = {0};
    struct bb_table_options options = options_of(memory);
    enum bb_status status = bb_table_builder_create(PATH, &options, &builder);
    if (status != BB_OK)
        return status;
    status = add_entries(builder, count);
    if (status == BB_OK)
        status = bb_table_builder_finish(builder, &meta);
    if (status == BB_OK)
        bb_table_meta_deinit(&meta);
    bb_table_builder_destroy(builder);
    return status;
}

static enum bb_status build_once(void *context)
{
    (void)context;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    enum bb_status status = build(memory, 400);
    size_t size = 0;
    assert_int_equal(bb_file_memory_bytes(memory, PATH, &size) != NULL, status == BB_OK);
    bb_file_memory_destroy(memory);
    return status;
}

static void table__build_without_memory(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(build_once, NULL, false) > 20);
}

static enum bb_status get(struct bb_table *table, const char *key, struct bb_buf *value,
                          enum bb_visit *ret_visit)
{
    struct bb_read_stats stats = {0};
    uint64_t sequence = 0;
    struct bb_bytes bytes = bb_bytes_of_text(key);
    return bb_table_get(table, NULL, bytes, bb_hash_key(&secret, bytes), BB_SEQUENCE_MAX, &stats,
                        value, &sequence, ret_visit);
}

/* The number of these absent keys that are ruled out; sums up the reads of the table filter. */
static int denials(struct bb_table *table, int count, const struct bb_read_options *options,
                   struct bb_read_stats *stats)
{
    struct bb_buf value = {0};
    uint64_t before = stats->visits[BB_VISIT_TABLE_FILTER_NEGATIVE];
    for (int i = 0; i < count; i++) {
        char key[16];
        enum bb_visit visit = BB_VISIT_COUNT;
        uint64_t sequence = 0;
        snprintf(key, sizeof(key), "%06dx", i % 199);
        struct bb_bytes bytes = bb_bytes_of_text(key);
        assert_ok(bb_table_get(table, options, bytes, bb_hash_key(&secret, bytes), BB_SEQUENCE_MAX,
                               stats, &value, &sequence, &visit));
    }
    bb_buf_deinit(&value);
    return (int)(stats->visits[BB_VISIT_TABLE_FILTER_NEGATIVE] - before);
}

/* Without memory for it, the table filter is not read at every question, and later it is. */
static void table__table_filter_without_memory(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(5);
    struct bb_read_options past = {.ignore_filters = true};
    assert_ok(build(memory, 200));
    struct bb_table_options options = options_of(memory);
    struct bb_read_stats stats = {0};
    struct bb_table *table = NULL;
    assert_ok(bb_block_cache_create(8 << 20, &options.cache));
    assert_ok(bb_table_open(PATH, &options, &table));
    (void)denials(table, 200, &past, &stats);
    /* The list's allocations succeed, the chunks' fails, and all later ones. */
    bb_alloc_fault_arm(3, true);
    assert_int_equal(denials(table, 1000, NULL, &stats), 0);
    assert_true(bb_alloc_fault_failures() > 0 && bb_alloc_fault_failures() < 50);
    assert_true(stats.table_filter_reads < 20);
    bb_alloc_fault_disarm();
    (void)denials(table, 2048, NULL, &stats);
    assert_true(denials(table, 1000, NULL, &stats) > 800);
    bb_table_close(table);
    bb_block_cache_destroy(options.cache);
    bb_file_memory_destroy(memory);
}

static enum bb_status read_all(struct bb_table *table)
{
    struct bb_iter *iter = NULL;
    struct bb_buf value = {0};
    enum bb_visit visit = BB_VISIT_COUNT;
    enum bb_status status = get(table, "000100", &value, &visit);
    bb_buf_deinit(&value);
    if (status == BB_OK)
        status = bb_table_iter_create(table, NULL, NULL, &iter);
    if (status != BB_OK)
        return status;
    for (bb_iter_seek_first(iter); iter->is_valid;)
        bb_iter_next(iter);
    status = iter->status;
    bb_iter_destroy(iter);
    return status;
}

static enum bb_status open_and_read(void *memory)
{
    struct bb_table_options options = options_of(memory);
    struct bb_table *table = NULL;
    enum bb_status status = bb_block_cache_create(1 << 20, &options.cache);
    if (status != BB_OK)
        return status;
    status = bb_table_open(PATH, &options, &table);
    if (status == BB_OK)
        status = read_all(table);
    bb_table_close(table);
    bb_block_cache_destroy(options.cache);
    return status;
}

static void table__read_without_memory(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(2);
    assert_ok(build(memory, 200));
    /* The cache does without memory for growing. */
    assert_true(bb_alloc_fault_sweep(open_and_read, memory, true) > 20);
    bb_file_memory_destroy(memory);
}

static enum bb_status verify(void *memory)
{
    struct bb_table_options options = options_of(memory);
    struct bb_table_verify_report report;
    return bb_table_verify(PATH, &options, &report);
}

static void table__verify_without_memory(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(3);
    assert_ok(build(memory, 200));
    assert_true(bb_alloc_fault_sweep(verify, memory, false) > 20);
    bb_file_memory_destroy(memory);
}

static void table__warm_get_allocates_nothing(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(4);
    struct bb_table_options options = options_of(memory);
    struct bb_table *table = NULL;
    struct bb_buf value = {0};
    enum bb_visit visit = BB_VISIT_COUNT;
    assert_ok(build(memory, 2000));
    assert_ok(bb_block_cache_create(8 << 20, &options.cache));
    for (int residency = 0; residency < 2; residency++) {
        options.index_residency = residency == 0 ? BB_INDEX_PINNED : BB_INDEX_CACHED;
        assert_ok(bb_table_open(PATH, &options, &table));
        for (int round = 0; round < 2; round++) {
            uint64_t before = bb_alloc_fault_requests();
            for (int i = 0; i < 2000; i++) {
                char key[16];
                snprintf(key, sizeof(key), "%06d", i);
                assert_ok(get(table, key, &value, &visit));
                assert_int_equal(visit, BB_VISIT_PRESENT);
                strcat(key, "x");
                assert_ok(get(table, key, &value, &visit));
            }
            assert_int_equal(bb_alloc_fault_requests() == before, round == 1);
        }
        bb_table_close(table);
    }
    bb_buf_deinit(&value);
    bb_block_cache_destroy(options.cache);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__build_without_memory),
        cmocka_unit_test(table__read_without_memory),
        cmocka_unit_test(table__verify_without_memory),
        cmocka_unit_test(table__table_filter_without_memory),
        cmocka_unit_test(table__warm_get_allocates_nothing),
    };
    return cmocka_run_group_tests_name("table_alloc", tests, NULL, NULL);
}
