/* Shared by the tests of repairs: finding and damaging the files of a small store. */
#ifndef BB_TESTS_UNIT_KV_REPAIR_FIXTURE_H
#define BB_TESTS_UNIT_KV_REPAIR_FIXTURE_H

#include "base/buf.h"
#include "base/file.h"
#include "bb/db_files.h"
#include "sstable/build/table_builder.h"
#include "tests/support/store.h"

#include <stdlib.h>

static inline int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The names with that part, in their order, as paths. */
static inline size_t find_files(struct store *store, const char *part, char paths[16][128])
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        if (strstr(names.names[i], part) != NULL && strstr(names.names[i], ".lost") == NULL)
            snprintf(paths[count++], 128, STORE_PATH "/%s", names.names[i]);
    }
    bb_file_names_deinit(&names);
    qsort(paths, count, 128, compare_paths);
    return count;
}

static inline void remove_file(struct store *store, const char *path)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    assert_ok(fs->ops->remove(fs, path));
}

static inline void cut_end(struct store *store, const char *path, size_t size)
{
    struct bb_buf bytes = {0};
    assert_ok(bb_file_read_whole(bb_file_memory_system(store->memory), path, SIZE_MAX, &bytes));
    bb_file_memory_put(store->memory, path, (struct bb_bytes){bytes.data, bytes.size - size});
    bb_buf_deinit(&bytes);
}

/* All blocks and sections are whole. */
static inline void cut_footer(struct store *store, const char *path)
{
    cut_end(store, path, 30);
}

/* A table of that one entry, built elsewhere. */
static inline void ingest(struct store *store, const char *key, const char *value)
{
    static const char path[] = "/data/input";
    struct bb_hash_secret secret;
    struct bb_table_builder *builder = NULL;
    const char *paths[] = {path};
    bb_hash_secret_from_seed(7, &secret);
    struct bb_table_options options = {.file_system = store->options.file_system,
                                       .secret = &secret};
    struct bb_entry entry = {.key = bb_bytes_of_text(key),
                             .sequence = 5,
                             .kind = BB_ENTRY_PUT,
                             .value = bb_bytes_of_text(value)};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    assert_ok(bb_table_builder_add(builder, &entry));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_ok(bb_db_ingest(store->db, paths, 1, NULL));
    remove_file(store, path);
}

static inline struct bb_db_repair_report repair(struct store *store,
                                                const struct bb_db_repair_options *how)
{
    struct bb_db_repair_report report = {0};
    assert_ok(bb_db_repair(STORE_PATH, &store->options, how, &report));
    return report;
}

#endif
