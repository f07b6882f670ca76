/* The words of a condition's text.
 *
 *     word      letter or _, then letters, digits, _ and .      an attribute, a keyword, a function
 *     name      `any bytes`, `` for one backquote               an attribute
 *     string    'any bytes', '' for one quote; or with double quotes
 *     number    [+-] digits [. digits] [e [+-] digits], also .5 and 5.
 *     signs     ( ) , = <> != < <= > >=
 *
 * A struct bb_word borrows the text. The lexer does not fail: any other text is BAD.
 */
#ifndef BB_SKIP_CONDITION_LEXER_H
#define BB_SKIP_CONDITION_LEXER_H

#include "bb/base.h"

enum bb_word_kind {
    BB_WORD_END,
    BB_WORD_WORD,
    BB_WORD_NAME,   /* text: without the outer quotes; doubled quotes are still doubled */
    BB_WORD_STRING, /* the same */
    BB_WORD_NUMBER,
    BB_WORD_OPEN,
    BB_WORD_CLOSE,
    BB_WORD_COMMA,
    BB_WORD_EQUAL,
    BB_WORD_NOT_EQUAL,
    BB_WORD_LESS,
    BB_WORD_LESS_OR_EQUAL,
    BB_WORD_GREATER,
    BB_WORD_GREATER_OR_EQUAL,
    BB_WORD_BAD,
};

struct bb_word {
    enum bb_word_kind kind;
    size_t offset; /* where it begins */
    size_t end;    /* the offset after it */
    struct bb_bytes text;
    char quote;          /* NAME and STRING: the character */
    const char *trouble; /* BAD: the error */
};

/* The word at or after offset. */
struct bb_word bb_lexer_next(struct bb_bytes text, size_t offset);

/* True for the WORD `upper`, in any case. upper: in capitals. */
bool bb_lexer_word_is(const struct bb_word *word, const char *upper);

/* True for a keyword, in any case. It is the name of an attribute only in quotes. */
bool bb_lexer_word_is_keyword(struct bb_bytes text);

/* Whether an attribute of this name can be written without quotes. */
bool bb_lexer_word_is_plain(struct bb_bytes name);

/* Copies the text of a NAME or STRING, with each doubled quote as one: at most text.size bytes.
 * Returns the size. */
size_t bb_lexer_word_unquote(const struct bb_word *word, uint8_t *to);

#endif
