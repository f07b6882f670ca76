/* Records and their attributes: typed values in the value of an entry, or in a line of a file.
 *
 * A record is the contents of a value: a log line, a row of CSV, a JSON object. An attribute is a
 * typed value that an extractor finds in it. Conditions (bb/condition.h) compare attributes, and
 * skip indexes (bb/skip.h) summarise them.
 *
 * A schema is a numbered list of named attributes. Each is defined by a line of text
 *
 *     NAME TYPE = EXTRACTOR
 *
 *     status u64 = clf(status)
 *     ts time(rfc3339) = json($.ts)
 *
 * NAME: a letter or '_', then letters, digits and '_', at most BB_ATTRIBUTE_NAME_MAX bytes; case
 * matters. The words of conditions (and, or, not, in, is, null, like, between, escape, true, false)
 * are not allowed.
 *
 * TYPE: bytes, i64, u64, f64, time(FORMAT). Text is converted to a value:
 *     all types  Empty text is NULL, except for bytes, where it is the empty string.
 *     i64, u64   Decimal digits after an optional '+' or (i64) '-'. Leading zeros are ignored.
 *                "1.0", "1e3", "0x10", blanks, and numbers out of range are MALFORMED.
 *     f64        Digits with an optional sign, fraction and exponent: "-1.5", ".5", "5.", "1e3".
 *                "nan", "inf" and "infinity" in any case, with an optional sign. Rounded to the
 *                nearest double, ties to even, in every locale. A number that rounds to infinity
 *                is MALFORMED; a number that rounds to 0 is 0. Hexadecimal and blanks are
 *                MALFORMED.
 *     time       By FORMAT. Digits of a fraction after the ninth are dropped. Times outside int64_t
 *                (1677-09-21 to 2262-04-11) and days that do not exist are MALFORMED. Second 60 is
 *                the second after 59.
 *         rfc3339         2015-05-17T10:05:03.123Z, +02:00; 't', 'z' and a blank instead of 'T' are
 *                         accepted too
 *         clf             17/May/2015:10:05:03 +0000
 *         unix, unix_ms, unix_us, unix_ns    an integer, as i64 is read
 *         unix_float      1521911720.865716: digits with an optional '-' and fraction
 *         'PATTERN'       up to 64 bytes. %Y year in 4 digits, %y in 2 (69 to 99 are 19xx), %m
 *                         month, %d day, %H %M %S, each in 2 digits; %e day in 1 or 2 digits, a
 *                         blank may precede it; %b "Jan", %a "Mon" (not compared with the date),
 *                         in any case; %f fraction, 1 digit or more; %z "Z", +hhmm or +hh:mm
 *                         (without %z: UTC); %% is '%'. Other characters, including blanks, must
 *                         match exactly. Year, month and day are required.
 *
 * EXTRACTOR: fields are numbered from 1 (at most BB_RECORD_FIELD_MAX), elements of JSON arrays
 * from 0.
 *     key, value                 the whole key or value
 *     split('SEP', N)            field N of fields separated by one byte. An empty line has no
 *                                field, for split, csv, tsv and zeek
 *     split('SEP', N, quoted)    the same with quotes as in csv
 *     csv(N), csv(NAME, 'HEADER')    RFC 4180. A field that starts with a quote ends at the next
 *                                quote that is not doubled; "" inside it is a quote. MALFORMED:
 *                                bytes between the closing quote and the separator, or no closing
 *                                quote (all later fields are then MISSING). Quotes elsewhere are
 *                                ordinary bytes. NAME is looked up in HEADER, a row of CSV
 *     tsv(N), tsv(NAME, 'HEADER')    tabs, no quotes, no escapes
 *     json($.a."b c"[0])         RFC 8259, a path of at most BB_JSON_DEPTH_MAX steps. A key
 *                                without quotes has letters, digits, '_', '-', '@' and bytes from
 *                                0x80; in quotes '\"' and '\\' are escapes. A string gives its text
 *                                without escapes, and bytes that are not UTF-8 are kept. A number,
 *                                true, false, an object and an array give their text as it is in
 *                                the record. null is NULL. The first of equal keys is used.
 *                                MISSING: the object is intact, but lacks the key. MALFORMED: the
 *                                text is damaged before the end of the value, the value has a lone
 *                                surrogate, or the text begins with a byte order mark. Of other
 *                                values only quotes and brackets are checked
 *     fixed(OFFSET, FORM)        at a byte of the value: u8 i8 u16le u16be i16le i16be u32le u32be
 *                                i32le i32be u64le u64be i64le i64be f32le f32be f64le f64be, or
 *                                bytes LENGTH. u forms are u64, or i64 (MALFORMED above its range);
 *                                i forms are i64; both may be time(unix...); f forms are f64;
 *                                bytes are text, for any type. MISSING if the value is too short
 *     clf(FIELD)                 Common and combined log formats of Apache and nginx: host, ident,
 *                                user, time, request, method, path, protocol, status, bytes,
 *                                referer, agent. "-" is NULL. Escapes are kept; a quote after a
 *                                backslash does not end a field. If a separator ('[', ']', a
 *                                quote, a blank) is missing, its field and all later fields are
 *                                MALFORMED. The request has method, path and protocol; its last
 *                                word is the protocol only if it begins with "HTTP/". If the
 *                                request has only one word, all three are MALFORMED
 *     zeek(N), zeek(NAME, 'FIELDS')    tabs; "-" is NULL, "(empty)" is the empty string, \xNN is a
 *                                byte, \\ is '\', other escapes are kept. FIELDS: names separated
 *                                by blanks or tabs, as after "#fields"
 *     logfmt('NAME')             NAME=value NAME="quoted \"value\"". Of equal names the first is
 *                                used. A name without "=" is NULL. In quotes \n \r \t \b \f \uNNNN
 *                                are escapes; a backslash before another byte is dropped.
 *                                MALFORMED: bytes after a closing quote; without a closing quote,
 *                                all names that were not found earlier. A NAME of letters, digits,
 *                                '_', '-' and '.' needs no quotes in the definition
 *     callback(NAME)             bb_schema_add_callback
 *
 * A line end (LF, CR LF) at the end of a record belongs to no field, in split, csv, tsv, clf, zeek
 * and logfmt; value has it. Text in single quotes: \\ \' \t \n \r and \xNN are escapes.
 *
 * Files store and compare the canonical text, bb_schema_definition: blanks, numbers and quotes in
 * one form, names of columns resolved to their numbers.
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
    /* IEEE 754. NaN compares with no value, -0 equals +0. */
    BB_ATTRIBUTE_F64 = 4,
    BB_ATTRIBUTE_TIME = 5, /* nanoseconds since 1970-01-01T00:00:00Z, in an int64_t */
};

