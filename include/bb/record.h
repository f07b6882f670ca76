/* Records and their attributes: typed values in the value of an entry, or in a line of a file.
 *
 * A record is what a value holds: a log line, a row of CSV, a JSON object. An attribute is a typed
 * value that an extractor finds in it. Conditions (bb/condition.h) compare attributes, skip indexes
 * (bb/skip.h) summarise them.
 *
 * A schema is a numbered list of named attributes. Each is defined by a line of text
 *
 *     NAME TYPE = EXTRACTOR
 *
 *     status u64 = clf(status)
 *     ts time(rfc3339) = json($.ts)
 *
 * NAME: a letter or '_', then letters, digits and '_', at most BB_ATTRIBUTE_NAME_MAX bytes; case
 * counts. The words of conditions (and, or, not, in, is, null, like, between, escape, true, false)
 * are no names.
 *
 * TYPE: bytes, i64, u64, f64, time(FORMAT). Text becomes a value so:
 *     all types  Text of no bytes is NULL, except for bytes: there it is the empty string.
 *     i64, u64   Decimal digits after an optional '+' or (i64) '-'. Leading zeros do not count.
 *                "1.0", "1e3", "0x10", blanks, and what is out of range are MALFORMED.
 *     f64        Digits with an optional sign, fraction and exponent: "-1.5", ".5", "5.", "1e3".
 *                "nan", "inf" and "infinity" in any case, with an optional sign. Rounded to the
 *                nearest double, ties to even, in every locale. What rounds to infinity is MALFORMED,
 *                what rounds to 0 is 0. Hexadecimal and blanks are MALFORMED.
 *     time       By FORMAT. Digits of a fraction after the ninth are dropped. Out of int64_t
 *                (1677-09-21 to 2262-04-11) and days that no calendar has are MALFORMED. Second 60 is
 *                the second after 59.
 *         rfc3339         2015-05-17T10:05:03.123Z, +02:00; 't', 'z' and a blank for the 'T' are
 *                         taken too
 *         clf             17/May/2015:10:05:03 +0000
 *         unix, unix_ms, unix_us, unix_ns    an integer, as i64 is read
 *         unix_float      1521911720.865716: digits with an optional '-' and fraction
 *         'PATTERN'       up to 64 bytes. %Y year in 4 digits, %y in 2 (69 to 99 are 19xx), %m month,
 *                         %d day, %H %M %S, each in 2 digits; %e day in 1 or 2 digits, a blank may
 *                         precede it; %b "Jan", %a "Mon" (not compared with the date), in any
 *                         case; %f fraction, 1 digit or more; %z "Z", +hhmm or +hh:mm (UTC where a
 *                         pattern has none); %% is '%'. All else, blanks too, must be as written.
 *                         Year, month and day are required.
 *
 * EXTRACTOR: fields are numbered from 1 (at most BB_RECORD_FIELD_MAX), elements of JSON arrays from 0.
 *     key, value                 all of it
 *     split('SEP', N)            field N of what one byte separates. A line of no bytes has no
 *                                field, for split, csv, tsv and zeek
 *     split('SEP', N, quoted)    the same with quotes as csv has them
 *     csv(N), csv(NAME, 'HEADER')    RFC 4180. A field that starts with a quote ends at the next
 *                                single one, "" inside is a quote. MALFORMED: bytes between
 *                                the end of quotes and the separator, no end of quotes (which takes
 *                                all fields after it along: they are MISSING). Quotes elsewhere are
 *                                bytes like others. NAME is looked up in HEADER, a row of CSV
 *     tsv(N), tsv(NAME, 'HEADER')    tabs, no quotes, no escapes
 *     json($.a."b c"[0])         RFC 8259. Keys without quotes: letters, digits, '_', '-', '@', bytes
 *                                from 0x80. In quotes '\"' and '\\' are escapes. Strings are
 *                                unescaped; true, false and numbers are their text; an object or
 *                                array is its text as it is in the record; null is NULL. Of
 *                                equal keys the first counts. An attribute is MALFORMED when the text
 *                                is damaged before the end of its value, MISSING when the object
 *                                that must have it is whole and has not. What no path leads into is
 *                                skipped: only its quotes and brackets are looked at. Not more than
 *                                BB_JSON_DEPTH_MAX steps. A lone surrogate is MALFORMED, and so is
 *                                all after a byte order mark; bytes that are not UTF-8 stay as they are
 *     fixed(OFFSET, FORM)        at a byte of the value: u8 i8 u16le u16be i16le i16be u32le u32be
 *                                i32le i32be u64le u64be i64le i64be f32le f32be f64le f64be, or
 *                                bytes LENGTH. u forms are u64, or i64 (MALFORMED above its range);
 *                                i forms are i64; both are time(unix...) too; f forms are f64; bytes
 *                                are text of any type. MISSING when the value ends before
 *     clf(FIELD)                 Common and combined log of Apache and nginx: host, ident, user, time,
 *                                request, method, path, protocol, status, bytes, referer, agent. "-" is
 *                                NULL. A backslash keeps a quote from ending a field; escapes stay
 *                                as they are. Where a mark ('[', ']', a quote, a blank) is not where
 *                                it must be, this field and all after it are MALFORMED. The
 *                                request is method, path, protocol: the last word only where it
 *                                begins with "HTTP/". One word alone: all three are MALFORMED
 *     zeek(N), zeek(NAME, 'FIELDS')    tabs; "-" is NULL, "(empty)" is the empty string, \xNN is a
 *                                byte, \\ is '\', other escapes stay. FIELDS: names between blanks or
 *                                tabs, as after "#fields"
 *     logfmt('NAME')             NAME=value NAME="quoted \"value\"". The first of equal names. A
 *                                name alone is NULL. In quotes \n \r \t \b \f \uNNNN are escapes,
 *                                a backslash before another byte is dropped. MALFORMED: bytes
 *                                after the end of quotes; without an end of quotes, all names
 *                                that were not found before.
 *                                Without the quotes in the definition: letters, digits, '_', '-', '.'
 *     callback(NAME)             bb_schema_add_callback
 *
 * A line end (LF, CR LF) at the end of a record belongs to no field, in split, csv, tsv, clf, zeek and
 * logfmt; value has it. Text in single quotes: \\ \' \t \n \r and \xNN are escapes.
 *
 * Canonical text, bb_schema_definition, is what files keep and compare: blanks, numbers and quotes in
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

/* Limits; what exceeds them is BB_INVALID. */
#define BB_SCHEMA_ATTRIBUTES_MAX 1024
#define BB_ATTRIBUTE_NAME_MAX    64   /* bytes */
#define BB_DEFINITION_SIZE_MAX   4096 /* bytes, of the canonical text too */
#define BB_RECORD_FIELD_MAX      65535
#define BB_JSON_DEPTH_MAX        64 /* steps of a path; what lies deeper is skipped at any depth */

