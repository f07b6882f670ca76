/* See lexer.h. */
#include "skip/condition/lexer.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "skip/record/number.h"

static const char *const KEYWORDS[] = {
    "AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "LIKE", "ILIKE", "TRUE", "FALSE",
};

static bool is_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_word_byte(uint8_t byte)
{
    return is_letter(byte) || bb_number_is_digit(byte) || byte == '.';
}

static bool is_space(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static uint8_t byte_at(struct bb_bytes text, size_t at)
{
    return at < text.size ? text.data[at] : 0;
}

static struct bb_word word_of(struct bb_bytes text, enum bb_word_kind kind, size_t offset,
                              size_t end)
{
    return (struct bb_word){.kind = kind,
                            .offset = offset,
                            .end = end,
                            .text = bb_bytes_of(text.data + offset, end - offset)};
}

static struct bb_word bad_word(struct bb_bytes text, size_t offset, size_t end, const char *trouble)
{
    struct bb_word word = word_of(text, BB_WORD_BAD, offset, end);
    word.trouble = trouble;
    return word;
}

static struct bb_word read_quoted(struct bb_bytes text, size_t offset)
{
    uint8_t quote = text.data[offset];
    size_t at = offset + 1;
    for (; at < text.size; at++) {
        if (text.data[at] != quote)
            continue;
        if (byte_at(text, at + 1) != quote)
            break;
        at++;
    }
    if (at >= text.size)
        return bad_word(text, offset, text.size, "a quote that is not closed");
    struct bb_word word =
        word_of(text, quote == '`' ? BB_WORD_NAME : BB_WORD_STRING, offset, at + 1);
    word.text = bb_bytes_of(text.data + offset + 1, at - offset - 1);
    word.quote = (char)quote;
    return word;
}

static size_t skip_digits(struct bb_bytes text, size_t at)
{
    while (bb_number_is_digit(byte_at(text, at)))
        at++;
    return at;
}

static size_t skip_sign(struct bb_bytes text, size_t at)
{
    return byte_at(text, at) == '+' || byte_at(text, at) == '-' ? at + 1 : at;
}

static struct bb_word read_number(struct bb_bytes text, size_t offset)
{
    size_t first = skip_sign(text, offset);
    size_t at = skip_digits(text, first);
    size_t digits = at - first;
    if (byte_at(text, at) == '.') {
        size_t end = skip_digits(text, at + 1);
        digits += end - at - 1;
        at = end;
    }
    bool is_good = digits > 0;
    if (is_good && (byte_at(text, at) == 'e' || byte_at(text, at) == 'E')) {
        size_t exponent = skip_sign(text, at + 1);
        at = skip_digits(text, exponent);
        is_good = at > exponent;
    }
    is_good = is_good && !is_word_byte(byte_at(text, at));
    while (is_word_byte(byte_at(text, at)))
        at++;
    if (!is_good)
        return bad_word(text, offset, at, "a malformed number");
    return word_of(text, BB_WORD_NUMBER, offset, at);
}

static struct bb_word read_sign(struct bb_bytes text, size_t offset)
{
    uint8_t second = byte_at(text, offset + 1);
    switch (text.data[offset]) {
    case '(':
        return word_of(text, BB_WORD_OPEN, offset, offset + 1);
    case ')':
        return word_of(text, BB_WORD_CLOSE, offset, offset + 1);
    case ',':
        return word_of(text, BB_WORD_COMMA, offset, offset + 1);
    case '=':
        return word_of(text, BB_WORD_EQUAL, offset, offset + 1);
    case '!':
        if (second == '=')
            return word_of(text, BB_WORD_NOT_EQUAL, offset, offset + 2);
        break;
    case '<':
        if (second == '>')
            return word_of(text, BB_WORD_NOT_EQUAL, offset, offset + 2);
        if (second == '=')
            return word_of(text, BB_WORD_LESS_OR_EQUAL, offset, offset + 2);
        return word_of(text, BB_WORD_LESS, offset, offset + 1);
    case '>':
        if (second == '=')
            return word_of(text, BB_WORD_GREATER_OR_EQUAL, offset, offset + 2);
        return word_of(text, BB_WORD_GREATER, offset, offset + 1);
    default:
        break;
    }
    return bad_word(text, offset, offset + 1, "a character that no condition has");
}

struct bb_word bb_lexer_next(struct bb_bytes text, size_t offset)
{
    while (offset < text.size && is_space(text.data[offset]))
        offset++;
    if (offset >= text.size)
        return (struct bb_word){.kind = BB_WORD_END, .offset = text.size, .end = text.size};
    uint8_t first = text.data[offset];
    if (first == '\'' || first == '"' || first == '`')
        return read_quoted(text, offset);
    if (bb_number_is_digit(first) || first == '.' || first == '+' || first == '-')
        return read_number(text, offset);
    if (!is_letter(first))
        return read_sign(text, offset);
    size_t at = offset;
    while (is_word_byte(byte_at(text, at)))
        at++;
    return word_of(text, BB_WORD_WORD, offset, at);
}

static bool equals_ignoring_case(struct bb_bytes text, const char *upper)
{
    size_t size = strlen(upper);
    if (text.size != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = text.data[i];
        if (byte >= 'a' && byte <= 'z')
            byte = (uint8_t)(byte - 'a' + 'A');
        if (byte != (uint8_t)upper[i])
            return false;
    }
    return true;
}

bool bb_lexer_word_is(const struct bb_word *word, const char *upper)
{
    return word->kind == BB_WORD_WORD && equals_ignoring_case(word->text, upper);
}

bool bb_lexer_word_is_keyword(struct bb_bytes text)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(KEYWORDS); i++)
        if (equals_ignoring_case(text, KEYWORDS[i]))
            return true;
    return false;
}

bool bb_lexer_word_is_plain(struct bb_bytes name)
{
    if (name.size == 0 || !is_letter(name.data[0]) || bb_lexer_word_is_keyword(name))
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (!is_word_byte(name.data[i]))
            return false;
    return true;
}

size_t bb_lexer_word_unquote(const struct bb_word *word, uint8_t *to)
{
    size_t size = 0;
    for (size_t i = 0; i < word->text.size; i++) {
        to[size++] = word->text.data[i];
        if (word->text.data[i] == (uint8_t)word->quote)
            i++;
    }
    return size;
}
