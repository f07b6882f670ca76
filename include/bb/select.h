/* Selecting records of a store by a condition on their values, and the indexes that speed it up.
 *
 *     bb_db_attribute_create(db, "status u64 = clf(status)");
 *     bb_db_attribute_create(db, "agent bytes = clf(agent)");
 *     bb_db_index_create(db, "by_agent", "tokens(agent)");
 *     ... write ...
 *     struct bb_select_options options = {.where = "status = 418 AND has_token(agent, 'sqlmap')"};
 *     bb_db_select(db, &options, &select);
 *     while (bb_select_next(select, &has_record) == BB_OK && has_record)
 *         use(bb_select_key(select), bb_select_value(select));
 *     bb_select_destroy(select);
 *
 * Every value of the store is a record; a schema (bb/record.h) defines how to find attributes in
 * it. The store keeps one schema and a list of indexes, its catalog. As soon as an index is
 * created, compactions build it. bb_db_index_materialize builds it for older tables, without
 * rewriting them.
 *
 * A flush defers the index file of its table, because a compaction soon replaces the table and
 * builds one. A table of level 0 gets its deferred index file when no compaction is due and one of
 * these is true: no flush has ended for 5 seconds, bb_db_wait_idle waits, or a selection can use
 * indexes. A flush builds its index file immediately if a selection that can use indexes was made
 * after the previous flush began. In deterministic mode bb_db_wait_idle builds deferred index
 * files, and so do writes after a selection that can use indexes. A selection reads all of a table
 * that has no index file yet. With defer_index_files (bb/db_options.h) compactions defer index
 * files too, and the store builds index files of all levels in the same way. A compaction then
 * takes as long as without indexes, but the store reads each table again.
 *
 * A selection returns exactly the records for which the condition is true, in key order, from one
 * state of the store. This holds even if an index is damaged, lost or incomplete: an index only
 * saves reads.
 *
 * A store maps its index files if the system can, at most 16,384 in a process. A page that it has
 * read before is copied from the map, without a system call. The first map of the process installs
 * a handler of SIGBUS: see BB_READ_COPIES in bb/table.h.
 *
 * Threads: as in bb/db.h. A struct bb_select is for one thread at a time.
 */
#ifndef BB_PUBLIC_SELECT_H
#define BB_PUBLIC_SELECT_H

#include "bb/condition.h"
#include "bb/db.h"
#include "bb/record.h"
#include "bb/skip.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the catalog ----
 *
 * Changes of the catalog are durable when the call returns. They fail with BB_UNSUPPORTED in a
 * store with a comparator: attributes and indexes need the bytewise order. Other errors are as
 * for every call that writes to files (bb/db.h). */

/* Adds an attribute to the store's schema. definition: bb/record.h. BB_INVALID with the offset in
 * the definition; BB_EXISTS: the name is taken; BB_UNSUPPORTED for a callback, which no other
 * process could call. */
BB_API BB_MUST_CHECK enum bb_status bb_db_attribute_create(struct bb_db *db,
                                                           const char *definition);
/* Removes an attribute from the schema. BB_NOT_FOUND; BB_INVALID: an index uses it; the message
 * names the index. */
BB_API BB_MUST_CHECK enum bb_status bb_db_attribute_drop(struct bb_db *db, const char *name);

/* Adds an index. Tables begun after this call get it. name: 1 ... 64 bytes without control
 * characters. spec: its kind, attribute and parameters, such as "tokens(agent, rate=0.001)"
 * (bb/skip.h). BB_INVALID for an invalid name or spec; BB_EXISTS: the name is taken; BB_UNSUPPORTED
 * for an index of words in a build without libunistring. */
BB_API BB_MUST_CHECK enum bb_status bb_db_index_create(struct bb_db *db, const char *name,
                                                       const char *spec);
/* Removes an index. Tables written after this call do not have it. Existing index files keep it,
 * and selections use it there, until the files are replaced. BB_NOT_FOUND. */
BB_API BB_MUST_CHECK enum bb_status bb_db_index_drop(struct bb_db *db, const char *name);

/* Sets the size of granules, rounded to whole data blocks, for tables written after this call:
 * BB_GRANULE_BYTES_MIN ... BB_GRANULE_BYTES_MAX, otherwise BB_INVALID. A new store has
 * BB_GRANULE_BYTES_DEFAULT. */
BB_API BB_MUST_CHECK enum bb_status bb_db_granule_set(struct bb_db *db, uint64_t granule_bytes);

