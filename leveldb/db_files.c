/* Removal and repair of a store that is not open. */
#include "bb/db_files.h"

#include "leveldb/directory.h"
#include "leveldb/error.h"
#include "leveldb/options.h"

void leveldb_destroy_db(const leveldb_options_t *options, const char *name, char **errptr)
{
    struct bb_error found = bb_leveldb_directory_check(name);
    (void)options;
    if (found.status != BB_OK) {
        bb_leveldb_error_set(errptr, &found);
        return;
    }
    enum bb_status status = bb_db_destroy(name, NULL, NULL);
    if (status == BB_OK || status == BB_NOT_FOUND)
        return;
    /* LevelDB reports no error if there is no store: programs call this before they create one. */
    if (status == BB_INVALID && !bb_leveldb_directory_has_store(name)) {
        bb_leveldb_directory_remove_empty(name);
        return;
    }
    found = status == BB_BUSY ? bb_leveldb_error_held(name) : *bb_error_last();
    bb_leveldb_error_set(errptr, &found);
}

void leveldb_repair_db(const leveldb_options_t *options, const char *name, char **errptr)
{
    struct bb_comparator order;
    struct bb_db_options resolved;
    struct bb_error found = bb_leveldb_directory_check(name);
    if (found.status != BB_OK) {
        bb_leveldb_error_set(errptr, &found);
        return;
    }
    bb_leveldb_options_resolve(options, &order, &resolved);
    enum bb_status status = bb_db_repair(name, &resolved, NULL, NULL);
    if (status == BB_OK)
        return;
    found = status == BB_BUSY ? bb_leveldb_error_held(name) : *bb_error_last();
    bb_leveldb_error_set(errptr, &found);
}
