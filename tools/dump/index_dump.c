/* See index_dump.h. */
#include "tools/dump/index_dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/status.h"
#include "bb/skip.h"
#include "tools/dump/index_contents.h"
#include "tools/output/number_text.h"
#include "tools/output/text_table.h"

/* The last bytes of an index file: docs/format-skip.md. */
static const char magic_of_index_files[8] = {'\x89', 'B', 'B', 'I', '\r', '\n', '\x1a', '\n'};

/* Attributes that rows of text have space for, after place and records. */
#define COLUMNS_BEFORE 3
#define STATE_COUNT    4

bool index_dump_is_one(const char *path)
{
    char magic[sizeof(magic_of_index_files)] = "";
    size_t size = strlen(path);
    struct stat status;
    if (size > 4 && strcmp(path + size - 4, ".bbi") == 0)
        return true;
    /* WHY not any file: opening a pipe waits for its writer. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return false;
    bool is_one = fseek(file, -(long)sizeof(magic), SEEK_END) == 0 &&
                  fread(magic, sizeof(magic), 1, file) == 1 &&
                  memcmp(magic, magic_of_index_files, sizeof(magic)) == 0;
    fclose(file);
    return is_one;
}

/* ---- indexes ---- */

static double bits_per_pair(const struct bb_skip_index_info *info)
{
    return info->pair_count == 0 ? 0 : 8 * (double)info->size_bytes / (double)info->pair_count;
}

static const char *kind_of(const struct bb_skip_index_info *info)
{
    const char *name = bb_skip_kind_name(info->spec.kind);
    bool is_read = info->is_known || info->words_made_with != NULL;
    return is_read && name != NULL ? name : "unknown";
}

static void add_kind(struct text_table *table, const struct bb_skip_index_info *info)
{
    if (info->words_made_with == NULL)
        text_table_add(table, "%s", kind_of(info));
    else
        text_table_add(table, "%s, words of %s%s", kind_of(info), info->words_made_with,
                       info->is_known ? "" : " (not used)");
}

/* Kinds that are exact have no rate. */
static struct number_text rate_text(const struct bb_skip_index_info *info, double rate)
{
    struct number_text exact = {.text = "exact"};
    return info->spec.rate > 0 ? number_rate(rate) : exact;
}

static void write_indexes(const struct bb_skip_file *file, struct output *out)
{
    static const char *const headers[] = {"index", "attribute", "segments", "unindexed", "pairs",
                                          "size",  "bits/pair", "target",   "predicted", "pinned"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    table.left_columns = 3;
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(file, i, &info);
        add_kind(&table, &info);
        text_table_add(&table, "%s", info.attribute_definition);
        text_table_add(&table, "%s", number_grouped(info.segment_count).text);
        text_table_add(&table, "%s", number_grouped(info.unindexed_granules).text);
        text_table_add(&table, "%s", number_grouped(info.pair_count).text);
        text_table_add(&table, "%s", number_bytes(info.size_bytes).text);
        text_table_add(&table, "%.2f", bits_per_pair(&info));
        text_table_add(&table, "%s", rate_text(&info, info.spec.rate).text);
        text_table_add(&table, "%s", rate_text(&info, info.predicted_rate).text);
        text_table_add(&table, "%s", number_bytes(info.pinned_bytes).text);
    }
    text_table_write(&table, out);
    text_table_deinit(&table);
}

static json_t *indexes_json(const struct bb_skip_file *file)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(file, i, &info);
        json_t *row = json_object();
        json_set_text(row, "kind", kind_of(&info));
        json_set_text(row, "attribute", info.attribute_name);
        json_set_text(row, "definition", info.attribute_definition);
        json_set_bool(row, "known", info.is_known);
        if (info.words_made_with != NULL)
            json_set_text(row, "words_made_with", info.words_made_with);
        json_set_count(row, "segments", info.segment_count);
        json_set_count(row, "unindexed_granules", info.unindexed_granules);
        json_set_count(row, "pairs", info.pair_count);
        json_set_count(row, "size_bytes", info.size_bytes);
        json_set_count(row, "pinned_bytes", info.pinned_bytes);
        json_set_real(row, "bits_per_pair", bits_per_pair(&info));
        json_set_real(row, "target_rate", info.spec.rate);
        json_set_real(row, "predicted_rate", info.predicted_rate);
        json_array_append_new(rows, row);
    }
    return rows;
}

/* ---- granules ---- */

/* The attributes of the file, by their numbers in it: name, or NULL. */
struct attributes {
    const char *names[BB_SCHEMA_ATTRIBUTES_MAX];
    size_t count;
};

static void find_attributes(const struct bb_skip_file *file, struct attributes *attributes)
{
    attributes->count = 0;
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(file, i, &info);
        while (attributes->count <= info.spec.attribute)
            attributes->names[attributes->count++] = NULL;
        attributes->names[info.spec.attribute] = info.attribute_name;
    }
}

static uint64_t shown_granules(const struct index_dump *dump, const struct bb_skip_file *file)
{
    uint64_t count = bb_skip_file_granule_count(file);
    return count < dump->limit ? count : dump->limit;
}

