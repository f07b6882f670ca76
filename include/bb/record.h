/* Records and their attributes: typed values in the value of an entry, or in a line of a file.
 *
 * A record is what a value holds: a log line, a row of CSV, a JSON object. An attribute is a typed
 * value that an extractor finds in it. Conditions (bb/condition.h) compare attributes, skip indexes
 * (bb/skip.h) summarise them.
 */
#ifndef BB_PUBLIC_RECORD_H
#define BB_PUBLIC_RECORD_H

#include "bb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ON DISK: the values never change. */
enum bb_attribute_type {
    BB_ATTRIBUTE_BYTES = 1, /* any bytes, ordered bytewise */
    BB_ATTRIBUTE_I64 = 2,
    BB_ATTRIBUTE_U64 = 3,
    BB_ATTRIBUTE_F64 = 4,  /* IEEE 754: NaN compares with nothing, -0 equals +0 */
    BB_ATTRIBUTE_TIME = 5, /* nanoseconds since 1970-01-01T00:00:00Z, in an int64_t */
};

/* Stable lower-case name: "bytes", "i64", "u64", "f64", "time". NULL for an unknown value. */
BB_API const char *bb_attribute_type_name(enum bb_attribute_type type);

/* What an extractor found. To conditions the last three are SQL's NULL; indexes count them apart. */
enum bb_attribute_state {
    BB_ATTRIBUTE_PRESENT = 0,
    BB_ATTRIBUTE_NULL = 1, /* the record says that there is no value: JSON's null, "-" of a log */
    BB_ATTRIBUTE_MISSING = 2,   /* the record has no such field */
    BB_ATTRIBUTE_MALFORMED = 3, /* there is a field, and it is not of the type */
};

/* An attribute of one record. The bytes are borrowed from the record, or from whoever read it, until
 * the next record is read. */
struct bb_attribute {
    enum bb_attribute_state state;
    enum bb_attribute_type type;
    union {
        struct bb_bytes bytes;
        int64_t i64; /* I64, TIME */
        uint64_t u64;
        double f64;
    } as; /* of PRESENT attributes alone */
};

#ifdef __cplusplus
}
#endif
#endif
