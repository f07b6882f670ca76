/* Reads keys, and values, from files or standard input, a line each.
 *
 *     KEY\n                       the line is the key, with any bytes; the value is empty
 *     KEY \t VALUE \n   (is_tsv)  the first tab splits; a line without a tab is refused
 *
 * Lines are not trimmed: an empty line is the empty key. The last line needs no newline. With
 * is_value the line is the value, and the key is the caller's. With another terminator "lines" end
 * with that byte, and newlines are bytes of the key like others. With is_hex key and value are
 * hexadecimal digits, for bytes that lines can not hold. Lines that are longer than key and value
 * can be are refused, or, with is_skipping, skipped and counted. Memory: the longest line that can
 * be valid. Threads: one.
 */
#ifndef BB_TOOLS_KEYS_KEY_READER_H
#define BB_TOOLS_KEYS_KEY_READER_H

#include "bb/table.h"
#include "tools/output/progress.h"

struct key_reader {
    char *const *paths; /* borrowed; "-" is standard input */
    size_t path_count;
    bool is_tsv;
    bool is_hex;
    bool is_value;
    size_t value_size_max; /* with is_value; set to BB_VALUE_SIZE_MAX by init */
    bool is_skipping;
    uint64_t skipped_count;    /* lines that were too long, with is_skipping */
    char terminator;           /* set to a newline by init */
    struct progress *progress; /* bytes read are added; may be NULL */

    size_t path_index;
    int fd; /* -1: none */
    bool is_at_end;
    bool is_line_cut; /* of the line that is being read, bytes were already given up */
    uint64_t line;
    uint64_t offset;      /* in the file, where that line begins */
    uint64_t next_offset; /* and the line after it */
    struct bb_buf buffer; /* bytes read but not yet returned begin at `start` */
    size_t start;
    struct bb_buf decoded;
};

/* A line; bytes are borrowed until the next call. */
struct key_record {
    struct bb_bytes key;
    struct bb_bytes value;
    const char *path;
    uint64_t line;   /* from 1, per file */
    uint64_t offset; /* of its first byte, in the file */
};

/* No paths: standard input. Owned: key_reader_deinit. */
void key_reader_init(struct key_reader *reader, char *const *paths, size_t path_count);
void key_reader_deinit(struct key_reader *reader);
/* Checks that every path can be read. It opens no path, so that a pipe keeps its other end. BB_IO
 * names a path that is missing or unreadable, BB_INVALID a directory. */
BB_MUST_CHECK enum bb_status key_reader_check(const struct key_reader *reader);
/* BB_NOT_FOUND at the end of the last file. BB_TOO_LARGE and BB_INVALID name file and line, and the
 * byte where a line that is too long begins. */
BB_MUST_CHECK enum bb_status key_reader_next(struct key_reader *reader,
                                             struct key_record *ret_record);

/* Sizes of the files together; 0 when one is not a regular file. */
uint64_t key_reader_size_bytes(char *const *paths, size_t path_count);

#endif
