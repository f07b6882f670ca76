/* Separated fields: split, csv and tsv, with quotes and without. */
#include "skip/record/separator.h"
#include "tests/support/rng.h"
#include "tests/unit/skip/record_fixture.h"

static void split__fields_without_quotes(void **state)
{
    static const struct record_case second[] = {
        {"a,b,c", "b"},      {"a,b", "b"},
        {"a,b\n", "b"},      {"a,b\r\n", "b"},
        {"a,b\r", "b\\x0d"}, {"a,b\n\n", "b\\x0a"},
        {"a,,c", ""},        {"a,", ""},
        {"a,\n", ""},        {"a", "<missing>"},
        {"", "<missing>"},   {"\n", "<missing>"},
        {",", ""},           {"a,\"b,c\"", "\"b"},
        {"a, b ,c", " b "},  {"a,\xff\xfe,", "\\xff\\xfe"},
    };
    static const struct record_case far[] = {
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21", "20"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20", "20"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,", "<null>"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19", "<missing>"},
        {",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", "<null>"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,x", "<malformed>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = split(',', 2)", second);
    ASSERT_CASES("a u64 = split(',', 20)", far);
}

static void split__quotes(void **state)
{
    static const struct record_case cases[] = {
        {"a,\"b\",c", "b"},
        {"a,\"b\"", "b"},
        {"a,\"b\"\r\n", "b"},
        {"a,\"b,c\",d", "b,c"},
        {"a,\"b\nc\",d", "b\\x0ac"},
        {"a,\"b\"\"c\",d", "b\"c"},
        {"a,\"\"\"\",d", "\""},
        {"a,\"\"\"\"\"\",d", "\"\""},
        {"a,\"\",d", ""},
        {"a,b\"c,d", "b\"c"},
        {"a,b\"\"c,d", "b\"\"c"},
        {"a, \"b\",d", " \"b\""},
        {"\"a,b\",c,d", "c"},
        {"\"a\"\",b\",c", "c"},
        {"\"a\"x,c", "c"},
        {"\"a\"x\",c", "c"},
        {"a,\"b\"x,c", "<malformed>"},
        {"a,\"b\" ,c", "<malformed>"},
        {"a,\"b", "<malformed>"},
        {"a,\"b\"\"", "<malformed>"},
        {"a,\"", "<malformed>"},
        {"\"a,b,c", "<missing>"},
        {"\"a\"", "<missing>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = csv(2)", cases);
    ASSERT_CASES("a bytes = split(',', 2, quoted)", cases);
}

static void split__other_separators(void **state)
{
    static const struct record_case tabs[] = {
        {"a\tb\tc", "b"},
        {"a\t\"b\tc\"", "\"b"},
        {"a,b", "<missing>"},
        {"a\t\\N", "\\\\N"},
    };
    static const struct record_case blanks[] = {
        {"a \"b c\" d", "b c"},
        {"a  d", ""},
        {"a b\"c d", "b\"c"},
    };
    (void)state;
    ASSERT_CASES("a bytes = tsv(2)", tabs);
    ASSERT_CASES("a bytes = split('\\x09', 2)", tabs);
    ASSERT_CASES("a bytes = split(' ', 2, quoted)", blanks);
}

/* Three attributes of one record whose quotes are doubled stay apart in the reader's memory. */
static void split__several_fields_without_their_quotes(void **state)
{
    static const char line[] = "\"a\"\"\",\"\"\"b\",plain,\"c\"\"c\"";
    static const char *const expected[] = {"a\"", "\"b", "plain", "c\"c", "c\"c"};
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    struct bb_attribute attributes[5];
    char text[32];
    (void)state;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "a bytes = csv(1)"));
    assert_ok(bb_schema_add(schema, "b bytes = csv(2)"));
    assert_ok(bb_schema_add(schema, "c bytes = csv(3)"));
    assert_ok(bb_schema_add(schema, "d bytes = csv(4)"));
    assert_ok(bb_schema_add(schema, "e bytes = csv(4)"));
    assert_ok(bb_record_reader_create(schema, NULL, &reader));
    for (int round = 0; round < 3; round++) {
        assert_ok(bb_record_read(reader, bb_bytes_of(NULL, 0), bb_bytes_of_text(line), attributes));
        for (size_t i = 0; i < BB_ARRAY_LENGTH(expected); i++) {
            attribute_print(&attributes[i], text, sizeof(text));
            assert_string_equal(text, expected[i]);
        }
    }
    bb_record_reader_destroy(reader);
    bb_schema_destroy(schema);
}

/* --- Input of Python's csv module --- */

enum { COLUMNS = 64 };

/* The next word of a line of the golden, without its hexadecimal; NULL after the last. */
static char *next_word(char **line, uint8_t *bytes, size_t *ret_size)
{
    char *word = strsep(line, " \n");
    *ret_size = 0;
    if (word == NULL || *word == '\0')
        return NULL;
    for (const char *at = word; *word != '-' && *word != 'm' && *at != '\0'; at += 2) {
        unsigned byte;
        assert_int_equal(sscanf(at, "%2x", &byte), 1);
        bytes[(*ret_size)++] = (uint8_t)byte;
    }
    return word;
}

