/* A stranger's program for LevelDB, linked with bloomblock instead. */
#include <leveldb/c.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *error = NULL;
    size_t size = 0;
    leveldb_options_t *options = leveldb_options_create();
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_t *db = leveldb_open(options, argc > 1 ? argv[1] : "store", &error);
    if (db == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    leveldb_put(db, write, "bloom", 5, "block", 5, &error);
    char *value = leveldb_get(db, read, "bloom", 5, &size, &error);
    int is_right = error == NULL && size == 5 && memcmp(value, "block", 5) == 0;
    leveldb_free(value);
    leveldb_close(db);
    leveldb_readoptions_destroy(read);
    leveldb_writeoptions_destroy(write);
    leveldb_options_destroy(options);
    return is_right ? 0 : 1;
}
