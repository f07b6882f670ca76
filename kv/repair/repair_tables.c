/* Chooses the tables of a repaired store. See repair.h.
 *
 *     named by the manifest     sound: kept. Damaged: its intact data, in the same level.
 *                               Missing: lost.
 *     not named                 replaced by compactions: included only on request
 *     without a manifest, or    all tables with the store's secret
 *     with an outdated one
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/status.h"
#include "kv/repair/repair.h"
#include "sstable/meta/table_meta.h"
#include "sstable/salvage/table_salvage.h"
#include "sstable/table/table_check.h"

/* ---- damaged tables ---- */

#define KEY_TEXT_SIZE 64

struct salvaging {
    struct bb_repair *repair;
    const char *name;
    struct bb_repair_table table;
    struct bb_buf last_key;
    bool has_last_key;
    bool is_after_loss; /* data was lost since the last entry */
};

static enum bb_status on_lost(void *context, uint64_t offset, uint64_t size)
{
    struct salvaging *salvaging = context;
    (void)offset;
    (void)size;
    salvaging->is_after_loss = true;
    return BB_OK;
}

/* Reports a loss. next NULL: to the end of the table. */
static void tell_loss(const struct salvaging *salvaging, const struct bb_bytes *next)
{
    char before[KEY_TEXT_SIZE];
    char after[KEY_TEXT_SIZE];
    const char *from = "its beginning";
    const char *to = "its end";
    if (salvaging->has_last_key)
        from = bb_bytes_escape(bb_buf_bytes(&salvaging->last_key), before, sizeof(before));
    if (next != NULL)
        to = bb_bytes_escape(*next, after, sizeof(after));
    bb_repair_tell(salvaging->repair, "%s: data between %s and %s may be lost", salvaging->name,
                   from, to);
}

static enum bb_status on_entry(void *context, const struct bb_entry *entry)
{
    struct salvaging *salvaging = context;
    if (salvaging->is_after_loss)
        tell_loss(salvaging, &entry->key);
    salvaging->is_after_loss = false;
    salvaging->has_last_key = true;
    enum bb_status status = bb_buf_assign(&salvaging->last_key, entry->key);
    return status == BB_OK ? bb_repair_table_add(&salvaging->table, entry) : status;
}

static void count_salvaged(struct bb_repair *repair, const struct bb_salvage_report *found,
                           const struct bb_edit_table *wanted)
{
    struct bb_db_repair_report *report = &repair->report;
    bool has_any = found->entries > 0 || found->range_tombstones > 0;
    report->tables_salvaged += has_any;
    report->tables_lost += !has_any;
    report->entries_salvaged += found->entries;
    report->blocks_lost += found->blocks_lost;
    report->bytes_lost += found->bytes_lost;
    if (wanted == NULL) {
        report->deletions_may_return = true;
        return;
    }
    uint64_t entries = wanted->meta.entry_count;
    uint64_t lost = entries > found->entries ? entries - found->entries : 0;
    report->entries_lost += lost;
    report->deletions_may_return |= lost > 0;
}

static void tell_ranges(struct bb_repair *repair, const char *name,
                        const struct bb_edit_table *wanted)
{
    char smallest[KEY_TEXT_SIZE];
    char largest[KEY_TEXT_SIZE];
    if (wanted == NULL) {
        bb_repair_tell(repair,
                       "%s: range tombstones that it may have had are lost: data that they "
                       "deleted may return",
                       name);
        return;
    }
    bb_bytes_escape(bb_buf_bytes(&wanted->meta.smallest), smallest, sizeof(smallest));
    bb_bytes_escape(bb_buf_bytes(&wanted->meta.largest), largest, sizeof(largest));
    bb_repair_tell(repair,
                   "%s: %" PRIu64
                   " range tombstones are lost: data that they deleted between %s and %s "
                   "may return",
                   name, wanted->meta.range_tombstone_count, smallest, largest);
}

/* Keys deleted by lost range tombstones reappear: of the two possible mistakes, this one can be
 * corrected. */
static void lose_ranges(struct bb_repair *repair, const char *name,
                        const struct bb_edit_table *wanted)
{
    tell_ranges(repair, name, wanted);
    repair->report.tables_ranges_lost++;
    repair->report.deletions_may_return = true;
}

/* Without a manifest, only the table's directory shows whether there were any. */
static bool has_lost_ranges(const struct bb_salvage_report *found,
                            const struct bb_edit_table *wanted)
{
    if (wanted != NULL)
        return wanted->meta.range_tombstone_count > found->range_tombstones;
    return found->ranges == BB_RANGE_SALVAGE_LOST || found->ranges == BB_RANGE_SALVAGE_UNTOLD;
}

