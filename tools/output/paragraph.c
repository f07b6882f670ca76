/* See paragraph.h. */
#include "tools/output/paragraph.h"

#include <string.h>

struct filler {
    struct output *out;
    size_t column;
    size_t from;
    bool is_at_start; /* of a line: no blank precedes the word */
};

/* The number of characters of UTF-8. */
static size_t width(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static void end_line(struct filler *filler)
{
    output_print(filler->out, "\n");
    filler->column = 0;
    filler->is_at_start = true;
}

static void add_word(struct filler *filler, const char *word, size_t size)
{
    size_t columns = width(word, size);
    if (!filler->is_at_start && filler->column + 1 + columns > PARAGRAPH_COLUMNS)
        end_line(filler);
    size_t blanks = !filler->is_at_start            ? 1
                    : filler->column < filler->from ? filler->from - filler->column
                                                    : 0;
    output_print(filler->out, "%*s%.*s", (int)blanks, "", (int)size, word);
    filler->column += blanks + columns;
    filler->is_at_start = false;
}

static void add_words(struct filler *filler, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        const char *blank = memchr(text, ' ', (size_t)(end - text));
        size_t word = (size_t)((blank == NULL ? end : blank) - text);
        if (word > 0)
            add_word(filler, text, word);
        text += word + 1;
    }
}

void paragraph_print(struct output *out, const char *text, size_t column, size_t from)
{
    struct filler filler = {.out = out, .column = column, .from = from, .is_at_start = true};
    add_words(&filler, text, strlen(text));
    end_line(&filler);
}

void paragraph_print_page(struct output *out, const char *page)
{
    struct filler filler = {.out = out, .is_at_start = true};
    while (*page != '\0') {
        size_t size = strcspn(page, "\n");
        bool is_kept = size == 0 || page[0] == ' ';
        if (is_kept && !filler.is_at_start)
            end_line(&filler);
        if (is_kept)
            output_print(out, "%.*s\n", (int)size, page);
        else
            add_words(&filler, page, size);
        page += size + (page[size] == '\n');
    }
    if (!filler.is_at_start)
        end_line(&filler);
}
