/* See index_report.h. */
#include "tools/records/index_report.h"

#include <stdio.h>

#include "base/assert.h"
#include "tools/output/number_text.h"
#include "tools/output/text_table.h"

enum bb_status index_report_read(struct bb_db *db, struct index_report *ret_report)
{
    static const struct bb_key_range everything;
    struct bb_range_size size = {0};
    struct index_report report = {0};
    enum bb_status status = bb_db_index_list(db, &report.list);
    if (status == BB_OK)
        status = bb_db_approximate_sizes(db, &everything, 1, &size);
    report.raw_bytes = size.raw_bytes;
    if (status == BB_OK)
        *ret_report = report;
    else
        bb_db_index_list_deinit(&report.list);
    return status;
}

void index_report_deinit(struct index_report *report)
{
    bb_db_index_list_deinit(&report->list);
}

static double share_of(const struct index_report *report, const struct bb_db_index *index)
{
    return report->raw_bytes == 0 ? 0 : (double)index->size_bytes / (double)report->raw_bytes;
}

void index_report_write_files(const struct index_report *report, struct output *out)
{
    if (report->list.file_count == 0 && report->list.count == 0)
        return;
    output_print(
        out, "index files: %s, %s, %.2f %% of the data\n",
        number_grouped(report->list.file_count).text, number_bytes(report->list.file_bytes).text,
        report->raw_bytes == 0 ? 0
                               : 100 * (double)report->list.file_bytes / (double)report->raw_bytes);
}

static void add_tables(struct text_table *table, const struct bb_db_index *index)
{
    char pending[64] = "";
    char other[96] = "";
    char unreadable[96] = "";
    if (index->tables_pending > 0)
        snprintf(pending, sizeof(pending), ", %s pending",
                 number_grouped(index->tables_pending).text);
    if (index->tables_of_other_words > 0)
        snprintf(other, sizeof(other), ", %s of other words: materialize",
                 number_grouped(index->tables_of_other_words).text);
    if (index->tables_unreadable > 0)
        snprintf(unreadable, sizeof(unreadable), ", %s unreadable: materialize",
                 number_grouped(index->tables_unreadable).text);
    text_table_add(table, "%s of %s%s%s%s", number_grouped(index->tables_built).text,
                   number_grouped(index->tables).text, pending, other, unreadable);
}

void index_report_write(const struct index_report *report, struct output *out)
{
    static const char *const headers[] = {"index",   "spec",  "tables",  "size",
                                          "of data", "pairs", "granules"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    table.left_columns = 3;
    for (size_t i = 0; i < report->list.count; i++) {
        const struct bb_db_index *index = &report->list.indexes[i];
        text_table_add(&table, "%s", index->name);
        text_table_add(&table, "%s", index->spec);
        add_tables(&table, index);
        text_table_add(&table, "%s", number_bytes(index->size_bytes).text);
        text_table_add(&table, "%.2f %%", 100 * share_of(report, index));
        text_table_add(&table, "%s", number_grouped(index->pairs).text);
        text_table_add(&table, "%s", number_grouped(index->granules).text);
    }
    text_table_write(&table, out);
    text_table_deinit(&table);
}

json_t *index_report_json(const struct index_report *report)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < report->list.count; i++) {
        const struct bb_db_index *index = &report->list.indexes[i];
        json_t *row = json_object();
        json_set_text(row, "name", index->name);
        json_set_text(row, "spec", index->spec);
        json_set_text(row, "definition", index->definition);
        json_set_count(row, "tables", index->tables);
        json_set_count(row, "tables_built", index->tables_built);
        json_set_count(row, "tables_pending", index->tables_pending);
        json_set_count(row, "tables_of_other_words", index->tables_of_other_words);
        json_set_count(row, "tables_unreadable", index->tables_unreadable);
        json_set_count(row, "size_bytes", index->size_bytes);
        json_set_real(row, "share_of_data", share_of(report, index));
        json_set_count(row, "pairs", index->pairs);
        json_set_count(row, "granules", index->granules);
        json_array_append_new(rows, row);
    }
    return rows;
}
