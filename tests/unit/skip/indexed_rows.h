/* Rows drawn for tests of index files, with everything that attributes may be, and a file of their
 * indexes. Included by one program each. */
#ifndef BB_TESTS_UNIT_SKIP_INDEXED_ROWS_H
#define BB_TESTS_UNIT_SKIP_INDEXED_ROWS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bb/skip.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#define ROW_TEXT_MAX 96
#define ROWS_PATH    "rows.bbi"

enum row_attribute { ROW_WORDS, ROW_NAME, ROW_NUMBER, ROW_COUNT, ROW_RATIO, ROW_TIME, ROW_WIDTH };

struct row {
    struct bb_attribute attributes[ROW_WIDTH];
    char words[ROW_TEXT_MAX];
    char name[ROW_TEXT_MAX];
};

struct indexed_rows {
    struct bb_file_memory *memory;
    struct bb_schema *schema;
    struct row *rows;
    size_t *granules; /* of each row */
    size_t row_count;
    size_t granule_count;
};

static const uint8_t rows_id[BB_SKIP_ID_SIZE] = {1, 2, 3, 4, 5};

static const char *const row_definitions[ROW_WIDTH] = {
    "words bytes = tsv(1)", "name bytes = tsv(2)", "number i64 = tsv(3)",
    "count u64 = tsv(4)",   "ratio f64 = tsv(5)",  "ts time(unix_ns) = tsv(6)",
};

/* All kinds of all attributes that they are for. */
static const char *const all_specs[] = {
    "min_max(words)",
    "min_max(name)",
    "min_max(number)",
    "min_max(count)",
    "min_max(ratio)",
    "min_max(ts)",
    "set(name, values=20)",
    "set(number, values=100)",
    "set(ratio)",
    "values(name, rate=0.1)",
    "values(number)",
    "values(count, rate=0.001)",
    "values(ratio)",
    "values(ts)",
    "tokens(words)",
    "tokens(words, fold=lower, rate=0.01)",
    "ngrams(words, n=3, rate=0.2)",
    "ngrams(name, n=2, rate=0.2, fold=lower)",
    "text(words)",
    "text(name, counts=yes)",
    NULL,
};

static inline size_t draw_word(struct bb_rng *rng, char *text)
{
    static const char *const odd[] = {"", "GET", "get", "caf\xc3\xa9", "\xff\xff\xff\xff", "0"};
    if (bb_rng_one_in(rng, 4))
        return (size_t)sprintf(text, "%s", odd[bb_rng_below(rng, 6)]);
    const char *form = bb_rng_one_in(rng, 3) ? "W%u" : "w%u";
    return (size_t)sprintf(text, form, (unsigned)bb_rng_skewed(rng, 300));
}

static inline size_t draw_words(struct bb_rng *rng, char *text)
{
    static const char separators[] = " /-_.,";
    size_t size = 0;
    for (uint64_t words = bb_rng_below(rng, 6); words > 0 && size < ROW_TEXT_MAX - 24; words--) {
        size += draw_word(rng, text + size);
        if (bb_rng_below(rng, 5) != 0)
            text[size++] = separators[bb_rng_below(rng, sizeof(separators) - 1)];
    }
    return size;
}

static inline int64_t draw_number(struct bb_rng *rng)
{
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, 0, -1};
    int64_t number = (int64_t)bb_rng_skewed(rng, 1000);
    return bb_rng_one_in(rng, 20) ? odd[bb_rng_below(rng, 4)] : number - 30;
}

static inline double draw_ratio(struct bb_rng *rng)
{
    const double odd[] = {(double)NAN,       -0.0,        0.0, (double)INFINITY,
                          -(double)INFINITY, -(double)NAN};
    return bb_rng_one_in(rng, 6) ? odd[bb_rng_below(rng, 6)] : (double)draw_number(rng) / 4;
}

