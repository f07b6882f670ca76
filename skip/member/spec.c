/* Specs of indexes as text: kind(attribute, name=value, ...). See bb/skip.h. */
#include "skip/member/spec.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/condition/words.h"
#include "skip/record/number.h"
#include "skip/record/schema.h"

static const char *const KIND_NAMES[] = {
    [BB_SKIP_MIN_MAX] = "min_max", [BB_SKIP_SET] = "set",       [BB_SKIP_VALUES] = "values",
    [BB_SKIP_TOKENS] = "tokens",   [BB_SKIP_NGRAMS] = "ngrams", [BB_SKIP_COLUMN] = "column",
    [BB_SKIP_TEXT] = "text",
};
#define KIND_END (sizeof(KIND_NAMES) / sizeof(KIND_NAMES[0]))

const char *bb_skip_kind_name(enum bb_skip_kind kind)
{
    return (size_t)kind < KIND_END ? KIND_NAMES[kind] : NULL;
}

static bool has_rate(enum bb_skip_kind kind)
{
    return kind == BB_SKIP_VALUES || kind == BB_SKIP_TOKENS || kind == BB_SKIP_NGRAMS;
}

static bool has_tokenizer(enum bb_skip_kind kind)
{
    return kind == BB_SKIP_TOKENS || kind == BB_SKIP_TEXT;
}

static bool has_fold(const struct bb_skip_spec *spec)
{
    return spec->kind == BB_SKIP_TOKENS || spec->kind == BB_SKIP_NGRAMS ||
           spec->tokenizer == BB_TOKENIZER_UNICODE;
}

/* WHY these: reading a granule in vain takes 30 us. A tenth of the rate takes 3 to 20 % more space
 * (docs/skip-indexes.md). */
static double default_rate(enum bb_skip_kind kind)
{
    return kind == BB_SKIP_VALUES ? 0.001 : kind == BB_SKIP_TOKENS ? 0.0001 : 0.1;
}

static struct bb_skip_spec spec_default(enum bb_skip_kind kind, uint32_t attribute)
{
    return (struct bb_skip_spec){
        .kind = kind,
        .attribute = attribute,
        .rate = has_rate(kind) ? default_rate(kind) : 0,
        .set_values_max = kind == BB_SKIP_SET ? BB_SPEC_SET_VALUES_DEFAULT : 0,
        .ngram_size = kind == BB_SKIP_NGRAMS ? BB_SPEC_NGRAM_DEFAULT : 0,
    };
}

static bool parameters_are_valid(const struct bb_skip_spec *spec)
{
    bool rate = has_rate(spec->kind)
                    ? spec->rate >= BB_SKIP_RATE_MIN && spec->rate <= BB_SKIP_RATE_MAX
                    : spec->rate == 0;
    bool values = spec->kind == BB_SKIP_SET
                      ? spec->set_values_max >= 1 && spec->set_values_max <= BB_SKIP_SET_VALUES_MAX
                      : spec->set_values_max == 0;
    bool ngram = spec->kind == BB_SKIP_NGRAMS ? spec->ngram_size >= BB_SKIP_NGRAM_MIN &&
                                                    spec->ngram_size <= BB_SKIP_NGRAM_MAX
                                              : spec->ngram_size == 0;
    bool tokenizer = spec->tokenizer == BB_TOKENIZER_ASCII ||
                     (spec->tokenizer == BB_TOKENIZER_UNICODE && has_tokenizer(spec->kind));
    return rate && values && ngram && tokenizer && (has_fold(spec) || !spec->folds_case) &&
           (spec->kind == BB_SKIP_TEXT || !spec->counts_records);
}

bool bb_spec_is_same(const struct bb_skip_spec *a, const struct bb_skip_spec *b)
{
    return a->kind == b->kind && a->rate == b->rate && a->set_values_max == b->set_values_max &&
           a->ngram_size == b->ngram_size && a->folds_case == b->folds_case &&
           a->counts_records == b->counts_records && a->tokenizer == b->tokenizer;
}

static bool fits_type(enum bb_skip_kind kind, enum bb_attribute_type type)
{
    bool is_text = kind == BB_SKIP_TOKENS || kind == BB_SKIP_NGRAMS || kind == BB_SKIP_TEXT;
    return !is_text || type == BB_ATTRIBUTE_BYTES;
}

bool bb_spec_is_valid(const struct bb_skip_spec *spec, enum bb_attribute_type type)
{
    return bb_skip_kind_name(spec->kind) != NULL && fits_type(spec->kind, type) &&
           parameters_are_valid(spec);
}

enum bb_status bb_spec_check_build(const struct bb_skip_spec *spec)
{
    return spec->tokenizer == BB_TOKENIZER_UNICODE ? bb_words_check() : BB_OK;
}

/* --- Reading --- */

