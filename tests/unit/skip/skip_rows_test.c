/* Goal: a column that cannot decide a granule decides nothing, and costs no other column: columns
 * whose units have sound checksums and contradict the file or each other, indexes of another form,
 * and a regular expression that gives up. Method: files of one granule of four records, changed and
 * sealed again. */
#include "bb/skip.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"

#include <string.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "skip/file/skip_file.h"

#define PATH    "rows.bbi"
#define RECORDS 4

/* Two columns of the number 1, in parts of one and three records: */
static const uint8_t granule_bytes[] = {4, 2, 1, 3, 0, 1, 1};

struct one_granule {
    struct bb_file_memory *memory;
    struct bb_schema *schema;
    struct bb_skip_file *file;
};

/* first: of the records 0 and 2; second: of the others. */
static void build(struct one_granule *one, const char *const *specs, size_t count,
                  const char *first, const char *second)
{
    struct bb_skip_builder *builder = NULL;
    struct bb_skip_spec parsed[2];
    struct bb_hash_secret secret; /* fixed: call_column searches the bytes of the directory */
    bb_hash_secret_from_seed(1, &secret);
    *one = (struct one_granule){.memory = bb_file_memory_create(1)};
    struct bb_skip_options options = {.file_system = bb_file_memory_system(one->memory),
                                      .secret = &secret};
    assert_ok(bb_schema_create(&one->schema));
    assert_ok(bb_schema_add(one->schema, "n u64 = csv(1)"));
    assert_ok(bb_schema_add(one->schema, "m u64 = csv(2)"));
    assert_ok(bb_schema_add(one->schema, "text bytes = csv(3)"));
    for (size_t i = 0; i < count; i++)
        assert_ok(bb_skip_spec_parse(specs[i], one->schema, &parsed[i]));
    assert_ok(bb_skip_builder_create(PATH, &options, one->schema, parsed, count, &builder));
    for (size_t i = 0; i < RECORDS; i++) {
        assert_ok(bb_skip_builder_add_record(builder, bb_bytes_of_text("key"),
                                             bb_bytes_of_text(i % 2 == 0 ? first : second)));
        if (i == 0)
            assert_ok(bb_skip_builder_end_part(builder));
    }
    assert_ok(bb_skip_builder_end_granule(builder, 0));
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
}

static void open_file(struct one_granule *one)
{
    struct bb_skip_file_options options = {.file_system = bb_file_memory_system(one->memory)};
    assert_ok(bb_skip_file_open(PATH, &options, &one->file));
}

static void one_granule_deinit(struct one_granule *one)
{
    bb_skip_file_close(one->file);
    bb_schema_destroy(one->schema);
    bb_file_memory_destroy(one->memory);
}

static void seal(const struct one_granule *one, enum bb_skip_unit type,
                 struct bb_skip_section section)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(one->memory, PATH, &size);
    const uint8_t *id = bytes + size - BB_SKIP_FOOTER_SIZE + 20;
    size_t content = (size_t)section.size - BB_SKIP_CHECKSUM_SIZE;
    bb_store64(
        bytes + section.offset + content,
        bb_skip_checksum(id, type, section.offset, bb_bytes_of(bytes + section.offset, content)));
}

/* Calls the only index a column: kind, varint attribute, rate of eight bytes, varint values (1). */
static void call_column(struct one_granule *one, uint8_t kind)
{
    const size_t values_at = 1 + 1 + 8;
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(one->memory, PATH, &size);
    const uint8_t *footer = bytes + size - BB_SKIP_FOOTER_SIZE;
    struct bb_skip_section section = {bb_load64(footer), bb_load64(footer + 8)};
    uint64_t at = section.offset;
    while (bytes[at] != kind || bytes[at + values_at] != 1)
        at++;
    assert_true(at + values_at < section.offset + section.size);
    bytes[at] = BB_SKIP_COLUMN;
    bytes[at + values_at] = 0;
    seal(one, BB_SKIP_UNIT_DIRECTORY, section);
}

/* Replaces the only granule of a column by other bytes of the same size. */
static void replace_granule(struct one_granule *one, size_t column,
                            const uint8_t bytes[sizeof(granule_bytes)])
{
    const struct bb_loaded_head *loaded = NULL;
    size_t size = 0;
    assert_ok(bb_skip_file_head(one->file, column, NULL, &loaded));
    struct bb_skip_section section = loaded->head.segments[0].chunks[0].data;
    uint8_t *granule = bb_file_memory_bytes(one->memory, PATH, &size) + section.offset +
                       sizeof(uint32_t); /* after its end */
    assert_memory_equal(granule, granule_bytes, sizeof(granule_bytes));
    memcpy(granule, bytes, sizeof(granule_bytes));
    seal(one, BB_SKIP_UNIT_DATA, section);
}

/* Of one read of the granule. */
struct answer {
    enum bb_status status;
    uint64_t certain;
    uint64_t possible;
    size_t parts;
    uint64_t damaged; /* of the first two indexes */
};

