/* See condition_draw.h. */
#include "tests/support/condition_draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

const char *const bb_draw_definitions[BB_DRAW_FIELDS] = {
    "text bytes = tsv(1)", "raw bytes = tsv(2)", "i i64 = tsv(3)",
    "u u64 = tsv(4)",      "f f64 = tsv(5)",     "t time(rfc3339) = tsv(6)",
};

static const char *const names[BB_DRAW_FIELDS] = {"text", "raw", "i", "u", "f", "t"};

static const char *const fragments[] = {
    "a",
    "b",
    "ab",
    "abc",
    "B",
    "AB",
    "aa",
    " ",
    "-",
    "_",
    "%",
    "\\",
    "'",
    "\"",
    ".",
    "GET /admin/",
    "sqlmap",
    "x1",
    "\xc3\xa9",
    "\xe6\x97\xa5\xe6\x9c\xac",
    "\xf0\x9f\x98\x80",
    "5",
};

static const uint8_t raw_bytes[] = {0, 1, 'a', 'b', 'A', '-', 0x80, 0x82, 0xa9, 0xc3, 0xe2, 0xff};

static const struct {
    const char *text;
    int64_t value;
} integers[] = {
    {"-9223372036854775808", INT64_MIN},
    {"-9223372036854775807", INT64_MIN + 1},
    {"-9007199254740993", -9007199254740993},
    {"-2", -2},
    {"-1", -1},
    {"0", 0},
    {"1", 1},
    {"2", 2},
    {"3", 3},
    {"9007199254740992", 9007199254740992},
    {"9007199254740993", 9007199254740993},
    {"9223372036854775806", INT64_MAX - 1},
    {"9223372036854775807", INT64_MAX},
};

static const struct {
    const char *text;
    double value;
} doubles[] = {
    {"-1e999", -INFINITY}, {"-1e300", -1e300},  {"-9007199254740992.0", -9007199254740992.0},
    {"-1.5", -1.5},        {"-0.0", -0.0},      {"0.0", 0.0},
    {"0.25", 0.25},        {"1.0", 1.0},        {"1.5", 1.5},
    {"2.0", 2.0},          {"2.5", 2.5},        {"9007199254740992.0", 9007199254740992.0},
    {"1e300", 1e300},      {"1e999", INFINITY},
};

static const struct {
    const char *text;
    int64_t value;
} times[] = {
    {"1677-09-21T00:12:43.145224192Z", INT64_MIN},
    {"1969-12-31T23:59:59.999999999Z", -1},
    {"1970-01-01", 0},
    {"1970-01-01 00:00:00.000000001", 1},
    {"2015-05-17T10:05:03Z", 1431857103000000000},
    {"2015-05-17T12:05:03.5+02:00", 1431857103500000000},
    {"2262-04-11T23:47:16.854775807Z", INT64_MAX},
};

static void must(enum bb_status status)
{
    if (status != BB_OK)
        abort();
}

static size_t below(struct bb_rng *rng, size_t count)
{
    return (size_t)bb_rng_below(rng, count);
}

/* Some fragments one after the other. */
static size_t draw_text(struct bb_rng *rng, size_t fragments_max, uint8_t *to)
{
    size_t size = 0;
    for (size_t left = below(rng, fragments_max + 1); left > 0; left--) {
        const char *fragment = fragments[below(rng, LENGTH(fragments))];
        if (size + strlen(fragment) > BB_DRAW_SIZE_MAX)
            break;
        memcpy(to + size, fragment, strlen(fragment));
        size += strlen(fragment);
    }
    return size;
}

static size_t draw_raw(struct bb_rng *rng, size_t size_max, uint8_t *to)
{
    size_t size = below(rng, size_max + 1);
    for (size_t i = 0; i < size; i++)
        to[i] = raw_bytes[below(rng, LENGTH(raw_bytes))];
    return size;
}

static size_t draw_bytes(struct bb_rng *rng, size_t field, size_t parts_max, uint8_t *to)
{
    return field == BB_DRAW_TEXT ? draw_text(rng, parts_max, to) : draw_raw(rng, parts_max, to);
}

