/* Real tables in a file system in memory: shared by the tests of runs and compactions. */
#ifndef BB_TESTS_UNIT_COMPACTION_SHELF_H
#define BB_TESTS_UNIT_COMPACTION_SHELF_H

#include "tests/support/assert_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "compaction/levels/levels.h"
#include "tests/support/array_iter.h"
#include "tests/support/entry_array.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

struct shelf {
    struct bb_file_memory *memory;
    struct bb_file_system *system; /* the memory's, unless a test puts another one around it */
    struct bb_hash_secret secret;
    struct bb_table_file_env env;
    uint64_t last_number;
    size_t removed_count; /* files removed by the environment */
};

static inline void shelf_path(void *context, uint64_t number, char path[BB_PATH_SIZE_MAX])
{
    (void)context;
    snprintf(path, BB_PATH_SIZE_MAX, "/%06" PRIu64, number);
}

/* Without the product's memory, so that no test sees a table that remained. */
static inline void shelf_remove(void *context, uint64_t number)
{
    struct shelf *shelf = context;
    char path[BB_PATH_SIZE_MAX];
    shelf_path(shelf, number, path);
    assert_int_equal(shelf->system->ops->remove(shelf->system, path), BB_OK);
    shelf->removed_count++;
}

static inline uint64_t shelf_number(void *context)
{
    struct shelf *shelf = context;
    return ++shelf->last_number;
}

/* The same as a callback for compactions. */
static inline enum bb_status shelf_new_number(void *context, uint64_t *ret_number)
{
    *ret_number = shelf_number(context);
    return BB_OK;
}

static inline void shelf_init(struct shelf *shelf, const struct bb_comparator *comparator)
{
    *shelf = (struct shelf){.memory = bb_file_memory_create(1)};
    shelf->system = bb_file_memory_system(shelf->memory);
    bb_hash_secret_from_seed(7, &shelf->secret);
    shelf->env =
        (struct bb_table_file_env){.path = shelf_path, .remove = shelf_remove, .context = shelf};
    shelf->env.options = (struct bb_table_options){.file_system = shelf->system,
                                                   .comparator = comparator,
                                                   .secret = &shelf->secret,
                                                   .block_size_bytes = 256};
    bb_table_file_env_init(&shelf->env);
}

static inline void shelf_deinit(struct shelf *shelf)
{
    bb_table_file_env_deinit(&shelf->env);
    bb_file_memory_destroy(shelf->memory);
}

/* Whether the file of a table is there. */
static inline bool shelf_has(struct shelf *shelf, uint64_t number)
{
    char path[BB_PATH_SIZE_MAX];
    size_t size = 0;
    shelf_path(shelf, number, path);
    return bb_file_memory_bytes(shelf->memory, path, &size) != NULL;
}

/* A table of entries first ... end - 1 of a sorted array. */
static inline struct bb_table_file *
shelf_put(struct shelf *shelf, const struct bb_entry_array *array, size_t first, size_t end)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_file *file = NULL;
    struct bb_table_meta meta = {0};
    char path[BB_PATH_SIZE_MAX];
    uint64_t number = shelf_number(shelf);
    shelf_path(shelf, number, path);
    assert_ok(bb_table_builder_create(path, &shelf->env.options, &builder));
    for (size_t i = first; i < end; i++)
        assert_ok(bb_table_builder_add(builder, &array->entries[i]));
    assert_ok(bb_table_builder_finish(builder, &meta));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_file_create(&shelf->env, number, &meta, &file));
    bb_table_meta_deinit(&meta);
    return file;
}

static inline bool is_same_key(const struct bb_entry_array *array, size_t a, size_t b)
{
    return bb_key_compare(array->comparator, array->entries[a].key, array->entries[b].key) == 0;
}

/* Cuts a sorted array into tables of about this many entries, never between versions of a key.
 * Returns their number. */
static inline size_t shelf_put_run(struct shelf *shelf, const struct bb_entry_array *array,
                                   size_t entries, struct bb_table_file **files)
{
    size_t count = 0;
    size_t first = 0;
    while (first < array->count) {
        size_t end = first + entries < array->count ? first + entries : array->count;
        while (end < array->count && is_same_key(array, end - 1, end))
            end++;
        files[count++] = shelf_put(shelf, array, first, end);
        first = end;
    }
    return count;
}

#endif
