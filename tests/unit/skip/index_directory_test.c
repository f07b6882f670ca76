/* Goal: a directory of an index file with a wrong field is refused. Method: a table of the rejected
 * forms of each field, and every cut. */
#include "skip/layout/index_directory.h"

#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

#define FILE_SIZE 1000

#define RATE_NONE  " 00*8 "
#define RATE_SOUND " 00*6 e03f " /* 0.5 */

/* One attribute, and one index over bounds of it. */
static const struct hostile_field directory_fields[] = {
    {"granules", "02", false},
    {"records", "80 01", false},
    {"secret", "5a*192", false},
    {"granule table's offset", "ac 02", false},
    {"granule table's size", "20", false},
    {"attributes", "01", false},
    {"name", "05 'count'", false},
    {"definition", "12 'count u64 = tsv(1)'", false},
    {"type", "03", false},
    {"indexes", "01", false},
    {"(", NULL, false},
    {"kind", "01", false},
    {"attribute", "00", false},
    {"rate", RATE_NONE, false},
    {"values", "00", false},
    {"n", "00", false},
    {"flags", "00", false},
    {"head's offset", "c8 01", false},
    {"head's size", "64", false},
    {"segments", "81 01", false},
    {"granules without index", "80 01", false},
    {"pairs", "80 01", false},
    {"data bytes", "80 01", false},
    {"predicted rate", RATE_SOUND, false},
    {")", NULL, false},
    {"source", "03 'xyz'", true},
    {NULL, NULL, false},
};

static const struct hostile_case directory_cases[] = {
    {"more granules than a file may have", "granules", "81 80 80 80 01"},
    {"a varint of more bytes than it needs", "records", "81 00"},
    {"a section smaller than its checksum", "granule table's size", "07"},
    {"a section of more than a gigabyte", "granule table's size", "81 80 80 80 04"},
    {"a section that begins after the file", "granule table's offset", "e9 07"},
    {"a section that ends after the file", "granule table's size", "bd 05"},
    {"more attributes than a file may have", "attributes", "81 08"},
    {"a number of attributes of more than 32 bits", "attributes", "80 80 80 80 10"},
    {"an attribute more than there is", "attributes", "02"},
    {"a type that does not exist", "type", "06"},
    {"more indexes than a file may have", "indexes", "81 08"},
    {"a number of indexes of more than 32 bits", "indexes", "80 80 80 80 10"},
    {"two indexes more than there are", "indexes", "03"},
    {"an attribute that the file does not have", "attribute", "01"},
    {"an attribute's number of more than 32 bits", "attribute", "80 80 80 80 10"},
    {"a rate for an index without false positives", "rate", RATE_SOUND},
    {"a number of values for an index of another kind", "values", "01"},
    {"a size of n-grams for an index of another kind", "n", "03"},
    {"folded case for an index of another kind", "flags", "01"},
    {"counts for an index of another kind", "flags", "02"},
    {"a flag that does not exist", "flags", "04"},
    {"a head smaller than its checksum", "head's size", "07"},
    {"a head of more than a gigabyte", "head's size", "81 80 80 80 04"},
    {"a head that begins after the file", "head's offset", "e9 07"},
    {"a head that ends after the file", "head's size", "a1 06"},
    {"bytes after the last field of an index", "predicted rate", RATE_SOUND "00"},
    {"an empty source", "source", "00"},
    {"a source of more than 16 MiB", "source", "81 80 80 08 20*16777217"},
    {"bytes after the source", "source", "01 'x' 00"},
    {NULL, NULL, NULL},
};

static enum bb_status decode(struct bb_bytes bytes, const void *context)
{
    struct bb_index_directory directory;
    (void)context;
    enum bb_status status =
        bb_index_directory_decode(bytes, (struct bb_place){.file = "x.bbi"}, FILE_SIZE, &directory);
    if (status == BB_OK)
        bb_index_directory_deinit(&directory);
    return status;
}

static void hostile_directory__is_refused(void **state)
{
    (void)state;
    hostile_check(directory_fields, directory_cases, decode, NULL,
                  "x.bbi: at offset 0: the directory of the indexes is malformed");
}

/* An index over words of Unicode names the library that found them. */
static void hostile_words__are_refused(void **state)
{
    (void)state;
    static const struct hostile_case cases[] = {
        {"words of no library", "made with", "00"},
        {"a name of more bytes than there are", "made with", "09 'words'"},
        {"a name of 64 bytes", "made with", "40 61*64"},
        {"a control character", "made with", "02 'a' 1f"},
        {"a byte that is not ASCII", "made with", "02 'a' 7f"},
        {NULL, NULL, NULL},
    };
    struct hostile_field fields[sizeof(directory_fields) / sizeof(directory_fields[0]) + 1];
    size_t count = 0;
    for (const struct hostile_field *field = directory_fields; field->name != NULL; field++) {
        fields[count++] = *field;
        if (strcmp(field->name, "definition") == 0)
            fields[count - 1].digits = "14 'count bytes = tsv(1)'";
        if (strcmp(field->name, "type") == 0)
            fields[count - 1].digits = "01";
        if (strcmp(field->name, "kind") == 0)
            fields[count - 1].digits = "08";
        if (strcmp(field->name, "rate") == 0)
            fields[count - 1].digits = RATE_SOUND;
        if (strcmp(field->name, "predicted rate") == 0)
            fields[count++] = (struct hostile_field){"made with", "05 'words'", false};
    }
    fields[count] = (struct hostile_field){NULL, NULL, false};
    hostile_check(fields, cases, decode, NULL, "the directory of the indexes is malformed");
}