/* An index of the store. */
struct bb_db_index {
    char *name;
    char *spec;              /* canonical text */
    char *definition;        /* of its attribute */
    uint64_t tables;         /* of the store */
    uint64_t tables_built;   /* of these, with the index */
    uint64_t tables_pending; /* of these, with a deferred index file: the store builds it */
    /* Of `tables`, with an index whose words another version of libunistring found: the index is
     * not used, and bb_db_index_materialize rebuilds it. */
    uint64_t tables_of_other_words;
    /* Of `tables`, with an index file that is damaged, missing, unreadable or of a newer version:
     * it is not used, and bb_db_index_materialize rebuilds it. */
    uint64_t tables_unreadable;
    uint64_t size_bytes; /* of the index, in all index files */
    uint64_t pairs;      /* of a member and a granule: pair_count of bb/skip.h */
    uint64_t granules;   /* of the tables with the index */
};
struct bb_db_index_list {
    struct bb_db_index *indexes;
    size_t count;
    uint64_t file_count; /* index files of live tables that can be read */
    uint64_t file_bytes; /* their sizes; they may contain dropped indexes */
};
/* Opens every index file. An unreadable one counts as not built. *ret_list is owned:
 * bb_db_index_list_deinit. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_db_index_list(struct bb_db *db,
                                                     struct bb_db_index_list *ret_list);
BB_API void bb_db_index_list_deinit(struct bb_db_index_list *list);

struct bb_materialize_options {
    /* Rebuild the index files of tables that already have every index. */
    bool rebuild;
    /* Called after each table. If it returns false, the call ends with BB_BUSY; tables already done
     * keep their index files. NULL: not called. */
    bool (*progress)(void *context, uint64_t tables_done, uint64_t tables);
    void *progress_context;
};

/* Builds all indexes of the catalog for the tables that lack any of them, or whose index file is
 * damaged, missing or unreadable: it reads and verifies the existing ones. If the catalog has no
 * indexes, such files, of dropped indexes, are removed, or with rebuild all index files. A file
 * that the device cannot read is also reported (BB_EVENT_DAMAGE). The call reads the data of these
 * tables once, and rewrites no table. Other threads may read and write during the call.
 * Tables that a compaction writes during the call are included. A compaction that begins before an
 * index is created and ends after this call leaves tables without the index. After a failure,
 * tables already done stay done. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_index_materialize(struct bb_db *db, const struct bb_materialize_options *options);

struct bb_index_estimate_options {
    const char *spec;       /* of the hypothetical index */
    const char *where;      /* a condition for it to serve; NULL: only measure its size */
    uint64_t granule_bytes; /* 0: the store's size of granules */
    uint64_t segments;      /* of up to 1,024 granules, sampled to measure the size; 0: 8 */
    uint64_t granules;      /* sampled one by one to measure the condition; 0: 4,096 */
};

/* The cost of an index, and the reads that it would save. */
struct bb_index_estimate {
    bool is_whole;                /* the sample is the whole store: the figures are exact */
    uint64_t tables;              /* of the store */
    uint64_t granules;            /* of all tables */
    uint64_t granules_sampled;    /* of both samples */
    uint64_t raw_bytes;           /* keys and values of all tables */
    uint64_t raw_bytes_sampled;   /* of both samples, approximately */
    uint64_t size_bytes;          /* of the index for all tables, as in struct bb_db_index */
    uint64_t granules_read;       /* of all, without the excluded ones; 0: no condition */
    uint64_t granules_read_error; /* standard error of granules_read */
    uint64_t build_nanoseconds;   /* for the sample, including reads */
};

