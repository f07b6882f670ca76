/* A table in memory whose file system counts its calls and can fail. Shared by the tests of reading
 * tables. Call order: init, deinit. */
#ifndef BB_TESTS_UNIT_SSTABLE_FAULTY_TABLE_H
#define BB_TESTS_UNIT_SSTABLE_FAULTY_TABLE_H

#include "base/hash.h"
#include "tests/support/file_fault.h"
#include "tests/unit/sstable/table_fixture.h"

struct faulty_table {
    struct bb_file_memory *memory;
    struct bb_file_fault *fault;
    struct bb_hash_secret secret;
    struct bb_table_options options;
    struct bb_table *table;
};

/* Builds and opens a table of the list's entries. options: without file system, secret, cache and
 * read_mode: calls can fail. cache_size: 0: no cache. */
static inline void faulty_table_init(struct faulty_table *faulty, uint64_t seed,
                                     const struct bb_table_options *options, uint64_t cache_size,
                                     const struct entry_list *list)
{
    *faulty = (struct faulty_table){.memory = bb_file_memory_create(seed), .options = *options};
    faulty->fault = bb_file_fault_create(bb_file_memory_system(faulty->memory));
    bb_hash_secret_from_seed(seed, &faulty->secret);
    faulty->options.file_system = bb_file_fault_system(faulty->fault);
    faulty->options.secret = &faulty->secret;
    faulty->options.read_mode = BB_READ_CALLS;
    if (cache_size > 0)
        assert_ok(bb_block_cache_create(cache_size, &faulty->options.cache));
    build_table(FIXTURE_PATH, &faulty->options, list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &faulty->options, &faulty->table));
}

static inline void faulty_table_deinit(struct faulty_table *faulty)
{
    bb_table_close(faulty->table);
    if (faulty->options.cache != NULL)
        bb_block_cache_destroy(faulty->options.cache);
    bb_file_fault_destroy(faulty->fault);
    bb_file_memory_destroy(faulty->memory);
}

/* Calls and bytes of the file system since init. */
static inline struct bb_file_counters faulty_table_counters(const struct faulty_table *faulty)
{
    struct bb_file_counters counters = {0};
    faulty->options.file_system->ops->counters(faulty->options.file_system, &counters);
    return counters;
}

#endif
