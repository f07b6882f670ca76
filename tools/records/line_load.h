/* Lines as records of a store: `load --lines`.
 *
 *     key      a running number in 16 decimal digits, after the last key of the store; or, with
 *              --key, the text of an attribute, a tab, and a running number that the store never
 *              used before (its last sequence number and up)
 *     value    the line, without its newline; with a format also without a carriage return before
 *              it, and without a byte order mark at the beginning of the file
 *
 * The text of an attribute orders keys as the attribute orders records: times as
 * 2015-05-17T10:05:03.000000000Z, numbers in 20 digits (below zero '-' and the distance from the
 * smallest one in 19), bytes unchanged, up to 1024 of them. Where it is NULL, missing or malformed
 * the key begins with the tab.
 */
#ifndef BB_TOOLS_RECORDS_LINE_LOAD_H
#define BB_TOOLS_RECORDS_LINE_LOAD_H

#include "tools/command/options.h"
#include "tools/records/json_fields.h"
#include "tools/records/line_format.h"
#include "tools/records/line_probe.h"

struct line_load {
    /* Options. */
    bool is_on;
    const char *format_text;
    const char *key_name; /* of an attribute; NULL: only a running number */
    struct option_texts attributes;
    struct option_texts indexes;
    uint64_t granule_bytes; /* 0: as it is */
    uint64_t line_size_max;
    /* At work. */
    struct bb_db *db; /* borrowed */
    struct line_format format;
    struct json_fields fields;
    struct line_probe probe;
    bool is_looking;    /* lines are examined, before the first one is stored */
    struct bb_buf held; /* these lines, each with its newline */
    size_t held_at;
    uint64_t held_count;
    struct bb_error failure; /* of the line after them */
    bool is_defined;
    struct bb_schema *schema; /* for the key */
    struct bb_record_reader *reader;
    struct bb_attribute *read;
    size_t key_attribute;
    uint64_t number; /* of the next line */
    uint64_t without_key;
    struct bb_buf key;
};

/* Checks the options, before there is a store. Owned: line_load_deinit. */
BB_MUST_CHECK enum bb_status line_load_init(struct line_load *load);
void line_load_deinit(struct line_load *load);
/* Makes the definitions that need no line. */
BB_MUST_CHECK enum bb_status line_load_begin(struct line_load *load, struct bb_db *db);

/* The next record; its bytes are borrowed until the next call. BB_NOT_FOUND at the end of the
 * input; failures name file, line and byte. */
BB_MUST_CHECK enum bb_status line_load_next(struct line_load *load, struct key_reader *reader,
                                            struct key_record *ret_record);

#endif