/* Of a condition without an attribute. */
static void index_directory__has_no_attribute_beyond_the_schema(void **state)
{
    (void)state;
    struct bb_index_directory directory;
    struct bb_schema *schema = NULL;
    struct bb_bytes bytes = hostile_bytes(directory_fields, NULL);
    assert_ok(bb_index_directory_decode(bytes, (struct bb_place){.file = "x.bbi"}, FILE_SIZE,
                                        &directory));
    assert_ok(bb_schema_create(&schema));
    assert_int_equal(bb_index_directory_find(&directory, schema, 0), directory.attribute_count);
    bb_schema_destroy(schema);
    bb_index_directory_deinit(&directory);
    hostile_free(bytes);
}

/* The parameters that only one kind has, at their limits. */
static void parameters_of_a_kind__have_limits(void **state)
{
    (void)state;
    static const struct {
        const char *wrong;
        const char *type;
        const char *kind_to_flags;
        enum bb_status status;
    } rows[] = {
        {"a set of numbers", "03", "02 00" RATE_NONE "64 00 00", BB_OK},
        {"a set of no values", "03", "02 00" RATE_NONE "00 00 00", BB_CORRUPT},
        {"a set of too many values", "03", "02 00" RATE_NONE "81 80 04 00 00", BB_CORRUPT},
        {"values of numbers", "03", "03 00" RATE_SOUND "00 00 00", BB_OK},
        {"values without a rate", "03", "03 00" RATE_NONE "00 00 00", BB_CORRUPT},
        {"values with a rate above 1", "03", "03 00 00*6 f83f 00 00 00", BB_CORRUPT},
        {"tokens of numbers", "03", "04 00" RATE_SOUND "00 00 00", BB_CORRUPT},
        {"folded tokens of bytes", "01", "04 00" RATE_SOUND "00 00 01", BB_OK},
        {"n-grams of bytes", "01", "05 00" RATE_SOUND "00 03 00", BB_OK},
        {"n-grams of one byte", "01", "05 00" RATE_SOUND "00 01 00", BB_CORRUPT},
        {"n-grams of very many bytes", "01", "05 00" RATE_SOUND "00 7f 00", BB_CORRUPT},
        {"text of bytes with counts", "01", "07 00" RATE_NONE "00 00 02", BB_OK},
        {"text of numbers", "03", "07 00" RATE_NONE "00 00 00", BB_CORRUPT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hostile_field fields[sizeof(directory_fields) / sizeof(directory_fields[0])];
        memcpy(fields, directory_fields, sizeof(fields));
        for (struct hostile_field *field = fields; field->name != NULL; field++) {
            static const char *const none[] = {"attribute", "rate", "values", "n", "flags"};
            for (size_t j = 0; j < sizeof(none) / sizeof(none[0]); j++)
                if (strcmp(field->name, none[j]) == 0)
                    field->digits = "";
            if (strcmp(field->name, "kind") == 0)
                field->digits = rows[i].kind_to_flags;
            if (strcmp(field->name, "type") == 0)
                field->digits = rows[i].type;
        }
        struct bb_bytes bytes = hostile_bytes(fields, NULL);
        enum bb_status status = decode(bytes, NULL);
        if (status != rows[i].status)
            fail_msg("%s: status %d", rows[i].wrong, (int)status);
        hostile_free(bytes);
    }
}

/* The decoder skips an index of a later version by its size. */
static void unknown_kind__is_skipped(void **state)
{
    (void)state;
    static const struct hostile_case later = {"a kind of later", "kind", "63 ff*7"};
    struct bb_index_directory directory;
    struct bb_bytes bytes = hostile_bytes(directory_fields, &later);
    assert_ok(bb_index_directory_decode(bytes, (struct bb_place){0}, FILE_SIZE, &directory));
    assert_int_equal(directory.index_count, 1);
    assert_false(directory.indexes[0].is_known);
    assert_int_equal(directory.source.size, 3);
    bb_index_directory_deinit(&directory);
    hostile_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_directory__is_refused),
        cmocka_unit_test(hostile_words__are_refused),
        cmocka_unit_test(index_directory__has_no_attribute_beyond_the_schema),
        cmocka_unit_test(parameters_of_a_kind__have_limits),
        cmocka_unit_test(unknown_kind__is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
