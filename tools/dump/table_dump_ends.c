/* See table_dump.h: the parts at the end of the file, in text and JSON. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tools/dump/table_dump.h"
#include "tools/filter/table_filter_report.h"
#include "tools/output/number_text.h"
#include "tools/output/text_table.h"

static const char *compression_name(uint64_t compression)
{
    switch (compression) {
    case BB_COMPRESSION_NONE:
        return "none";
    case BB_COMPRESSION_LZ4:
        return "lz4";
    default:
        return "unknown";
    }
}

/* The meaning of a number that stands for a name; NULL for all others. */
static const char *number_meaning(const struct bb_property_field *field, uint64_t number)
{
    if (field->offset == offsetof(struct bb_properties, compression))
        return compression_name(number);
    if (field->offset == offsetof(struct bb_properties, hash_id))
        return number == BB_HASH_ID_XXH3 ? "xxh3-64 with secret" : "unknown";
    if (field->offset == offsetof(struct bb_properties, filter_granularity))
        return number == BB_GRANULARITY_PAGE ? "page" : NULL;
    if (field->offset != offsetof(struct bb_properties, filter_kind))
        return NULL;
    const char *name =
        number > BB_FILTER_PARTITIONED ? NULL : bb_filter_kind_name((enum bb_filter_kind)number);
    return name == NULL ? "unknown" : name;
}

static const void *value_of(const struct bb_properties *properties,
                            const struct bb_property_field *field)
{
    return (const char *)properties + field->offset;
}

static void write_property(struct table_dump *dump, const struct bb_property_field *field,
                           const void *value)
{
    struct output *out = dump->out;
    output_print(out, "  %-22s ", field->name);
    const char *meaning = NULL;
    switch (field->type) {
    case BB_PROPERTY_NUMBER:
        meaning = number_meaning(field, *(const uint64_t *)value);
        output_print(out, "%" PRIu64, *(const uint64_t *)value);
        if (meaning != NULL)
            output_print(out, " (%s)", meaning);
        break;
    case BB_PROPERTY_REAL:
        output_print(out, "%.12g", *(const double *)value);
        break;
    case BB_PROPERTY_TEXT:
        output_bytes(out, bb_buf_bytes(value), false);
        break;
    case BB_PROPERTY_BYTES:
        /* Bounds are keys; ids have a fixed size and are no text. */
        output_bytes(out, bb_buf_bytes(value), dump->is_hex || field->size != 0);
        break;
    case BB_PROPERTY_SECRET:
        output_print(out, "(%zu bytes, not shown)", ((const struct bb_buf *)value)->size);
        break;
    }
    output_print(out, "\n");
}

static void set_hex(json_t *object, const char *name, struct bb_bytes bytes)
{
    char digits[2 * BB_TABLE_ID_SIZE + 1] = "";
    for (size_t i = 0; i < bytes.size && i < BB_TABLE_ID_SIZE; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes.data[i]);
    json_set_text(object, name, digits);
}

static void set_property(json_t *object, const struct bb_property_field *field, const void *value)
{
    switch (field->type) {
    case BB_PROPERTY_NUMBER:
        if (field->offset == offsetof(struct bb_properties, filter_salt))
            json_set_hex64(object, field->name, *(const uint64_t *)value);
        else if (number_meaning(field, *(const uint64_t *)value) != NULL)
            json_set_text(object, field->name, number_meaning(field, *(const uint64_t *)value));
        else
            json_set_count(object, field->name, *(const uint64_t *)value);
        break;
    case BB_PROPERTY_REAL:
        json_set_real(object, field->name, *(const double *)value);
        break;
    case BB_PROPERTY_TEXT:
        json_set_bytes(object, field->name, bb_buf_bytes(value));
        break;
    case BB_PROPERTY_BYTES:
        if (field->size != 0)
            set_hex(object, field->name, bb_buf_bytes(value));
        else
            json_set_bytes(object, field->name, bb_buf_bytes(value));
        break;
    case BB_PROPERTY_SECRET:
        break;
    }
}

static void write_properties(struct table_dump *dump)
{
    size_t count = 0;
    const struct bb_property_field *fields = bb_property_fields(&count);
    const struct bb_properties *properties = &dump->table->properties;
    if (dump->document != NULL) {
        json_t *object = json_object();
        for (size_t i = 0; i < count; i++)
            set_property(object, &fields[i], value_of(properties, &fields[i]));
        json_object_set_new(dump->document, "properties", object);
        return;
    }
    output_print(dump->out, "\nproperties\n");
    for (size_t i = 0; i < count; i++)
        if (!bb_property_is_left_out(properties, &fields[i]))
            write_property(dump, &fields[i], value_of(properties, &fields[i]));
}

/* A part of the file, as a row. Parts without an id have no entry in the directory. */
static void add_part(struct text_table *table, const char *name, uint64_t offset, uint64_t size,
                     uint64_t file_size)
{
    text_table_add(table, "  %s", name);
    text_table_add(table, "%" PRIu64, offset);
    text_table_add(table, "%" PRIu64, size);
    text_table_add(table, "%.1f", file_size == 0 ? 0 : 100 * (double)size / (double)file_size);
}

/* Blocks and index pages alternate: their sizes are sums, and they have no offset. */
static void add_sum(struct text_table *table, const char *name, uint64_t size, uint64_t file_size)
{
    text_table_add(table, "  %s", name);
    text_table_add(table, "-");
    text_table_add(table, "%" PRIu64, size);
    text_table_add(table, "%.1f", file_size == 0 ? 0 : 100 * (double)size / (double)file_size);
}

