/* See suggestion.h. */
#include "tools/command/suggestion.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

/* No command or option is longer. */
#define WORD_MAX 32

void suggestion_init(struct suggestion *suggestion, const char *word, size_t word_size)
{
    *suggestion =
        (struct suggestion){.word = word, .word_size = word_size, .best_distance = SIZE_MAX};
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* True when the two characters before i in a are the two before j in b, exchanged. */
static bool is_exchange(const char *a, size_t i, const char *b, size_t j)
{
    return i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
}

/* The distance of Damerau and Levenshtein (optimal string alignment), row by row. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        rows[i][0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t replaced = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            rows[i][j] = least(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced);
            if (is_exchange(a, i, b, j) && rows[i - 2][j - 2] + 1 < rows[i][j])
                rows[i][j] = rows[i - 2][j - 2] + 1;
        }
    }
    return rows[a_size][b_size];
}

void suggestion_add(struct suggestion *suggestion, const char *candidate)
{
    size_t size = strlen(candidate);
    if (size > WORD_MAX || suggestion->word_size > WORD_MAX)
        return;
    size_t found = distance(suggestion->word, suggestion->word_size, candidate, size);
    if (found < suggestion->best_distance && found * 3 <= size) {
        suggestion->best = candidate;
        suggestion->best_distance = found;
    }
}

const char *suggestion_text(const struct suggestion *suggestion, const char *prefix)
{
    static _Thread_local char text[WORD_MAX + 32];
    if (suggestion->best == NULL)
        return "";
    snprintf(text, sizeof(text), "; did you mean %s%s?", prefix, suggestion->best);
    return text;
}