/* A stable lower-case name: "bytes", "i64", "u64", "f64", "time". NULL for an unknown value. */
BB_API const char *bb_attribute_type_name(enum bb_attribute_type type);

/* Result of an extractor. Conditions treat NULL, MISSING and MALFORMED as SQL's NULL; indexes
 * count them separately. */
enum bb_attribute_state {
    BB_ATTRIBUTE_PRESENT = 0,
    /* The record has an explicit null: JSON's null, "-" in a log. */
    BB_ATTRIBUTE_NULL = 1,
    /* The record has no such field. */
    BB_ATTRIBUTE_MISSING = 2,
    /* The field exists, but its text is not of the type. */
    BB_ATTRIBUTE_MALFORMED = 3,
};

/* An attribute of one record. The bytes are borrowed from the record or its reader until the next
 * record is read. */
struct bb_attribute {
    enum bb_attribute_state state;
    enum bb_attribute_type type;
    union {
        struct bb_bytes bytes;
        int64_t i64; /* I64, TIME */
        uint64_t u64;
        double f64;
    } as; /* only for PRESENT attributes */
};

/* Limits; a definition or schema that exceeds them is BB_INVALID. */
#define BB_SCHEMA_ATTRIBUTES_MAX 1024
#define BB_ATTRIBUTE_NAME_MAX    64   /* bytes */
#define BB_DEFINITION_SIZE_MAX   4096 /* bytes; limits the canonical text too */
#define BB_RECORD_FIELD_MAX      65535
#define BB_JSON_DEPTH_MAX        64 /* steps of a path; deeper values are skipped at any depth */

/* A list of attributes. Threads: adding excludes all other calls; otherwise any number. */
struct bb_schema;

