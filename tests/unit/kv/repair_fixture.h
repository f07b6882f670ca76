/* What the tests of repairs share: finding and damaging the files of a small store. */
#ifndef BB_TESTS_UNIT_KV_REPAIR_FIXTURE_H
#define BB_TESTS_UNIT_KV_REPAIR_FIXTURE_H

#include "bb/db_files.h"
#include "base/buf.h"
#include "base/file.h"
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
    struct bb_name_list names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        if (strstr(names.names[i], part) != NULL && strstr(names.names[i], ".lost") == NULL)
            snprintf(paths[count++], 128, STORE_PATH "/%s", names.names[i]);
    }
    bb_name_list_deinit(&names);
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

static inline struct bb_db_repair_report repair(struct store *store,
                                                const struct bb_db_repair_options *how)
{
    struct bb_db_repair_report report = {0};
    assert_ok(bb_db_repair(STORE_PATH, &store->options, how, &report));
    return report;
}

#endif
