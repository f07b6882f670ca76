/* See manual_text.h. */
#include "tools/reference/manual_text.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* A dash between letters is a hyphen, any other belongs to code. */
static bool is_code_dash(const char *at, const char *begin)
{
    return *at == '-' && (at == begin || !is_letter(at[-1]) || !is_letter(at[1]));
}

static const char *escaped(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '\'':
        return "\\(aq";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    case '`':
        return "\\(ga";
    default:
        return NULL;
    }
}

static void write_char(char c, bool is_code, struct output *out)
{
    const char *text = escaped(c);
    if (text != NULL)
        output_print(out, "%s", text);
    else
        output_print(out, is_code ? "\\-" : "%c", c);
}

static void write_code(const char *text, size_t size, struct output *out)
{
    for (size_t i = 0; i < size; i++)
        write_char(text[i], text[i] == '-', out);
}

/* A line must not begin with a dot: that is a request. */
static void begin_line(const char *text, struct output *out)
{
    if (text[0] == '.')
        output_print(out, "\\&");
}

void manual_text_write_font(char font, const char *text, struct output *out)
{
    output_print(out, "\\f%c", font);
    write_code(text, strlen(text), out);
    output_print(out, "\\fR");
}

static void write_words(const char *text, size_t size, struct output *out)
{
    bool is_code = false;
    begin_line(text, out);
    for (size_t i = 0; i < size; i++) {
        bool is_quote = text[i] == '`' && (is_code || memchr(text + i + 1, '`', size - i - 1));
        if (is_quote) {
            is_code = !is_code;
            output_print(out, is_code ? "\\fB" : "\\fR");
        } else {
            write_char(text[i], is_code ? text[i] == '-' : is_code_dash(text + i, text), out);
        }
    }
}

void manual_text_write(const char *text, struct output *out)
{
    write_words(text, strlen(text), out);
}

void manual_text_write_arguments(const char *arguments, struct output *out)
{
    bool is_name = false;
    for (const char *at = arguments; *at != '\0'; at++) {
        bool is_capital = *at >= 'A' && *at <= 'Z';
        if (is_capital != is_name)
            output_print(out, is_capital ? "\\fI" : "\\fR");
        is_name = is_capital;
        write_char(*at, *at == '-', out);
    }
    if (is_name)
        output_print(out, "\\fR");
}

enum passage { PASSAGE_NONE, PASSAGE_TEXT, PASSAGE_KEPT };

/* Ends one passage and begins another; the first follows a heading. */
static void change_passage(enum passage *passage, enum passage next, bool is_first,
                           struct output *out)
{
    if (*passage == PASSAGE_KEPT && next != PASSAGE_KEPT)
        output_print(out, ".EE\n");
    if (next == PASSAGE_TEXT && *passage != PASSAGE_TEXT && !is_first)
        output_print(out, ".PP\n");
    if (next == PASSAGE_KEPT && *passage != PASSAGE_KEPT)
        output_print(out, "%s.EX\n", is_first ? "" : ".PP\n");
    *passage = next;
}

/* A terminal has 80 columns, and a manual page indents by 7. */
#define KEPT_COLUMNS 73

/* Kept lines of such a text begin at the margin, as in the help: there they have up to 80. */
static bool has_wide_line(const char *page)
{
    size_t widest = 0;
    while (*page != '\0') {
        size_t size = strcspn(page, "\n");
        if (page[0] == ' ' && size > widest)
            widest = size;
        page += size + (page[size] == '\n');
    }
    return widest > KEPT_COLUMNS;
}

void manual_text_write_page(const char *page, struct output *out)
{
    enum passage passage = PASSAGE_NONE;
    bool is_wide = has_wide_line(page);
    bool is_first = true;
    while (*page != '\0') {
        size_t size = strcspn(page, "\n");
        enum passage next = size == 0 ? PASSAGE_NONE : page[0] == ' ' ? PASSAGE_KEPT : PASSAGE_TEXT;
        bool is_kept_before = passage == PASSAGE_KEPT;
        change_passage(&passage, next, is_first, out);
        if (is_wide && next == PASSAGE_KEPT && !is_kept_before)
            output_print(out, ".in 0\n");
        if (next == PASSAGE_KEPT)
            write_code(page, size, out);
        else
            write_words(page, size, out);
        if (next != PASSAGE_NONE)
            output_print(out, "\n");
        is_first = is_first && next == PASSAGE_NONE;
        page += size + (page[size] == '\n');
    }
    change_passage(&passage, PASSAGE_NONE, false, out);
}
