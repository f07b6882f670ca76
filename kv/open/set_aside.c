/* See set_aside.h. */
#include "kv/open/set_aside.h"

#include <inttypes.h>

#include "kv/directory/unnamed.h"

static void tell(struct bb_db *db, const char *from, const char *to,
                 const struct bb_manifest_report *manifest)
{
    struct bb_buf text = {0};
    enum bb_status status =
        bb_buf_print(&text,
                     "%s is a whole table of this store with newer data than all that the manifest "
                     "names, and %s: it is kept as %s, and bb_db_ingest can add it%c",
                     from,
                     manifest->is_marked ? "a log before it has lost its end"
                                         : "the manifest's end cannot be read",
                     to, 0);
    bb_store_tell(db, &text, status);
}

static enum bb_status set_aside(struct bb_db *db, uint64_t number,
                                const struct bb_manifest_report *manifest)
{
    char from[BB_PATH_SIZE_MAX];
    char to[BB_FILENAME_LOST_SIZE_MAX];
    bb_filename_path(db->directory, BB_FILE_TABLE, number, from);
    enum bb_status status = bb_filename_rename_lost(db->system, from, to);
    if (status == BB_OK)
        tell(db, from, to, manifest);
    return status;
}

static void make_foreign(struct bb_directory *directory, uint64_t number)
{
    for (size_t i = 0; i < directory->file_count; i++) {
        struct bb_filename *is = &directory->files[i].is;
        if (is->kind == BB_FILE_TABLE && is->number == number)
            *is = (struct bb_filename){.kind = BB_FILE_FOREIGN};
    }
}

enum bb_status bb_set_aside_tables(struct bb_db *db, struct bb_directory *directory,
                                   const struct bb_manifest_state *state,
                                   const struct bb_manifest_report *manifest, uint64_t *ret_count)
{
    struct bb_unnamed list = {0};
    enum bb_status status =
        bb_unnamed_find(db->system, db->directory, &db->options, directory, state, &list);
    size_t first = bb_unnamed_first_above(&list, state->last_sequence);
    if (status == BB_OK && first < list.count && db->options.recovery == BB_RECOVERY_STRICT)
        status =
            bb_unnamed_fail(db->directory, &list.tables[first], state->last_sequence, manifest);
    for (size_t i = first; i < list.count && status == BB_OK; i++) {
        status = set_aside(db, list.tables[i].number, manifest);
        make_foreign(directory, list.tables[i].number);
        *ret_count += status == BB_OK;
    }
    bb_unnamed_deinit(&list);
    return status;
}
