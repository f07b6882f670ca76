/* See table_dump.h. */
#include "tools/dump/table_dump.h"

#include "tools/store/range_rows.h"

void table_dump_init(struct table_dump *dump, struct bb_table *table, struct output *out)
{
    *dump = (struct table_dump){.table = table, .out = out, .damages = json_array()};
    if (out->is_json)
        dump->document = json_object();
}

void table_dump_deinit(struct table_dump *dump)
{
    json_decref(dump->damages);
    json_decref(dump->document);
    bb_buf_deinit(&dump->damaged);
}

static void write_ranges(struct table_dump *dump)
{
    const struct bb_range_tombstones *list = bb_table_range_tombstones(dump->table);
    struct range_rows rows = {.out = dump->out, .limit = dump->limit, .is_hex = dump->is_hex};
    if (list == NULL)
        return;
    if (dump->document != NULL)
        rows.list = json_array();
    range_rows_write(&rows, list);
    if (rows.list != NULL)
        json_object_set_new(dump->document, "range_tombstones", rows.list);
}

static void write_damages(struct table_dump *dump)
{
    if (dump->document != NULL) {
        json_set_bool(dump->document, "complete", !table_dump_found_damage(dump));
        json_object_set(dump->document, "damage", dump->damages);
        return;
    }
    for (size_t i = 0; i < json_array_size(dump->damages); i++)
        output_print(dump->out, "%sdamaged: %s\n", i == 0 ? "\n" : "",
                     json_string_value(json_array_get(dump->damages, i)));
}

enum bb_status table_dump_write(struct table_dump *dump)
{
    enum bb_status status = table_dump_write_ends(dump);
    if (status == BB_OK)
        status = table_dump_write_pages(dump);
    if (status == BB_OK && dump->with_blocks)
        status = table_dump_write_blocks(dump);
    if (status == BB_OK && dump->with_entries)
        status = table_dump_write_entries(dump);
    if (status == BB_OK && dump->with_entries)
        write_ranges(dump);
    write_damages(dump);
    if (dump->document != NULL) {
        output_json(dump->out, dump->document);
        dump->document = NULL;
    }
    return status;
}
