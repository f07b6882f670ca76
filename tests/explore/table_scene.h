/* One small table with a table filter, as a file that is read from memory. An open file is a plain
 * byte of base/alloc.h, so that a read after the file was closed fails the execution. */
#ifndef BB_TESTS_EXPLORE_TABLE_SCENE_H
#define BB_TESTS_EXPLORE_TABLE_SCENE_H

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "bb/file.h"
#include "compaction/levels/table_file.h"
#include "tests/explore/explore.h"

#define TABLE_PATH     "/table"
#define TABLE_SIZE_MAX 4096
#define TABLE_KEYS     3

static const char *const table_keys[TABLE_KEYS] = {"key 1 of this table", "key 2 of this table",
                                                   "key 3 of this table"};

/* Constant while threads run. */
static uint8_t table_bytes[TABLE_SIZE_MAX];
static size_t table_size;
static struct bb_hash_secret table_secret;

/* ---- the file ---- */

struct table_bytes_file {
    struct bb_file base;
    bool is_open;
};

static enum bb_status plain_read(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                                 size_t *ret_size)
{
    explore_check(((struct table_bytes_file *)base)->is_open, "a file is read that is not open");
    *ret_size = offset >= table_size ? 0 : table_size - (size_t)offset;
    if (*ret_size > size)
        *ret_size = size;
    memcpy(buffer, table_bytes + offset, *ret_size);
    return BB_OK;
}

static enum bb_status plain_size(struct bb_file *base, uint64_t *ret_size)
{
    (void)base;
    *ret_size = table_size;
    return BB_OK;
}

static enum bb_status plain_close(struct bb_file *base)
{
    bb_free(base);
    return BB_OK;
}

static const struct bb_file_ops table_bytes_ops = {
    .read_at = plain_read, .size = plain_size, .close = plain_close};

static inline enum bb_status plain_open(struct bb_file_system *fs, const char *path,
                                        struct bb_file **ret_file)
{
    (void)fs;
    struct table_bytes_file *file = bb_alloc(sizeof(*file));
    *file =
        (struct table_bytes_file){.base = {.ops = &table_bytes_ops, .path = path}, .is_open = true};
    *ret_file = &file->base;
    return BB_OK;
}

/* ---- the table ---- */

static inline void table_add_keys(struct bb_table_builder *builder)
{
    for (size_t i = 0; i < TABLE_KEYS; i++) {
        struct bb_bytes key = bb_bytes_of_text(table_keys[i]);
        struct bb_entry entry = {.key = key, .sequence = i + 1, .kind = BB_ENTRY_PUT, .value = key};
        explore_check(bb_table_builder_add(builder, &entry) == BB_OK, "no entry");
    }
    explore_check(bb_table_builder_finish(builder, NULL) == BB_OK, "no table");
}

/* Before the first program. */
static inline void table_build(void)
{
    struct bb_file_system *fs = NULL;
    struct bb_table_builder *builder = NULL;
    struct bb_file *file = NULL;
    bb_hash_secret_from_seed(7, &table_secret);
    explore_check(bb_file_system_memory_create(&fs) == BB_OK, "no file system");
    struct bb_table_options options = {
        .file_system = fs, .secret = &table_secret, .table_filter_bits = 4};
    explore_check(bb_table_builder_create(TABLE_PATH, &options, &builder) == BB_OK, "no builder");
    table_add_keys(builder);
    bb_table_builder_destroy(builder);
    explore_check(bb_file_open(fs, TABLE_PATH, &file) == BB_OK &&
                      bb_file_read_at(file, 0, table_bytes, sizeof(table_bytes), &table_size) ==
                          BB_OK &&
                      table_size < sizeof(table_bytes),
                  "no bytes");
    explore_check(bb_file_close(file) == BB_OK, "no end");
    bb_file_system_memory_destroy(fs);
}

/* ---- the environment of a table file ---- */

static inline void table_path(void *context, uint64_t number, char path[BB_PATH_SIZE_MAX])
{
    (void)context;
    (void)number;
    memcpy(path, TABLE_PATH, sizeof(TABLE_PATH));
}

/* The environment's other fields are the caller's. */
static inline void table_env_init(struct bb_table_file_env *env, struct bb_file_system *fs)
{
    env->path = table_path;
    env->options = (struct bb_table_options){.file_system = fs, .secret = &table_secret};
    bb_table_file_env_init(env);
}

static inline struct bb_table_file *table_file_create(struct bb_table_file_env *env,
                                                      uint64_t number)
{
    struct bb_table *table = NULL;
    struct bb_table_file *file = NULL;
    explore_check(bb_table_open(TABLE_PATH, &env->options, &table) == BB_OK, "no open table");
    explore_check(bb_table_file_create(env, number, bb_table_meta(table), &file) == BB_OK,
                  "no table file");
    bb_table_close(table);
    return file;
}

/* A lookup of a key in the file, which is opened if necessary. */
static inline void table_expect_key(struct bb_table_file *file, size_t key)
{
    static const struct bb_read_options options;
    struct bb_bytes bytes = bb_bytes_of_text(table_keys[key]);
    struct bb_table *table = NULL;
    struct bb_buf value = {0};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_OUT_OF_BOUNDS;
    explore_check(bb_table_file_open(file, &table) == BB_OK, "a table is not opened");
    explore_check(bb_table_get(table, &options, bytes, bb_hash_key(&table_secret, bytes),
                               BB_SEQUENCE_MAX, NULL, &value, &sequence, &visit) == BB_OK,
                  "a lookup fails");
    explore_check(visit == BB_VISIT_PRESENT && sequence == key + 1 &&
                      bb_bytes_equal(bb_buf_bytes(&value), bytes),
                  "a lookup has another result");
    bb_buf_deinit(&value);
}

#endif