/* Creates an empty schema. BB_NO_MEMORY. Owned: bb_schema_destroy, after its readers. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_create(struct bb_schema **ret_schema);
BB_API void bb_schema_destroy(struct bb_schema *schema);

/* A function of the program that extracts an attribute. The library calls it with attribute->type
 * set and state MISSING. The function sets the state, and the value if PRESENT. If the bytes of the
 * value are outside key and value, the library copies them when the function returns. The result
 * must depend only on key and value, because indexes store it. Any thread that reads records may
 * call the function, concurrently with others. */
typedef void (*bb_record_callback)(void *context, struct bb_bytes key, struct bb_bytes value,
                                   struct bb_attribute *attribute);

/* Registers a function for callback(name). Register it before you add definitions that use the
 * name. name: has the form of attribute names; copied. context: the program's, borrowed until the
 * schema is destroyed. BB_INVALID for an invalid name, BB_EXISTS for a name in use,
 * BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_add_callback(struct bb_schema *schema,
                                                           const char *name,
                                                           bb_record_callback function,
                                                           void *context);

/* Appends an attribute: its number is bb_schema_count before the call. definition: borrowed.
 * BB_INVALID with the offset for an invalid definition, a limit, or an extractor that does not
 * support the type; BB_EXISTS for a name in use; BB_NO_MEMORY. After a failure the schema is
 * unchanged. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_add(struct bb_schema *schema, const char *definition);

BB_API size_t bb_schema_count(const struct bb_schema *schema);
/* Finds the number of the attribute of this name. BB_NOT_FOUND, without a message. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_find(const struct bb_schema *schema,
                                                   struct bb_bytes name, size_t *ret_attribute);

/* Properties of one attribute; attribute < bb_schema_count. Texts are valid until the schema is
 * destroyed. */
BB_API const char *bb_schema_name(const struct bb_schema *schema, size_t attribute);
BB_API enum bb_attribute_type bb_schema_type(const struct bb_schema *schema, size_t attribute);
/* Canonical: adding it to another schema gives the same text and the same attribute. */
BB_API const char *bb_schema_definition(const struct bb_schema *schema, size_t attribute);

/* Whether a search of the value (the record without its key) can precede the extraction of an
 * attribute of bytes. */
enum bb_verbatim {
    BB_VERBATIM_NEVER, /* a value need not contain the attribute's bytes */
    /* A value without the byte *ret_escape contains the attribute's bytes contiguously. */
    BB_VERBATIM_UNESCAPED,
    BB_VERBATIM_ALWAYS, /* every value contains the attribute's bytes contiguously */
};
/* *ret_escape is set for BB_VERBATIM_UNESCAPED only. */
BB_API enum bb_verbatim bb_schema_verbatim(const struct bb_schema *schema, size_t attribute,
                                           uint8_t *ret_escape);
/* True for BB_VERBATIM_ALWAYS: if a value does not contain some bytes, its attribute does not
 * either. */
BB_API bool bb_schema_is_verbatim(const struct bb_schema *schema, size_t attribute);

/* Appends the definitions, each with a newline after it. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_encode(const struct bb_schema *schema,
                                                     struct bb_buf *buf);
/* Adds the definitions written by bb_schema_encode; register their callbacks first. Errors as in
 * bb_schema_add; after a failure the schema has the attributes before the failed one. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_decode(struct bb_schema *schema,
                                                     struct bb_bytes text);

/* Extracts the attributes of one record after another. Threads: one at a time; create a reader per
 * thread. */
struct bb_record_reader;

/* wanted: bb_schema_count flags that select the attributes to read; NULL for all. Copied. The
 * schema is borrowed until the reader is destroyed; the reader ignores attributes added later.
 * BB_NO_MEMORY. Owned: bb_record_reader_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_record_reader_create(const struct bb_schema *schema,
                                                            const bool *wanted,
                                                            struct bb_record_reader **ret_reader);
BB_API void bb_record_reader_destroy(struct bb_record_reader *reader);

/* Fills attributes[i] for every selected attribute i; other elements are unchanged. key and value
 * may have any contents. Each format is parsed once per record. attributes: as many elements as the
 * schema had when the reader was created. Bytes point into key or value, or into the reader: valid
 * while key and value are, and until the reader's next call. Fails only with BB_NO_MEMORY, for a
 * record with escapes. */
BB_API BB_MUST_CHECK enum bb_status bb_record_read(struct bb_record_reader *reader,
                                                   struct bb_bytes key, struct bb_bytes value,
                                                   struct bb_attribute *attributes);

#ifdef __cplusplus
}
#endif
#endif
