/* Text files: selects the lines of a file that satisfy a condition. An index file makes this fast.
 * The library needs no store for this, and never changes the text file.
 *
 *     bb_lines_index_create("access.log", &index_options, NULL);      writes access.log.bbi
 *     bb_lines_open("access.log", NULL, &lines);
 *     struct bb_lines_select_options options = {.where = "has_token(agent, 'sqlmap')"};
 *     bb_lines_select(lines, &options, &select);
 *     while (bb_lines_select_next(select, &has_line) == BB_OK && has_line)
 *         use(bb_lines_select_line(select)->record);
 *     bb_lines_select_destroy(select);
 *     bb_lines_close(lines);
 *
 * A line ends with LF or CR LF, which are not part of the record; the last line may lack an end. An
 * empty line is a record too. The key of a record is empty.
 *
 * Granules (bb/skip.h) are ranges of the file, divided at line ends. Results are exact and in file
 * order, even if the index file is incomplete or damaged: an index file only avoids reads, and
 * lines that it does not cover are read.
 *
 * The file may grow while it is open; selections see its state at opening. An index file is used
 * only if it belongs to the file. The file must have grown, or have the same size and modification
 * time. In both cases the checksums of the first and the last 16 KiB of the indexed part must
 * match. If a file was truncated or rewritten, its index file is ignored, and bb_lines_info gives
 * the reason. If a file has grown, a change in the middle of its indexed part is not detected: call
 * bb_lines_index_create with `rebuild`.
 *
 * Threads: any number of threads may use a struct bb_lines. A selection is for one thread at a
 * time. */
#ifndef BB_PUBLIC_LINES_H
#define BB_PUBLIC_LINES_H

#include "bb/skip.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of an index file is the file's name with this suffix. */
#define BB_LINES_INDEX_SUFFIX ".bbi"

/* A longer line fails with BB_TOO_LARGE. */
#define BB_LINE_SIZE_MAX (UINT32_C(1) << 30)

/* ---- index files ---- */

struct bb_lines_index_options {
    /* Borrowed for the call; NULL: the operating system's files. */
    struct bb_file_system *file_system;
    /* The attributes to index; borrowed for the call. The index file keeps the whole schema, for
     * conditions that name attributes without an index. NULL, with no specs: the schema of the
     * existing index file. */
    const struct bb_schema *schema;
    const struct bb_skip_spec *specs;
    size_t spec_count;
    /* BB_GRANULE_BYTES_MIN ... BB_GRANULE_BYTES_MAX. 0: the value of the existing index file, or
     * BB_GRANULE_BYTES_DEFAULT. */
    uint64_t granule_bytes;
    /* True: read the whole file. False: reuse the parts of an existing index file that has the same
     * attributes, indexes and granules, and read from the last segments of its indexes on
     * (bb/skip.h). */
    bool rebuild;
    /* Called from time to time. If it returns false, the call ends with BB_BUSY, and no file is
     * changed. NULL: not called. */
    bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes);
    void *progress_context;
};

struct bb_lines_index_report {
    uint64_t file_bytes;
    uint64_t indexed_bytes; /* up to the last line end */
    uint64_t read_bytes;    /* bytes read in this call */
    uint64_t granules;
    uint64_t granules_taken; /* granules reused without reading them */
    uint64_t records;
    uint64_t index_bytes; /* size of the index file */
};

/* Writes a new index file and replaces the existing one durably. At any time one of them is
 * complete. A crash may leave a file with the same prefix and a longer name, which is never read.
 * BB_BUSY: the progress function stopped the call, or the file was changed during the call, other
 * than at its end. BB_NOT_FOUND: the file is missing, or its index file if no schema is given.
 * BB_INVALID: not a regular file; invalid options; a change before the appended part, detected
 * where lines were read again. BB_TOO_LARGE: a line is too long. BB_IO, BB_READ_ONLY: the index
 * file cannot be created. */
BB_API BB_MUST_CHECK enum bb_status
bb_lines_index_create(const char *path, const struct bb_lines_index_options *options,
                      struct bb_lines_index_report *ret_report);

/* ---- files ---- */

struct bb_lines;

struct bb_lines_options {
    /* Borrowed until bb_lines_close; NULL: the operating system's files. */
    struct bb_file_system *file_system;
};

/* Opens a file and its index file, which is optional. BB_NOT_FOUND; BB_INVALID: it is a symbolic
 * link, or not a regular file; BB_IO: no permission, or its ends cannot be read and compared with
 * the index file. Owned: bb_lines_close, after its selections are destroyed. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_open(const char *path,
                                                  const struct bb_lines_options *options,
                                                  struct bb_lines **ret_lines);
/* NULL is allowed. */
BB_API void bb_lines_close(struct bb_lines *lines);

enum bb_lines_index_state {
    BB_LINES_INDEX_NONE = 0,       /* no index file exists */
    BB_LINES_INDEX_USED = 1,       /* it belongs to the file, or to its beginning */
    BB_LINES_INDEX_STALE = 2,      /* the file was truncated or rewritten since */
    BB_LINES_INDEX_UNREADABLE = 3, /* damaged, of a newer version, or without permission */
};