static void draw_number(struct bb_rng *rng, struct bb_attribute *attribute)
{
    int64_t integer = integers[below(rng, LENGTH(integers))].value;
    switch (attribute->type) {
    case BB_ATTRIBUTE_I64:
        attribute->as.i64 = integer;
        return;
    case BB_ATTRIBUTE_U64:
        attribute->as.u64 = (uint64_t)(integer & INT64_MAX);
        return;
    case BB_ATTRIBUTE_TIME:
        attribute->as.i64 = times[below(rng, LENGTH(times))].value;
        return;
    default:
        attribute->as.f64 =
            bb_rng_one_in(rng, 6) ? NAN : doubles[below(rng, LENGTH(doubles))].value;
    }
}

void bb_draw_record(struct bb_rng *rng, struct bb_drawn_record *record)
{
    static const enum bb_attribute_type types[] = {BB_ATTRIBUTE_BYTES, BB_ATTRIBUTE_BYTES,
                                                   BB_ATTRIBUTE_I64,   BB_ATTRIBUTE_U64,
                                                   BB_ATTRIBUTE_F64,   BB_ATTRIBUTE_TIME};
    for (size_t i = 0; i < BB_DRAW_FIELDS; i++) {
        struct bb_attribute *attribute = &record->attributes[i];
        *attribute = (struct bb_attribute){.type = types[i]};
        if (bb_rng_one_in(rng, 5))
            attribute->state = (enum bb_attribute_state)bb_rng_between(rng, 1, 3);
        else if (types[i] == BB_ATTRIBUTE_BYTES)
            attribute->as.bytes =
                bb_bytes_of(record->bytes[i], draw_bytes(rng, i, 7, record->bytes[i]));
        else
            draw_number(rng, attribute);
    }
}

__attribute__((format(printf, 2, 3))) static void say(struct bb_drawn_condition *condition,
                                                      const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    must(bb_buf_append(&condition->text, text, (size_t)length));
    must(bb_buf_append(&condition->sql, text, (size_t)length));
}

static void say_text(struct bb_drawn_condition *condition, const char *text)
{
    must(bb_buf_append(&condition->text, text, strlen(text)));
}

static void say_sql(struct bb_drawn_condition *condition, const char *text)
{
    must(bb_buf_append(&condition->sql, text, strlen(text)));
}

static void quote(struct bb_buf *buf, struct bb_bytes bytes, char mark)
{
    must(bb_buf_append(buf, &mark, 1));
    for (size_t i = 0; i < bytes.size; i++) {
        must(bb_buf_append(buf, &bytes.data[i], 1));
        if (bytes.data[i] == (uint8_t)mark)
            must(bb_buf_append(buf, &mark, 1));
    }
    must(bb_buf_append(buf, &mark, 1));
}

/* Of raw as X'00ff' in SQL. */
static void say_string(struct bb_rng *rng, size_t field, struct bb_bytes bytes,
                       struct bb_drawn_condition *condition)
{
    quote(&condition->text, bytes, bb_rng_one_in(rng, 2) ? '\'' : '"');
    if (field == BB_DRAW_TEXT) {
        quote(&condition->sql, bytes, '\'');
        return;
    }
    say_sql(condition, "X'");
    for (size_t i = 0; i < bytes.size; i++)
        must(bb_buf_print(&condition->sql, "%02x", bytes.data[i]));
    say_sql(condition, "'");
}

static void say_time(struct bb_rng *rng, struct bb_drawn_condition *condition)
{
    size_t number = below(rng, LENGTH(times));
    must(bb_buf_print(&condition->text, "'%s'", times[number].text));
    must(bb_buf_print(&condition->sql, "%" PRId64, times[number].value));
}

static void say_literal(struct bb_rng *rng, size_t field, struct bb_drawn_condition *condition)
{
    uint8_t bytes[BB_DRAW_SIZE_MAX];
    if (field == BB_DRAW_TIME)
        say_time(rng, condition);
    else if (field <= BB_DRAW_RAW)
        say_string(rng, field, bb_bytes_of(bytes, draw_bytes(rng, field, 4, bytes)), condition);
    else if (bb_rng_one_in(rng, 2))
        say(condition, "%s", integers[below(rng, LENGTH(integers))].text);
    else
        say(condition, "%s", doubles[below(rng, LENGTH(doubles))].text);
}

