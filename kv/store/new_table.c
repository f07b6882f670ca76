/* See new_table.h. */
#include "kv/store/new_table.h"

#include "base/assert.h"
#include "kv/manifest/filename.h"

enum bb_status bb_new_table_rename(struct bb_db *db, uint64_t number, uint64_t new_number)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->installing));
    char from[BB_PATH_SIZE_MAX];
    char to[BB_PATH_SIZE_MAX];
    bb_filename_path(db->directory, BB_FILE_NEW_TABLE, number, from);
    bb_filename_path(db->directory, BB_FILE_TABLE, new_number, to);
    return db->system->ops->rename(db->system, from, to);
}
