/* Indexes of words of Unicode: they never lose a row, a dictionary of words is exact, and an index
 * whose words are another version's is reported and not used. Skipped in a build without words. */
#include "tests/unit/skip/indexed_rows.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "skip/condition/words.h"
#include "skip/layout/index_directory.h"
#include "skip/file/skip_file.h"
#include "tests/support/step.h"

#define VALUES_PER_GRANULE 3
#define TEXT_MAX           160

static void skip_without_words(void)
{
    if (!bb_words_are_built())
        skip();
}

static const char *const fragments[] = {
    "a",
    "B",
    "word",
    "WORD",
    "it's",
    "3.14",
    "1,000",
    " ",
    " ",
    "-",
    "/",
    ".",
    "_",
    "\xff",
    "\xc3",
    "\xc3\xa9",
    "E\xcc\x81",
    "Stra\xc3\x9f"
    "e",
    "STRASSE",
    "\xe6\xbc\xa2",
    "\xe5\xad\x97",
    "\xe3\x82\xab\xe3\x82\xbf",
    "\xd7\xa6\xd7\x94\"\xd7\x9c",
    "\xd0\x9c\xd0\x98\xd0\xa0",
    "\xd0\xbc\xd0\xb8\xd1\x80",
    "\xf0\x9f\x91\x8d",
    "k",
    "\xe2\x84\xaa",
    "%",
};

/* Values without quotes that a condition's text would have to double, except in it's. */
static size_t draw_value(struct bb_rng *rng, size_t fragments_max, char *to)
{
    size_t size = 0;
    for (uint64_t left = bb_rng_below(rng, fragments_max + 1); left > 0; left--) {
        const char *fragment =
            fragments[bb_rng_below(rng, sizeof(fragments) / sizeof(fragments[0]))];
        if (size + strlen(fragment) + 1 >= TEXT_MAX / 2)
            break;
        size += (size_t)sprintf(to + size, "%s", fragment);
    }
    to[size] = 0;
    return size;
}

/* Rows of values, and an index file of them. */
struct values {
    struct indexed_rows rows;
    char (*texts)[TEXT_MAX];
};

static void values_init(struct values *values, struct bb_rng *rng, size_t granule_count,
                        const char *const *specs)
{
    static const char *const none[] = {NULL};
    struct indexed_rows *rows = &values->rows;
    indexed_rows_init(rows, rng, granule_count, VALUES_PER_GRANULE, none);
    values->texts = calloc(rows->row_count, sizeof(values->texts[0]));
    for (size_t i = 0; i < rows->row_count; i++) {
        size_t size = draw_value(rng, 7, values->texts[i]);
        rows->rows[i].attributes[ROW_WORDS].as.bytes = bb_bytes_of(values->texts[i], size);
    }
    bb_file_memory_destroy(rows->memory);
    rows->memory = bb_file_memory_create(1);
    index_rows(rows, specs);
}

static void values_deinit(struct values *values)
{
    indexed_rows_deinit(&values->rows);
    free(values->texts);
}

static struct bb_condition *parse(const struct indexed_rows *rows, const char *text)
{
    struct bb_condition *condition = NULL;
    assert_ok(bb_condition_parse(rows->schema, bb_bytes_of_text(text), &condition));
    return condition;
}

/* Quotes are doubled. */
static void print_quoted(char *to, const char *text)
{
    *to++ = '\'';
    for (; *text != 0; text++) {
        if (*text == '\'')
            *to++ = '\'';
        *to++ = *text;
    }
    strcpy(to, "'");
}

/* A condition that has a word in it or a part of one. False: the operand drawn has no word. */
static bool draw_question(const struct indexed_rows *rows, struct bb_rng *rng, char *text)
{
    static const char *const forms[] = {"has_all_words(words, ",  "has_any_word(words, ",
                                        "ihas_all_words(words, ", "ihas_any_word(words, ",
                                        "contains(words, ",       "starts_with(words, ",
                                        "ends_with(words, ",      "words = (",
                                        "words ILIKE (",          "has_any_token(words, "};
    char operand[TEXT_MAX];
    struct bb_condition *condition = NULL;
    const char *form = forms[bb_rng_below(rng, sizeof(forms) / sizeof(forms[0]))];
    draw_value(rng, 4, operand);
    bool is_function = form[strlen(form) - 2] == ',';
    text += sprintf(text, "%.*s", (int)strlen(form) - !is_function, form);
    print_quoted(text, operand);
    if (is_function)
        strcat(text, ")");
    text -= strlen(form) - (size_t)!is_function;
    bool is_valid = bb_condition_parse(rows->schema, bb_bytes_of_text(text), &condition) == BB_OK;
    bb_condition_destroy(condition);
    return is_valid;
}

