/* The environment. The C interface has only the operating system's, so the object has no state. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leveldb/memory.h"
#include <leveldb/c.h>

struct leveldb_env_t {
    char unused;
};

leveldb_env_t *leveldb_create_default_env(void)
{
    return bb_leveldb_alloc(sizeof(leveldb_env_t));
}

void leveldb_env_destroy(leveldb_env_t *env)
{
    bb_leveldb_release(env);
}

char *leveldb_env_get_test_directory(leveldb_env_t *env)
{
    char path[64];
    const char *wanted = getenv("TEST_TMPDIR");
    (void)env;
    if (wanted != NULL && wanted[0] != 0)
        return bb_leveldb_copy_text(wanted);
    snprintf(path, sizeof(path), "/tmp/leveldbtest-%u", (unsigned)geteuid());
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return NULL;
    return bb_leveldb_copy_text(path);
}
