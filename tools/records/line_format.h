/* Formats of lines, each with the attributes that its lines have: `load --lines --format`.
 *
 *     clf           the twelve fields of the combined log of Apache and nginx
 *     csv, tsv      a column each, of type bytes; names from the first line of each file, which is
 *                   no record, or from csv=HEADER
 *     zeek          names and types from "#fields" and "#types"; lines with # are no records. A
 *                   later "#fields" may only add columns
 *     json          a field each, of the objects in the first lines (json_fields.h)
 *
 * Names of columns become names of attributes: a character other than a letter, digit or '_'
 * becomes '_'; a keyword of conditions, and a name that is taken, gets a '_' after it. An existing
 * attribute of the store with the same extractor stays unchanged, with any type: to store a column
 * as numbers, define the attribute first. It must have the name of the column, or be given with
 * line_format_give: else the values of a file with other columns would be under wrong names.
 */
#ifndef BB_TOOLS_RECORDS_LINE_FORMAT_H
#define BB_TOOLS_RECORDS_LINE_FORMAT_H

#include "bb/select.h"
#include "tools/keys/key_reader.h"

enum line_format_kind {
    LINE_FORMAT_NONE,
    LINE_FORMAT_CLF,
    LINE_FORMAT_CSV,
    LINE_FORMAT_TSV,
    LINE_FORMAT_ZEEK,
    LINE_FORMAT_JSON,
};

struct line_format {
    enum line_format_kind kind;
    const char *header;  /* given by option; NULL: the first line is it. Borrowed */
    struct bb_buf names; /* the current header */
    struct bb_buf types; /* zeek */
    const char *path;    /* of the current header; NULL: from the option. Borrowed */
    uint64_t line;
    bool is_fresh;            /* a header was read, and its attributes are not made yet */
    struct bb_schema *before; /* the attributes of the store before this load */
    struct bb_schema *given;  /* by the command */
};

/* An extractor of a column: "csv(3)". */
struct column_text {
    char text[24];
};

/* "clf", "csv=HEADER", ...; NULL is no format. BB_INVALID. Owned: line_format_deinit. */
BB_MUST_CHECK enum bb_status line_format_init(struct line_format *format, const char *text);
void line_format_deinit(struct line_format *format);

/* Notes which attributes the store has. Call it before the command adds any. */
BB_MUST_CHECK enum bb_status line_format_begin(struct line_format *format, struct bb_db *db);
/* Notes that the command gives this attribute, so that it may have another name than its column. */
BB_MUST_CHECK enum bb_status line_format_give(struct line_format *format, const char *definition);

/* Whether the line is a record, not a header or a comment. BB_INVALID when a later header is
 * another one. */
BB_MUST_CHECK enum bb_status line_format_look(struct line_format *format,
                                              const struct key_record *line, bool *ret_is_record);

/* Creates the attributes of the format, for the header read last, unless it did so already.
 * BB_INVALID when the store had other names for its columns; no attribute is created then. */
BB_MUST_CHECK enum bb_status line_format_define(struct line_format *format, struct bb_db *db);

/* The extractor that finds text in each line of the format: of the last column, or of the status of
 * clf. Empty: there is no such extractor. */
struct column_text line_format_last(const struct line_format *format);

/* Adds the attribute NAME TYPE = EXTRACTOR under a name that is valid in conditions. An attribute
 * that the store already has stays unchanged. */
BB_MUST_CHECK enum bb_status line_format_add(struct bb_db *db, struct bb_bytes name,
                                             const char *type, const char *extractor);

#endif