static void write_granule(const struct bb_skip_file *file, size_t granule,
                          const struct attributes *attributes, size_t column_count,
                          struct text_table *table)
{
    struct bb_skip_granule_info info = {0};
    bb_skip_file_granule(file, granule, &info);
    text_table_add(table, "%zu", granule);
    text_table_add(table, "%" PRIu64, info.place);
    text_table_add(table, "%s", number_grouped(info.record_count).text);
    for (size_t i = 0; i < column_count; i++) {
        uint64_t counts[STATE_COUNT] = {0};
        if (attributes->names[i] != NULL)
            bb_skip_file_states(file, granule, i, counts);
        text_table_add(table, "%" PRIu64 "/%" PRIu64 "/%" PRIu64, counts[BB_ATTRIBUTE_NULL],
                       counts[BB_ATTRIBUTE_MISSING], counts[BB_ATTRIBUTE_MALFORMED]);
    }
}

static void write_granules(const struct index_dump *dump, struct bb_skip_file *file,
                           const struct attributes *attributes)
{
    const char *headers[TEXT_TABLE_COLUMNS_MAX] = {"granule", "place", "records"};
    size_t space = TEXT_TABLE_COLUMNS_MAX - COLUMNS_BEFORE;
    size_t column_count = attributes->count < space ? attributes->count : space;
    for (size_t i = 0; i < column_count; i++)
        headers[COLUMNS_BEFORE + i] = attributes->names[i] == NULL ? "-" : attributes->names[i];
    struct text_table table;
    uint64_t count = shown_granules(dump, file);
    text_table_init(&table, headers, COLUMNS_BEFORE + column_count);
    for (size_t i = 0; i < count; i++)
        write_granule(file, i, attributes, column_count, &table);
    output_print(dump->out, "\nnull/missing/malformed records of each attribute\n");
    text_table_write(&table, dump->out);
    text_table_deinit(&table);
    if (column_count < attributes->count)
        output_print(dump->out, "(%zu of %zu attributes; --json shows all)\n", column_count,
                     attributes->count);
    index_contents_write(file, count, dump->out);
    if (count < bb_skip_file_granule_count(file))
        output_print(dump->out, "(%" PRIu64 " of %zu granules; --limit 0 shows all)\n", count,
                     bb_skip_file_granule_count(file));
}

static json_t *states_json(const struct bb_skip_file *file, size_t granule,
                           const struct attributes *attributes)
{
    json_t *states = json_object();
    for (size_t i = 0; i < attributes->count; i++) {
        uint64_t counts[STATE_COUNT] = {0};
        if (attributes->names[i] == NULL)
            continue;
        bb_skip_file_states(file, granule, i, counts);
        json_t *state = json_object();
        json_set_count(state, "present", counts[BB_ATTRIBUTE_PRESENT]);
        json_set_count(state, "null", counts[BB_ATTRIBUTE_NULL]);
        json_set_count(state, "missing", counts[BB_ATTRIBUTE_MISSING]);
        json_set_count(state, "malformed", counts[BB_ATTRIBUTE_MALFORMED]);
        json_object_set_new(states, attributes->names[i], state);
    }
    return states;
}

static json_t *granules_json(const struct index_dump *dump, struct bb_skip_file *file,
                             const struct attributes *attributes)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < shown_granules(dump, file); i++) {
        struct bb_skip_granule_info info = {0};
        bb_skip_file_granule(file, i, &info);
        json_t *row = json_object();
        json_set_count(row, "place", info.place);
        json_set_count(row, "records", info.record_count);
        json_object_set_new(row, "attributes", states_json(file, i, attributes));
        json_object_set_new(row, "indexes", index_contents_json(file, i));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* ---- the whole ---- */

static uint64_t record_count(const struct bb_skip_file *file)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bb_skip_file_granule_count(file); i++) {
        struct bb_skip_granule_info info = {0};
        bb_skip_file_granule(file, i, &info);
        sum += info.record_count;
    }
    return sum;
}

static void write_json(const struct index_dump *dump, struct bb_skip_file *file, const char *path,
                       bool is_sound)
{
    struct attributes attributes;
    json_t *document = json_object();
    find_attributes(file, &attributes);
    json_set_text(document, "file", path);
    json_set_text(document, "form", "index file");
    json_set_count(document, "file_bytes", bb_skip_file_size(file));
    json_set_count(document, "granule_count", bb_skip_file_granule_count(file));
    json_set_count(document, "records", record_count(file));
    json_set_bool(document, "sound", is_sound);
    json_object_set_new(document, "indexes", indexes_json(file));
    if (dump->with_granules)
        json_object_set_new(document, "granules", granules_json(dump, file, &attributes));
    output_json(dump->out, document);
}

static void write_text(const struct index_dump *dump, struct bb_skip_file *file, bool is_sound)
{
    struct attributes attributes;
    find_attributes(file, &attributes);
    output_print(dump->out, "index file of %s: %s, %s; checksums %s\n\n",
                 number_bytes(bb_skip_file_size(file)).text,
                 number_of(bb_skip_file_granule_count(file), "granule", "granules").text,
                 number_of(record_count(file), "record", "records").text,
                 is_sound ? "agree" : "DIFFER");
    write_indexes(file, dump->out);
    if (dump->with_granules)
        write_granules(dump, file, &attributes);
}

enum bb_status index_dump_write(const struct index_dump *dump, const char *path)
{
    struct bb_skip_file_options options = {0};
    struct bb_skip_file *file = NULL;
    enum bb_status status = bb_skip_file_open(path, &options, &file);
    if (status != BB_OK)
        return status;
    status = bb_skip_file_verify(file);
    struct bb_error failure = *bb_error_last();
    if (dump->out->is_json)
        write_json(dump, file, path, status == BB_OK);
    else
        write_text(dump, file, status == BB_OK);
    bb_skip_file_close(file);
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}
