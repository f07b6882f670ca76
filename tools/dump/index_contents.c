/* See index_contents.h. */
#include "tools/dump/index_contents.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "tools/output/number_text.h"
#include "tools/records/attribute_text.h"

#define LABEL_SIZE 256

static bool has_contents(const struct bb_skip_index_info *info)
{
    return info->is_known && (info->spec.kind == BB_SKIP_MIN_MAX ||
                              info->spec.kind == BB_SKIP_SET || info->spec.kind == BB_SKIP_COLUMN);
}

static size_t label_of(const struct bb_skip_index_info *info, char label[LABEL_SIZE])
{
    snprintf(label, LABEL_SIZE, "%s(%s)", bb_skip_kind_name(info->spec.kind), info->attribute_name);
    return strlen(label);
}

/* ---- text ---- */

/* Strings in quotes, so that an empty one is seen. */
static void write_value(const struct bb_attribute *value, struct output *out)
{
    const char *quote = value->type == BB_ATTRIBUTE_BYTES ? "\"" : "";
    output_print(out, "%s", quote);
    attribute_write_tsv(out, value);
    output_print(out, "%s", quote);
}

static void write_bounds(const struct bb_skip_contents *contents, struct output *out)
{
    if (contents->has_low) {
        write_value(&contents->low, out);
        output_print(out, " ... ");
    }
    if (contents->has_high)
        write_value(&contents->high, out);
    else if (contents->has_low)
        output_print(out, "no upper bound");
    else if (!contents->has_nan)
        output_print(out, "no values");
    if (contents->has_nan)
        output_print(out, contents->has_low ? ", and nan" : "nan");
}

static void write_values(const struct bb_skip_contents *contents, struct output *out)
{
    uint64_t shown = contents->value_count < BB_SKIP_CONTENTS_VALUES ? contents->value_count
                                                                     : BB_SKIP_CONTENTS_VALUES;
    output_print(out, "%s: ", number_grouped(contents->value_count).text);
    for (uint64_t i = 0; i < shown; i++) {
        output_print(out, i == 0 ? "" : ", ");
        write_value(&contents->values[i], out);
    }
    output_print(out, shown < contents->value_count ? ", ..." : "");
}

static void write_contents(struct bb_skip_file *file, size_t index, size_t granule,
                           const struct bb_skip_index_info *info, struct output *out)
{
    struct bb_skip_contents *contents = NULL;
    enum bb_status status = bb_skip_file_contents(file, index, granule, &contents);
    if (status != BB_OK)
        output_print(out, "%s", bb_error_last()->message);
    else if (!contents->is_indexed)
        output_print(out, "not indexed");
    else if (info->spec.kind == BB_SKIP_MIN_MAX)
        write_bounds(contents, out);
    else
        write_values(contents, out);
    output_print(out, "\n");
    bb_skip_contents_destroy(contents);
}

static int widest_label(const struct bb_skip_file *file)
{
    char label[LABEL_SIZE];
    size_t widest = 0;
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(file, i, &info);
        size_t size = has_contents(&info) ? label_of(&info, label) : 0;
        widest = size > widest ? size : widest;
    }
    return (int)widest;
}

static void write_granule(struct bb_skip_file *file, size_t granule, int width, struct output *out)
{
    char label[LABEL_SIZE];
    for (size_t i = 0; i < bb_skip_file_index_count(file) && !output_is_over(out); i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(file, i, &info);
        if (!has_contents(&info))
            continue;
        label_of(&info, label);
        output_print(out, "%7zu  %-*s  ", granule, width, label);
        write_contents(file, i, granule, &info, out);
    }
}

void index_contents_write(struct bb_skip_file *file, uint64_t granule_count, struct output *out)
{
    int width = widest_label(file);
    if (width == 0)
        return;
    output_print(out, "\nbounds (min_max) and distinct values (set, column) of each granule\n");
    for (size_t granule = 0; granule < granule_count && !output_is_over(out); granule++)
        write_granule(file, granule, width, out);
}

/* ---- JSON ---- */

/* JSON has no integers above 2^63 and no infinities: they are strings. */
static void set_value(json_t *object, const char *name, const struct bb_attribute *value)
{
    switch (value->type) {
    case BB_ATTRIBUTE_BYTES:
        json_set_bytes(object, name, value->as.bytes);
        return;
    case BB_ATTRIBUTE_TIME:
        json_set_text(object, name, time_text_of(value->as.i64).text);
        return;
    case BB_ATTRIBUTE_F64:
        if (isfinite(value->as.f64))
            json_set_real(object, name, value->as.f64);
        else
            json_set_text(object, name,
                          isnan(value->as.f64) ? "nan"
                          : value->as.f64 > 0  ? "inf"
                                               : "-inf");
        return;
    case BB_ATTRIBUTE_I64:
        json_object_set_new(object, name, json_integer(value->as.i64));
        return;
    case BB_ATTRIBUTE_U64: {
        char text[32];
        snprintf(text, sizeof(text), "%" PRIu64, value->as.u64);
        if (value->as.u64 <= INT64_MAX)
            json_set_count(object, name, value->as.u64);
        else
            json_set_text(object, name, text);
        return;
    }
    }
}

static void set_bounds(json_t *row, const struct bb_skip_contents *contents)
{
    if (contents->has_low)
        set_value(row, "low", &contents->low);
    if (contents->has_high)
        set_value(row, "high", &contents->high);
    json_set_bool(row, "has_nan", contents->has_nan);
}

static void set_values(json_t *row, const struct bb_skip_contents *contents)
{
    json_t *values = json_array();
    for (uint64_t i = 0; i < contents->value_count && i < BB_SKIP_CONTENTS_VALUES; i++) {
        json_t *value = json_object();
        set_value(value, "value", &contents->values[i]);
        json_array_append_new(values, value);
    }
    json_set_count(row, "value_count", contents->value_count);
    json_object_set_new(row, "values", values);
}

static json_t *contents_json(struct bb_skip_file *file, size_t index, size_t granule,
                             const struct bb_skip_index_info *info)
{
    struct bb_skip_contents *contents = NULL;
    json_t *row = json_object();
    enum bb_status status = bb_skip_file_contents(file, index, granule, &contents);
    json_set_text(row, "index", bb_skip_kind_name(info->spec.kind));
    json_set_text(row, "attribute", info->attribute_name);
    if (status != BB_OK)
        json_set_text(row, "damage", bb_error_last()->message);
    else if (!contents->is_indexed)
        json_set_bool(row, "indexed", false);
    else if (info->spec.kind == BB_SKIP_MIN_MAX)
        set_bounds(row, contents);
    else
        set_values(row, contents);
    bb_skip_contents_destroy(contents);
    return row;
}

json_t *index_contents_json(struct bb_skip_file *file, size_t granule)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(file, i, &info);
        if (has_contents(&info))
            json_array_append_new(rows, contents_json(file, i, granule, &info));
    }
    return rows;
}
