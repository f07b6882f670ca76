/* See unnamed.h. */
#include "kv/directory/unnamed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/status.h"
#include "kv/options.h"
#include "sstable/meta/table_meta.h"

/* Examines one table; *ret_is_ours false: it is damaged, of another store, or missing. */
static enum bb_status look(const char *path, const struct bb_table_options *options,
                           const struct bb_hash_secret *secret, uint64_t *ret_sequence_max,
                           bool *ret_is_ours)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_open(path, options, &table);
    *ret_is_ours = false;
    if (status == BB_CORRUPT || status == BB_INVALID || status == BB_NOT_FOUND ||
        status == BB_UNSUPPORTED)
        return BB_OK;
    if (status != BB_OK)
        return status;
    *ret_is_ours = memcmp(bb_table_secret(table)->bytes, secret->bytes, sizeof(secret->bytes)) == 0;
    *ret_sequence_max = bb_table_meta(table)->sequence_max;
    bb_table_close(table);
    return BB_OK;
}

static enum bb_status add(struct bb_file_system *fs, const char *path,
                          const struct bb_db_options *options, const struct bb_hash_secret *secret,
                          uint64_t number, struct bb_unnamed *list)
{
    char file_path[BB_PATH_SIZE_MAX];
    struct bb_table_options table_options;
    struct bb_unnamed_table table = {.number = number};
    bool is_ours = false;
    bb_options_for_table(options, fs, secret, NULL, &table_options);
    bb_filename_path(path, BB_FILE_TABLE, number, file_path);
    enum bb_status status = look(file_path, &table_options, secret, &table.sequence_max, &is_ours);
    if (is_ours)
        list->tables[list->count++] = table;
    return status;
}

static int compare(const void *a, const void *b)
{
    const struct bb_unnamed_table *first = a;
    const struct bb_unnamed_table *second = b;
    if (first->sequence_max != second->sequence_max)
        return first->sequence_max < second->sequence_max ? -1 : 1;
    return first->number < second->number ? -1 : first->number > second->number;
}

enum bb_status bb_unnamed_find(struct bb_file_system *fs, const char *path,
                               const struct bb_db_options *options,
                               const struct bb_directory *directory,
                               const struct bb_manifest_state *state, struct bb_unnamed *ret_list)
{
    struct bb_unnamed list = {.tables =
                                  bb_alloc_zeroed(directory->file_count + 1, sizeof(*list.tables))};
    enum bb_status status = BB_OK;
    if (list.tables == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory for a list of %zu files", path,
                       directory->file_count);
    for (size_t i = 0; i < directory->file_count && status == BB_OK; i++) {
        const struct bb_filename *is = &directory->files[i].is;
        if (is->kind == BB_FILE_TABLE && bb_directory_is_reachable(state, is->number) &&
            bb_manifest_state_find(state, is->number) == NULL)
            status = add(fs, path, options, &state->identity.secret, is->number, &list);
    }
    qsort(list.tables, list.count, sizeof(*list.tables), compare);
    if (status == BB_OK)
        *ret_list = list;
    else
        bb_unnamed_deinit(&list);
    return status;
}

void bb_unnamed_deinit(struct bb_unnamed *list)
{
    bb_free(list->tables);
    *list = (struct bb_unnamed){0};
}

size_t bb_unnamed_first_above(const struct bb_unnamed *list, uint64_t sequence)
{
    size_t first = list->count;
    while (first > 0 && list->tables[first - 1].sequence_max > sequence)
        first--;
    return first;
}

enum bb_status bb_unnamed_fail(const char *path, const struct bb_unnamed_table *table,
                               uint64_t last_sequence, const struct bb_manifest_report *manifest)
{
    return bb_fail(BB_CORRUPT,
                   "%s/%06" PRIu64 ".bbt: no manifest names this intact table of the store. It has "
                   "sequences up to %" PRIu64 ", the manifest and the logs up to %" PRIu64
                   ". The end of MANIFEST-%06" PRIu64
                   " cannot be read%s%s; a repair uses the table",
                   path, table->number, table->sequence_max, last_sequence, manifest->number,
                   manifest->is_whole ? "" : ": ", manifest->dropped);
}
