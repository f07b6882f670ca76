/* See explain_json.h. */
#include "tools/store/explain_json.h"

#include "base/assert.h"

static json_t *filter_of(const struct bb_filter_explain *filter)
{
    json_t *object = json_object();
    json_set_text(object, "verdict", bb_verdict_name(filter->verdict));
    if (filter->verdict == BB_VERDICT_NOT_PROBED || filter->kind == BB_FILTER_DEFAULT)
        return object;
    json_set_text(object, "source", bb_source_name(filter->source));
    json_set_text(object, "kind", bb_filter_kind_name(filter->kind));
    json_set_count(object, "bytes", filter->size_bytes);
    json_set_real(object, "predicted_rate", filter->rate);
    return object;
}

static json_t *part_of(enum bb_source source, uint64_t offset, uint32_t size)
{
    json_t *object = json_object();
    json_set_text(object, "source", bb_source_name(source));
    if (source == BB_SOURCE_NOT_READ)
        return object;
    json_set_count(object, "offset", offset);
    json_set_count(object, "bytes", size);
    return object;
}

static const char *visit_name(enum bb_visit visit)
{
    static const char *const names[] = {
        "table filter negative", "filter negative", "false positive", "tombstone",
        "not visible",           "present",         "out of bounds"};
    _Static_assert(BB_ARRAY_LENGTH(names) == BB_VISIT_COUNT, "each visit has a name");
    return names[visit];
}

static void set_table(json_t *row, const struct bb_explain_step *step)
{
    const struct bb_table_explain *table = &step->table;
    json_set_text(row, "table", step->path);
    json_set_bool(row, "opened", step->was_opened);
    json_set_text(row, "visit", visit_name(table->visit));
    if (table->range_sequence > 0)
        json_set_count(row, "range_tombstone_sequence", table->range_sequence);
    json_object_set_new(row, "table_filter", filter_of(&table->table_filter));
    json_object_set_new(row, "index_page",
                        part_of(table->page, table->page_offset, table->page_size_bytes));
    json_object_set_new(row, "filter", filter_of(&table->filter));
    json_object_set_new(row, "block",
                        part_of(table->block, table->block_offset, table->block_size_bytes));
}

static json_t *step_of(const struct bb_explain_step *step)
{
    static const char *const kinds[] = {"memtable", "table", "no table"};
    static const char *const found[] = {"nothing", "value", "tombstone"};
    json_t *row = json_object();
    json_set_text(row, "kind", kinds[step->kind]);
    if (step->kind == BB_EXPLAIN_MEMTABLE)
        json_set_count(row, "memtable", step->memtable);
    else
        json_set_count(row, "level", (uint64_t)step->level);
    if (step->kind == BB_EXPLAIN_TABLE)
        set_table(row, step);
    json_set_text(row, "found", found[step->found]);
    if (step->found != BB_EXPLAIN_NOTHING)
        json_set_count(row, "sequence", step->sequence);
    return row;
}

static void set_sums(json_t *document, const struct bb_explain *report)
{
    const struct bb_read_stats *reads = &report->reads;
    json_set_count(document, "tables_opened", report->tables_opened);
    json_set_count(document, "block_requests", reads->block_requests);
    json_set_count(document, "block_reads", reads->block_reads);
    json_set_count(document, "block_read_bytes", reads->block_read_bytes);
    json_set_count(document, "page_reads", reads->page_reads);
    json_set_count(document, "page_read_bytes", reads->page_read_bytes);
    json_set_count(document, "table_filter_reads", reads->table_filter_reads);
    json_set_count(document, "table_filter_read_bytes", reads->table_filter_read_bytes);
    json_set_count(document, "avoided_requests", reads->avoided_requests);
    json_set_count(document, "avoided_reads", reads->avoided_reads);
    json_set_count(document, "damaged_filters", reads->damaged_filters);
}

void explain_json_write(const struct bb_explain *report, struct bb_bytes key, bool is_hex,
                        struct output *out)
{
    json_t *document = json_object();
    json_t *steps = json_array();
    json_set_shown(document, "key", key, is_hex);
    json_set_bool(document, "found", report->is_found);
    json_set_count(document, "as_of_sequence", report->sequence);
    for (size_t i = 0; i < report->step_count; i++)
        json_array_append_new(steps, step_of(&report->steps[i]));
    json_object_set_new(document, "steps", steps);
    set_sums(document, report);
    output_json(out, document);
}