/* Builds the index for a sample of the tables, queries it, and removes it again. The store does not
 * change. If the store has fewer segments or granules than the options request, all of them are
 * taken, and the figures are exact. Otherwise sizes are within a few percent, and granules_read has
 * the standard error that is returned with it: if one granule in a hundred holds a match, a sample
 * of 4,096 granules holds 41 of them, plus or minus 6. The store must be open for writing, because
 * the files of the sample are written to its directory. BB_INVALID for an invalid spec or
 * condition; BB_NOT_FOUND: there are no tables. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_index_estimate(struct bb_db *db, const struct bb_index_estimate_options *options,
                     struct bb_index_estimate *ret_estimate);

/* A copy of the store's schema, for parsing conditions and reading records. Owned:
 * bb_schema_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_db_schema(struct bb_db *db, struct bb_schema **ret_schema);

/* The result of a selection and its cost, summed over all tables. */
struct bb_select_account {
    uint64_t tables;            /* that overlap the key range */
    uint64_t tables_indexed;    /* of these, with an index file that was queried */
    uint64_t tables_excluded;   /* of these, not read at all */
    uint64_t granules;          /* of indexed tables */
    uint64_t granules_excluded; /* an index shows that none of their records match */
    uint64_t granules_counted;  /* an index shows how many records match: counted unread */
    uint64_t granules_read;
    uint64_t granules_matching; /* of those read, with a record that matches */
    uint64_t blocks_read;       /* data blocks decoded */
    uint64_t blocks_passed;     /* of these, not searched: they lack bytes that every match has */
    uint64_t data_reads;        /* preads of data blocks */
    uint64_t data_read_bytes;
    uint64_t index_reads; /* preads of index files */
    uint64_t index_read_bytes;
    /* Indexes that were skipped: damaged, missing, or unknown. In a read-only store a missing index
     * file is not counted: the writer may have replaced it. */
    uint64_t damaged_indexes;
    uint64_t records_examined; /* for which the condition was evaluated */
    uint64_t records_matching; /* of these, for which it is true */
    uint64_t records_hidden;   /* of these, hidden by a newer version, a deletion or the snapshot */
    uint64_t records_returned;
    uint64_t newer_searched;    /* newer runs and memtables searched for a record's key */
    uint64_t newer_blocks;      /* data blocks requested for these searches */
    uint64_t index_nanoseconds; /* querying indexes */
    uint64_t nanoseconds;       /* in all */
};

struct bb_select_options {
    /* The condition, as text or built by calls; at most one of them. Neither: every record. */
    const char *where;                    /* borrowed for the call */
    const struct bb_condition *condition; /* over `schema`; borrowed until the selection ends */
    /* NULL: the store's schema. Another schema must outlive the selection. Indexes serve an
     * attribute of it if the store has an attribute with the same definition, under any name. */
    const struct bb_schema *schema;
    const struct bb_key_range *range;   /* NULL: all keys; copied */
    const struct bb_snapshot *snapshot; /* NULL: the newest state */
    bool backward;                      /* from the last key to the first */
    bool ignore_indexes;
    uint64_t limit; /* maximum number of records; 0: no limit */
    /* Called at least every few megabytes. If it returns false, the selection ends with BB_BUSY.
     * NULL: not called. */
    bool (*progress)(void *context, const struct bb_select_account *account);
    void *progress_context;
};

/* ---- selecting ---- */

struct bb_select;

/* BB_INVALID: the condition, with the offset in its text; the options. BB_NO_MEMORY. Owned:
 * bb_select_destroy, before the store is closed. */
BB_API BB_MUST_CHECK enum bb_status bb_db_select(struct bb_db *db,
                                                 const struct bb_select_options *options,
                                                 struct bb_select **ret_select);
/* Moves to the next record. *ret_has_record is false at the end. A failure ends the selection: the
 * records returned before it are correct, but incomplete. BB_BUSY: cancelled. */
BB_API BB_MUST_CHECK enum bb_status bb_select_next(struct bb_select *select, bool *ret_has_record);
/* Key and value of the current record, borrowed until the selection moves. REQUIRES: a current
 * record. */
BB_API struct bb_bytes bb_select_key(const struct bb_select *select);
BB_API struct bb_bytes bb_select_value(const struct bb_select *select);
/* All attributes of the current record, as many as the schema has: borrowed as above.
 * BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_select_attributes(struct bb_select *select, const struct bb_attribute **ret_attributes);
/* The indexes of the catalog, each with its work for the selection so far. *ret_count is their
 * number. Borrowed until the selection moves or ends. An index that the condition cannot use is not
 * queried. */
struct bb_select_index_account {
    const char *name;
    double rate; /* its target; 0 for exact kinds */
    struct bb_skip_account account;
};
BB_API void bb_select_index_accounts(const struct bb_select *select,
                                     const struct bb_select_index_account **ret_accounts,
                                     size_t *ret_count);
/* Counts the matching records; used instead of bb_select_next. It does not read granules if the
 * indexes show how many of their records match. REQUIRES: the selection has not moved. */
BB_API BB_MUST_CHECK enum bb_status bb_select_count(struct bb_select *select, uint64_t *ret_count);
/* The account so far. */
BB_API void bb_select_account(const struct bb_select *select,
                              struct bb_select_account *ret_account);
/* NULL is allowed. */
BB_API void bb_select_destroy(struct bb_select *select);

/* Counts the matching records, at most limit. account may be NULL. */
BB_API BB_MUST_CHECK enum bb_status bb_db_select_count(struct bb_db *db,
                                                       const struct bb_select_options *options,
                                                       uint64_t *ret_count,
                                                       struct bb_select_account *account);

#ifdef __cplusplus
}
#endif
#endif
