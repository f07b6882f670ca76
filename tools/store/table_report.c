/* See table_report.h. */
#include "tools/store/table_report.h"

#include <sys/stat.h>

#include "base/assert.h"
#include "tools/output/number_text.h"
#include "tools/output/text_table.h"

void table_report_write(const struct bb_db_table_list *tables, struct output *out)
{
    static const char *const headers[] = {"table",   "level",       "size",
                                          "entries", "target rate", "predicted rate"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    for (size_t i = 0; i < tables->count; i++) {
        const struct bb_db_table *row = &tables->tables[i];
        text_table_add(&table, "%s", row->path);
        text_table_add(&table, "%d", row->level);
        text_table_add(&table, "%s", number_bytes(row->file_size).text);
        text_table_add(&table, "%s", number_grouped(row->entry_count).text);
        text_table_add(&table, "%s", number_rate(row->filter_rate).text);
        text_table_add(&table, "%s", number_rate(row->predicted_rate).text);
    }
    text_table_write(&table, out);
    text_table_deinit(&table);
}

json_t *table_report_json(const struct bb_db_table_list *tables)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < tables->count; i++) {
        json_t *row = json_object();
        json_set_text(row, "path", tables->tables[i].path);
        json_set_count(row, "level", (uint64_t)tables->tables[i].level);
        json_set_count(row, "file_bytes", tables->tables[i].file_size);
        json_set_count(row, "entries", tables->tables[i].entry_count);
        json_set_real(row, "filter_rate", tables->tables[i].filter_rate);
        json_set_real(row, "predicted_rate", tables->tables[i].predicted_rate);
        json_array_append_new(rows, row);
    }
    return rows;
}

bool table_report_is_for(const char *path)
{
    struct stat state;
    return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

static void show(const struct bb_db_table_list *tables, struct output *out)
{
    if (!out->is_json) {
        table_report_write(tables, out);
        return;
    }
    json_t *document = json_object();
    json_object_set_new(document, "tables", table_report_json(tables));
    output_json(out, document);
}

enum bb_status table_report_show(const char *directory, struct output *out)
{
    struct bb_db_options options = {.read_only = true};
    struct bb_db_table_list tables = {0};
    struct bb_db *db = NULL;
    enum bb_status status = bb_db_open(directory, &options, &db);
    if (status != BB_OK)
        return status;
    status = bb_db_tables(db, &tables);
    if (status == BB_OK)
        show(&tables, out);
    bb_db_table_list_deinit(&tables);
    enum bb_status closed = bb_db_close(db);
    return status == BB_OK ? closed : status;
}