/* base: most values of a granule are near to it, so that granules differ. */
static inline void draw_row(struct bb_rng *rng, int64_t base, struct row *row)
{
    for (size_t i = 0; i < ROW_WIDTH; i++)
        row->attributes[i].state = bb_rng_one_in(rng, 8)
                                       ? (enum bb_attribute_state)bb_rng_below(rng, 4)
                                       : BB_ATTRIBUTE_PRESENT;
    size_t words = draw_words(rng, row->words);
    size_t name = bb_rng_one_in(rng, 3) ? draw_words(rng, row->name) : draw_word(rng, row->name);
    row->attributes[ROW_WORDS].type = BB_ATTRIBUTE_BYTES;
    row->attributes[ROW_WORDS].as.bytes = (struct bb_bytes){(const uint8_t *)row->words, words};
    row->attributes[ROW_NAME].type = BB_ATTRIBUTE_BYTES;
    row->attributes[ROW_NAME].as.bytes = (struct bb_bytes){(const uint8_t *)row->name, name};
    row->attributes[ROW_NUMBER].type = BB_ATTRIBUTE_I64;
    row->attributes[ROW_NUMBER].as.i64 = draw_number(rng);
    row->attributes[ROW_COUNT].type = BB_ATTRIBUTE_U64;
    row->attributes[ROW_COUNT].as.u64 =
        bb_rng_one_in(rng, 50) ? UINT64_MAX : (uint64_t)base + bb_rng_below(rng, 20);
    row->attributes[ROW_RATIO].type = BB_ATTRIBUTE_F64;
    row->attributes[ROW_RATIO].as.f64 = draw_ratio(rng);
    row->attributes[ROW_TIME].type = BB_ATTRIBUTE_TIME;
    row->attributes[ROW_TIME].as.i64 = base * 1000000000 + (int64_t)bb_rng_below(rng, 1000000000);
}

static inline size_t parse_specs(const struct bb_schema *schema, const char *const *texts,
                                 struct bb_skip_spec *specs)
{
    size_t count = 0;
    for (; texts[count] != NULL; count++)
        assert_ok(bb_skip_spec_parse(texts[count], schema, &specs[count]));
    return count;
}

static inline struct bb_skip_builder *rows_builder(struct indexed_rows *rows,
                                                   const char *const *texts)
{
    struct bb_skip_spec specs[32];
    struct bb_hash_secret secret;
    struct bb_skip_builder *builder = NULL;
    bb_hash_secret_from_seed(7, &secret);
    size_t count = parse_specs(rows->schema, texts, specs);
    struct bb_skip_options options = {.file_system = bb_file_memory_system(rows->memory),
                                      .secret = &secret};
    memcpy(options.id, rows_id, sizeof(rows_id));
    assert_ok(bb_skip_builder_create(ROWS_PATH, &options, rows->schema, specs, count, &builder));
    return builder;
}

static inline void index_rows(struct indexed_rows *rows, const char *const *texts)
{
    struct bb_skip_builder *builder = rows_builder(rows, texts);
    for (size_t i = 0; i < rows->row_count; i++) {
        assert_ok(bb_skip_builder_add(builder, rows->rows[i].attributes));
        if (i + 1 == rows->row_count || rows->granules[i + 1] != rows->granules[i])
            assert_ok(bb_skip_builder_end_granule(builder, 10 * rows->granules[i]));
    }
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
}

/* Draws rows and writes an index file with these specs, ended by NULL. */
static inline void indexed_rows_init(struct indexed_rows *rows, struct bb_rng *rng,
                                     size_t granule_count, size_t rows_per_granule_max,
                                     const char *const *texts)
{
    *rows =
        (struct indexed_rows){.memory = bb_file_memory_create(1), .granule_count = granule_count};
    rows->rows = calloc(granule_count * rows_per_granule_max + 1, sizeof(rows->rows[0]));
    rows->granules = calloc(granule_count * rows_per_granule_max + 1, sizeof(rows->granules[0]));
    assert_ok(bb_schema_create(&rows->schema));
    for (size_t i = 0; i < ROW_WIDTH; i++)
        assert_ok(bb_schema_add(rows->schema, row_definitions[i]));
    for (size_t granule = 0; granule < granule_count; granule++)
        for (uint64_t left = 1 + bb_rng_below(rng, rows_per_granule_max); left > 0; left--) {
            rows->granules[rows->row_count] = granule;
            draw_row(rng, (int64_t)granule * 10, &rows->rows[rows->row_count++]);
        }
    index_rows(rows, texts);
}

static inline void indexed_rows_deinit(struct indexed_rows *rows)
{
    bb_file_memory_destroy(rows->memory);
    bb_schema_destroy(rows->schema);
    free(rows->rows);
    free(rows->granules);
}