/* Rows of each granule of which the condition is true. */
static uint64_t *count_rows(const struct indexed_rows *rows, const struct bb_condition *condition)
{
    struct bb_condition_run *run = NULL;
    uint64_t *counts = calloc(rows->granule_count + 1, sizeof(counts[0]));
    assert_ok(bb_condition_run_create(condition, &run));
    for (size_t i = 0; i < rows->row_count; i++) {
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        assert_ok(bb_condition_test(run, rows->rows[i].attributes, &truth));
        counts[rows->granules[i]] += truth == BB_TRUTH_TRUE;
    }
    bb_condition_run_destroy(run);
    return counts;
}

/* Gives the number of granules that are excluded. A granule with a match never is. */
static size_t ask(const struct indexed_rows *rows, struct bb_skip_file *file, const char *text,
                  bool is_exact)
{
    size_t excluded = 0;
    struct bb_skip_verdicts verdicts = {0};
    struct bb_condition *condition = parse(rows, text);
    uint64_t *counts = count_rows(rows, condition);
    assert_ok(bb_skip_file_evaluate(file, condition, rows->schema, NULL, &verdicts));
    for (size_t granule = 0; granule < rows->granule_count; granule++) {
        bool may_match = may_be(&verdicts, BB_TRUTH_TRUE, granule);
        if (counts[granule] > 0 && !may_match)
            fail_msg("granule %zu has a match of %s", granule, text);
        if (is_exact && counts[granule] == 0 && may_match)
            fail_msg("granule %zu has no match of %s", granule, text);
        excluded += !may_match;
    }
    free(counts);
    bb_skip_verdicts_deinit(&verdicts);
    bb_condition_destroy(condition);
    return excluded;
}

static const char *const each_spec[][2] = {
    {"tokens(words, tokenizer=unicode)", NULL},
    {"tokens(words, tokenizer=unicode, fold=unicode, rate=0.01)", NULL},
    {"text(words, tokenizer=unicode)", NULL},
    {"text(words, tokenizer=unicode, fold=unicode, counts=yes)", NULL},
};

static void word_index__never_loses_a_row(void **state)
{
    (void)state;
    skip_without_words();
    struct bb_rng rng;
    char text[2 * TEXT_MAX + 64];
    bb_rng_init(&rng, bb_rng_seed("word_index_test", 1));
    for (uint32_t turn = 0; turn < 24; turn++) {
        struct values values;
        struct bb_skip_file *file = NULL;
        size_t excluded = 0;
        values_init(&values, &rng, 1 + bb_rng_skewed(&rng, 600), each_spec[turn % 4]);
        assert_ok(open_rows(&values.rows, turn % 8 < 4, &file));
        assert_ok(bb_skip_file_verify(file));
        for (size_t i = 0; i < 300; i += bb_test_step())
            if (draw_question(&values.rows, &rng, text))
                excluded += ask(&values.rows, file, text, false);
        if (values.rows.granule_count > 50)
            assert_true(excluded > 0);
        bb_skip_file_close(file);
        values_deinit(&values);
    }
}

/* Every word of every value, and words that are in none. */
static void word_index__dictionaries_are_exact(void **state)
{
    (void)state;
    skip_without_words();
    static const char *const words[] = {"a",
                                        "word",
                                        "it''s",
                                        "3.14",
                                        "STRASSE",
                                        "strasse",
                                        "k",
                                        "\xe6\xbc\xa2",
                                        "zzz",
                                        "it",
                                        "\xd0\xbc\xd0\xb8\xd1\x80"};
    static const char *const specs[] = {
        "text(words, tokenizer=unicode)",
        "text(words, tokenizer=unicode, fold=unicode)",
        NULL,
    };
    struct bb_rng rng;
    struct values values;
    struct bb_skip_file *file = NULL;
    char text[128];
    bb_rng_init(&rng, bb_rng_seed("word_index_test", 2));
    values_init(&values, &rng, 900, specs);
    assert_ok(open_rows(&values.rows, false, &file));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        sprintf(text, "has_word(words, '%s')", words[i]);
        ask(&values.rows, file, text, true);
        sprintf(text, "ihas_word(words, '%s')", words[i]);
        ask(&values.rows, file, text, true);
    }
    bb_skip_file_close(file);
    values_deinit(&values);
}

