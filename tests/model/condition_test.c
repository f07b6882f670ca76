/* Goal: conditions have SQL's meaning. Method: random trees over random records with every kind of
 * value, each record's truth compared with SQLite's, which evaluates the same condition as SQL.
 * Functions missing in SQLite are implemented here again, in another way: tokens letter by letter,
 * regular expressions by POSIX. The records are also indexed, four in a granule: indexes never
 * exclude a result of SQLite, and their counts equal the counts of SQLite.
 *
 * BB_TEST_SEED sets the seed.
 */
#include "tests/support/assert_status.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "bb/skip.h"
#include "tests/support/condition_draw.h"
#include "tests/support/file_memory.h"
#include "tests/support/step.h"

#define CONDITIONS 20000
#define PER_TABLE  500 /* conditions, until other records are drawn */
#define RECORDS    64
#define LEVELS_MAX 4

#define GRANULE  4 /* records */
#define GRANULES (RECORDS / GRANULE)

#define INDEX_PATH  "records.bbi"
#define INDEXES_MAX 8

struct condition_model {
    struct bb_rng rng;
    sqlite3 *sqlite;
    struct bb_schema *schema;
    struct bb_drawn_record records[RECORDS];
    size_t counts[3]; /* of truths */
    size_t given_up;  /* records whose text exceeds the limits of a drawn regular expression */
    struct bb_file_memory *memory;
    struct bb_skip_file *index;
    size_t excluded; /* granules, by indexes */
    size_t counted;  /* granules, by indexes */
};

/* Each table of records has one of these lists of indexes. */
static const char *const index_lists[][INDEXES_MAX] = {
    {"text(text, counts=yes)", "text(raw, counts=yes)"},
    {"text(text)", "text(raw)", "min_max(i)", "set(u)", "values(f)"},
    {"tokens(text)", "ngrams(raw, n=2)", "tokens(raw, fold=lower)", "min_max(t)", "text(raw)"},
    {"min_max(text)", "set(text)", "values(raw)", "text(text, counts=yes)", "min_max(f)"},
};

static void sql_must(struct condition_model *model, int result, int expected)
{
    if (result != expected)
        fail_msg("SQLite: %s", sqlite3_errmsg(model->sqlite));
}

/* Token by token, letter by letter. */
static bool has_token(const unsigned char *text, size_t size, const unsigned char *token)
{
    size_t begin = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && (isalnum(text[i]) || text[i] > 127))
            continue;
        if (i - begin == strlen((const char *)token) && memcmp(text + begin, token, i - begin) == 0)
            return true;
        begin = i + 1;
    }
    return false;
}

/* user data: how many of the tokens must be there, 0 for one and 1 for all. */
static void sql_has_tokens(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    const unsigned char *text = sqlite3_value_blob(values[0]);
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    int found = 0;
    for (int i = 1; i < count; i++)
        found += text != NULL && has_token(text, size, sqlite3_value_text(values[i])) ? 1 : 0;
    int wanted = sqlite3_user_data(context) == NULL ? 1 : count - 1;
    sqlite3_result_int(context, found >= wanted);
}

static void free_regex(void *regex)
{
    regfree(regex);
    free(regex);
}

