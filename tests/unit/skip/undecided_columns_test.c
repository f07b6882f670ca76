/* Goal: a column that is damaged, or lacks a granule, costs its own help and no more: the other
 * columns still decide, and so do the other indexes of the attribute. Method: files of two columns,
 * damaged at every byte, and a value too large for a column; the possible records are compared with
 * a condition on the other column. */
#include "tests/unit/skip/indexed_rows.h"

#include "skip/kind/column.h"

#define GRANULES 3

static bool has_bit(const uint64_t *words, uint64_t bit)
{
    return (words[bit / 64] >> bit % 64 & 1) != 0;
}

static enum bb_truth truth_of(const struct indexed_rows *rows, const char *text, size_t row)
{
    struct bb_condition *condition = NULL;
    struct bb_condition_run *run = NULL;
    enum bb_truth truth = BB_TRUTH_UNKNOWN;
    assert_ok(bb_condition_parse(
        rows->schema, (struct bb_bytes){(const uint8_t *)text, strlen(text)}, &condition));
    assert_ok(bb_condition_run_create(condition, &run));
    assert_ok(bb_condition_test(run, rows->rows[row].attributes, &truth));
    bb_condition_run_destroy(run);
    bb_condition_destroy(condition);
    return truth;
}

/* The possible records satisfy the condition `left`, and no others do. */
static void check_left(const struct indexed_rows *rows, size_t granule,
                       const struct bb_skip_row_bits *bits, const char *left)
{
    uint64_t record = 0;
    for (size_t row = 0; row < rows->row_count; row++) {
        if (rows->granules[row] != granule)
            continue;
        assert_int_equal(has_bit(bits->may_be_true, record++),
                         truth_of(rows, left, row) == BB_TRUTH_TRUE);
    }
    assert_int_equal(record, bits->record_count);
}

/* A condition on number and count, and the rest of it without one of their columns. */
struct question {
    const char *text;
    const char *left_by[2]; /* by the column of number, of count */
};

struct seen {
    size_t whole;
    size_t single; /* one column damaged */
    size_t both;
};

static void check_granule(const struct indexed_rows *rows, struct bb_skip_rows *decided,
                          size_t granule, const struct question *question, struct seen *seen)
{
    struct bb_skip_account accounts[3] = {{0}};
    struct bb_skip_row_bits bits;
    enum bb_status status = bb_skip_rows_read(decided, granule, accounts, &bits);
    bool is_damaged[2] = {accounts[0].damaged_segments > 0, accounts[1].damaged_segments > 0};
    if (is_damaged[0] && is_damaged[1]) {
        assert_int_equal(status, BB_NOT_FOUND);
        seen->both++;
        return;
    }
    assert_ok(status);
    seen->single += is_damaged[0] || is_damaged[1];
    seen->whole += !is_damaged[0] && !is_damaged[1];
    if (is_damaged[0] || is_damaged[1])
        check_left(rows, granule, &bits, question->left_by[is_damaged[0] ? 1 : 0]);
    else
        check_left(rows, granule, &bits, question->text);
}

static void check_file(struct indexed_rows *rows, const struct question *question,
                       struct seen *seen)
{
    struct bb_skip_file *file = NULL;
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *decided = NULL;
    if (open_rows(rows, false, &file) != BB_OK)
        return;
    assert_ok(bb_condition_parse(
        rows->schema, (struct bb_bytes){(const uint8_t *)question->text, strlen(question->text)},
        &condition));
    assert_ok(bb_skip_rows_create(file, condition, rows->schema, &decided));
    for (size_t granule = 0; granule < GRANULES; granule++)
        check_granule(rows, decided, granule, question, seen);
    bb_skip_rows_destroy(decided);
    bb_condition_destroy(condition);
    bb_skip_file_close(file);
}

static void index_again(struct indexed_rows *rows, const char *const *specs)
{
    struct bb_file_system *fs = bb_file_memory_system(rows->memory);
    assert_ok(fs->ops->remove(fs, ROWS_PATH));
    index_rows(rows, specs);
}

/* A granule without any value is decided by its counts of states, without a column. */
static void give_values(struct indexed_rows *rows)
{
    for (size_t row = 0; row < rows->row_count; row++) {
        if (row > 0 && rows->granules[row] == rows->granules[row - 1])
            continue;
        rows->rows[row].attributes[ROW_NUMBER].state = BB_ATTRIBUTE_PRESENT;
        rows->rows[row].attributes[ROW_COUNT].state = BB_ATTRIBUTE_PRESENT;
    }
}

static void check_question(const char *const *specs, const struct question *question)
{
    struct bb_rng rng;
    struct indexed_rows rows;
    struct seen seen = {0};
    size_t size = 0;
    bb_rng_init(&rng, bb_rng_seed("undecided_columns_test", 1));
    indexed_rows_init(&rows, &rng, GRANULES, 70, specs);
    give_values(&rows);
    index_again(&rows, specs);
    uint8_t *bytes = bb_file_memory_bytes(rows.memory, ROWS_PATH, &size);
    check_file(&rows, question, &seen);
    assert_int_equal(seen.whole, GRANULES);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 4;
        check_file(&rows, question, &seen);
        bytes[at] ^= 4;
    }
    assert_true(seen.single > 0);
    indexed_rows_deinit(&rows);
}

