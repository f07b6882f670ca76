/* Files of lines: the lines that satisfy a condition, and an index file that makes it quick to find
 * them. No store is needed, and the file is never changed.
 *
 *     bb_lines_index_create("access.log", &index_options, NULL);      writes access.log.bbi
 *     bb_lines_open("access.log", NULL, &lines);
 *     struct bb_lines_select_options options = {.struct_size = sizeof(options),
 *                                               .where = "has_token(agent, 'sqlmap')"};
 *     bb_lines_select(lines, &options, &select);
 *     while (bb_lines_select_next(select, &has_line) == BB_OK && has_line)
 *         use(bb_lines_select_line(select)->record);
 *     bb_lines_select_destroy(select);
 *     bb_lines_close(lines);
 *
 * A line ends with LF or CR LF, which belong to no record; the last one may have no end. An empty
 * line is a record too. A record's key has no bytes.
 *
 * Granules are ranges of the file, cut at line ends. Results are exact and in the file's order,
 * whatever the index file says, lacks or has lost: it only spares reading. Lines that it does not
 * cover are read.
 *
 * The file may grow while it is open: it is what it was when it was opened. An index file is used
 * when the file is the one that was indexed: it has the size and modification time of then, or it
 * has grown; and the checksums of the first and the last 16 KiB that are indexed are the same. A
 * file that was truncated or rewritten is not: then its index file is passed over, and
 * bb_lines_info says why. A change elsewhere in a file that grew as well is not seen: it needs
 * bb_lines_index_create with `rebuild`.
 *
 * Threads: an open file is for any number of threads; a selection is for one at a time.
 */
#ifndef BB_PUBLIC_LINES_H
#define BB_PUBLIC_LINES_H

#include "bb/skip.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a file's index file: the file's name with this at its end. */
#define BB_LINES_INDEX_SUFFIX ".bbi"

/* A longer line is BB_TOO_LARGE. */
#define BB_LINE_SIZE_MAX (UINT32_C(1) << 30)

/* ---- index files ---- */

struct bb_lines_index_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    struct bb_file_system *file_system;
    /* What to index; borrowed for the call. The whole schema is kept in the index file, for
     * conditions that name attributes without an index. NULL, with no specs: as the index file that
     * is there has it. */
    const struct bb_schema *schema;
    const struct bb_skip_spec *specs;
    size_t spec_count;
    /* BB_GRANULE_BYTES_MIN ... BB_GRANULE_BYTES_MAX. 0: as the index file has it, or
     * BB_GRANULE_BYTES_DEFAULT. */
    uint64_t granule_bytes;
    /* Read the whole file. Else what an index file says of the same attributes, indexes and
     * granules is taken over, and lines are read from the last segments of its indexes on
     * (bb/skip.h). */
    bool rebuild;
    /* Now and then: false ends the work with BB_BUSY, and all is as it was. NULL: never. */
    bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes);
    void *progress_context;
};

struct bb_lines_index_report {
    uint64_t file_bytes;
    uint64_t indexed_bytes; /* up to the last line end */
    uint64_t read_bytes;    /* of them, in this call */
    uint64_t granules;
    uint64_t granules_taken; /* of them, that were not read again */
    uint64_t records;
    uint64_t index_bytes; /* size of the index file */
    uint64_t reserved[4];
};

/* Writes the index file anew and puts it in place of the one that is there, durably: at every
 * moment one of them is whole. After a crash a file with a longer name of the same beginning may be
 * left over; it is never read. BB_BUSY: the file was changed, other than at its end, while it was
 * read, or the progress function said so. BB_NOT_FOUND: the file, or without a schema its index
 * file, is missing. BB_INVALID: no regular file; the options; a change before what was appended,
 * seen where lines were read again. BB_TOO_LARGE: a line. BB_IO, BB_READ_ONLY: no file can be
 * created beside it. */
BB_API BB_MUST_CHECK enum bb_status
bb_lines_index_create(const char *path, const struct bb_lines_index_options *options,
                      struct bb_lines_index_report *ret_report);

/* ---- files ---- */

struct bb_lines;

struct bb_lines_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    struct bb_file_system *file_system;
};

/* BB_NOT_FOUND; BB_INVALID: no regular file, or a symbolic link; BB_IO: no permission. An index
 * file is not needed. Owned: bb_lines_close, after its selections. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_open(const char *path,
                                                  const struct bb_lines_options *options,
                                                  struct bb_lines **ret_lines);
/* NULL is allowed. */
BB_API void bb_lines_close(struct bb_lines *lines);