static void sql_regexp(sqlite3_context *context, int count, sqlite3_value **values)
{
    assert_int_equal(count, 2);
    if (sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    regex_t *regex = sqlite3_get_auxdata(context, 0);
    bool is_new = regex == NULL;
    if (is_new) {
        regex = malloc(sizeof(*regex));
        assert_int_equal(
            regcomp(regex, (const char *)sqlite3_value_text(values[0]), REG_EXTENDED | REG_NOSUB),
            0);
    }
    int result = regexec(regex, (const char *)sqlite3_value_text(values[1]), 0, NULL, 0);
    sqlite3_result_int(context, result == 0);
    if (is_new)
        sqlite3_set_auxdata(context, 0, regex, free_regex);
}

static void open_sqlite(struct condition_model *model)
{
    sql_must(model, sqlite3_open(":memory:", &model->sqlite), SQLITE_OK);
    sqlite3 *db = model->sqlite;
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    sqlite3_create_function(db, "has_token", 2, flags, NULL, sql_has_tokens, NULL, NULL);
    sqlite3_create_function(db, "has_any_token", -1, flags, NULL, sql_has_tokens, NULL, NULL);
    sqlite3_create_function(db, "has_all_tokens", -1, flags, db, sql_has_tokens, NULL, NULL);
    sqlite3_create_function(db, "regexp", 2, flags, NULL, sql_regexp, NULL, NULL);
    sql_must(model,
             sqlite3_exec(db,
                          "PRAGMA case_sensitive_like = 1;"
                          "CREATE TABLE record "
                          "(id INTEGER PRIMARY KEY, text, raw, i, u, f, f_nan, t)",
                          NULL, NULL, NULL),
             SQLITE_OK);
}

static void bind(sqlite3_stmt *insert, int at, const struct bb_attribute *attribute, size_t field)
{
    struct bb_bytes bytes = attribute->as.bytes;
    if (attribute->state != BB_ATTRIBUTE_PRESENT)
        sqlite3_bind_null(insert, at);
    else if (field == BB_DRAW_TEXT)
        sqlite3_bind_text(insert, at, (const char *)bytes.data, (int)bytes.size, SQLITE_STATIC);
    else if (field == BB_DRAW_RAW)
        sqlite3_bind_blob(insert, at, bytes.data, (int)bytes.size, SQLITE_STATIC);
    else if (field == BB_DRAW_F64)
        sqlite3_bind_double(insert, at, attribute->as.f64);
    else
        sqlite3_bind_int64(insert, at, attribute->as.i64); /* u is small enough */
}

static void draw_records(struct condition_model *model)
{
    sqlite3_stmt *insert = NULL;
    sql_must(model, sqlite3_exec(model->sqlite, "DELETE FROM record", NULL, NULL, NULL), SQLITE_OK);
    sql_must(model,
             sqlite3_prepare_v2(model->sqlite,
                                "INSERT INTO record (id, text, raw, i, u, f, t, f_nan) "
                                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                                -1, &insert, NULL),
             SQLITE_OK);
    for (size_t i = 0; i < RECORDS; i++) {
        struct bb_drawn_record *record = &model->records[i];
        bb_draw_record(&model->rng, record);
        const struct bb_attribute *f = &record->attributes[BB_DRAW_F64];
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i);
        for (size_t field = 0; field < BB_DRAW_FIELDS; field++)
            bind(insert, (int)field + 2, &record->attributes[field], field);
        sqlite3_bind_int(insert, 8, f->state == BB_ATTRIBUTE_PRESENT && isnan(f->as.f64));
        sql_must(model, sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
}

static void build_index(struct condition_model *model, const char *const *list)
{
    struct bb_skip_spec specs[INDEXES_MAX];
    struct bb_skip_builder *builder = NULL;
    size_t count = 0;
    for (; count < INDEXES_MAX && list[count] != NULL; count++)
        assert_ok(bb_skip_spec_parse(list[count], model->schema, &specs[count]));
    struct bb_skip_options options = {.file_system = bb_file_memory_system(model->memory)};
    assert_ok(bb_skip_builder_create(INDEX_PATH, &options, model->schema, specs, count, &builder));
    for (size_t i = 0; i < RECORDS; i++) {
        assert_ok(bb_skip_builder_add(builder, model->records[i].attributes));
        if (i % GRANULE == GRANULE - 1)
            assert_ok(bb_skip_builder_end_granule(builder, i));
    }
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
}

/* Replaces the indexes of the previous records. */
static void index_records(struct condition_model *model)
{
    bb_skip_file_close(model->index);
    if (model->memory != NULL)
        bb_file_memory_destroy(model->memory);
    model->memory = bb_file_memory_create(1);
    build_index(
        model,
        index_lists[bb_rng_below(&model->rng, sizeof(index_lists) / sizeof(index_lists[0]))]);
    struct bb_skip_file_options options = {.file_system = bb_file_memory_system(model->memory)};
    assert_ok(bb_skip_file_open(INDEX_PATH, &options, &model->index));
}

static enum bb_truth truth_of_sqlite(sqlite3_stmt *select)
{
    if (sqlite3_column_type(select, 0) == SQLITE_NULL)
        return BB_TRUTH_UNKNOWN;
    return sqlite3_column_int(select, 0) != 0 ? BB_TRUTH_TRUE : BB_TRUTH_FALSE;
}

/* Its truth, the truth of its negation, and of the same condition printed and parsed again. */
struct forms {
    struct bb_condition *conditions[3];
    struct bb_condition_run *runs[3];
};

static void parse_forms(struct condition_model *model, struct bb_bytes text, struct forms *forms)
{
    struct bb_buf printed = {0};
    struct bb_buf again = {0};
    for (size_t i = 0; i < 2; i++)
        assert_status(bb_condition_parse(model->schema, text, &forms->conditions[i]), BB_OK);
    assert_status(bb_condition_not(forms->conditions[1], &forms->conditions[1]), BB_OK);
    assert_status(bb_condition_print(forms->conditions[0], &printed), BB_OK);
    assert_status(bb_condition_parse(model->schema, bb_buf_bytes(&printed), &forms->conditions[2]),
                  BB_OK);
    assert_status(bb_condition_print(forms->conditions[2], &again), BB_OK);
    assert_true(bb_bytes_equal(bb_buf_bytes(&printed), bb_buf_bytes(&again)));
    for (size_t i = 0; i < 3; i++)
        assert_status(bb_condition_run_create(forms->conditions[i], &forms->runs[i]), BB_OK);
    bb_buf_deinit(&printed);
    bb_buf_deinit(&again);
}

static void destroy_forms(struct forms *forms)
{
    for (size_t i = 0; i < 3; i++) {
        bb_condition_run_destroy(forms->runs[i]);
        bb_condition_destroy(forms->conditions[i]);
    }
}

static enum bb_truth opposite(enum bb_truth truth)
{
    if (truth == BB_TRUTH_UNKNOWN)
        return truth;
    return truth == BB_TRUTH_TRUE ? BB_TRUTH_FALSE : BB_TRUTH_TRUE;
}

static void compare_record(struct condition_model *model, const struct forms *forms, size_t number,
                           enum bb_truth expected, const struct bb_drawn_condition *condition)
{
    enum bb_truth found[3];
    const struct bb_attribute *attributes = model->records[number].attributes;
    for (size_t i = 0; i < 3; i++) {
        enum bb_status status = bb_condition_test(forms->runs[i], attributes, &found[i]);
        if (status == BB_TOO_LARGE) {
            model->given_up++;
            return;
        }
        if (status != BB_OK)
            fail_msg("record %zu: %s\n%.*s", number, bb_error_last()->message,
                     (int)condition->text.size, (const char *)condition->text.data);
    }
    model->counts[expected]++;
    if (found[0] == expected && found[1] == opposite(expected) && found[2] == expected)
        return;
    fail_msg("record %zu: SQLite says %d, we say %d, of NOT %d, printed and parsed %d\n%.*s\n%.*s",
             number, (int)expected, (int)found[0], (int)found[1], (int)found[2],
             (int)condition->text.size, (const char *)condition->text.data,
             (int)condition->sql.size, (const char *)condition->sql.data);
}

static bool may_be(const struct bb_skip_verdicts *verdicts, enum bb_truth truth, size_t granule)
{
    const uint64_t *words = truth == BB_TRUTH_TRUE    ? verdicts->may_be_true
                            : truth == BB_TRUTH_FALSE ? verdicts->may_be_false
                                                      : verdicts->may_be_null;
    return (words[granule / 64] >> granule % 64 & 1) != 0;
}

static void compare_verdicts(struct condition_model *model, const struct bb_condition *tree,
                             const enum bb_truth *truths,
                             const struct bb_drawn_condition *condition)
{
    struct bb_skip_verdicts verdicts = {0};
    assert_ok(bb_skip_file_evaluate(model->index, tree, model->schema, NULL, &verdicts));
    for (size_t i = 0; i < RECORDS; i++)
        if (!may_be(&verdicts, truths[i], i / GRANULE))
            fail_msg("record %zu: an index rules out %d\n%.*s", i, (int)truths[i],
                     (int)condition->text.size, (const char *)condition->text.data);
    for (size_t granule = 0; granule < GRANULES; granule++)
        model->excluded += !may_be(&verdicts, BB_TRUTH_TRUE, granule);
    bb_skip_verdicts_deinit(&verdicts);
}

static void compare_counts(struct condition_model *model, const struct bb_condition *tree,
                           const enum bb_truth *truths, const struct bb_drawn_condition *condition)
{
    struct bb_skip_counts *counts = NULL;
    enum bb_status status = bb_skip_counts_create(model->index, tree, model->schema, NULL, &counts);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    for (size_t granule = 0; granule < GRANULES && status == BB_OK; granule++) {
        uint64_t count = 0;
        uint64_t expected = 0;
        for (size_t i = 0; i < GRANULE; i++)
            expected += truths[granule * GRANULE + i] == BB_TRUTH_TRUE;
        if (bb_skip_counts_read(counts, granule, &count) != BB_OK)
            continue;
        model->counted++;
        if (count != expected)
            fail_msg("granule %zu: indexes count %d, SQLite %d\n%.*s", granule, (int)count,
                     (int)expected, (int)condition->text.size, (const char *)condition->text.data);
    }
    bb_skip_counts_destroy(counts);
}

static void compare_condition(struct condition_model *model, struct bb_drawn_condition *condition)
{
    enum bb_truth truths[RECORDS];
    struct forms forms;
    struct bb_buf sql = {0};
    sqlite3_stmt *select = NULL;
    parse_forms(model, bb_buf_bytes(&condition->text), &forms);
    assert_status(bb_buf_print(&sql, "SELECT (%.*s) FROM record ORDER BY id",
                               (int)condition->sql.size, (const char *)condition->sql.data),
                  BB_OK);
    sql_must(
        model,
        sqlite3_prepare_v2(model->sqlite, (const char *)sql.data, (int)sql.size, &select, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < RECORDS; i++) {
        sql_must(model, sqlite3_step(select), SQLITE_ROW);
        truths[i] = truth_of_sqlite(select);
        compare_record(model, &forms, i, truths[i], condition);
    }
    compare_verdicts(model, forms.conditions[0], truths, condition);
    compare_counts(model, forms.conditions[0], truths, condition);
    sqlite3_finalize(select);
    bb_buf_deinit(&sql);
    destroy_forms(&forms);
}

static void condition__random_trees_have_sqlites_truth(void **state)
{
    (void)state;
    static struct condition_model model;
    struct bb_drawn_condition condition = {0};
    bb_rng_init(&model.rng, bb_rng_seed("condition", 12));
    open_sqlite(&model);
    assert_status(bb_schema_create(&model.schema), BB_OK);
    for (size_t i = 0; i < BB_DRAW_FIELDS; i++)
        assert_status(bb_schema_add(model.schema, bb_draw_definitions[i]), BB_OK);
    size_t step = bb_test_step();
    for (size_t i = 0; i < CONDITIONS; i += step) {
        if (i / PER_TABLE != (i - step) / PER_TABLE || i == 0) {
            draw_records(&model);
            index_records(&model);
        }
        bb_draw_condition(&model.rng, bb_rng_below(&model.rng, LEVELS_MAX + 1), true, &condition);
        compare_condition(&model, &condition);
    }
    printf("%zu false, %zu true, %zu unknown, %zu given up\n", model.counts[0], model.counts[1],
           model.counts[2], model.given_up);
    assert_true(model.given_up <= CONDITIONS / step * RECORDS / 1000);
    for (size_t i = 0; i < 3; i++)
        assert_true(model.counts[i] > CONDITIONS / step * RECORDS / 10);
    printf("%zu granules excluded, %zu counted by indexes\n", model.excluded, model.counted);
    assert_true(model.excluded > 0 && model.counted > 0);
    bb_drawn_condition_deinit(&condition);
    bb_skip_file_close(model.index);
    bb_file_memory_destroy(model.memory);
    bb_schema_destroy(model.schema);
    sqlite3_close(model.sqlite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(condition__random_trees_have_sqlites_truth),
    };
    return cmocka_run_group_tests_name("condition", tests, NULL, NULL);
}
