/* Writes the tables of a repair. See repair.h. */
#include "kv/options.h"
#include "kv/repair/repair.h"

void bb_repair_table_options(const struct bb_repair *repair, double filter_rate,
                             struct bb_table_options *ret_options)
{
    bb_options_for_table(&repair->options, repair->fs, &repair->state.identity.secret, NULL,
                         ret_options);
    ret_options->filter_rate = filter_rate == 0 ? bb_options_target(&repair->options) : filter_rate;
}

static enum bb_status begin(struct bb_repair_table *table)
{
    struct bb_repair *repair = table->repair;
    struct bb_table_options options;
    char path[BB_PATH_SIZE_MAX];
    bb_repair_table_options(repair, table->filter_rate, &options);
    enum bb_status status = bb_repair_new_number(repair, &table->number);
    if (status != BB_OK)
        return status;
    bb_filename_path(repair->path, BB_FILE_TABLE, table->number, path);
    return bb_table_builder_create(path, &options, &table->builder);
}

enum bb_status bb_repair_table_add(struct bb_repair_table *table, const struct bb_entry *entry)
{
    enum bb_status status = BB_OK;
    if (entry->sequence > table->repair->edit.last_sequence)
        table->repair->edit.last_sequence = entry->sequence;
    if (table->repair->how.dry_run)
        return BB_OK;
    if (table->builder == NULL)
        status = begin(table);
    return status == BB_OK ? bb_table_builder_add(table->builder, entry) : status;
}

enum bb_status bb_repair_table_add_ranges(struct bb_repair_table *table,
                                          const struct bb_range_tombstone *ranges, size_t count)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        if (ranges[i].sequence > table->repair->edit.last_sequence)
            table->repair->edit.last_sequence = ranges[i].sequence;
        if (table->repair->how.dry_run)
            continue;
        if (table->builder == NULL)
            status = begin(table);
        if (status == BB_OK)
            status = bb_table_builder_add_range_tombstone(table->builder, ranges[i].low,
                                                          ranges[i].high, ranges[i].sequence);
    }
    return status;
}

enum bb_status bb_repair_table_finish(struct bb_repair_table *table)
{
    struct bb_table_meta meta = {0};
    if (table->builder == NULL)
        return BB_OK;
    enum bb_status status = bb_table_builder_finish(table->builder, &meta);
    if (status == BB_OK)
        status =
            bb_edit_add_table(&table->repair->edit, table->level, table->run, table->number, &meta);
    bb_table_meta_deinit(&meta);
    bb_repair_table_abandon(table);
    return status;
}

void bb_repair_table_abandon(struct bb_repair_table *table)
{
    bb_table_builder_destroy(table->builder); /* removes the file unless it was finished */
    table->builder = NULL;
}
