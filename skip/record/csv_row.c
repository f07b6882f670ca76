/* See csv_row.h. */
#include "skip/record/csv_row.h"

#include "base/assert.h"

#include <string.h>

/* Goes to the field after the separator that is at `at` or later. */
static const uint8_t *go_on(struct bb_csv_row *row, const uint8_t *at)
{
    const uint8_t *separator = memchr(at, row->separator, (size_t)(row->end - at));
    row->at = separator == NULL ? NULL : separator + 1;
    return separator == NULL ? row->end : separator;
}

/* The quote that ends the field; NULL when none does. */
static const uint8_t *find_end_quote(const uint8_t *at, const uint8_t *end, bool *ret_has_doubled)
{
    for (;;) {
        at = memchr(at, '"', (size_t)(end - at));
        if (at == NULL || at + 1 == end || at[1] != '"')
            return at;
        *ret_has_doubled = true;
        at += 2;
    }
}

static struct bb_csv_field quoted_field(struct bb_csv_row *row)
{
    struct bb_csv_field field = {.state = BB_ATTRIBUTE_MALFORMED};
    const uint8_t *first = row->at + 1;
    const uint8_t *quote = find_end_quote(first, row->end, &field.has_doubled_quotes);
    if (quote == NULL) {
        row->at = NULL;
        return field;
    }
    if (go_on(row, quote + 1) != quote + 1)
        return field;
    field.state = BB_ATTRIBUTE_PRESENT;
    field.text = (struct bb_bytes){first, (size_t)(quote - first)};
    return field;
}

struct bb_csv_field bb_csv_row_next(struct bb_csv_row *row)
{
    BB_DEBUG_ASSERT(row->at != NULL);
    const uint8_t *first = row->at;
    if (first < row->end && *first == '"')
        return quoted_field(row);
    const uint8_t *last = go_on(row, first);
    return (struct bb_csv_field){.state = BB_ATTRIBUTE_PRESENT,
                                 .text = {first, (size_t)(last - first)}};
}

size_t bb_csv_row_unquote(struct bb_bytes text, uint8_t *target)
{
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        target[size++] = text.data[i];
        i += text.data[i] == '"';
    }
    return size;
}