/* Regression: one damaged column, and every record of the granule was read. */
static void undecided_columns__leave_the_others_decided(void **state)
{
    (void)state;
    static const char *const specs[] = {"column(number)", "column(count)", NULL};
    check_question(specs, &(struct question){.text = "number < 100 AND count < 15",
                                             .left_by = {"number < 100", "count < 15"}});
}

static void undecided_columns__ask_other_indexes(void **state)
{
    (void)state;
    static const char *const specs[] = {"column(number)", "column(count)",
                                        "values(number, rate=0.00001)", NULL};
    check_question(specs, &(struct question){.text = "number IN (-31, -1000) OR count < 15",
                                             .left_by = {"count < 15 OR count >= 15 OR count IS "
                                                         "NULL",
                                                         "number IN (-31, -1000) OR count < 15"}});
}

/* A granule whose words are too large for a column. Regression as above. */
static void undecided_columns__lack_a_large_granule(void **state)
{
    (void)state;
    static const char *const specs[] = {"column(words)", "column(count)", NULL};
    static const char text[] = "words LIKE '%a%' AND count < 15";
    const size_t size = 17 << 20;
    struct bb_rng rng;
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *decided = NULL;
    struct bb_skip_account accounts[2] = {{0}};
    struct bb_skip_row_bits bits;
    bb_rng_init(&rng, bb_rng_seed("undecided_columns_test", 2));
    indexed_rows_init(&rows, &rng, 1, 70, specs);
    char *large = malloc(size);
    memset(large, 'b', size);
    give_values(&rows);
    rows.rows[0].attributes[ROW_WORDS].state = BB_ATTRIBUTE_PRESENT;
    rows.rows[0].attributes[ROW_WORDS].as.bytes = (struct bb_bytes){(const uint8_t *)large, size};
    index_again(&rows, specs);
    assert_ok(open_rows(&rows, false, &file));
    assert_ok(bb_condition_parse(
        rows.schema, (struct bb_bytes){(const uint8_t *)text, sizeof(text) - 1}, &condition));
    assert_ok(bb_skip_rows_create(file, condition, rows.schema, &decided));
    assert_ok(bb_skip_rows_read(decided, 0, accounts, &bits));
    check_left(&rows, 0, &bits, "count < 15");
    assert_int_equal(accounts[0].damaged_segments, 0);
    bb_skip_rows_destroy(decided);
    bb_condition_destroy(condition);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
    free(large);
}

struct sides {
    size_t before; /* granules before the damaged ones */
    size_t damaged;
    size_t after;
};

/* Reads all granules in order: the damaged ones are neighbours, and the others are exact. */
static void check_in_order(const struct indexed_rows *rows, struct bb_skip_rows *decided,
                           const char *text, struct sides *sides)
{
    for (size_t granule = 0; granule < rows->granule_count; granule++) {
        struct bb_skip_row_bits bits;
        enum bb_status status = bb_skip_rows_read(decided, granule, NULL, &bits);
        if (status == BB_NOT_FOUND) {
            assert_int_equal(sides->after, 0);
            sides->damaged++;
            continue;
        }
        assert_ok(status);
        check_left(rows, granule, &bits, text);
        sides->before += sides->damaged == 0;
        sides->after += sides->damaged > 0;
    }
}

/* The middle one of several chunks is damaged: its granules are undecided, and the next chunk is
 * read after it. */
static void undecided_columns__continue_after_a_damaged_chunk(void **state)
{
    (void)state;
    static const char *const specs[] = {"column(number)", NULL};
    static const char text[] = "number < 100";
    struct bb_rng rng;
    struct indexed_rows rows;
    struct bb_skip_file *file = NULL;
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *decided = NULL;
    struct sides sides = {0};
    size_t size = 0;
    bb_rng_init(&rng, bb_rng_seed("undecided_columns_test", 3));
    indexed_rows_init(&rows, &rng, 600, 120, specs);
    uint8_t *bytes = bb_file_memory_bytes(rows.memory, ROWS_PATH, &size);
    assert_true(size > 3 * BB_COLUMN_CHUNK_SIZE);
    bytes[size / 2] ^= 4;
    assert_ok(open_rows(&rows, false, &file));
    assert_ok(bb_condition_parse(
        rows.schema, (struct bb_bytes){(const uint8_t *)text, sizeof(text) - 1}, &condition));
    assert_ok(bb_skip_rows_create(file, condition, rows.schema, &decided));
    check_in_order(&rows, decided, text, &sides);
    assert_true(sides.before > 0 && sides.damaged > 1 && sides.after > 0);
    bb_skip_rows_destroy(decided);
    bb_condition_destroy(condition);
    bb_skip_file_close(file);
    indexed_rows_deinit(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undecided_columns__leave_the_others_decided),
        cmocka_unit_test(undecided_columns__ask_other_indexes),
        cmocka_unit_test(undecided_columns__lack_a_large_granule),
        cmocka_unit_test(undecided_columns__continue_after_a_damaged_chunk),
    };
    return cmocka_run_group_tests_name("undecided_columns", tests, NULL, NULL);
}
