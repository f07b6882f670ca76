/* Index files are byte for byte what they were: tests/golden/skip.bin, which read_skip.py reads from the
 * page of the format alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bb/skip.h"
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

static void index_file__is_its_golden(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_schema *schema = NULL;
    struct bb_skip_spec parsed[SPECS];
    struct bb_hash_secret secret;
    struct bb_skip_builder *builder = NULL;
    bb_hash_secret_from_seed(1, &secret);
    struct bb_skip_options options = {.struct_size = sizeof(options),
                                      .file_system = bb_file_memory_system(memory),
                                      .id = "golden of skip",
                                      .secret = &secret};
    assert_ok(bb_schema_create(&schema));
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
        assert_ok(bb_schema_add(schema, definitions[i]));
    for (size_t i = 0; i < SPECS; i++)
        assert_ok(bb_skip_spec_parse(specs[i], schema, &parsed[i]));
    assert_ok(bb_skip_builder_create("skip.bbi", &options, schema, parsed, SPECS, &builder));
    for (int granule = 0; granule < 40; granule++) {
        for (int i = 0; i < 5; i++)
            add_row(builder, granule * 5 + i);
        assert_ok(bb_skip_builder_end_granule(builder, (uint64_t)granule * 100));
    }
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    size_t size = 0;
    const uint8_t *bytes = bb_file_memory_bytes(memory, "skip.bbi", &size);
    assert_golden("skip.bin", ((struct bb_bytes){bytes, size}));
    bb_schema_destroy(schema);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(index_file__is_its_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
