/* Index files are unchanged byte for byte: tests/golden/skip.bin, skip_text.bin, skip_words.bin,
 * skip_ribbons.bin and skip_lines.bin, which read_skip.py reads with only the page of the format.
 * skip_version_1.bin is the skip.bin of version 1, skip_version_2.bin the skip_ribbons.bin of
 * version 2. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bb/skip.h"

#include "base/buf.h"
#include "base/file.h"
#include "skip/condition/words.h"
#include "skip/lines/line_source.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"
#include "tests/support/golden.h"

static const char *const definitions[] = {
    "line bytes = split(' ', 1)", "number i64 = split(' ', 2)", "ratio f64 = split(' ', 3)"};
static const char *const specs[] = {
    "min_max(line)",
    "min_max(number)",
    "min_max(ratio)",
    "set(number, values=200)",
    "set(ratio, values=8)",
    "set(line, values=3)",
    "values(number, rate=0.01)",
    "tokens(line, rate=0.01)",
    "ngrams(line, n=4, rate=0.1, fold=lower)",
    "column(line)",
    "column(number)",
    "column(ratio)",
};
#define SPECS (sizeof(specs) / sizeof(specs[0]))

/* ---- an index file under the secret of seed 1 ---- */

#define PATH "golden.bbi"

struct golden {
    struct bb_file_memory *memory;
    struct bb_schema *schema;
    struct bb_skip_builder *builder;
};

/* With the first of the definitions and these indexes. id: at most BB_SKIP_ID_SIZE bytes. */
static void golden_begin(struct golden *golden, const char *id, size_t definition_count,
                         const char *const *texts, size_t count)
{
    struct bb_hash_secret secret;
    struct bb_skip_spec parsed[SPECS];
    bb_hash_secret_from_seed(1, &secret);
    golden->memory = bb_file_memory_create(1);
    struct bb_skip_options options = {.file_system = bb_file_memory_system(golden->memory),
                                      .secret = &secret};
    memcpy(options.id, id, strlen(id));
    assert_ok(bb_schema_create(&golden->schema));
    for (size_t i = 0; i < definition_count; i++)
        assert_ok(bb_schema_add(golden->schema, definitions[i]));
    for (size_t i = 0; i < count; i++)
        assert_ok(bb_skip_spec_parse(texts[i], golden->schema, &parsed[i]));
    assert_ok(
        bb_skip_builder_create(PATH, &options, golden->schema, parsed, count, &golden->builder));
}

/* The bytes of the finished file, until golden_deinit. */
static struct bb_bytes golden_finish(struct golden *golden)
{
    size_t size = 0;
    assert_ok(bb_skip_builder_finish(golden->builder));
    const uint8_t *bytes = bb_file_memory_bytes(golden->memory, PATH, &size);
    return (struct bb_bytes){bytes, size};
}

static void golden_deinit(struct golden *golden)
{
    bb_skip_builder_destroy(golden->builder);
    bb_schema_destroy(golden->schema);
    bb_file_memory_destroy(golden->memory);
}

/* ---- the goldens ---- */

static void add_row(struct bb_skip_builder *builder, int i)
{
    char line[64];
    static const double ratios[] = {0.5, -0.0, 1e300, (double)NAN, -2.25, 0.0};
    int size = sprintf(line, "GET /page-%d/item%d by User%d", i % 7, i, i % 50);
    struct bb_attribute row[3] = {
        {.type = BB_ATTRIBUTE_BYTES}, {.type = BB_ATTRIBUTE_I64}, {.type = BB_ATTRIBUTE_F64}};
    row[0].as.bytes = (struct bb_bytes){(const uint8_t *)line, (size_t)size};
    row[1].as.i64 = i * 37 % 101 - 50;
    row[2].as.f64 = ratios[i % 6];
    row[2].state = i % 11 == 0 ? BB_ATTRIBUTE_MALFORMED : i % 4 == 1 ? BB_ATTRIBUTE_NULL : 0;
    assert_ok(bb_skip_builder_add(builder, row));
}