static size_t count_state(const struct bb_attribute *attributes, enum bb_attribute_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        count += attributes[i].state == state;
    return count;
}

static void assert_row(struct bb_record_reader *reader, char *line)
{
    struct bb_attribute attributes[COLUMNS];
    uint8_t row[1024], field[1024];
    size_t row_size, size;
    assert_non_null(next_word(&line, row, &row_size));
    assert_ok(bb_record_read(reader, bb_bytes_of(NULL, 0), bb_bytes_of(row, row_size), attributes));
    size_t column = 0;
    for (char *word; (word = next_word(&line, field, &size)) != NULL; column++) {
        if (strcmp(word, "malformed") == 0) {
            assert_true(count_state(attributes, BB_ATTRIBUTE_MALFORMED) > 0);
            return;
        }
        assert_int_equal(attributes[column].state, BB_ATTRIBUTE_PRESENT);
        assert_int_equal(attributes[column].as.bytes.size, size);
        assert_memory_equal(attributes[column].as.bytes.data, field, size);
    }
    assert_int_equal(count_state(attributes, BB_ATTRIBUTE_MISSING), COLUMNS - column);
}

static void split__rows_are_read_as_by_python(void **state)
{
    FILE *file = fopen(BB_SOURCE_DIR "/tests/golden/csv_rows.txt", "r");
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    char line[4096], definition[32];
    size_t row_count = 0;
    (void)state;
    assert_non_null(file);
    assert_ok(bb_schema_create(&schema));
    for (int i = 1; i <= COLUMNS; i++) {
        snprintf(definition, sizeof(definition), "c%d bytes = csv(%d)", i, i);
        assert_ok(bb_schema_add(schema, definition));
    }
    assert_ok(bb_record_reader_create(schema, NULL, &reader));
    for (; fgets(line, sizeof(line), file) != NULL; row_count++)
        assert_row(reader, line);
    assert_int_equal(row_count, 1500);
    bb_record_reader_destroy(reader);
    bb_schema_destroy(schema);
    fclose(file);
}

/* --- Large records --- */

/* A mebibyte in one field, and a field after it; then a mebibyte of fields. */
static void split__large_records(void **state)
{
    enum { SIZE = 1 << 20 };
    struct record_fixture fixture;
    uint8_t *bytes = malloc(SIZE + 2);
    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'x', SIZE);
    memcpy(bytes + SIZE, ",7", 2);
    fixture_open(&fixture, "a bytes = csv(2)");
    assert_string_equal(fixture_read(&fixture, bb_bytes_of(bytes, SIZE + 2)), "7");
    memset(bytes, '"', SIZE);
    assert_string_equal(fixture_read(&fixture, bb_bytes_of(bytes, SIZE + 2)), "7");
    assert_string_equal(fixture_read(&fixture, bb_bytes_of(bytes, SIZE - 1)), "<missing>");
    fixture_close(&fixture);
    memset(bytes, ',', SIZE);
    bytes[65534] = '5';
    fixture_open(&fixture, "a u64 = csv(65535)");
    assert_string_equal(fixture_read(&fixture, bb_bytes_of(bytes, SIZE)), "5");
    assert_string_equal(fixture_read(&fixture, bb_bytes_of(bytes, 65534)), "<null>");
    assert_string_equal(fixture_read(&fixture, bb_bytes_of(bytes, 65533)), "<missing>");
    fixture_close(&fixture);
    free(bytes);
}

/* The forms of the search for the n-th separator agree, at every offset and length. */
static void split__separators_are_counted_alike_by_all_forms(void **state)
{
    struct bb_rng rng;
    (void)state;
    bb_rng_init(&rng, bb_rng_seed("split__separators_are_counted_alike", 20261122));
    if (!bb_cpu_has(BB_CPU_AVX2))
        skip();
    bb_separator_skip portable = bb_separator_skip_of(BB_CPU_PORTABLE);
    bb_separator_skip wide = bb_separator_skip_of(BB_CPU_AVX2);
    for (int i = 0; i < 100000; i++) {
        size_t size = bb_rng_below(&rng, 200);
        uint8_t *bytes = malloc(size + 1);
        assert_non_null(bytes);
        uint64_t rarity = 1 + bb_rng_below(&rng, 20);
        for (size_t j = 0; j < size; j++)
            bytes[j] = bb_rng_one_in(&rng, rarity) ? ',' : 'x';
        size_t count = 1 + bb_rng_skewed(&rng, 200);
        assert_ptr_equal(portable(bytes, bytes + size, ',', count),
                         wide(bytes, bytes + size, ',', count));
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split__fields_without_quotes),
        cmocka_unit_test(split__quotes),
        cmocka_unit_test(split__other_separators),
        cmocka_unit_test(split__several_fields_without_their_quotes),
        cmocka_unit_test(split__rows_are_read_as_by_python),
        cmocka_unit_test(split__large_records),
        cmocka_unit_test(split__separators_are_counted_alike_by_all_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