static void tell_salvaged(const struct salvaging *salvaging, const struct bb_salvage_report *found,
                          const struct bb_edit_table *wanted)
{
    bb_repair_tell(salvaging->repair, "%s: %" PRIu64 " entries in %" PRIu64 " blocks can be read%s",
                   salvaging->name, found->entries, found->blocks,
                   wanted != NULL && found->entries >= wanted->meta.entry_count
                       ? ", which is all of them"
                       : "");
    if (found->range_tombstones > 0)
        bb_repair_tell(salvaging->repair, "%s: %" PRIu64 " range tombstones can be read",
                       salvaging->name, found->range_tombstones);
}

static enum bb_status on_ranges(void *context, const struct bb_range_tombstones *list)
{
    struct salvaging *salvaging = context;
    struct bb_range_tombstone_array array = {0};
    enum bb_status status = bb_range_tombstone_array_add_list(&array, list);
    if (status == BB_OK)
        status = bb_repair_table_add_ranges(&salvaging->table, array.tombstones, array.count);
    bb_range_tombstone_array_deinit(&array);
    return status;
}

/* `wanted` NULL: no manifest describes the table. */
static enum bb_status salvage_table(struct bb_repair *repair, const struct bb_directory_file *file,
                                    const char *path, const struct bb_edit_table *wanted)
{
    struct salvaging salvaging = {.repair = repair, .name = file->name};
    struct bb_salvage_report found = {0};
    struct bb_salvage_visitor visitor = {
        .entry = on_entry, .lost = on_lost, .ranges = on_ranges, .context = &salvaging};
    salvaging.table = (struct bb_repair_table){.repair = repair};
    if (wanted != NULL) {
        salvaging.table.level = wanted->level;
        salvaging.table.run = wanted->run;
        salvaging.table.filter_rate = wanted->meta.filter_rate;
    }
    bb_repair_tell(repair, "%s", bb_error_last()->message);
    bb_repair_set_aside(repair, file);
    enum bb_status status =
        bb_table_salvage(repair->fs, path, repair->options.comparator,
                         wanted == NULL ? NULL : wanted->meta.table_id, &visitor, &found);
    if (status == BB_CORRUPT) /* without an id no data is trusted */
        status = BB_OK;
    if (status == BB_OK && salvaging.is_after_loss)
        tell_loss(&salvaging, NULL);
    if (status == BB_OK)
        status = bb_repair_table_finish(&salvaging.table);
    if (status == BB_OK) {
        count_salvaged(repair, &found, wanted);
        tell_salvaged(&salvaging, &found, wanted);
        if (has_lost_ranges(&found, wanted))
            lose_ranges(repair, file->name, wanted);
    }
    bb_repair_table_abandon(&salvaging.table);
    bb_buf_deinit(&salvaging.last_key);
    return status;
}

/* ---- named tables ---- */

enum bb_status bb_repair_keep_table(struct bb_repair *repair, int level, uint64_t run,
                                    uint64_t number, const struct bb_table_meta *meta)
{
    repair->report.tables_kept++;
    repair->report.entries_kept += meta->entry_count;
    if (meta->sequence_max > repair->edit.last_sequence)
        repair->edit.last_sequence = meta->sequence_max;
    return bb_edit_add_table(&repair->edit, level, run, number, meta);
}

static void lose(struct bb_repair *repair, const struct bb_edit_table *table)
{
    char name[32];
    bb_repair_tell(repair, "%06" PRIu64 ".bbt is missing, with %" PRIu64 " entries in level %d",
                   table->number, table->meta.entry_count, table->level);
    if (repair->is_outdated) /* it may have been replaced */
        return;
    repair->report.tables_lost++;
    repair->report.entries_lost += table->meta.entry_count;
    repair->report.deletions_may_return = true;
    if (table->meta.range_tombstone_count > 0) {
        snprintf(name, sizeof(name), "%06" PRIu64 ".bbt", table->number);
        lose_ranges(repair, name, table);
    }
}

/* Runs of level 0 are ordered by their numbers, newest last. If one was rewritten, with a number
 * above all others, the runs newer than it need higher numbers too: they get new names. */
static enum bb_status keep_renumbered(struct bb_repair *repair, const struct bb_edit_table *table)
{
    uint64_t number = 0;
    enum bb_status status = bb_repair_new_number(repair, &number);
    if (status == BB_OK && !repair->how.dry_run)
        status = bb_repair_link_table(repair, table->number, number);
    return status == BB_OK ? bb_repair_keep_table(repair, 0, 0, number, &table->meta) : status;
}