static inline enum bb_status open_rows(struct indexed_rows *rows, bool is_resident,
                                       struct bb_skip_file **ret_file)
{
    struct bb_skip_file_options options = {.file_system = bb_file_memory_system(rows->memory),
                                           .id = rows_id,
                                           .is_resident = is_resident};
    return bb_skip_file_open(ROWS_PATH, &options, ret_file);
}

/* Where all attributes have columns: every record is decided exactly. */
static inline void check_columns(struct indexed_rows *rows, struct bb_skip_file *file,
                                 const char *text)
{
    struct bb_condition *condition = NULL;
    struct bb_condition_run *run = NULL;
    struct bb_skip_rows *decided = NULL;
    struct bb_skip_row_bits bits = {0};
    assert_ok(bb_condition_parse(
        rows->schema, (struct bb_bytes){(const uint8_t *)text, strlen(text)}, &condition));
    assert_ok(bb_condition_run_create(condition, &run));
    assert_ok(bb_skip_rows_create(file, condition, rows->schema, &decided));
    uint64_t in_granule = 0;
    uint64_t true_count = 0;
    for (size_t i = 0; i < rows->row_count; i++, in_granule++) {
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        if (i == 0 || rows->granules[i] != rows->granules[i - 1]) {
            assert_int_equal(true_count, bits.certain_count);
            assert_int_equal(in_granule, bits.record_count);
            assert_ok(bb_skip_rows_read(decided, rows->granules[i], NULL, &bits));
            in_granule = 0;
            true_count = 0;
        }
        assert_ok(bb_condition_test(run, rows->rows[i].attributes, &truth));
        uint64_t is_true = bits.is_true[in_granule / 64] >> in_granule % 64 & 1;
        uint64_t is_null = bits.is_null[in_granule / 64] >> in_granule % 64 & 1;
        if (is_true != (truth == BB_TRUTH_TRUE) || is_null != (truth == BB_TRUTH_UNKNOWN))
            fail_msg("row %zu: %s is %d", i, text, (int)truth);
        true_count += is_true;
    }
    bb_skip_rows_destroy(decided);
    bb_condition_run_destroy(run);
    bb_condition_destroy(condition);
}

/* A literal as text: quotes are doubled, and backslashes are unchanged. */
static inline void print_text(char *to, const char *text, size_t size, const char *before,
                              const char *after)
{
    to += sprintf(to, "'%s", before);
    for (size_t i = 0; i < size; i++)
        *to++ = text[i];
    sprintf(to, "%s'", after);
}

static inline void draw_text_leaf(struct bb_rng *rng, char *text)
{
    char literal[4 * ROW_TEXT_MAX];
    char words[ROW_TEXT_MAX];
    static const char *const names[] = {"words", "name"};
    static const char *const forms[] = {"%s = %s",
                                        "%s != %s",
                                        "%s < %s",
                                        "%s >= %s",
                                        "%s IN ('w3', %s, 'GET')",
                                        "%s NOT IN ('w3', %s)",
                                        "starts_with(%s, %s)",
                                        "ends_with(%s, %s)",
                                        "contains(%s, %s)"};
    static const char *const patterns[] = {"%s LIKE %s", "%s NOT LIKE %s", "%s ILIKE %s"};
    const char *name = names[bb_rng_below(rng, 2)];
    size_t size = bb_rng_one_in(rng, 3) ? draw_words(rng, words) : draw_word(rng, words);
    uint64_t kind = bb_rng_below(rng, 14);
    if (kind < 9) {
        print_text(literal, words, size, "", "");
        sprintf(text, forms[kind], name, literal);
    } else if (kind < 12) {
        print_text(literal, words, size, bb_rng_one_in(rng, 2) ? "%" : "",
                   bb_rng_one_in(rng, 2) ? "%" : "");
        sprintf(text, patterns[kind - 9], name, literal);
    } else if (kind == 12) {
        sprintf(text, "has_token(words, 'w%u')", (unsigned)bb_rng_skewed(rng, 300));
    } else {
        sprintf(text, "has_any_token(%s, 'GET w%u')", name, (unsigned)bb_rng_skewed(rng, 300));
    }
}