enum bb_lines_index_state {
    BB_LINES_INDEX_NONE = 0,       /* there is no index file */
    BB_LINES_INDEX_USED = 1,       /* it is of this file, or of its beginning */
    BB_LINES_INDEX_STALE = 2,      /* the file was truncated or rewritten since */
    BB_LINES_INDEX_UNREADABLE = 3, /* damaged, of a newer version, without permission */
};

struct bb_lines_info {
    uint64_t file_bytes;
    enum bb_lines_index_state index_state;
    const char *index_reason; /* why it is not used; empty when it is. Borrowed from the file */
    uint64_t indexed_bytes;   /* 0 when it is not used, as all that follows */
    uint64_t granules;
    uint64_t records; /* in granules */
    uint64_t index_bytes;
    uint64_t reserved[4];
};

BB_API void bb_lines_info(const struct bb_lines *lines, struct bb_lines_info *ret_info);
/* The schema that was indexed, also of a stale index file; NULL when none can be read. Borrowed
 * from the file. */
BB_API const struct bb_schema *bb_lines_schema(const struct bb_lines *lines);
/* The indexes, for bb_skip_file_index; NULL when none is used. Borrowed from the file. */
BB_API struct bb_skip_file *bb_lines_index(const struct bb_lines *lines);

/* ---- selecting ---- */

/* What was selected, and at what cost. Without a limit, at the end: granules = excluded + counted +
 * read. */
struct bb_lines_account {
    uint64_t granules;
    uint64_t granules_excluded; /* no line of theirs matches, as an index says */
    uint64_t granules_counted;  /* all of their lines match, as an index says: counted unread */
    uint64_t granules_read;
    uint64_t granules_matching; /* of those read, with a line that matches */
    uint64_t unindexed_bytes;   /* of the file, in no granule: read without a question */
    uint64_t data_reads;        /* preads of the file */
    uint64_t data_read_bytes;
    uint64_t index_reads; /* preads of the index file */
    uint64_t index_read_bytes;
    uint64_t
        damaged_indexes; /* that were passed over: damaged or unknown; an unreadable file is one */
    uint64_t records_examined; /* for which the condition was evaluated */
    uint64_t records_matching; /* of them, for which it is true */
    uint64_t records_returned;
    uint64_t index_nanoseconds; /* asking indexes */
    uint64_t nanoseconds;       /* in all */
    uint64_t reserved[8];
};

struct bb_lines_select_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    /* The condition, as text or as made by calls; at most one of them. Neither: every line. */
    const char *where;                    /* borrowed for the call */
    const struct bb_condition *condition; /* over `schema`; borrowed until the selection ends */
    /* NULL: that of the index file. Another one must outlive the selection; indexes serve those of
     * its attributes that they define alike, by whatever name. */
    const struct bb_schema *schema;
    bool ignore_indexes;
    uint64_t limit; /* lines at most; 0: no limit */
    /* Asked now and then, at least once for some megabytes: false cancels with BB_BUSY. NULL:
     * never. */
    bool (*progress)(void *context, const struct bb_lines_account *account);
    void *progress_context;
};

struct bb_line {
    uint64_t offset;        /* in the file */
    struct bb_bytes record; /* without the line's end */
    struct bb_bytes bytes;  /* with it, where there is one */
};

struct bb_lines_select;

/* BB_INVALID: the condition, with the offset in its text; the options; no schema, where one is
 * needed. BB_NO_MEMORY. Owned: bb_lines_select_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_select(const struct bb_lines *lines,
                                                    const struct bb_lines_select_options *options,
                                                    struct bb_lines_select **ret_select);
/* To the next line; *ret_has_line is false at the end. A failure ends the selection: what was
 * returned before is right, and not all. BB_BUSY: cancelled. BB_CORRUPT: the file became shorter.
 * BB_TOO_LARGE: a line; a regular expression that gives up. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_select_next(struct bb_lines_select *select,
                                                         bool *ret_has_line);
/* The line at hand, borrowed until the selection moves. REQUIRES: there is one. */
BB_API const struct bb_line *bb_lines_select_line(const struct bb_lines_select *select);
/* All attributes of the schema, as many as it has: borrowed as above. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_lines_select_attributes(struct bb_lines_select *select,
                           const struct bb_attribute **ret_attributes);
/* So far. */
BB_API void bb_lines_select_account(const struct bb_lines_select *select,
                                    struct bb_lines_account *ret_account);
/* NULL is allowed. */
BB_API void bb_lines_select_destroy(struct bb_lines_select *select);

/* How many lines there are. limit counts too. account may be NULL. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_count(const struct bb_lines *lines,
                                                   const struct bb_lines_select_options *options,
                                                   uint64_t *ret_count,
                                                   struct bb_lines_account *account);

#ifdef __cplusplus
}
#endif
#endif