/* Words of many records and of one, long ones, and so many that a dictionary has several blocks. */
static void add_words(struct bb_skip_builder *builder, uint32_t i)
{
    char line[512];
    int size =
        sprintf(line, "GET /page-%u GET id%08x%08x common%u longlonglonglong%03u caf\xc3\xa9 ",
                i % 7, i * 2654435761u, i * 40503u * 40503u, i % 3, i);
    if (i == 77) {
        memset(line + size, 'x', 300);
        size += 300;
    }
    struct bb_attribute attribute = {.type = BB_ATTRIBUTE_BYTES};
    attribute.as.bytes = (struct bb_bytes){(const uint8_t *)line, (size_t)size};
    assert_ok(bb_skip_builder_add(builder, &attribute));
}

/* Members of one granule, of nine after each other, and of two in the same stripe. */
static void add_identifiers(struct bb_skip_builder *builder, uint32_t granule)
{
    struct bb_attribute row[2] = {{.type = BB_ATTRIBUTE_BYTES}, {.type = BB_ATTRIBUTE_I64}};
    char line[96];
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t id = granule * 20 + i;
        int size = sprintf(line, "GET visit%u far%u item%u id%u", id / 70, id % 1280,
                           granule / 9 * 20 + i, id);
        row[0].as.bytes = (struct bb_bytes){(const uint8_t *)line, (size_t)size};
        row[1].as.i64 = (int64_t)id * 1000003 - 50000;
        assert_ok(bb_skip_builder_add(builder, row));
    }
}

static void index_file_of_ribbons__is_its_golden(void **state)
{
    (void)state;
    static const char *const texts[] = {"values(number, rate=0.01)", "tokens(line, rate=0.01)"};
    struct golden golden;
    golden_begin(&golden, "golden ribbons", 2, texts, 2);
    for (uint32_t granule = 0; granule < 90; granule++) {
        add_identifiers(golden.builder, granule);
        assert_ok(bb_skip_builder_end_granule(golden.builder, granule));
    }
    assert_golden("skip_ribbons.bin", golden_finish(&golden));
    golden_deinit(&golden);
}

static void check_old_golden(const char *path, size_t index_count)
{
    struct bb_skip_file *file = NULL;
    assert_ok(bb_skip_file_open(path, NULL, &file));
    assert_int_equal(bb_skip_file_index_count(file), index_count);
    assert_ok(bb_skip_file_verify(file));
    bb_skip_file_close(file);
}

static void files_of_earlier_versions__are_read(void **state)
{
    (void)state;
    check_old_golden(BB_SOURCE_DIR "/tests/golden/skip_version_1.bin", SPECS);
    check_old_golden(BB_SOURCE_DIR "/tests/golden/skip_version_2.bin", 2);
}

static void index_file_of_text__is_its_golden(void **state)
{
    (void)state;
    static const char *const texts[] = {"text(line)", "text(line, counts=yes)"};
    struct golden golden;
    golden_begin(&golden, "golden of text", 1, texts, 2);
    for (uint32_t i = 0; i < 400; i++) {
        add_words(golden.builder, i);
        if (i % 10 == 9)
            assert_ok(bb_skip_builder_end_granule(golden.builder, i / 10));
    }
    assert_golden("skip_text.bin", golden_finish(&golden));
    golden_deinit(&golden);
}

/* Words that every version of Unicode finds. */
static void add_unicode_words(struct bb_skip_builder *builder, int i)
{
    char line[128];
    int size = sprintf(line,
                       "It's User%d, pi=3.14; caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97 %d\xff"
                       "STRASSE",
                       i % 5, i % 3);
    struct bb_attribute attribute = {.type = BB_ATTRIBUTE_BYTES};
    attribute.as.bytes = (struct bb_bytes){(const uint8_t *)line, (size_t)size};
    assert_ok(bb_skip_builder_add(builder, &attribute));
}

/* The golden names the library that made it: another version is read, and not used. */
static void check_words_of_golden(void)
{
    struct bb_skip_file *file = NULL;
    struct bb_skip_index_info info;
    char own[BB_WORDS_IDENTITY_SIZE];
    bb_words_identity(own);
    assert_ok(bb_skip_file_open(BB_SOURCE_DIR "/tests/golden/skip_words.bin", NULL, &file));
    assert_ok(bb_skip_file_verify(file));
    for (size_t i = 0; i < 2; i++) {
        bb_skip_file_index(file, i, &info);
        assert_int_equal(info.spec.tokenizer, BB_TOKENIZER_UNICODE);
        assert_int_equal(info.is_known, strcmp(info.words_made_with, own) == 0);
    }
    bb_skip_file_close(file);
}

