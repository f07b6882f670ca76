/* The fields of JSON objects, one a line, with the type that all of them have.
 *
 * Nested objects are read up to four levels deep; an array is one field. Integers are i64, numbers
 * with a fraction f64, as are all numbers of an object with an integer beyond i64; strings that are
 * all RFC 3339 time(rfc3339); all other fields, and fields of mixed types, bytes. Lines that are no
 * objects, that are not JSON, or have a key with a NUL or a number beyond f64, have no fields. A
 * field has no attribute if its path is longer than 1 KiB or has a key with a
 * control character.
 */
#ifndef BB_TOOLS_RECORDS_JSON_FIELDS_H
#define BB_TOOLS_RECORDS_JSON_FIELDS_H

#include <jansson.h>

#include "bb/select.h"

#define JSON_FIELDS_MAX 256

struct json_fields {
    json_t *types;          /* path -> letters of the kinds found */
    struct bb_schema *time; /* "t time(rfc3339) = value" */
    struct bb_record_reader *reader;
    uint64_t skipped_lines;
    uint64_t skipped_fields;
};

/* Owned: json_fields_deinit. */
BB_MUST_CHECK enum bb_status json_fields_init(struct json_fields *fields);
void json_fields_deinit(struct json_fields *fields);

BB_MUST_CHECK enum bb_status json_fields_look(struct json_fields *fields, struct bb_bytes line);
/* An attribute for each field, in the order in which they were found. */
BB_MUST_CHECK enum bb_status json_fields_define(struct json_fields *fields, struct bb_db *db);

#endif