/* A list of attributes. Threads: adding excludes all other calls; else any number. */
struct bb_schema;

/* An empty one. BB_NO_MEMORY. Owned: bb_schema_destroy, after its readers. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_create(struct bb_schema **ret_schema);
BB_API void bb_schema_destroy(struct bb_schema *schema);

/* Finds an attribute by the program's own means. Called with attribute->type set, and state MISSING;
 * sets the state, and the value when it is PRESENT. Bytes that lie in neither key nor value are copied
 * when the function returns. Must depend on key and value alone: an index keeps what it said.
 * Called by any thread that reads records, by several at once. */
typedef void (*bb_record_callback)(void *context, struct bb_bytes key, struct bb_bytes value,
                                   struct bb_attribute *attribute);

/* Registers a function for callback(name), before definitions that name it are added. name: as names of
 * attributes are, copied. context: the program's, borrowed until the schema is destroyed.
 * BB_INVALID for no name, BB_EXISTS for one that is taken, BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_add_callback(struct bb_schema *schema,
                                                           const char *name,
                                                           bb_record_callback function,
                                                           void *context);

/* Appends an attribute: its number is bb_schema_count before the call. definition: borrowed.
 * BB_INVALID with the offset in the definition for a text that is none, a limit, or an extractor that
 * does not give the type; BB_EXISTS for a name that is taken; BB_NO_MEMORY. The schema is unchanged
 * after a failure. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_add(struct bb_schema *schema, const char *definition);

BB_API size_t bb_schema_count(const struct bb_schema *schema);
/* The number of the attribute of this name. BB_NOT_FOUND, without a message. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_find(const struct bb_schema *schema,
                                                   struct bb_bytes name, size_t *ret_attribute);

/* Of one attribute; number < bb_schema_count. Texts are valid until the schema is destroyed. */
BB_API const char *bb_schema_name(const struct bb_schema *schema, size_t attribute);
BB_API enum bb_attribute_type bb_schema_type(const struct bb_schema *schema, size_t attribute);
/* Canonical: adding it to another schema gives the same text and the same attribute. */
BB_API const char *bb_schema_definition(const struct bb_schema *schema, size_t attribute);

/* What to look for in a value (the record without its key) before an attribute of bytes is extracted. */
enum bb_verbatim {
    BB_VERBATIM_NEVER, /* a value need not hold the attribute's bytes */
    /* A value without the byte *ret_escape holds the attribute's bytes in one piece. */
    BB_VERBATIM_UNESCAPED,
    BB_VERBATIM_ALWAYS, /* every value holds the attribute's bytes in one piece */
};
BB_API enum bb_verbatim bb_schema_verbatim(const struct bb_schema *schema, size_t attribute,
                                           uint8_t *ret_escape);
/* BB_VERBATIM_ALWAYS: a value without some bytes has no attribute with them. */
BB_API bool bb_schema_is_verbatim(const struct bb_schema *schema, size_t attribute);

/* Appends the definitions, each with a newline after it. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_encode(const struct bb_schema *schema,
                                                     struct bb_buf *buf);
/* Adds what bb_schema_encode wrote; callbacks that it names are registered before.
 * As bb_schema_add; after a failure the schema has the attributes before the one that failed. */
BB_API BB_MUST_CHECK enum bb_status bb_schema_decode(struct bb_schema *schema,
                                                     struct bb_bytes text);

/* Extracts attributes of one record after the other. Threads: one at a time; a reader per thread. */
struct bb_record_reader;

/* wanted: bb_schema_count flags, which attributes are read; NULL for all. Copied. The schema is
 * borrowed until the reader is destroyed; attributes that are added later are unknown to the reader.
 * BB_NO_MEMORY. Owned: bb_record_reader_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_record_reader_create(const struct bb_schema *schema,
                                                            const bool *wanted,
                                                            struct bb_record_reader **ret_reader);
BB_API void bb_record_reader_destroy(struct bb_record_reader *reader);

/* Fills attributes[i] for every wanted attribute i, whatever the bytes are; others stay as they are.
 * Each format is gone over once. attributes: as many as the schema had when the reader was created.
 * Bytes point into key or value, or into the reader: valid as long as key and value are, and until
 * the reader's next call. BB_NO_MEMORY alone, for a record with escapes. */
BB_API BB_MUST_CHECK enum bb_status bb_record_read(struct bb_record_reader *reader,
                                                   struct bb_bytes key, struct bb_bytes value,
                                                   struct bb_attribute *attributes);

#ifdef __cplusplus
}
#endif
#endif