static inline void draw_number_leaf(struct bb_rng *rng, char *text)
{
    static const char *const names[] = {"number", "count", "ratio"};
    static const char *const forms[] = {"%s = %lld",        "%s != %lld",    "%s < %lld",
                                        "%s >= %lld",       "%s > %lld",     "%s IN (%lld, 7, 11)",
                                        "%s NOT IN (%lld)", "NOT %s <= %lld"};
    int length = sprintf(text, forms[bb_rng_below(rng, 8)], names[bb_rng_below(rng, 3)],
                         (long long)draw_number(rng));
    if (bb_rng_one_in(rng, 8))
        sprintf(text, "count BETWEEN %d AND %d", (int)bb_rng_below(rng, 400),
                length + (int)bb_rng_below(rng, 600));
}

static inline void draw_leaf(struct bb_rng *rng, char *text)
{
    static const char *const others[] = {"words IS NULL",
                                         "name IS NOT NULL",
                                         "ratio IS NULL",
                                         "TRUE",
                                         "FALSE",
                                         "ts < '1970-01-01T00:10:00Z'",
                                         "ts = '1970-01-01T00:10:00Z'",
                                         "ts >= '1970-01-01T00:03:20.5Z'",
                                         "matches(words, 'w1.*GET')"};
    uint64_t kind = bb_rng_below(rng, 5);
    if (kind < 2)
        draw_text_leaf(rng, text);
    else if (kind < 4)
        draw_number_leaf(rng, text);
    else
        strcpy(text, others[bb_rng_below(rng, sizeof(others) / sizeof(others[0]))]);
}

/* A condition over the attributes, as text. text: 16 KiB for a depth of 3. */
static inline void draw_condition(struct bb_rng *rng, uint32_t depth, char *text)
{
    if (depth == 0 || bb_rng_one_in(rng, 3)) {
        draw_leaf(rng, text);
        return;
    }
    if (bb_rng_one_in(rng, 4)) {
        text += sprintf(text, "NOT (");
        draw_condition(rng, depth - 1, text);
        strcat(text, ")");
        return;
    }
    const char *joint = bb_rng_one_in(rng, 2) ? " AND " : " OR ";
    for (uint64_t left = 2 + bb_rng_below(rng, 2); left > 0; left--) {
        strcpy(text, "(");
        draw_condition(rng, depth - 1, text + 1);
        strcat(text, ")");
        if (left > 1)
            strcat(text, joint);
        text += strlen(text);
    }
}

static inline bool may_be(const struct bb_skip_verdicts *verdicts, enum bb_truth truth,
                          size_t granule)
{
    const uint64_t *words = truth == BB_TRUTH_TRUE    ? verdicts->may_be_true
                            : truth == BB_TRUTH_FALSE ? verdicts->may_be_false
                                                      : verdicts->may_be_null;
    return (words[granule / 64] >> granule % 64 & 1) != 0;
}

static inline void check_rows(struct indexed_rows *rows, const struct bb_condition *condition,
                              const struct bb_skip_verdicts *verdicts, const char *text)
{
    struct bb_condition_run *run = NULL;
    assert_ok(bb_condition_run_create(condition, &run));
    for (size_t i = 0; i < rows->row_count; i++) {
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        assert_ok(bb_condition_test(run, rows->rows[i].attributes, &truth));
        if (!may_be(verdicts, truth, rows->granules[i]))
            fail_msg("row %zu of granule %zu: %s is %d", i, rows->granules[i], text, (int)truth);
    }
    bb_condition_run_destroy(run);
}

/* Every row is in a granule whose verdict permits the row's truth. */
static inline void check_condition(struct indexed_rows *rows, struct bb_skip_file *file,
                                   const char *text, struct bb_skip_account *accounts)
{
    struct bb_condition *condition = NULL;
    struct bb_skip_verdicts verdicts = {0};
    assert_ok(bb_condition_parse(
        rows->schema, (struct bb_bytes){(const uint8_t *)text, strlen(text)}, &condition));
    assert_ok(bb_skip_file_evaluate(file, condition, rows->schema, accounts, &verdicts));
    assert_int_equal(verdicts.granule_count, rows->granule_count);
    check_rows(rows, condition, &verdicts, text);
    bb_skip_verdicts_deinit(&verdicts);
    bb_condition_destroy(condition);
}

#endif
