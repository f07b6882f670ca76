/* Goal: the memory of a table's builder is as stated in include/bb/table.h: with a table filter,
 * for one part's hashes and the stored filter, and no more for any number of keys. Method: tables
 * built with and without a table filter, of parts of several sizes; the allocation seam counts
 * bytes. */
#include "tests/support/assert_status.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "bb/table.h"
#include "sstable/build/table_builder.h"
#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_memory.h"
#include "tests/support/temp_dir.h"

#define PATH "/table"
#define KEYS 200000
/* The solver's workspace for one shard. */
#define SOLVER (64 * 1024)

static const struct bb_hash_secret secret = {{1, 2, 3}};

static void add_keys(struct bb_table_builder *builder)
{
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%08d", i);
        struct bb_entry entry = {.key = bb_bytes_of_text(key), .sequence = 1, .kind = BB_ENTRY_PUT};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
}

/* The most that building takes, and the bytes of the table filter. */
static uint64_t peak_of(double table_filter_bits, size_t part_keys,
                        uint64_t *ret_table_filter_bytes)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                       .secret = &secret,
                                       .table_filter_bits = table_filter_bits};
    struct bb_table_builder *builder = NULL;
    struct bb_table_meta meta = {0};
    uint64_t before = bb_alloc_fault_bytes();
    bb_alloc_fault_peak_reset();
    assert_ok(bb_table_builder_create(PATH, &options, &builder));
    if (part_keys > 0)
        bb_table_builder_set_filter_part(builder, part_keys);
    add_keys(builder);
    assert_ok(bb_table_builder_finish(builder, &meta));
    uint64_t peak = bb_alloc_fault_peak() - before;
    bb_table_builder_destroy(builder);
    *ret_table_filter_bytes = meta.table_filter_bytes;
    bb_table_meta_deinit(&meta);
    bb_file_memory_destroy(memory);
    assert_true(bb_alloc_fault_bytes() == before);
    print_message("table filter of %g bits, parts of %zu: %llu bytes at most, %llu stored\n",
                  table_filter_bits, part_keys, (unsigned long long)peak,
                  (unsigned long long)*ret_table_filter_bytes);
    return peak;
}

static void table_builder__memory_of_a_table_filter(void **state)
{
    (void)state;
    static const size_t parts[] = {1024, 4096, 65536, 0};
    static const double bits[] = {5, BB_TABLE_FILTER_ALL};
    uint64_t stored = 0;
    uint64_t without = peak_of(BB_TABLE_FILTER_NONE, 0, &stored);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(parts); i++) {
        for (size_t j = 0; j < BB_ARRAY_LENGTH(bits); j++) {
            uint64_t peak = peak_of(bits[j], parts[i], &stored);
            /* Hashes and section each grow by doubling. */
            uint64_t hashes = 8 * (parts[i] == 0 ? 262144 : parts[i]);
            assert_true(peak <= without + SOLVER + hashes + 2 * stored);
            assert_true(peak >= hashes);
        }
    }
}

/* context: the number of keys. */
static enum bb_status build_small(void *context)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                       .secret = &secret,
                                       .table_filter_bits = BB_TABLE_FILTER_ALL};
    struct bb_table_builder *builder = NULL;
    enum bb_status status = bb_table_builder_create(PATH, &options, &builder);
    for (int i = 0; i < *(int *)context && status == BB_OK; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%08d", i);
        struct bb_entry entry = {.key = bb_bytes_of_text(key), .sequence = 1, .kind = BB_ENTRY_PUT};
        status = bb_table_builder_add(builder, &entry);
    }
    if (status == BB_OK)
        status = bb_table_builder_finish(builder, NULL);
    bb_table_builder_destroy(builder);
    bb_file_memory_destroy(memory);
    return status;
}

/* For some numbers of keys the section of the table filter grows while its list is appended. */
static void table_builder__tables_of_any_size_without_memory(void **state)
{
    (void)state;
    for (int count = 20; count < 420; count += 8)
        assert_true(bb_alloc_fault_sweep(build_small, &count, false) > 10);
}

/* context: the path of a file. */
static enum bb_status create(void *context)
{
    struct bb_table_builder *builder = NULL;
    const struct bb_table_options options = {.secret = &secret};
    enum bb_status status = bb_table_builder_create(context, &options, &builder);
    bb_table_builder_destroy(builder);
    return status;
}

static void table_builder__own_file_system_without_memory(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    bb_temp_dir_init(&dir, "table_builder_alloc");
    bb_temp_dir_path(&dir, "table", path);
    assert_true(bb_alloc_fault_sweep(create, path, false) > 3);
    bb_temp_dir_deinit(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_builder__memory_of_a_table_filter),
        cmocka_unit_test(table_builder__tables_of_any_size_without_memory),
        cmocka_unit_test(table_builder__own_file_system_without_memory),
    };
    return cmocka_run_group_tests_name("table_builder_alloc", tests, NULL, NULL);
}
