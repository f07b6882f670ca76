/* See caret.h. Messages of the library have "at byte N" for places in texts, and "at offset N" for
 * places in files. */
#include "tools/records/caret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bb/base.h"

/* Bytes on either side. */
#define SHOWN_BEFORE 60
#define SHOWN_AFTER  40

static bool find_number(const char *message, const char *words, size_t *ret_number)
{
    const char *found = strstr(message, words);
    char *end = NULL;
    if (found == NULL)
        return false;
    *ret_number = strtoul(found + strlen(words), &end, 10);
    return end != found + strlen(words);
}

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Control characters become question marks. */
static void show_bytes(const char *text, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        putc((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i], stderr);
}

void caret_show(const char *text)
{
    const char *message = bb_error_last()->message;
    size_t size = strlen(text);
    size_t at = 0;
    if (!find_number(message, "at byte ", &at))
        return;
    if (at > size)
        return;
    size_t begin = at > SHOWN_BEFORE ? at - SHOWN_BEFORE : 0;
    size_t end = size - at > SHOWN_AFTER ? at + SHOWN_AFTER : size;
    while (begin > 0 && is_inside_character(text[begin]))
        begin--;
    while (end < size && is_inside_character(text[end]))
        end++;
    fputs("  ", stderr);
    show_bytes(text, begin, end);
    fputs("\n  ", stderr);
    for (size_t i = begin; i < at; i++) {
        if (!is_inside_character(text[i]))
            putc(' ', stderr);
    }
    fputs("^\n", stderr);
}

enum bb_status caret_parse_condition(const struct bb_schema *schema, const char *text,
                                     struct bb_condition **ret_condition)
{
    enum bb_status status = bb_condition_parse(schema, bb_bytes_of_text(text), ret_condition);
    if (status == BB_INVALID)
        caret_show(text);
    return status;
}
