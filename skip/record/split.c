/* split, csv, tsv: fields of a line, with quotes or without. See bb/record.h. */
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "skip/record/csv_row.h"
#include "skip/record/formats.h"
#include "skip/record/separated.h"

/* --- Definitions --- */

static bool is_number_next(struct bb_definition_text *text)
{
    uint8_t byte = bb_definition_text_peek(text);
    return byte >= '0' && byte <= '9';
}

static enum bb_status parse_field(struct bb_definition_text *text, struct bb_definition *definition)
{
    return bb_definition_text_number(text, "the number of a field", 1, BB_RECORD_FIELD_MAX,
                                     &definition->field);
}

static enum bb_status parse_csv(struct bb_definition_text *text, struct bb_definition *definition)
{
    definition->separator = ',';
    definition->has_quotes = true;
    return is_number_next(text) ? parse_field(text, definition)
                                : bb_separated_parse_column(text, ",", true, &definition->field);
}

static enum bb_status parse_tsv(struct bb_definition_text *text, struct bb_definition *definition)
{
    definition->separator = '\t';
    return is_number_next(text) ? parse_field(text, definition)
                                : bb_separated_parse_column(text, "\t", false, &definition->field);
}

static enum bb_status parse_separator(struct bb_definition_text *text,
                                      struct bb_definition *definition)
{
    struct bb_buf separator = {0};
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_string(text, "a separator", &separator);
    if (status == BB_OK && separator.size != 1)
        status = bb_definition_text_fail(text, at, "a separator is one byte");
    else if (status == BB_OK && separator.data[0] == '\n')
        status = bb_definition_text_fail(text, at, "a newline separates no fields of a line");
    else if (status == BB_OK)
        definition->separator = separator.data[0];
    bb_buf_deinit(&separator);
    return status;
}

static enum bb_status parse_quoted(struct bb_definition_text *text,
                                   struct bb_definition *definition)
{
    struct bb_bytes word;
    if (!bb_definition_text_accept(text, ','))
        return BB_OK;
    size_t at = bb_definition_text_next(text);
    enum bb_status status = bb_definition_text_word(text, "\"quoted\"", &word);
    if (status != BB_OK)
        return status;
    if (!bb_bytes_equal(word, bb_bytes_of_text("quoted")) || definition->separator == '"')
        return bb_definition_text_fail(text, at,
                                       "expected \"quoted\", which quotes as separator exclude");
    definition->has_quotes = true;
    return BB_OK;
}

static enum bb_status parse_split(struct bb_definition_text *text, struct bb_definition *definition)
{
    enum bb_status status = parse_separator(text, definition);
    if (status == BB_OK)
        status = bb_definition_text_expect(text, ',');
    if (status == BB_OK)
        status = parse_field(text, definition);
    return status == BB_OK ? parse_quoted(text, definition) : status;
}

static enum bb_status print_split(const struct bb_definition *definition, struct bb_buf *buf)
{
    enum bb_status status =
        bb_definition_text_print_string(buf, bb_bytes_of(&definition->separator, 1));
    if (status == BB_OK)
        status = bb_buf_append(buf, ", ", 2);
    if (status == BB_OK)
        status = bb_separated_print_field(definition, buf);
    return status == BB_OK && definition->has_quotes ? bb_buf_append(buf, ", quoted", 8) : status;
}

static enum bb_verbatim verbatim(const struct bb_definition *definition, uint8_t *ret_escape)
{
    if (!definition->has_quotes)
        return BB_VERBATIM_ALWAYS;
    *ret_escape = '"';
    return BB_VERBATIM_UNESCAPED;
}

/* --- Reading --- */

static bool shares(const struct bb_definition *a, const struct bb_definition *b)
{
    return a->separator == b->separator && a->has_quotes == b->has_quotes;
}

static struct bb_field unquoted(struct bb_csv_field found, struct bb_record *record)
{
    struct bb_field field = {found.state, found.text};
    if (found.state != BB_ATTRIBUTE_PRESENT || !found.has_doubled_quotes)
        return field;
    uint8_t *target = bb_scratch_take(record->scratch, found.text.size);
    if (target == NULL)
        return bb_field_without(BB_ATTRIBUTE_MALFORMED);
    size_t size = bb_csv_row_unquote(found.text, target);
    bb_scratch_shrink(record->scratch, found.text.size - size);
    field.text = bb_bytes_of(target, size);
    return field;
}

static void read_quoted(struct bb_pass *pass, struct bb_record *record)
{
    struct bb_csv_row row;
    uint64_t number = 1;
    bb_csv_row_init(&row, record->line, pass->slots[0].definition->separator);
    for (size_t i = 0; i < pass->slot_count; number++) {
        uint64_t wanted = pass->slots[i].definition->field;
        for (; row.at != NULL && number < wanted; number++)
            (void)bb_csv_row_next(&row);
        struct bb_field field = row.at == NULL ? bb_field_without(BB_ATTRIBUTE_MISSING)
                                               : unquoted(bb_csv_row_next(&row), record);
        i = bb_separated_set_field(pass, i, record, field);
    }
}

static void read_line(struct bb_pass *pass, struct bb_record *record)
{
    bool has_quotes = pass->slots[0].definition->has_quotes && record->line.size > 0 &&
                      memchr(record->line.data, '"', record->line.size) != NULL;
    if (has_quotes)
        read_quoted(pass, record);
    else
        bb_separated_read(pass, record, NULL);
}

static const struct bb_pass_type LINE_PASS = {
    .shares = shares,
    .prepare = bb_separated_prepare,
    .read = read_line,
    .release = bb_separated_release,
};

const struct bb_format bb_format_split = {
    .name = "split",
    .has_arguments = true,
    .parse = parse_split,
    .print = print_split,
    .verbatim = verbatim,
    .pass_type = &LINE_PASS,
};

const struct bb_format bb_format_csv = {
    .name = "csv",
    .has_arguments = true,
    .parse = parse_csv,
    .print = bb_separated_print_field,
    .verbatim = verbatim,
    .pass_type = &LINE_PASS,
};

const struct bb_format bb_format_tsv = {
    .name = "tsv",
    .has_arguments = true,
    .parse = parse_tsv,
    .print = bb_separated_print_field,
    .verbatim = verbatim,
    .pass_type = &LINE_PASS,
};