static void write_parts_text(struct table_dump *dump)
{
    static const char *const headers[] = {"section", "offset", "bytes", "% of file"};
    const struct bb_table *t = dump->table;
    struct text_table table;
    text_table_init(&table, headers, sizeof(headers) / sizeof(headers[0]));
    add_sum(&table, "data blocks", t->properties.data_size, t->file_size);
    add_sum(&table, "index pages", t->properties.index_size, t->file_size);
    add_sum(&table, "  of these filters", t->properties.filter_size, t->file_size);
    for (size_t i = 0; i < t->directory.count; i++)
        add_part(&table, bb_table_directory_section_name(t->directory.sections[i].id),
                 t->directory.sections[i].offset, t->directory.sections[i].size, t->file_size);
    add_part(&table, "directory", t->footer.directory_offset, t->footer.directory_size,
             t->file_size);
    add_part(&table, "footer", t->file_size - BB_FOOTER_SIZE, BB_FOOTER_SIZE, t->file_size);
    output_print(dump->out, "\n");
    text_table_write(&table, dump->out);
    text_table_deinit(&table);
}

static json_t *sections_json(const struct bb_table *table)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < table->directory.count; i++) {
        const struct bb_section *section = &table->directory.sections[i];
        json_t *row = json_object();
        json_set_count(row, "id", section->id);
        json_set_text(row, "name", bb_table_directory_section_name(section->id));
        json_set_bool(row, "incompatible", (section->flags & BB_SECTION_FLAG_INCOMPATIBLE) != 0);
        json_set_count(row, "offset", section->offset);
        json_set_count(row, "bytes", section->size);
        json_set_hex64(row, "checksum", section->checksum);
        json_array_append_new(rows, row);
    }
    return rows;
}

static void write_footer_json(struct table_dump *dump)
{
    const struct bb_table *table = dump->table;
    json_t *footer = json_object();
    json_set_count(footer, "format_version", table->footer.format_version);
    set_hex(footer, "table_id", bb_bytes_of(table->footer.table_id, BB_TABLE_ID_SIZE));
    json_set_count(footer, "directory_offset", table->footer.directory_offset);
    json_set_count(footer, "directory_bytes", table->footer.directory_size);
    json_set_text(dump->document, "file", table->file->path);
    json_set_count(dump->document, "file_bytes", table->file_size);
    json_object_set_new(dump->document, "footer", footer);
    json_object_set_new(dump->document, "sections", sections_json(table));
}

static double bits_per_key(const struct table_filter_report *table_filter)
{
    return table_filter->keys == 0 ? 0 : (double)table_filter->bits / (double)table_filter->keys;
}

static void write_table_filter_text(struct output *out,
                                    const struct table_filter_report *table_filter)
{
    output_print(out, "\ntable filter\n");
    output_print(out, "  %-22s %" PRIu64 " in %s, %s\n", "keys", table_filter->keys,
                 number_of(table_filter->part_count, "part", "parts").text,
                 number_of(table_filter->shard_count, "shard", "shards").text);
    output_print(out, "  %-22s %" PRIu32 ", damaged: %" PRIu32 "\n", "chunks",
                 table_filter->chunk_count, table_filter->damaged_chunks);
    output_print(out, "  %-22s %.2f\n", "bits per key", bits_per_key(table_filter));
    output_print(out, "  %-22s target %s, predicted %s\n", "rate",
                 number_rate(table_filter->target_rate).text,
                 number_rate(table_filter->predicted_rate).text);
}

static void write_table_filter_json(json_t *document,
                                    const struct table_filter_report *table_filter)
{
    json_t *object = json_object();
    json_set_bool(object, "damaged", table_filter->is_damaged);
    json_set_count(object, "keys", table_filter->keys);
    json_set_count(object, "parts", table_filter->part_count);
    json_set_count(object, "shards", table_filter->shard_count);
    json_set_count(object, "chunks", table_filter->chunk_count);
    json_set_count(object, "damaged_chunks", table_filter->damaged_chunks);
    json_set_real(object, "bits_per_key", bits_per_key(table_filter));
    json_set_real(object, "target_rate", table_filter->target_rate);
    json_set_real(object, "predicted_rate", table_filter->predicted_rate);
    json_object_set_new(document, "table_filter", object);
}

static enum bb_status write_table_filter(struct table_dump *dump)
{
    struct table_filter_report table_filter = {0};
    enum bb_status status = table_filter_report_read(dump->table, &table_filter);
    if (status != BB_OK || !table_filter.is_there)
        return status;
    if (dump->document != NULL)
        write_table_filter_json(dump->document, &table_filter);
    else
        write_table_filter_text(dump->out, &table_filter);
    if (table_filter.is_damaged || table_filter.damaged_chunks > 0)
        status = table_dump_note_table_filter(dump);
    return status;
}

enum bb_status table_dump_write_ends(struct table_dump *dump)
{
    const struct bb_table *table = dump->table;
    if (dump->document != NULL) {
        write_footer_json(dump);
    } else {
        output_bytes(dump->out, bb_bytes_of_text(table->file->path), false);
        output_print(dump->out, ": %s\n\nfooter\n", number_bytes(table->file_size).text);
        output_print(dump->out, "  %-22s %" PRIu32 "\n  %-22s ", "format version",
                     table->footer.format_version, "table id");
        output_bytes(dump->out, bb_bytes_of(table->footer.table_id, BB_TABLE_ID_SIZE), true);
        output_print(dump->out, "\n");
        write_parts_text(dump);
    }
    enum bb_status status = write_table_filter(dump);
    write_properties(dump);
    return status;
}