static uint64_t known_counts(const struct indexed_rows *rows, struct bb_skip_file *file,
                             const char *text)
{
    struct bb_skip_counts *counts = NULL;
    uint64_t known = 0;
    struct bb_condition *condition = parse(rows, text);
    uint64_t *expected = count_rows(rows, condition);
    enum bb_status status = bb_skip_counts_create(file, condition, rows->schema, NULL, &counts);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    for (size_t granule = 0; granule < rows->granule_count && counts != NULL; granule++) {
        uint64_t count = UINT64_MAX;
        if (bb_skip_counts_read(counts, granule, &count) != BB_OK)
            continue;
        assert_int_equal(count, expected[granule]);
        known++;
    }
    free(expected);
    bb_skip_counts_destroy(counts);
    bb_condition_destroy(condition);
    return known;
}

/* A dictionary of folded words knows no counts of words that heed case, and the other way round. */
static void word_index__counts_are_exact_and_of_the_right_words(void **state)
{
    (void)state;
    skip_without_words();
    static const char *const folded[] = {"text(words, tokenizer=unicode, fold=unicode, counts=yes)",
                                         "text(words, counts=yes)", NULL};
    static const char *const plain[] = {"text(words, tokenizer=unicode, counts=yes)", NULL};
    struct bb_rng rng;
    struct values values;
    struct bb_skip_file *file = NULL;
    bb_rng_init(&rng, bb_rng_seed("word_index_test", 3));
    values_init(&values, &rng, 200, folded);
    assert_ok(open_rows(&values.rows, false, &file));
    assert_int_equal(known_counts(&values.rows, file, "ihas_word(words, 'strasse')"), 200);
    assert_int_equal(known_counts(&values.rows, file, "NOT ihas_word(words, 'K')"), 200);
    assert_int_equal(known_counts(&values.rows, file, "has_token(words, 'WORD')"), 200);
    assert_true(known_counts(&values.rows, file, "has_word(words, 'STRASSE')") < 200);
    bb_skip_file_close(file);
    values_deinit(&values);
    values_init(&values, &rng, 200, plain);
    assert_ok(open_rows(&values.rows, false, &file));
    assert_int_equal(known_counts(&values.rows, file, "has_word(words, 'STRASSE')"), 200);
    assert_true(known_counts(&values.rows, file, "ihas_word(words, 'strasse')") < 200);
    assert_true(known_counts(&values.rows, file, "has_token(words, 'WORD')") < 200);
    bb_skip_file_close(file);
    values_deinit(&values);
}

static void word_index__what_an_index_is_asked(void **state)
{
    (void)state;
    skip_without_words();
    static const char *const heeds[] = {"tokens(words, tokenizer=unicode)", NULL};
    static const char *const folds[] = {"tokens(words, tokenizer=unicode, fold=unicode)", NULL};
    static const struct {
        const char *text;
        bool heeding_excludes;
        bool folding_excludes;
    } cases[] = {
        {"has_word(words, 'nowhere')", true, true},
        {"ihas_word(words, 'nowhere')", false, true},
        {"words = 'word nowhere'", true, true},
        {"words IN ('nowhere', '--')", false, false},
        {"contains(words, 'x nowhere y')", true, true},
        {"words ILIKE '% NOWHERE %'", false, true},
        {"starts_with(words, 'nowhere x')", true, true},
        {"contains(words, 'nowhere')", false, false},
        {"contains(words, '_nowhere.')", false, false},
        {"matches(words, ' nowhere[ ]')", false, false},
        {"matches(words, ' nowhere ')", true, true},
        {"has_token(words, 'nowhere')", false, false},
        {"words < 'a'", false, false},
    };
    struct bb_rng rng;
    for (int fold = 0; fold < 2; fold++) {
        struct values values;
        struct bb_skip_file *file = NULL;
        bb_rng_init(&rng, bb_rng_seed("word_index_test", 4));
        values_init(&values, &rng, 100, fold ? folds : heeds);
        assert_ok(open_rows(&values.rows, false, &file));
        /* Some granules have no value at all. */
        size_t without = ask(&values.rows, file, "words < 'a'", false);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            bool excludes = ask(&values.rows, file, cases[i].text, false) > without;
            if (excludes != (fold ? cases[i].folding_excludes : cases[i].heeding_excludes))
                fail_msg("%s with fold %d: excluded %d", cases[i].text, fold, excludes);
        }
        bb_skip_file_close(file);
        values_deinit(&values);
    }
}

