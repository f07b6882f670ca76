/* Random conditions, as text of bb/condition.h and as SQL of SQLite with the same meaning, and
 * random records for them. Values and constants are drawn from small sets, so that they often
 * match.
 *
 * The records' table in SQL: CREATE TABLE record (id INTEGER PRIMARY KEY, text, raw, i, u, f,
 * f_nan, t): columns without a type, raw as BLOB, f_nan 1 where f is NaN (f is NULL then), t in
 * nanoseconds. Functions missing in SQLite: has_token(x, y), has_all_tokens(x, y ...),
 * has_any_token(x, y ...), regexp(pattern, x).
 */
#ifndef BB_TESTS_SUPPORT_CONDITION_DRAW_H
#define BB_TESTS_SUPPORT_CONDITION_DRAW_H

#include "bb/record.h"
#include "tests/support/rng.h"

enum bb_draw_field {
    BB_DRAW_TEXT, /* valid UTF-8 without NUL and newline */
    BB_DRAW_RAW,  /* any bytes */
    BB_DRAW_I64,
    BB_DRAW_U64, /* up to INT64_MAX */
    BB_DRAW_F64,
    BB_DRAW_TIME,
    BB_DRAW_FIELDS,
};

/* Definitions for a schema, in the order of the fields. No two have one extractor: they would be
 * one attribute to an index. */
extern const char *const bb_draw_definitions[BB_DRAW_FIELDS];

#define BB_DRAW_SIZE_MAX 64

struct bb_drawn_record {
    struct bb_attribute attributes[BB_DRAW_FIELDS];
    uint8_t bytes[2][BB_DRAW_SIZE_MAX]; /* of text and raw */
};

struct bb_drawn_condition {
    struct bb_buf text;
    struct bb_buf sql; /* equivalent to text only if is_sql was set */
};

void bb_draw_record(struct bb_rng *rng, struct bb_drawn_record *record);

/* Replaces the texts. levels: of AND, OR and NOT, at most; 0 is one predicate. is_sql: omits
 * everything that SQLite interprets differently (patterns over invalid UTF-8, invalid escapes). */
void bb_draw_condition(struct bb_rng *rng, size_t levels, bool is_sql,
                       struct bb_drawn_condition *condition);
void bb_drawn_condition_deinit(struct bb_drawn_condition *condition);

#endif