struct reading {
    const char *text;
    const char *at;
    bool folds_ascii; /* fold=lower */
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(struct reading *reading)
{
    while (*reading->at == ' ' || *reading->at == '\t')
        reading->at++;
}

static struct bb_bytes take_word(struct reading *reading)
{
    skip_blanks(reading);
    const char *begin = reading->at;
    while (is_word(*reading->at))
        reading->at++;
    return (struct bb_bytes){.data = (const uint8_t *)begin, .size = (size_t)(reading->at - begin)};
}

static bool take(struct reading *reading, char c)
{
    skip_blanks(reading);
    if (*reading->at != c)
        return false;
    reading->at++;
    return true;
}

static bool is_text(struct bb_bytes word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

static enum bb_status refuse(const struct reading *reading, const char *expected)
{
    return bb_fail(BB_INVALID, "index \"%s\": at byte %zu: expected %s", reading->text,
                   (size_t)(reading->at - reading->text), expected);
}

static enum bb_status take_kind(struct reading *reading, enum bb_skip_kind *ret_kind)
{
    struct reading begin = *reading;
    struct bb_bytes word = take_word(reading);
    for (size_t kind = 1; kind < KIND_END; kind++) {
        if (is_text(word, KIND_NAMES[kind])) {
            *ret_kind = (enum bb_skip_kind)kind;
            return take(reading, '(') ? BB_OK : refuse(reading, "'('");
        }
    }
    return refuse(&begin, "min_max, set, values, tokens, ngrams, column or text");
}

static enum bb_status take_attribute(struct reading *reading, const struct bb_schema *schema,
                                     enum bb_skip_kind kind, uint32_t *ret_attribute)
{
    struct reading begin = *reading;
    size_t attribute = 0;
    if (bb_schema_find(schema, take_word(reading), &attribute) != BB_OK) {
        (void)!refuse(&begin, "the name of an attribute");
        return bb_schema_tell_names(schema);
    }
    if (!fits_type(kind, bb_schema_type(schema, attribute)))
        return refuse(&begin, "an attribute of type bytes");
    *ret_attribute = (uint32_t)attribute;
    return BB_OK;
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

static enum bb_status take_number(struct reading *reading, double *ret_number)
{
    skip_blanks(reading);
    const char *end = reading->at;
    while (is_of_number(*end))
        end++;
    if (!bb_number_f64(bb_bytes_of(reading->at, (size_t)(end - reading->at)), ret_number))
        return refuse(reading, "a number");
    reading->at = end;
    return BB_OK;
}

/* Reads a number from low to high. expected: this range, for a message. */
static enum bb_status take_number_in(struct reading *reading, double low, double high,
                                     const char *expected, double *ret_number)
{
    struct reading begin = *reading;
    enum bb_status status = take_number(reading, ret_number);
    if (status == BB_OK && !(*ret_number >= low && *ret_number <= high))
        return refuse(&begin, expected);
    return status;
}

static enum bb_status take_count(struct reading *reading, uint32_t low, uint32_t high,
                                 const char *expected, uint32_t *ret_count)
{
    struct reading begin = *reading;
    double number = 0;
    enum bb_status status = take_number_in(reading, low, high, expected, &number);
    if (status != BB_OK)
        return status;
    if (number != (uint32_t)number)
        return refuse(&begin, expected);
    *ret_count = (uint32_t)number;
    return BB_OK;
}

/* Reads one of two words. expected: both words, for a message. */
static enum bb_status take_choice(struct reading *reading, const char *no, const char *yes,
                                  const char *expected, bool *ret_is_yes)
{
    struct reading begin = *reading;
    struct bb_bytes word = take_word(reading);
    if (!is_text(word, no) && !is_text(word, yes))
        return refuse(&begin, expected);
    *ret_is_yes = is_text(word, yes);
    return BB_OK;
}

/* Reads none, lower (of ASCII) or unicode. Parameters may be in any order, so check_fold decides
 * later whether lower or unicode fits the tokenizer. */
static enum bb_status take_fold(struct reading *reading, struct bb_skip_spec *spec)
{
    struct reading begin = *reading;
    struct bb_bytes word = take_word(reading);
    if (!is_text(word, "none") && !is_text(word, "lower") && !is_text(word, "unicode"))
        return refuse(&begin, "none, lower or unicode");
    spec->folds_case = !is_text(word, "none");
    reading->folds_ascii = is_text(word, "lower");
    return BB_OK;
}

static enum bb_status take_tokenizer(struct reading *reading, struct bb_skip_spec *spec)
{
    bool is_unicode = false;
    enum bb_status status =
        take_choice(reading, "ascii", "unicode", "ascii or unicode", &is_unicode);
    if (status == BB_OK)
        spec->tokenizer = is_unicode ? BB_TOKENIZER_UNICODE : BB_TOKENIZER_ASCII;
    return status;
}

static enum bb_status check_fold(const struct reading *reading, const struct bb_skip_spec *spec)
{
    bool is_unicode = spec->tokenizer == BB_TOKENIZER_UNICODE;
    if (spec->kind == BB_SKIP_TEXT && spec->folds_case && !is_unicode)
        return refuse(reading, "fold=none, or tokenizer=unicode");
    if (!spec->folds_case || reading->folds_ascii != is_unicode)
        return BB_OK;
    return refuse(reading, is_unicode ? "fold=unicode or fold=none with tokenizer=unicode"
                                      : "fold=lower or fold=none, or tokenizer=unicode");
}

static enum bb_status take_parameter(struct reading *reading, struct bb_skip_spec *spec)
{
    struct reading begin = *reading;
    struct bb_bytes name = take_word(reading);
    if (!take(reading, '='))
        return refuse(reading, "name=value");
    if (has_rate(spec->kind) && is_text(name, "rate"))
        return take_number_in(reading, BB_SKIP_RATE_MIN, BB_SKIP_RATE_MAX,
                              "a rate from 0.0000001 to 0.5", &spec->rate);
    if (spec->kind == BB_SKIP_SET && is_text(name, "values"))
        return take_count(reading, 1, BB_SKIP_SET_VALUES_MAX, "a whole number from 1 to 65536",
                          &spec->set_values_max);
    if (spec->kind == BB_SKIP_NGRAMS && is_text(name, "n"))
        return take_count(reading, BB_SKIP_NGRAM_MIN, BB_SKIP_NGRAM_MAX,
                          "a whole number from 2 to 8", &spec->ngram_size);
    if (has_tokenizer(spec->kind) && is_text(name, "tokenizer"))
        return take_tokenizer(reading, spec);
    if ((has_fold(spec) || has_tokenizer(spec->kind)) && is_text(name, "fold"))
        return take_fold(reading, spec);
    if (spec->kind == BB_SKIP_TEXT && is_text(name, "counts"))
        return take_choice(reading, "no", "yes", "no or yes", &spec->counts_records);
    return refuse(&begin, "a parameter of this kind");
}

enum bb_status bb_skip_spec_parse(const char *text, const struct bb_schema *schema,
                                  struct bb_skip_spec *ret_spec)
{
    struct reading reading = {.text = text, .at = text};
    enum bb_skip_kind kind = 0;
    uint32_t attribute = 0;
    enum bb_status status = take_kind(&reading, &kind);
    if (status == BB_OK)
        status = take_attribute(&reading, schema, kind, &attribute);
    struct bb_skip_spec spec = spec_default(kind, attribute);
    while (status == BB_OK && take(&reading, ','))
        status = take_parameter(&reading, &spec);
    if (status == BB_OK)
        status = check_fold(&reading, &spec);
    if (status == BB_OK && !take(&reading, ')'))
        status = refuse(&reading, "',' or ')'");
    skip_blanks(&reading);
    if (status == BB_OK && *reading.at != '\0')
        status = refuse(&reading, "the end");
    if (status == BB_OK && !bb_spec_is_valid(&spec, bb_schema_type(schema, attribute)))
        status = bb_fail(BB_INVALID, "index \"%s\": its parameters exclude each other", text);
    if (status == BB_OK)
        *ret_spec = spec;
    return status;
}

/* The text of a rate has a point in every locale. bb_buf_print writes the decimal point of the
 * program's locale, so another byte is replaced. */
static enum bb_status print_rate(double rate, struct bb_buf *buf)
{
    size_t begin = buf->size;
    enum bb_status status = bb_buf_print(buf, "%.9g", rate);
    size_t end = begin;
    for (size_t i = begin; status == BB_OK && i < buf->size; i++) {
        if (is_of_number((char)buf->data[i]))
            buf->data[end++] = buf->data[i];
        else if (end == begin || buf->data[end - 1] != '.')
            buf->data[end++] = '.';
    }
    if (status == BB_OK)
        buf->size = end;
    return status;
}

static const char *fold_name(const struct bb_skip_spec *spec)
{
    if (!spec->folds_case)
        return "none";
    return spec->tokenizer == BB_TOKENIZER_UNICODE ? "unicode" : "lower";
}

enum bb_status bb_skip_spec_print(const struct bb_skip_spec *spec, const struct bb_schema *schema,
                                  struct bb_buf *buf)
{
    enum bb_status status = bb_buf_print(buf, "%s(%s", bb_skip_kind_name(spec->kind),
                                         bb_schema_name(schema, spec->attribute));
    if (status == BB_OK && spec->kind == BB_SKIP_SET)
        status = bb_buf_print(buf, ", values=%u", spec->set_values_max);
    if (status == BB_OK && spec->kind == BB_SKIP_NGRAMS)
        status = bb_buf_print(buf, ", n=%u", spec->ngram_size);
    if (status == BB_OK && has_rate(spec->kind))
        status = bb_buf_print(buf, ", rate=");
    if (status == BB_OK && has_rate(spec->kind))
        status = print_rate(spec->rate, buf);
    if (status == BB_OK && spec->tokenizer == BB_TOKENIZER_UNICODE)
        status = bb_buf_print(buf, ", tokenizer=unicode");
    if (status == BB_OK && has_fold(spec))
        status = bb_buf_print(buf, ", fold=%s", fold_name(spec));
    if (status == BB_OK && spec->kind == BB_SKIP_TEXT)
        status = bb_buf_print(buf, ", counts=%s", spec->counts_records ? "yes" : "no");
    return status == BB_OK ? bb_buf_print(buf, ")") : status;
}