/* The file as a program with another version of the library sees it. */
static void word_index__of_another_version_is_not_used_and_says_so(void **state)
{
    (void)state;
    skip_without_words();
    struct bb_rng rng;
    struct values values;
    struct bb_skip_file *file = NULL;
    struct bb_skip_index_info info;
    bb_rng_init(&rng, bb_rng_seed("word_index_test", 5));
    for (int kind = 0; kind < 4; kind += 2) {
        values_init(&values, &rng, 100, each_spec[kind]);
        assert_ok(open_rows(&values.rows, false, &file));
        bb_skip_file_index(file, 0, &info);
        assert_true(info.is_known);
        assert_non_null(strstr(info.words_made_with, "libunistring "));
        size_t without = ask(&values.rows, file, "words < 'a'", false);
        assert_true(ask(&values.rows, file, "has_word(words, 'nowhere')", false) > without);
        struct bb_directory_entry *entry = &file->directory.indexes[0];
        strcpy(entry->words_made_with, "libunistring 0.9.99");
        struct bb_buf bytes = {0};
        struct bb_index_directory read = {0};
        assert_ok(bb_index_directory_append(&file->directory, &bytes));
        assert_ok(bb_index_directory_decode(bb_buf_bytes(&bytes), (struct bb_place){0}, file->size,
                                            &read));
        bb_index_directory_deinit(&file->directory);
        file->directory = read;
        bb_buf_deinit(&bytes);
        bb_skip_file_index(file, 0, &info);
        assert_false(info.is_known);
        assert_string_equal(info.words_made_with, "libunistring 0.9.99");
        assert_string_equal(info.attribute_name, "words");
        assert_int_equal(ask(&values.rows, file, "has_word(words, 'nowhere')", false), without);
        bb_skip_file_close(file);
        values_deinit(&values);
    }
}

static void word_index__specs_as_text(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"tokens(words, fold=unicode, tokenizer=unicode)",
         "tokens(words, rate=0.0001, tokenizer=unicode, fold=unicode)"},
        {"tokens(words, tokenizer=ascii)", "tokens(words, rate=0.0001, fold=none)"},
        {"text(words, tokenizer=unicode, counts=yes)",
         "text(words, tokenizer=unicode, fold=none, counts=yes)"},
        {"text(words, tokenizer=ascii)", "text(words, counts=no)"},
    };
    static const char *const refused[][2] = {
        {"tokens(words, tokenizer=unicode, fold=lower)", "fold=unicode or fold=none"},
        {"tokens(words, fold=unicode)", "fold=lower or fold=none, or tokenizer=unicode"},
        {"text(words, fold=lower)", "fold=none, or tokenizer=unicode"},
        {"text(words, fold=unicode)", "or tokenizer=unicode"},
        {"ngrams(words, tokenizer=unicode)", "a parameter of this kind"},
        {"tokens(words, tokenizer=icu)", "ascii or unicode"},
    };
    struct bb_schema *schema = NULL;
    struct bb_skip_spec spec;
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "words bytes = value"));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct bb_buf buf = {0};
        assert_ok(bb_skip_spec_parse(texts[i][0], schema, &spec));
        assert_ok(bb_skip_spec_print(&spec, schema, &buf));
        assert_ok(bb_buf_append(&buf, "", 1));
        assert_string_equal((const char *)buf.data, texts[i][1]);
        bb_buf_deinit(&buf);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_status(bb_skip_spec_parse(refused[i][0], schema, &spec), BB_INVALID);
        assert_message(refused[i][1]);
    }
    bb_schema_destroy(schema);
}

/* A build without words reads the spec of a store and refuses to make the index. */
static void word_index__a_build_without_words_names_the_package(void **state)
{
    (void)state;
    if (bb_words_are_built())
        skip();
    struct bb_schema *schema = NULL;
    struct bb_skip_spec spec;
    struct bb_skip_builder *builder = NULL;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_skip_options options = {.file_system = bb_file_memory_system(memory)};
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "words bytes = value"));
    for (size_t i = 0; i < 4; i++) {
        assert_ok(bb_skip_spec_parse(each_spec[i][0], schema, &spec));
        assert_status(bb_skip_builder_create("a.bbi", &options, schema, &spec, 1, &builder),
                      BB_UNSUPPORTED);
        assert_message("libunistring-dev");
    }
    bb_schema_destroy(schema);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(word_index__never_loses_a_row),
        cmocka_unit_test(word_index__dictionaries_are_exact),
        cmocka_unit_test(word_index__counts_are_exact_and_of_the_right_words),
        cmocka_unit_test(word_index__what_an_index_is_asked),
        cmocka_unit_test(word_index__of_another_version_is_not_used_and_says_so),
        cmocka_unit_test(word_index__specs_as_text),
        cmocka_unit_test(word_index__a_build_without_words_names_the_package),
    };
    return cmocka_run_group_tests_name("word_index", tests, NULL, NULL);
}
