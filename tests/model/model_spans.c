/* See model_spans.h. */
#include "tests/model/model_spans.h"

#include "tests/model/model_keys.h"

void model_span_add(struct model *model, struct model_span *span, struct bb_bytes key)
{
    if (!span->is_started || model_compare(model, key, bb_buf_bytes(&span->least)) < 0)
        model_must(model, bb_buf_assign(&span->least, key), "span");
    if (!span->is_started || model_compare(model, key, bb_buf_bytes(&span->greatest)) > 0)
        model_must(model, bb_buf_assign(&span->greatest, key), "span");
    span->is_started = true;
}

/* A table that the store's thread has removed does not count. */
static bool is_across(struct model *model, const struct model_span *span, const char *path)
{
    struct bb_table_options options = {.comparator = model->options.comparator,
                                       .file_system = model->options.file_system};
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_open(path, &options, &table);
    if (status == BB_NOT_FOUND)
        return false;
    model_must(model, status, "open a table");
    const struct bb_table_meta *meta = bb_table_meta(table);
    bool is_met =
        model_compare(model, bb_buf_bytes(&meta->smallest), bb_buf_bytes(&span->greatest)) <= 0 &&
        model_compare(model, bb_buf_bytes(&span->least), bb_buf_bytes(&meta->largest)) <= 0;
    bb_table_close(table);
    return is_met;
}

size_t model_span_tables(struct model *model, const struct model_span *span)
{
    struct bb_db_table_list list;
    size_t count = 0;
    if (!span->is_started)
        return 0;
    model_must(model, bb_db_tables(model->db, &list), "tables");
    for (size_t i = 0; i < list.count && count < 2; i++)
        count += is_across(model, span, list.tables[i].path);
    bb_db_table_list_deinit(&list);
    return count;
}

void model_span_deinit(struct model_span *span)
{
    bb_buf_deinit(&span->least);
    bb_buf_deinit(&span->greatest);
}