#define WORDS_OF_GOLDEN "libunistring 1.0.0"

/* REQUIRES: a build with the words of the golden. */
static void compare_words(void)
{
    static const char *const texts[] = {"tokens(line, tokenizer=unicode, rate=0.01)",
                                        "text(line, tokenizer=unicode, fold=unicode, counts=yes)"};
    struct golden golden;
    golden_begin(&golden, "golden of words", 1, texts, 2);
    for (int i = 0; i < 40; i++) {
        add_unicode_words(golden.builder, i);
        if (i % 4 == 3)
            assert_ok(bb_skip_builder_end_granule(golden.builder, (uint64_t)i / 4));
    }
    assert_golden("skip_words.bin", golden_finish(&golden));
    golden_deinit(&golden);
}

static void index_file_of_words__is_its_golden(void **state)
{
    (void)state;
    char own[BB_WORDS_IDENTITY_SIZE];
    bb_words_identity(own);
    if (strcmp(own, WORDS_OF_GOLDEN) == 0)
        compare_words();
    check_words_of_golden();
}

static void index_file__is_its_golden(void **state)
{
    (void)state;
    struct golden golden;
    golden_begin(&golden, "golden of skip", sizeof(definitions) / sizeof(definitions[0]), specs,
                 SPECS);
    for (int granule = 0; granule < 40; granule++) {
        for (int i = 0; i < 5; i++) {
            add_row(golden.builder, granule * 5 + i);
            if (granule % 3 == 0 && i % 2 == 0)
                assert_ok(bb_skip_builder_end_part(golden.builder));
        }
        assert_ok(bb_skip_builder_end_granule(golden.builder, (uint64_t)granule * 100));
    }
    assert_golden("skip.bin", golden_finish(&golden));
    golden_deinit(&golden);
}

/* Five lines, which are a granule. */
static void add_lines(struct bb_skip_builder *builder, int first, struct bb_buf *text)
{
    size_t place = text->size;
    for (int i = first; i < first + 5; i++) {
        size_t begin = text->size;
        assert_ok(bb_buf_print(text, "line%d %d\n", i, i * 7));
        struct bb_bytes line = {text->data + begin, text->size - begin - 1};
        assert_ok(bb_skip_builder_add_record(builder, (struct bb_bytes){0}, line));
    }
    assert_ok(bb_skip_builder_end_granule(builder, place));
}

/* The stored properties of the file of these lines. */
static void set_source(const struct golden *golden, const struct bb_buf *text)
{
    struct bb_file *file = NULL;
    struct bb_buf encoded = {0};
    struct bb_buf definitions_text = {0};
    struct bb_line_source source = {
        .file = {.size = text->size + 3, .modified = 1234567890123456789},
        .indexed_bytes = text->size,
        .granule_bytes = 65536};
    assert_ok(bb_file_create(bb_file_memory_system(golden->memory), "lines", &file));
    assert_ok(bb_file_append(file, bb_buf_bytes(text)));
    assert_ok(bb_line_source_read_ends(file, text->size, &source.ends));
    assert_ok(bb_file_close(file));
    assert_ok(bb_schema_encode(golden->schema, &definitions_text));
    source.schema = bb_buf_bytes(&definitions_text);
    assert_ok(bb_line_source_append(&source, &encoded));
    assert_ok(bb_skip_builder_set_source(golden->builder, bb_buf_bytes(&encoded)));
    bb_buf_deinit(&encoded);
    bb_buf_deinit(&definitions_text);
}

static void index_file_of_lines__is_its_golden(void **state)
{
    (void)state;
    static const char *const texts[] = {"min_max(number)"};
    struct golden golden;
    struct bb_buf text = {0};
    golden_begin(&golden, "golden of lines", 2, texts, 1);
    add_lines(golden.builder, 0, &text);
    add_lines(golden.builder, 5, &text);
    set_source(&golden, &text);
    assert_golden("skip_lines.bin", golden_finish(&golden));
    golden_deinit(&golden);
    bb_buf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(index_file__is_its_golden),
                                       cmocka_unit_test(index_file_of_text__is_its_golden),
                                       cmocka_unit_test(index_file_of_words__is_its_golden),
                                       cmocka_unit_test(index_file_of_ribbons__is_its_golden),
                                       cmocka_unit_test(files_of_earlier_versions__are_read),
                                       cmocka_unit_test(index_file_of_lines__is_its_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
