/* See separated.h. */
#include "skip/record/separated.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "skip/record/csv_row.h"
#include "skip/record/separator.h"

struct separated_state {
    bb_separator_skip skip;
};

static int compare_slots(const void *a, const void *b)
{
    const struct bb_slot *left = a, *right = b;
    uint64_t x = left->definition->field, y = right->definition->field;
    return (x > y) - (x < y);
}

void bb_separated_sort_slots(struct bb_slot *slots, size_t count)
{
    qsort(slots, count, sizeof(slots[0]), compare_slots);
}

size_t bb_separated_set_field(const struct bb_pass *pass, size_t first, struct bb_record *record,
                              struct bb_field field)
{
    uint64_t number = pass->slots[first].definition->field;
    while (first < pass->slot_count && pass->slots[first].definition->field == number)
        bb_slot_set(&pass->slots[first++], record, field);
    return first;
}

enum bb_status bb_separated_prepare(struct bb_pass *pass)
{
    struct separated_state *state = bb_alloc(sizeof(*state));
    if (state == NULL)
        return BB_NO_MEMORY;
    state->skip = bb_separator_skip_of(bb_cpu_best());
    pass->state = state;
    bb_separated_sort_slots(pass->slots, pass->slot_count);
    return BB_OK;
}

void bb_separated_release(struct bb_pass *pass)
{
    bb_free(pass->state);
}

static struct bb_field read_field(struct bb_record *record, const uint8_t *at, uint8_t separator,
                                  bb_separated_reading reading)
{
    const uint8_t *end = record->line.data + record->line.size;
    const uint8_t *stop = memchr(at, separator, (size_t)(end - at));
    struct bb_field field = bb_field_of(at, stop == NULL ? end : stop);
    return reading == NULL ? field : reading(record, field.text);
}

void bb_separated_read(struct bb_pass *pass, struct bb_record *record, bb_separated_reading reading)
{
    const struct separated_state *state = pass->state;
    uint8_t separator = pass->slots[0].definition->separator;
    const uint8_t *at = record->line.size == 0 ? NULL : record->line.data;
    const uint8_t *end = record->line.data + record->line.size;
    uint64_t number = 1;
    for (size_t i = 0; i < pass->slot_count;) {
        uint64_t wanted = pass->slots[i].definition->field;
        if (at != NULL && wanted > number)
            at = state->skip(at, end, separator, wanted - number);
        number = wanted;
        struct bb_field field = at == NULL ? bb_field_without(BB_ATTRIBUTE_MISSING)
                                           : read_field(record, at, separator, reading);
        i = bb_separated_set_field(pass, i, record, field);
    }
}

/* --- Names of columns --- */

/* The column of this name, from 1; 0 when no column has it. */
static uint64_t find_in_row(struct bb_bytes header, uint8_t separator, struct bb_bytes name,
                            uint8_t *unquoted)
{
    struct bb_csv_row row;
    bb_csv_row_init(&row, header, separator);
    for (uint64_t number = 1; row.at != NULL; number++) {
        struct bb_csv_field field = bb_csv_row_next(&row);
        if (field.has_doubled_quotes && field.state == BB_ATTRIBUTE_PRESENT)
            field.text = bb_bytes_of(unquoted, bb_csv_row_unquote(field.text, unquoted));
        if (field.state == BB_ATTRIBUTE_PRESENT && bb_bytes_equal(field.text, name))
            return number;
    }
    return 0;
}

static uint64_t find_in_list(struct bb_bytes header, const char *separators, struct bb_bytes name)
{
    uint64_t number = 1;
    size_t first = 0;
    if (header.size == 0)
        return 0;
    for (size_t i = 0; i <= header.size; i++) {
        if (i < header.size && (header.data[i] == 0 || strchr(separators, header.data[i]) == NULL))
            continue;
        if (bb_bytes_equal(bb_bytes_of(header.data + first, i - first), name))
            return number;
        number++;
        first = i + 1;
    }
    return 0;
}

static enum bb_status parse_name(struct bb_definition_text *text, struct bb_buf *name)
{
    struct bb_bytes word;
    if (bb_definition_text_peek(text) == '\'')
        return bb_definition_text_string(text, "the name of a column", name);
    enum bb_status status = bb_definition_text_word(text, "the number or name of a column", &word);
    return status == BB_OK ? bb_buf_assign(name, word) : status;
}

static enum bb_status find_column(struct bb_definition_text *text, size_t at,
                                  const char *separators, bool with_quotes, struct bb_bytes name,
                                  const struct bb_buf *header, uint64_t *ret_field)
{
    uint8_t unquoted[BB_DEFINITION_SIZE_MAX];
    uint64_t found = with_quotes
                         ? find_in_row(bb_buf_bytes(header), (uint8_t)separators[0], name, unquoted)
                         : find_in_list(bb_buf_bytes(header), separators, name);
    if (found == 0)
        return bb_definition_text_fail(text, at, "the header has no column of this name");
    *ret_field = found;
    return BB_OK;
}

enum bb_status bb_separated_print_field(const struct bb_definition *definition, struct bb_buf *buf)
{
    return bb_buf_print(buf, "%llu", (unsigned long long)definition->field);
}

enum bb_status bb_separated_parse_column(struct bb_definition_text *text, const char *separators,
                                         bool with_quotes, uint64_t *ret_field)
{
    struct bb_buf name = {0};
    struct bb_buf header = {0};
    size_t at = bb_definition_text_next(text);
    enum bb_status status = parse_name(text, &name);
    if (status == BB_OK)
        status = bb_definition_text_expect(text, ',');
    if (status == BB_OK)
        status = bb_definition_text_string(text, "the header", &header);
    if (status == BB_OK)
        status =
            find_column(text, at, separators, with_quotes, bb_buf_bytes(&name), &header, ret_field);
    bb_buf_deinit(&name);
    bb_buf_deinit(&header);
    return status;
}
