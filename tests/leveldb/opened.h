/* A store opened through LevelDB's interface in a temporary directory, for tests of features that
 * LevelDB lacks. Every call expects success. */
#ifndef BB_TESTS_LEVELDB_OPENED_H
#define BB_TESTS_LEVELDB_OPENED_H

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/temp_dir.h"

struct opened {
    struct bb_temp_dir folder;
    char path[PATH_MAX]; /* of the store, in the folder */
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_readoptions_t *read;
    leveldb_writeoptions_t *write;
};

/* Options that create; no store is open. */
static inline void opened_prepare(struct opened *o)
{
    *o = (struct opened){0};
    bb_temp_dir_init(&o->folder, "leveldb");
    bb_temp_dir_path(&o->folder, "store", o->path);
    o->options = leveldb_options_create();
    o->read = leveldb_readoptions_create();
    o->write = leveldb_writeoptions_create();
    leveldb_options_set_create_if_missing(o->options, 1);
}

/* After the program has closed it. */
static inline void opened_again(struct opened *o)
{
    char *error = NULL;
    o->db = leveldb_open(o->options, o->path, &error);
    if (error != NULL)
        print_error("%s\n", error);
    assert_null(error);
    assert_non_null(o->db);
}

static inline void opened_init(struct opened *o)
{
    opened_prepare(o);
    opened_again(o);
}

static inline void opened_deinit(struct opened *o)
{
    leveldb_close(o->db);
    leveldb_options_destroy(o->options);
    leveldb_readoptions_destroy(o->read);
    leveldb_writeoptions_destroy(o->write);
    bb_temp_dir_deinit(&o->folder);
}

static inline void opened_put(struct opened *o, const char *key, const char *value)
{
    char *error = NULL;
    leveldb_put(o->db, o->write, key, strlen(key), value, strlen(value), &error);
    assert_null(error);
}

static inline void opened_expect(struct opened *o, const char *key, const char *value)
{
    char *error = NULL;
    size_t size = 0;
    char *found = leveldb_get(o->db, o->read, key, strlen(key), &size, &error);
    assert_null(error);
    assert_non_null(found);
    assert_int_equal(size, strlen(value));
    assert_memory_equal(found, value, size);
    leveldb_free(found);
}

#endif