static void say_in(struct bb_rng *rng, size_t field, struct bb_drawn_condition *condition)
{
    size_t count = below(rng, 4);
    const char *not = bb_rng_one_in(rng, 3) ? "NOT " : "";
    if (count == 0) { /* in SQLite NULL is not in an empty list */
        must(bb_buf_print(&condition->text, "%s %sIN ()", names[field], not ));
        must(bb_buf_print(&condition->sql, "%s(CASE WHEN %s IS NULL THEN NULL ELSE 0 END)", not,
                          names[field]));
        return;
    }
    say(condition, "%s %sIN (", names[field], not );
    for (size_t i = 0; i < count; i++) {
        say(condition, "%s", i == 0 ? "" : ", ");
        say_literal(rng, field, condition);
    }
    say(condition, ")");
}

static void say_compare(struct bb_rng *rng, size_t field, struct bb_drawn_condition *condition)
{
    static const char *const operators[] = {"=", "<>", "!=", "<", "<=", ">", ">="};
    if (bb_rng_one_in(rng, 4)) {
        say_in(rng, field, condition);
    } else if (bb_rng_one_in(rng, 4)) {
        say(condition, "%s %sBETWEEN ", names[field], bb_rng_one_in(rng, 3) ? "NOT " : "");
        say_literal(rng, field, condition);
        say(condition, " AND ");
        say_literal(rng, field, condition);
    } else {
        say(condition, "%s %s ", names[field], operators[below(rng, LENGTH(operators))]);
        say_literal(rng, field, condition);
    }
}

/* Inequalities of SQL are negations, so that a comparison with NaN is 0 under NOT too. */
static void say_double_compare(struct bb_rng *rng, struct bb_drawn_condition *condition)
{
    static const struct {
        const char *text;
        const char *sql;
        const char * not ;
    } operators[] = {{"=", "=", ""},   {"<>", "=", "NOT "}, {"<", "<", ""},
                     {"<=", "<=", ""}, {">", ">", ""},      {">=", ">=", ""}};
    size_t number = below(rng, LENGTH(operators));
    must(bb_buf_print(&condition->text, "f %s ", operators[number].text));
    must(bb_buf_print(&condition->sql, "%s(CASE WHEN f_nan THEN 0 ELSE f %s ",
                      operators[number].not, operators[number].sql));
    say_literal(rng, BB_DRAW_F64, condition);
    say_sql(condition, " END)");
}

static void say_null(struct bb_rng *rng, size_t field, struct bb_drawn_condition *condition)
{
    const char *not = bb_rng_one_in(rng, 2) ? "NOT " : "";
    must(bb_buf_print(&condition->text, "%s IS %sNULL", names[field], not ));
    if (field == BB_DRAW_F64)
        must(bb_buf_print(&condition->sql, "%s(f IS NULL AND NOT f_nan)", not ));
    else
        must(bb_buf_print(&condition->sql, "%s IS %sNULL", names[field], not ));
}

/* Wildcards between fragments; special characters are sometimes escaped. */
static size_t draw_pattern(struct bb_rng *rng, size_t field, bool is_sql, uint8_t *to)
{
    size_t size = 0;
    for (size_t left = below(rng, 6); left > 0 && size + 20 < BB_DRAW_SIZE_MAX; left--) {
        static const char *const wildcards[] = {"%", "_", "\\%", "\\_", "\\\\"};
        uint8_t part[BB_DRAW_SIZE_MAX];
        if (bb_rng_one_in(rng, 2)) {
            const char *wildcard = wildcards[below(rng, bb_rng_one_in(rng, 3) ? 5 : 2)];
            memcpy(to + size, wildcard, strlen(wildcard));
            size += strlen(wildcard);
            continue;
        }
        size_t part_size = draw_bytes(rng, field, 1, part);
        for (size_t i = 0; i < part_size; i++)
            if (!is_sql || part[i] != '\\')
                to[size++] = part[i];
    }
    return size;
}

