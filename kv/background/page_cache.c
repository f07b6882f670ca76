/* See page_cache.h. */
#include "kv/background/page_cache.h"

#include "base/status.h"

void bb_page_cache_forget(struct bb_db *db, enum bb_file_kind kind, uint64_t number)
{
    struct bb_error before = *bb_error_last();
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *file = NULL;
    bb_filename_path(db->directory, kind, number, path);
    if (bb_file_open(db->system, path, &file) == BB_OK) {
        bb_file_forget(file);
        (void)!bb_file_close(file);
    }
    (void)bb_error_restore(&before);
}
