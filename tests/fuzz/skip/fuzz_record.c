/* Arbitrary records. The first byte of the input selects the use of the rest:
 *
 *     0 ... 247      a record, which every extractor reads
 *     248 ... 255    a definition
 *
 * No byte outside the record is read (the address sanitizer checks that), an attribute read
 * separately equals the same one read among others, and a JSON text that jansson accepts is not
 * malformed. An accepted definition has a canonical text with the same meaning.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bb/record.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEFINITION_FROM 248

/* JSON first: jansson is compared with this many. */
static const char *const DEFINITIONS[] = {
    "j0 bytes = json($)",
    "j1 bytes = json($.a)",
    "j2 bytes = json($.a.b)",
    "j3 bytes = json($.a[0])",
    "j4 bytes = json($[1].\"a b\")",
    "j5 bytes = json($.ts)",
    "n0 f64 = json($.a)",
    "n1 i64 = json($.a.b)",
    "n2 time(rfc3339) = json($.ts)",
    "v0 bytes = value",
    "v1 f64 = value",
    "v2 u64 = value",
    "v3 time(unix_float) = value",
    "v4 time('%a %b %e %y %H:%M:%S.%f%z') = value",
    "v5 time(clf) = value",
    "v6 time(rfc3339) = value",
    "s0 bytes = split(' ', 1)",
    "s1 bytes = split(' ', 40)",
    "s2 i64 = split(' ', 3)",
    "s3 bytes = split(' ', 2, quoted)",
    "c0 bytes = csv(1)",
    "c1 bytes = csv(3)",
    "c2 f64 = csv(2)",
    "t0 bytes = tsv(2)",
    "f0 u64 = fixed(3, u32be)",
    "f1 f64 = fixed(0, f64le)",
    "f2 bytes = fixed(5, bytes 11)",
    "l0 bytes = clf(host)",
    "l1 bytes = clf(user)",
    "l2 time(clf) = clf(time)",
    "l3 bytes = clf(path)",
    "l4 bytes = clf(protocol)",
    "l5 u64 = clf(status)",
    "l6 bytes = clf(agent)",
    "z0 bytes = zeek(1)",
    "z1 bytes = zeek(3)",
    "g0 bytes = logfmt(a)",
    "g1 bytes = logfmt(msg)",
    "k0 bytes = key",
};

enum { COUNT = BB_ARRAY_LENGTH(DEFINITIONS), JSON_COUNT = 6 };

static void must(enum bb_status status)
{
    BB_ASSERT(status == BB_OK);
}

static void assert_same(const struct bb_attribute *a, const struct bb_attribute *b)
{
    BB_ASSERT(a->state == b->state && a->type == b->type);
    if (a->state != BB_ATTRIBUTE_PRESENT)
        return;
    if (a->type == BB_ATTRIBUTE_BYTES)
        BB_ASSERT(bb_bytes_equal(a->as.bytes, b->as.bytes));
    else
        BB_ASSERT(a->as.u64 == b->as.u64);
}

/* Every byte of the result is readable. */
static void touch(const struct bb_attribute *attribute)
{
    if (attribute->state != BB_ATTRIBUTE_PRESENT || attribute->type != BB_ATTRIBUTE_BYTES)
        return;
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < attribute->as.bytes.size; i++)
        sum = (uint8_t)(sum + attribute->as.bytes.data[i]);
}

/* The guarantee of schema->verbatim. */
static void assert_verbatim(const struct bb_schema *schema, size_t i, struct bb_bytes value,
                            const struct bb_attribute *attribute)
{
    uint8_t escape = 0;
    enum bb_verbatim verbatim = bb_schema_verbatim(schema, i, &escape);
    struct bb_bytes bytes = attribute->as.bytes;
    if (attribute->state != BB_ATTRIBUTE_PRESENT || verbatim == BB_VERBATIM_NEVER ||
        bytes.size == 0)
        return;
    if (verbatim == BB_VERBATIM_UNESCAPED && memchr(value.data, escape, value.size) != NULL)
        return;
    BB_ASSERT(memmem(value.data, value.size, bytes.data, bytes.size) != NULL);
}

/* A raw zero byte is in no JSON text, but jansson 2.14 ignores it after a number. */
static void compare_with_jansson(struct bb_bytes value, const struct bb_attribute *attributes)
{
    if (value.size > 0 && memchr(value.data, 0, value.size) != NULL)
        return;
    json_t *root =
        json_loadb((const char *)value.data, value.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (root == NULL)
        return;
    for (size_t i = 0; i < JSON_COUNT; i++)
        BB_ASSERT(attributes[i].state != BB_ATTRIBUTE_MALFORMED);
    BB_ASSERT(attributes[0].state != BB_ATTRIBUTE_MISSING);
    json_decref(root);
}

static struct bb_record_reader *alone[COUNT];
static struct bb_record_reader *all;
static struct bb_schema *schema;

static void open_readers(void)
{
    must(bb_schema_create(&schema));
    for (size_t i = 0; i < COUNT; i++)
        must(bb_schema_add(schema, DEFINITIONS[i]));
    must(bb_record_reader_create(schema, NULL, &all));
    for (size_t i = 0; i < COUNT; i++) {
        bool wanted[COUNT] = {false};
        wanted[i] = true;
        must(bb_record_reader_create(schema, wanted, &alone[i]));
    }
}

static void close_readers(void)
{
    bb_record_reader_destroy(all);
    for (size_t i = 0; i < COUNT; i++)
        bb_record_reader_destroy(alone[i]);
    bb_schema_destroy(schema);
    schema = NULL;
}

static void read_record(struct bb_bytes value)
{
    struct bb_attribute together[COUNT], single[COUNT];
    struct bb_bytes key = bb_bytes_of_text("key");
    must(bb_record_read(all, key, value, together));
    for (size_t i = 0; i < COUNT; i++) {
        must(bb_record_read(alone[i], key, value, single));
        assert_same(&together[i], &single[i]);
        touch(&together[i]);
        assert_verbatim(schema, i, value, &together[i]);
    }
    compare_with_jansson(value, together);
}

static void read_definition(const uint8_t *data, size_t size)
{
    struct bb_schema *first, *second;
    char *text = bb_must_realloc(NULL, size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    must(bb_schema_create(&first));
    must(bb_schema_create(&second));
    if (bb_schema_add(first, text) == BB_OK) {
        must(bb_schema_add(second, bb_schema_definition(first, 0)));
        BB_ASSERT(strcmp(bb_schema_definition(first, 0), bb_schema_definition(second, 0)) == 0);
        BB_ASSERT(bb_schema_type(first, 0) == bb_schema_type(second, 0));
    }
    bb_schema_destroy(first);
    bb_schema_destroy(second);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] >= DEFINITION_FROM) {
        read_definition(data + 1, size - 1);
        return 0;
    }
    /* No bytes need no address. */
    uint8_t *exact = size == 1 ? NULL : bb_must_realloc(NULL, size - 1);
    if (size > 1)
        memcpy(exact, data + 1, size - 1);
    if (schema == NULL) {
        open_readers();
        atexit(close_readers);
    }
    read_record(bb_bytes_of(exact, size - 1));
    free(exact);
    return 0;
}