static struct answer ask(struct one_granule *one, const char *text)
{
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *rows = NULL;
    struct bb_skip_row_bits bits = {0};
    struct bb_skip_account accounts[2] = {{0}};
    assert_ok(bb_condition_parse(one->schema, bb_bytes_of_text(text), &condition));
    assert_ok(bb_skip_rows_create(one->file, condition, one->schema, &rows));
    struct answer answer = {.status = bb_skip_rows_read(rows, 0, accounts, &bits)};
    answer.certain = bits.certain_count;
    answer.possible = bits.possible_count;
    answer.parts = bits.part_count;
    answer.damaged = accounts[0].damaged_segments + accounts[1].damaged_segments;
    bb_skip_rows_destroy(rows);
    bb_condition_destroy(condition);
    return answer;
}

/* The second column is replaced; then the condition is evaluated. */
static struct answer ask_of(const uint8_t second[sizeof(granule_bytes)], const char *text)
{
    static const char *const specs[] = {"column(n)", "column(m)"};
    struct one_granule one;
    build(&one, specs, 2, "1,1,x", "1,1,x");
    open_file(&one);
    replace_granule(&one, 1, second);
    struct answer answer = ask(&one, text);
    one_granule_deinit(&one);
    return answer;
}

static void skip_rows__columns_that_agree_give_parts(void **state)
{
    (void)state;
    struct answer answer = ask_of(granule_bytes, "n = 1 AND m = 1");
    assert_ok(answer.status);
    assert_int_equal(answer.certain, RECORDS);
    assert_int_equal(answer.parts, 2);
}

static void skip_rows__columns_that_disagree_give_no_parts(void **state)
{
    (void)state;
    static const uint8_t other_sizes[] = {4, 2, 3, 1, 0, 1, 1};
    static const uint8_t more_parts[] = {4, 3, 1, 2, 1, 0, 0};
    struct answer answer = ask_of(other_sizes, "n = 1 AND m = 1");
    assert_ok(answer.status);
    assert_int_equal(answer.certain, RECORDS);
    assert_int_equal(answer.parts, 0);
    answer = ask_of(more_parts, "n = 1 OR m = 1");
    assert_ok(answer.status);
    assert_int_equal(answer.certain, RECORDS);
    assert_int_equal(answer.parts, 0);
}

/* Three records, instead of four. */
static void skip_rows__a_column_of_another_number_of_records_is_damaged(void **state)
{
    (void)state;
    static const uint8_t fewer[] = {3, 2, 1, 2, 0, 1, 1};
    struct answer answer = ask_of(fewer, "n = 1 AND m = 1");
    assert_ok(answer.status);
    assert_int_equal(answer.damaged, 1);
    assert_int_equal(answer.certain, 0);
    assert_int_equal(answer.possible, RECORDS);
    answer = ask_of(fewer, "m = 1");
    assert_int_equal(answer.status, BB_NOT_FOUND);
    assert_int_equal(answer.damaged, 1);
}

/* The directory calls a set, which gave its granule up for its two values, a column. */
static void skip_rows__a_column_without_the_granule_decides_nothing(void **state)
{
    (void)state;
    static const char *const specs[] = {"set(n, values=1)"};
    struct one_granule one;
    build(&one, specs, 1, "1,1,x", "2,1,x");
    call_column(&one, BB_SKIP_SET);
    open_file(&one);
    assert_int_equal(one.file->directory.indexes[0].spec.kind, BB_SKIP_COLUMN);
    struct answer answer = ask(&one, "n = 1");
    assert_int_equal(answer.status, BB_NOT_FOUND);
    assert_int_equal(answer.damaged, 0);
    one_granule_deinit(&one);
}

static void skip_rows__a_regular_expression_that_gives_up_decides_nothing(void **state)
{
    (void)state;
    static const char *const specs[] = {"column(n)", "column(text)"};
    static const char record[] =
        "1,1,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    struct one_granule one;
    build(&one, specs, 2, record, "1,1,b");
    open_file(&one);
    struct answer answer = ask(&one, "matches(text, '^(a+)+[bc]$')");
    assert_int_equal(answer.status, BB_NOT_FOUND);
    answer = ask(&one, "n = 1 AND matches(text, '^(a+)+[bc]$')");
    assert_ok(answer.status);
    assert_int_equal(answer.certain, 0);
    assert_int_equal(answer.possible, RECORDS);
    assert_int_equal(answer.damaged, 0);
    answer = ask(&one, "n = 2 AND matches(text, '^(a+)+[bc]$')");
    assert_ok(answer.status);
    assert_int_equal(answer.possible, 0);
    one_granule_deinit(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skip_rows__columns_that_agree_give_parts),
        cmocka_unit_test(skip_rows__columns_that_disagree_give_no_parts),
        cmocka_unit_test(skip_rows__a_column_of_another_number_of_records_is_damaged),
        cmocka_unit_test(skip_rows__a_column_without_the_granule_decides_nothing),
        cmocka_unit_test(skip_rows__a_regular_expression_that_gives_up_decides_nothing),
    };
    return cmocka_run_group_tests_name("skip_rows", tests, NULL, NULL);
}
