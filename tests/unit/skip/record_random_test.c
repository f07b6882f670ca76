/* Goal: an attribute depends only on the record. Method: lines of all formats with bytes changed,
 * cut, doubled and moved, 20,000 of them, in memory of exactly their size; each attribute is read
 * separately and among all others, twice, and its bytes are searched in the record. */
#include "tests/support/rng.h"
#include "tests/unit/skip/record_fixture.h"

static const char *const DEFINITIONS[] = {
    "a0 bytes = value",
    "a1 f64 = value",
    "b0 bytes = split(' ', 1)",
    "b1 u64 = split(' ', 9)",
    "b2 bytes = split(' ', 6, quoted)",
    "c0 bytes = csv(1)",
    "c1 f64 = csv(2)",
    "c2 bytes = csv(4)",
    "c3 bytes = csv(4)",
    "d0 bytes = tsv(3)",
    "e0 bytes = clf(host)",
    "e1 bytes = clf(user)",
    "e2 time(clf) = clf(time)",
    "e3 bytes = clf(method)",
    "e4 bytes = clf(path)",
    "e5 bytes = clf(protocol)",
    "e6 u64 = clf(status)",
    "e7 bytes = clf(referer)",
    "e8 bytes = clf(agent)",
    "f0 time(unix_float) = zeek(1)",
    "f1 bytes = zeek(2)",
    "f2 bytes = zeek(4)",
    "g0 bytes = logfmt(msg)",
    "g1 u64 = logfmt(n)",
    "h0 bytes = json($.a)",
    "h1 bytes = json($.b.c[1])",
    "h2 time(rfc3339) = json($.b.t)",
    "h3 f64 = json($.b.c[0])",
    "i0 u64 = fixed(2, u16be)",
    "i1 bytes = fixed(7, bytes 9)",
    "k0 bytes = key",
};

static const char *const LINES[] = {
    "83.149.9.216 - frank [17/May/2015:10:05:03 +0000] \"GET /a b HTTP/1.1\" 200 203023 "
    "\"http://a/\" \"Mozilla \\\"x\\\\\\\"\"\r\n",
    "\"a \"\"b\"\"\",1.5,\"x\ny\",\"\"\"\",z\r\n",
    "1521911720.865716\tC1\\x09x\t(empty)\t-\t\\\\\n",
    "level=info msg=\"a \\\"b\\\" \\u00e9\\n\" n=7 flag t=",
    "{\"a\":\"x\\n\\u00e9\",\"b\":{\"t\":\"2015-05-17T10:05:03.25Z\",\"c\":[1e3,{\"d\":\"}\"}]},"
    "\"a\":2}",
    "9007199254740993.00000000000000000000000001e-3",
};

enum { COUNT = BB_ARRAY_LENGTH(DEFINITIONS), SIZE_MAX_BYTES = 1024 };

static size_t draw_line(struct bb_rng *rng, uint8_t *line)
{
    static const char marks[] = "\"\\ ,\t[]{}:=-\n\r(1x\xff";
    const char *sample = LINES[bb_rng_below(rng, BB_ARRAY_LENGTH(LINES))];
    size_t size = strlen(sample);
    memcpy(line, sample, size);
    for (uint64_t left = bb_rng_below(rng, 5); left > 0 && size > 0; left--) {
        size_t at = bb_rng_below(rng, size);
        size_t length = bb_rng_below(rng, size - at) + 1;
        uint64_t change = bb_rng_below(rng, 8);
        if (change == 0) {
            size = at;
        } else if (change == 1 && size + length < SIZE_MAX_BYTES) {
            memmove(line + at + length, line + at, size - at);
            size += length;
        } else if (change == 2) {
            memmove(line + at, line + at + length, size - at - length);
            size -= length;
        } else {
            line[at] = (uint8_t)marks[bb_rng_below(rng, sizeof(marks) - 1)];
        }
    }
    return size;
}

static void assert_same(const struct bb_attribute *a, const struct bb_attribute *b, size_t i,
                        struct bb_bytes line)
{
    char first[256], second[256], record[600];
    attribute_print(a, first, sizeof(first));
    attribute_print(b, second, sizeof(second));
    if (strcmp(first, second) != 0 || a->type != b->type)
        fail_msg("%s of \"%s\": \"%s\" and \"%s\"", DEFINITIONS[i],
                 bb_bytes_escape(line, record, sizeof(record)), first, second);
}

static void assert_verbatim(const struct bb_schema *schema, size_t i, struct bb_bytes line,
                            const struct bb_attribute *attribute)
{
    uint8_t escape = 0;
    enum bb_verbatim verbatim = bb_schema_verbatim(schema, i, &escape);
    struct bb_bytes bytes = attribute->as.bytes;
    if (attribute->state != BB_ATTRIBUTE_PRESENT || verbatim == BB_VERBATIM_NEVER)
        return;
    if (verbatim == BB_VERBATIM_UNESCAPED && line.size > 0 &&
        memchr(line.data, escape, line.size) != NULL)
        return;
    assert_true(bytes.size == 0 || memmem(line.data, line.size, bytes.data, bytes.size) != NULL);
}

struct readers {
    struct bb_schema *schema;
    struct bb_record_reader *all;
    struct bb_record_reader *alone[COUNT];
};

static void assert_line(struct readers *readers, struct bb_bytes line)
{
    struct bb_attribute together[COUNT], single[COUNT];
    struct bb_bytes key = bb_bytes_of_text("key");
    assert_ok(bb_record_read(readers->all, key, line, together));
    assert_ok(bb_record_read(readers->all, key, line, together));
    for (size_t i = 0; i < COUNT; i++) {
        assert_ok(bb_record_read(readers->alone[i], key, line, single));
        assert_same(&together[i], &single[i], i, line);
        assert_verbatim(readers->schema, i, line, &together[i]);
    }
}

static void record__attributes_do_not_depend_on_each_other(void **state)
{
    struct readers readers;
    uint8_t line[SIZE_MAX_BYTES];
    struct bb_rng rng;
    (void)state;
    bb_rng_init(&rng, bb_rng_seed("record__attributes_do_not_depend_on_each_other", 20261122));
    assert_ok(bb_schema_create(&readers.schema));
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(bb_schema_add(readers.schema, DEFINITIONS[i]));
    assert_ok(bb_record_reader_create(readers.schema, NULL, &readers.all));
    for (size_t i = 0; i < COUNT; i++) {
        bool wanted[COUNT] = {false};
        wanted[i] = true;
        assert_ok(bb_record_reader_create(readers.schema, wanted, &readers.alone[i]));
    }
    for (int i = 0; i < 20000; i++) {
        size_t size = draw_line(&rng, line);
        uint8_t *exact = size == 0 ? NULL : malloc(size);
        assert_true(size == 0 || exact != NULL);
        if (size > 0)
            memcpy(exact, line, size);
        assert_line(&readers, bb_bytes_of(exact, size));
        free(exact);
    }
    bb_record_reader_destroy(readers.all);
    for (size_t i = 0; i < COUNT; i++)
        bb_record_reader_destroy(readers.alone[i]);
    bb_schema_destroy(readers.schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record__attributes_do_not_depend_on_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
