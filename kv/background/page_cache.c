/* See page_cache.h. */
#include "kv/background/page_cache.h"

#include "base/buf.h"
#include "base/status.h"

void bb_page_cache_forget(struct bb_db *db, enum bb_file_kind kind, uint64_t number)
{
    struct bb_error before = *bb_error_last();
    struct bb_buf path = {0};
    struct bb_file *file = NULL;
    if (bb_filename_path(db->directory, kind, number, &path) == BB_OK &&
        bb_file_open(db->system, (const char *)path.data, &file) == BB_OK) {
        bb_file_forget(file);
        (void)!bb_file_close(file);
    }
    bb_buf_deinit(&path);
    (void)bb_error_restore(&before);
}