struct bb_lines_info {
    uint64_t file_bytes;
    enum bb_lines_index_state index_state;
    /* Why the index file is not used; BB_OK and empty if it is used. Borrowed from the file. */
    enum bb_status index_status;
    const char *index_reason;
    uint64_t indexed_bytes; /* 0 if the index file is not used, like the following fields */
    uint64_t granules;
    uint64_t records; /* lines in granules */
    uint64_t index_bytes;
};

BB_API void bb_lines_info(const struct bb_lines *lines, struct bb_lines_info *ret_info);
/* The schema of the index file, even of a stale one; NULL if no index file is readable. Borrowed
 * from the file. */
BB_API const struct bb_schema *bb_lines_schema(const struct bb_lines *lines);
/* The indexes, for bb_skip_file_index; NULL if none is used. Borrowed from the file. */
BB_API struct bb_skip_file *bb_lines_index(const struct bb_lines *lines);

/* ---- selecting ---- */

/* Result counts and costs of a selection. At the end, without a limit: granules = excluded +
 * counted + read. */
struct bb_lines_account {
    uint64_t granules;
    uint64_t granules_excluded; /* an index shows that none of their lines match */
    uint64_t granules_counted;  /* not read: an index shows how many of their lines match */
    uint64_t granules_read;
    uint64_t granules_matching; /* granules read that have a matching line */
    uint64_t unindexed_bytes;   /* bytes in no granule, which are always read */
    uint64_t data_reads;        /* preads of the file */
    uint64_t data_read_bytes;
    uint64_t index_reads; /* preads of the index file */
    uint64_t index_read_bytes;
    /* Indexes that were ignored because they are damaged or unknown; an unreadable file counts as
     * one. */
    uint64_t damaged_indexes;
    uint64_t records_examined; /* records for which the condition was evaluated */
    uint64_t records_matching; /* records for which it is true */
    uint64_t records_returned;
    uint64_t index_nanoseconds; /* time to query indexes */
    uint64_t nanoseconds;       /* total time */
};

struct bb_lines_select_options {
    /* The condition, as text or built by calls; at most one of them. Neither: every line. */
    const char *where;                    /* borrowed for the call */
    const struct bb_condition *condition; /* over `schema`; borrowed until the selection ends */
    /* NULL: the schema of the index file. Another schema must outlive the selection; indexes are
     * used for attributes with the same definition, under any name. */
    const struct bb_schema *schema;
    bool ignore_indexes;
    uint64_t limit; /* maximum number of lines; 0: no limit */
    /* Called at least every few megabytes. If it returns false, the selection ends with BB_BUSY.
     * NULL: not called. */
    bool (*progress)(void *context, const struct bb_lines_account *account);
    void *progress_context;
};

struct bb_line {
    uint64_t offset;        /* in the file */
    struct bb_bytes record; /* without the line end */
    struct bb_bytes bytes;  /* including the line end, if any */
};

struct bb_lines_select;

/* BB_INVALID: the condition, with the offset in its text; the options; no schema, if one is needed.
 * BB_NO_MEMORY. Owned: bb_lines_select_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_select(const struct bb_lines *lines,
                                                    const struct bb_lines_select_options *options,
                                                    struct bb_lines_select **ret_select);
/* Moves to the next line; *ret_has_line is false at the end. A failure ends the selection: earlier
 * lines are correct, but incomplete. BB_BUSY: cancelled. BB_CORRUPT: the file became shorter.
 * BB_TOO_LARGE: a line is too long, or a regular expression exceeds its step limit. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_select_next(struct bb_lines_select *select,
                                                         bool *ret_has_line);
/* The current line, borrowed until the selection moves. REQUIRES: a current line. */
BB_API const struct bb_line *bb_lines_select_line(const struct bb_lines_select *select);
/* All attributes of the current line, as many as the schema has: borrowed as above.
 * BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_lines_select_attributes(struct bb_lines_select *select,
                           const struct bb_attribute **ret_attributes);
/* The work so far of each index of bb_lines_index, in that order; *ret_count is 0 if no index was
 * queried. Borrowed until the selection is destroyed. */
BB_API void bb_lines_select_index_accounts(const struct bb_lines_select *select,
                                           const struct bb_skip_account **ret_accounts,
                                           size_t *ret_count);
/* Counts the matching lines; used instead of bb_lines_select_next. It does not read granules if the
 * indexes show how many of their lines match. REQUIRES: the selection has not moved. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_select_count(struct bb_lines_select *select,
                                                          uint64_t *ret_count);
/* The counts so far. */
BB_API void bb_lines_select_account(const struct bb_lines_select *select,
                                    struct bb_lines_account *ret_account);
/* NULL is allowed. */
BB_API void bb_lines_select_destroy(struct bb_lines_select *select);

/* The number of lines. limit applies too. account may be NULL. */
BB_API BB_MUST_CHECK enum bb_status bb_lines_count(const struct bb_lines *lines,
                                                   const struct bb_lines_select_options *options,
                                                   uint64_t *ret_count,
                                                   struct bb_lines_account *account);

#ifdef __cplusplus
}
#endif
#endif