static void say_like(struct bb_rng *rng, size_t field, bool is_sql,
                     struct bb_drawn_condition *condition)
{
    uint8_t bytes[BB_DRAW_SIZE_MAX];
    struct bb_bytes pattern = bb_bytes_of(bytes, draw_pattern(rng, field, is_sql, bytes));
    bool ignores_case = bb_rng_one_in(rng, 3);
    const char *not = bb_rng_one_in(rng, 4) ? "NOT " : "";
    must(bb_buf_print(&condition->text, "%s %s%s ", names[field], not,
                      ignores_case ? "ILIKE" : "LIKE"));
    must(bb_buf_print(&condition->sql, ignores_case ? "lower(%s) %sLIKE lower(" : "%s %sLIKE (",
                      names[field], not ));
    say_string(rng, field, pattern, condition);
    say_sql(condition, ") ESCAPE '\\'");
}

static void say_part(struct bb_rng *rng, size_t field, struct bb_drawn_condition *condition)
{
    /* SQLite's substr of a BLOB of no bytes is NULL. */
    static const struct {
        const char *function;
        const char *sql; /* %1$s the column, %2$s the constant */
    } parts[] = {
        {"starts_with", "(CASE WHEN %1$s IS NULL THEN NULL ELSE "
                        "coalesce(substr(%1$s, 1, length(%2$s)), X'') = %2$s END)"},
        {"ends_with",
         "(CASE WHEN %1$s IS NULL THEN NULL WHEN length(%1$s) < length(%2$s) THEN 0 ELSE "
         "coalesce(substr(%1$s, length(%1$s) - length(%2$s) + 1), X'') = %2$s END)"},
        {"contains", "(instr(%1$s, %2$s) > 0)"},
    };
    uint8_t bytes[BB_DRAW_SIZE_MAX];
    struct bb_drawn_condition constant = {0};
    size_t number = below(rng, LENGTH(parts));
    say_string(rng, field, bb_bytes_of(bytes, draw_bytes(rng, field, 2, bytes)), &constant);
    must(bb_buf_print(&condition->text, "%s(%s, ", parts[number].function, names[field]));
    must(bb_buf_append(&condition->text, constant.text.data, constant.text.size));
    say_text(condition, ")");
    must(bb_buf_append(&constant.sql, "", 1));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    must(bb_buf_print(&condition->sql, parts[number].sql, names[field],
                      (const char *)constant.sql.data));
#pragma GCC diagnostic pop
    bb_drawn_condition_deinit(&constant);
}

static void say_tokens(struct bb_rng *rng, size_t field, struct bb_drawn_condition *condition)
{
    static const char *const tokens[] = {"a",      "ab", "abc",      "aa",        "GET",
                                         "sqlmap", "x1", "\xc3\xa9", "x\xc3\xa9", "5"};
    static const char *const functions[] = {"has_token", "has_all_tokens", "has_any_token"};
    size_t function = below(rng, LENGTH(functions));
    size_t count = function == 0 ? 1 : bb_rng_between(rng, 1, 3);
    say(condition, "%s(%s", functions[function], names[field]);
    for (size_t i = 0; i < count; i++)
        say(condition, ", '%s'", tokens[below(rng, LENGTH(tokens))]);
    say(condition, ")");
}

static size_t append(char *to, const char *text)
{
    memcpy(to, text, strlen(text));
    return strlen(text);
}

static size_t draw_regex(struct bb_rng *rng, size_t levels, size_t *repeats, char *to,
                         size_t space);

static size_t draw_group(struct bb_rng *rng, size_t levels, size_t *repeats, char *to, size_t space)
{
    size_t size = append(to, "(");
    size += draw_regex(rng, levels - 1, repeats, to + size, space / 3);
    if (bb_rng_one_in(rng, 2)) {
        size += append(to + size, "|");
        size += draw_regex(rng, levels - 1, repeats, to + size, space / 3);
    }
    return size + append(to + size, ")");
}

/* A language shared by POSIX and pcre2, with few repetitions and none nested: many could take
 * forever. */
