/* See file_number.h. */
#include "kv/store/file_number.h"

#include "kv/directory/directory.h"
#include "kv/manifest/filename.h"

enum bb_status bb_file_number_new(struct bb_db *db, uint64_t *ret_number)
{
    uint64_t number = atomic_load(&db->next_file_number);
    /* WHY no fetch_add: the counter goes into the manifest, where a number out of range is
     * damage. */
    do {
        if (number > BB_FILE_NUMBER_MAX)
            return bb_directory_fail_used_up(db->directory);
    } while (!atomic_compare_exchange_weak(&db->next_file_number, &number, number + 1));
    *ret_number = number;
    return BB_OK;
}