static bool must_be_renumbered(const struct bb_repair *repair, const struct bb_edit_table *table)
{
    if (table->level > 0 || repair->are_levels_unknown)
        return false;
    for (size_t i = 0; i < repair->edit.added_count; i++) {
        if (repair->edit.added[i].level == 0 &&
            repair->edit.added[i].number >= repair->first_number)
            return true;
    }
    return false;
}

static enum bb_status keep_named(struct bb_repair *repair, const struct bb_edit_table *table)
{
    enum bb_status status =
        must_be_renumbered(repair, table)
            ? keep_renumbered(repair, table)
            : bb_repair_keep_table(repair, table->level, table->run, table->number, &table->meta);
    return status == BB_OK ? bb_repair_keep_index(repair, table) : status;
}

static enum bb_status judge_named(struct bb_repair *repair, const struct bb_edit_table *table)
{
    const struct bb_directory_file *file = bb_repair_find(repair, BB_FILE_TABLE, table->number);
    struct bb_table_options options;
    struct bb_table_verify_report report;
    char path[BB_PATH_SIZE_MAX];
    if (file == NULL) {
        lose(repair, table);
        return BB_OK;
    }
    bb_repair_table_options(repair, 0, &options);
    bb_filename_path(repair->path, BB_FILE_TABLE, table->number, path);
    enum bb_status status = bb_table_check(path, &options, &table->meta, &report);
    if (status == BB_OK)
        status = keep_named(repair, table);
    else if (status == BB_CORRUPT || status == BB_INVALID) /* BB_INVALID: of another comparator */
        status = salvage_table(repair, file, path, table);
    return status;
}

/* ---- unnamed tables ---- */

/* A table with another secret belongs to another store, and its sequences do not fit ours. (An
 * ingest rewrites its inputs with the store's secret.) */
static bool has_our_secret(const struct bb_repair *repair, const struct bb_table *table)
{
    return memcmp(bb_table_secret(table)->bytes, repair->state.identity.secret.bytes,
                  BB_HASH_SECRET_SIZE) == 0;
}

static bool is_taken_already(const struct bb_repair *repair, const struct bb_table *table)
{
    for (size_t i = 0; i < repair->edit.added_count; i++) {
        if (memcmp(repair->edit.added[i].meta.table_id, bb_table_meta(table)->table_id,
                   BB_TABLE_ID_SIZE) == 0)
            return true;
    }
    return false;
}

static enum bb_status judge_sound(struct bb_repair *repair, const struct bb_directory_file *file,
                                  const char *path, const struct bb_table_options *options)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_open(path, options, &table);
    if (status != BB_OK)
        return status;
    if (is_taken_already(repair, table))
        bb_repair_leave(repair, file, "it is a copy of another one");
    else if (!has_our_secret(repair, table))
        bb_repair_leave(repair, file, "it was not written by this store");
    else
        status = bb_repair_keep_table(repair, 0, 0, file->is.number, bb_table_meta(table));
    bb_table_close(table);
    return status;
}

static enum bb_status judge_unnamed(struct bb_repair *repair, const struct bb_directory_file *file)
{
    struct bb_table_options options;
    struct bb_table_verify_report report;
    char path[BB_PATH_SIZE_MAX];
    bb_repair_table_options(repair, 0, &options);
    bb_filename_path(repair->path, BB_FILE_TABLE, file->is.number, path);
    enum bb_status status = bb_table_verify(path, &options, &report);
    if (status == BB_OK)
        status = judge_sound(repair, file, path, &options);
    else if (status == BB_CORRUPT)
        status = salvage_table(repair, file, path, NULL);
    return status;
}

/* If so, bb_repair_newer decides about it. */
static bool may_be_newer(const struct bb_repair *repair, uint64_t number)
{
    const struct bb_unnamed *list = &repair->unnamed;
    for (size_t i = bb_unnamed_first_above(list, repair->state.last_sequence); i < list->count;
         i++) {
        if (list->tables[i].number == number)
            return true;
    }
    return false;
}

static enum bb_status judge_all_unnamed(struct bb_repair *repair)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < repair->directory.file_count && status == BB_OK; i++) {
        const struct bb_directory_file *file = &repair->directory.files[i];
        if (file->is.kind != BB_FILE_TABLE ||
            bb_manifest_state_find(&repair->state, file->is.number) != NULL)
            continue;
        if (repair->takes_unnamed)
            status = judge_unnamed(repair, file);
        else if (!may_be_newer(repair, file->is.number))
            bb_repair_leave(repair, file, "the manifest does not name it");
    }
    return status;
}

enum bb_status bb_repair_tables(struct bb_repair *repair)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < repair->state.table_count && status == BB_OK; i++)
        status = judge_named(repair, repair->state.tables[i]);
    return status == BB_OK ? judge_all_unnamed(repair) : status;
}
