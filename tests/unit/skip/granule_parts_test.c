/* Goal: a granule has the parts that ended since the granule before it, no others. Method: files of
 * a few records, built with the calls in every order that ends granules without records. */
#include "bb/skip.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"

#include <stdio.h>

#include "base/bytes.h"

struct built {
    struct bb_file_memory *memory;
    struct bb_schema *schema;
    struct bb_skip_builder *builder;
    struct bb_skip_file *file;
};

static void begin(struct built *built)
{
    struct bb_skip_spec spec;
    *built = (struct built){.memory = bb_file_memory_create(1)};
    struct bb_skip_options options = {.file_system = bb_file_memory_system(built->memory)};
    assert_ok(bb_schema_create(&built->schema));
    assert_ok(bb_schema_add(built->schema, "n u64 = csv(1)"));
    assert_ok(bb_skip_spec_parse("column(n)", built->schema, &spec));
    assert_ok(
        bb_skip_builder_create("parts.bbi", &options, built->schema, &spec, 1, &built->builder));
}

/* '1' is a record, ',' ends a part, ';' ends a granule, whose place is its number of calls. */
static void add(struct built *built, const char *calls)
{
    for (size_t i = 0; calls[i] != 0; i++) {
        if (calls[i] == '1')
            assert_ok(bb_skip_builder_add_record(built->builder, bb_bytes_of_text("key"),
                                                 bb_bytes_of_text("1")));
        else if (calls[i] == ',')
            assert_ok(bb_skip_builder_end_part(built->builder));
        else
            assert_ok(bb_skip_builder_end_granule(built->builder, i));
    }
    assert_ok(bb_skip_builder_finish(built->builder));
    bb_skip_builder_destroy(built->builder);
}

static void open_built(struct built *built)
{
    struct bb_skip_file_options options = {.file_system = bb_file_memory_system(built->memory)};
    assert_ok(bb_skip_file_open("parts.bbi", &options, &built->file));
    assert_ok(bb_skip_file_verify(built->file));
}

/* The records of each part: "1 0; 2" is a granule with two parts, then one with one. */
static void print_parts(struct built *built, char *text)
{
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *rows = NULL;
    struct bb_skip_row_bits bits;
    assert_ok(bb_condition_parse(built->schema, bb_bytes_of_text("n = 1"), &condition));
    assert_ok(bb_skip_rows_create(built->file, condition, built->schema, &rows));
    for (size_t i = 0; i < bb_skip_file_granule_count(built->file); i++) {
        assert_ok(bb_skip_rows_read(rows, i, NULL, &bits));
        text += sprintf(text, "%s%zu:", i > 0 ? "; " : "", bits.part_count);
        for (size_t part = 0; part < bits.part_count; part++)
            text += sprintf(text, " %u", bits.part_records[part]);
    }
    bb_skip_rows_destroy(rows);
    bb_condition_destroy(condition);
}

static void check(const char *calls, const char *expected)
{
    struct built built;
    char text[200] = "";
    begin(&built);
    add(&built, calls);
    open_built(&built);
    print_parts(&built, text);
    assert_string_equal(text, expected);
    bb_skip_file_close(built.file);
    bb_schema_destroy(built.schema);
    bb_file_memory_destroy(built.memory);
}

static void granule_parts__are_those_of_the_granule(void **state)
{
    (void)state;
    check("11;", "0:");
    check("1,1;", "2: 1 1");
    check("1,;", "2: 1 0");
    check(",1,,11;111;1,1;", "4: 0 1 0 2; 0:; 2: 1 1");
}

/* Regression: the parts of a granule without records became the first of the next granule. */
static void granule_parts__without_records_are_dropped(void **state)
{
    (void)state;
    check(",,;1,1;", "2: 1 1");
    check("1,1;,;11;", "2: 1 1; 0:");
    check(",;;,;", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(granule_parts__are_those_of_the_granule),
        cmocka_unit_test(granule_parts__without_records_are_dropped),
    };
    return cmocka_run_group_tests_name("granule_parts", tests, NULL, NULL);
}
