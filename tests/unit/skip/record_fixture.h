/* Shared by the tests of extractors: one definition, one record, the attribute as text. */
#ifndef BB_TESTS_UNIT_SKIP_RECORD_FIXTURE_H
#define BB_TESTS_UNIT_SKIP_RECORD_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bb/record.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "tests/support/assert_status.h"

struct record_fixture {
    struct bb_schema *schema;
    struct bb_record_reader *reader;
    struct bb_attribute attribute; /* the first one of the record read last */
    char text[256];                /* and as text */
};

static inline void fixture_open(struct record_fixture *fixture, const char *definition)
{
    assert_ok(bb_schema_create(&fixture->schema));
    assert_ok(bb_schema_add(fixture->schema, definition));
    assert_ok(bb_record_reader_create(fixture->schema, NULL, &fixture->reader));
}

static inline void fixture_close(struct record_fixture *fixture)
{
    bb_record_reader_destroy(fixture->reader);
    bb_schema_destroy(fixture->schema);
}

/* "<null>", "<missing>", "<malformed>", or the value: bytes escaped, numbers in decimal, times as
 * nanoseconds. */
static inline void attribute_print(const struct bb_attribute *attribute, char *text, size_t size)
{
    static const char *const states[] = {"", "<null>", "<missing>", "<malformed>"};
    if (attribute->state != BB_ATTRIBUTE_PRESENT)
        snprintf(text, size, "%s", states[attribute->state]);
    else if (attribute->type == BB_ATTRIBUTE_BYTES)
        bb_bytes_escape(attribute->as.bytes, text, size);
    else if (attribute->type == BB_ATTRIBUTE_U64)
        snprintf(text, size, "%llu", (unsigned long long)attribute->as.u64);
    else if (attribute->type == BB_ATTRIBUTE_F64)
        snprintf(text, size, "%.17g", attribute->as.f64);
    else
        snprintf(text, size, "%lld", (long long)attribute->as.i64);
}

/* Reads the record from memory of exactly its size, so that the address sanitizer finds reads past
 * it. Returns the attribute as text. */
static inline const char *fixture_read(struct record_fixture *fixture, struct bb_bytes value)
{
    uint8_t *exact = malloc(value.size == 0 ? 1 : value.size);
    assert_non_null(exact);
    if (value.size > 0)
        memcpy(exact, value.data, value.size);
    assert_ok(bb_record_read(fixture->reader, bb_bytes_of("key", 3),
                             bb_bytes_of(value.size == 0 ? NULL : exact, value.size),
                             &fixture->attribute));
    attribute_print(&fixture->attribute, fixture->text, sizeof(fixture->text));
    free(exact);
    return fixture->text;
}

/* A record, and the definition's result for it. */
struct record_case {
    const char *record;
    const char *expected;
};

static inline void assert_cases(const char *definition, const struct record_case *cases,
                                size_t count)
{
    struct record_fixture fixture;
    fixture_open(&fixture, definition);
    for (size_t i = 0; i < count; i++) {
        const char *found = fixture_read(&fixture, bb_bytes_of_text(cases[i].record));
        if (strcmp(found, cases[i].expected) != 0)
            fail_msg("%s of \"%s\": \"%s\", expected \"%s\"", definition, cases[i].record, found,
                     cases[i].expected);
    }
    fixture_close(&fixture);
}

#define ASSERT_CASES(definition, cases) assert_cases(definition, cases, BB_ARRAY_LENGTH(cases))

#endif