static size_t draw_regex(struct bb_rng *rng, size_t levels, size_t *repeats, char *to, size_t space)
{
    static const char *const atoms[] = {"a",   "b", "ab",     "abc", ".",           "[ab]", "[^a]",
                                        "\\.", "-", "sqlmap", "B",   "GET /admin/", "5"};
    static const char *const repetitions[] = {"*", "+", "?", "{1,2}", "{0,1}"};
    size_t size = 0;
    size_t parts = bb_rng_between(rng, 1, 3);
    for (size_t i = 0; i < parts && size + 60 < space; i++) {
        bool is_repeated = *repeats > 0 && bb_rng_one_in(rng, 3);
        size_t none = 0;
        *repeats -= is_repeated ? 1 : 0;
        if (levels > 0 && bb_rng_one_in(rng, 3))
            size += draw_group(rng, is_repeated ? 1 : levels, is_repeated ? &none : repeats,
                               to + size, space - size);
        else
            size += append(to + size, atoms[below(rng, LENGTH(atoms))]);
        if (is_repeated)
            size += append(to + size, repetitions[below(rng, LENGTH(repetitions))]);
    }
    return size;
}

static void say_regex(struct bb_rng *rng, size_t field, bool is_sql,
                      struct bb_drawn_condition *condition)
{
    char pattern[600] = "";
    size_t size = 0;
    if (!is_sql && bb_rng_one_in(rng, 4)) {
        memcpy(pattern, "(?i)", 4);
        size = 4;
    }
    if (bb_rng_one_in(rng, 4))
        pattern[size++] = '^';
    size_t repeats = 3;
    size += draw_regex(rng, 2, &repeats, pattern + size, 400);
    if (bb_rng_one_in(rng, 4))
        pattern[size++] = '$';
    say_text(condition, "matches(");
    say_sql(condition, "regexp(");
    must(bb_buf_print(&condition->text, "%s, '%.*s')", names[field], (int)size, pattern));
    must(bb_buf_print(&condition->sql, "'%.*s', %s)", (int)size, pattern, names[field]));
}

static void say_predicate(struct bb_rng *rng, bool is_sql, struct bb_drawn_condition *condition)
{
    static const char *const constants[] = {"TRUE", "FALSE", "NULL"};
    size_t field = below(rng, BB_DRAW_FIELDS);
    bool is_bytes = field <= BB_DRAW_RAW;
    bool has_patterns = field == BB_DRAW_TEXT || (!is_sql && is_bytes);
    size_t kind = below(rng, 12);
    if (kind == 0)
        say_null(rng, field, condition);
    else if (kind == 1 && bb_rng_one_in(rng, 4))
        say(condition, "%s", constants[below(rng, LENGTH(constants))]);
    else if (has_patterns && kind >= 8)
        say_like(rng, field, is_sql, condition);
    else if (has_patterns && kind == 7)
        say_regex(rng, field, is_sql, condition);
    else if (is_bytes && kind >= 5)
        say_tokens(rng, field, condition);
    else if (is_bytes && kind >= 3)
        say_part(rng, field, condition);
    else if (field == BB_DRAW_F64 && is_sql)
        say_double_compare(rng, condition);
    else
        say_compare(rng, field, condition);
}

static void say_condition(struct bb_rng *rng, size_t levels, bool is_sql,
                          struct bb_drawn_condition *condition)
{
    if (levels == 0 || bb_rng_one_in(rng, 4)) {
        say_predicate(rng, is_sql, condition);
        return;
    }
    if (bb_rng_one_in(rng, 4)) {
        say(condition, "NOT (");
        say_condition(rng, levels - 1, is_sql, condition);
        say(condition, ")");
        return;
    }
    const char *word = bb_rng_one_in(rng, 2) ? " AND " : " OR ";
    for (size_t count = bb_rng_between(rng, 2, 3); count > 0; count--) {
        say(condition, "(");
        say_condition(rng, levels - 1, is_sql, condition);
        say(condition, ")%s", count > 1 ? word : "");
    }
}

void bb_draw_condition(struct bb_rng *rng, size_t levels, bool is_sql,
                       struct bb_drawn_condition *condition)
{
    bb_buf_reset(&condition->text);
    bb_buf_reset(&condition->sql);
    say_condition(rng, levels, is_sql, condition);
}

void bb_drawn_condition_deinit(struct bb_drawn_condition *condition)
{
    bb_buf_deinit(&condition->text);
    bb_buf_deinit(&condition->sql);
}
