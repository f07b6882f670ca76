/* Selecting records of a store by a condition on their values, and the indexes that make it quick.
 *
 *     bb_db_attribute_create(db, "status u64 = clf(status)");
 *     bb_db_attribute_create(db, "agent bytes = clf(agent)");
 *     bb_db_index_create(db, "by_agent", "tokens(agent)");
 *     ... write ...
 *     struct bb_select_options options = {.struct_size = sizeof(options),
 *                                         .where = "status = 418 AND has_token(agent, 'sqlmap')"};
 *     bb_db_select(db, &options, &select);
 *     while (bb_select_next(select, &has_record) == BB_OK && has_record)
 *         use(bb_select_key(select), bb_select_value(select));
 *     bb_select_destroy(select);
 *
 * Every value of the store is a record; a schema (bb/record.h) says how attributes are found in
 * it. The store keeps a schema of its own and a list of indexes, its catalog. From the moment an
 * index is created compactions build it; bb_db_index_materialize builds it for the tables of
 * before, without rewriting them.
 *
 * A flush defers its index file, because the compaction of its table builds one soon. A table of
 * level 0 gets a deferred index file as soon as no compaction is due and either no flush has ended
 * for 5 seconds, bb_db_wait_idle waits, or a selection can use indexes. A flush builds its index
 * file at once if a selection that can use indexes was made after the previous flush began. In
 * deterministic mode bb_db_wait_idle builds deferred index files, and so do writes after such a
 * selection. Until then a selection reads the whole table.
 *
 * Results are exact, in key order, as of one state of the store: they are the records for which the
 * condition is true, whatever indexes say, have lost or lack. An index only spares reading.
 *
 * Threads: as bb/db.h says; a struct bb_select is for one thread at a time.
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

/* ---- the catalog ---- */

/* Adds an attribute to the store's schema: durable when the call returns. definition: bb/record.h.
 * BB_INVALID with the offset in the definition; BB_EXISTS: the name is taken; BB_UNSUPPORTED for a
 * callback, which no other process could call. */
BB_API BB_MUST_CHECK enum bb_status bb_db_attribute_create(struct bb_db *db,
                                                           const char *definition);
/* BB_NOT_FOUND; BB_INVALID: an index is over it, which the message names. */
BB_API BB_MUST_CHECK enum bb_status bb_db_attribute_drop(struct bb_db *db, const char *name);

/* Adds an index: tables that are begun from now on get it. name: 1 ... 64 bytes without control
 * characters. spec: its kind, attribute and parameters, "tokens(agent, rate=0.001)" (bb/skip.h).
 * BB_INVALID with what is wrong with them; BB_EXISTS: the name is taken. */
BB_API BB_MUST_CHECK enum bb_status bb_db_index_create(struct bb_db *db, const char *name,
                                                       const char *spec);
/* Tables that are written from now on do not have it. Index files that have it serve selections
 * until they are replaced. BB_NOT_FOUND. */
BB_API BB_MUST_CHECK enum bb_status bb_db_index_drop(struct bb_db *db, const char *name);

/* The size of granules (BB_GRANULE_BYTES_DEFAULT), as whole data blocks. Of tables that are written
 * from now on; kept in the store. BB_INVALID. */
BB_API BB_MUST_CHECK enum bb_status bb_db_granule_set(struct bb_db *db, uint64_t granule_bytes);

/* An index of the store. */
struct bb_db_index {
    char *name;
    char *spec;              /* canonical text */
    char *definition;        /* of its attribute */
    uint64_t tables;         /* of the store, of now */
    uint64_t tables_built;   /* of them, that have the index */
    uint64_t tables_pending; /* of them, whose index file is deferred: the store builds it */
    uint64_t size_bytes;     /* in their index files */
    uint64_t pairs;          /* members of granules, each granule's counted */
    uint64_t granules;       /* of these tables */
};
struct bb_db_index_list {
    struct bb_db_index *indexes;
    size_t count;
    uint64_t file_count; /* index files of live tables that can be read */
    uint64_t file_bytes; /* their sizes: indexes that were dropped, places and checksums included */
};
/* Opens every index file. A damaged or missing one counts as not built. *ret_list is owned:
 * bb_db_index_list_deinit. BB_NO_MEMORY; BB_IO: one cannot be read. */
BB_API BB_MUST_CHECK enum bb_status bb_db_index_list(struct bb_db *db,
                                                     struct bb_db_index_list *ret_list);
BB_API void bb_db_index_list_deinit(struct bb_db_index_list *list);

struct bb_materialize_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    /* Build index files anew for tables that have every index too. */
    bool rebuild;
    /* After each table: false ends the work with BB_BUSY; tables that are done stay done. NULL:
     * never.
     */
    bool (*progress)(void *context, uint64_t tables_done, uint64_t tables);
    void *progress_context;
};

/* Builds all indexes of the catalog for the tables that lack one: their data is read once, and not
 * written. Others may read and write meanwhile. Tables that a compaction has put in the place of
 * others are looked at too; one that had begun before an index was created, and ends after this
 * call, leaves tables without it. After a failure tables that are done stay done. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_index_materialize(struct bb_db *db, const struct bb_materialize_options *options);

struct bb_index_estimate_options {
    size_t struct_size;     /* sizeof of it, or 0: bb/base.h */
    const char *spec;       /* of the index that there is not */
    const char *where;      /* a condition that it is to serve; NULL: its size alone */
    uint64_t granule_bytes; /* 0: as the store has them */
    uint64_t segments;      /* of up to 1,024 granules, to measure the size on; 0: 8 */
    uint64_t granules;      /* single ones, to measure the condition on; 0: 4,096 */
};

/* What an index would cost and spare. */
struct bb_index_estimate {
    bool is_whole;                /* the sample is the store: these are no estimates */
    uint64_t tables;              /* of the store */
    uint64_t granules;            /* in all */
    uint64_t granules_sampled;    /* of both samples */
    uint64_t raw_bytes;           /* keys and values of all tables */
    uint64_t raw_bytes_sampled;   /* of both samples, about */
    uint64_t size_bytes;          /* of the index, in all; as bb_db_index_list counts */
    uint64_t granules_read;       /* in all, that the condition and this index leave; without a
                                    condition 0 */
    uint64_t granules_read_error; /* its standard error */
    uint64_t build_nanoseconds;   /* that the sample took, reading included */
    uint64_t reserved[4];
};

/* Builds the index for a sample of the tables, asks it, and removes it again: nothing of the store
 * changes. What the store has fewer of than the options ask for is taken whole, and the figures are
 * what building gives. Otherwise sizes are within some percent, and granules_read is as good as its
 * standard error says: of 4,096 granules 41 hold a match that one in a hundred holds, give or take
 * 6. The store must be open for writing, for the files of the sample are written to its directory.
 * BB_INVALID for the spec and the condition; BB_NOT_FOUND: there are no tables. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_index_estimate(struct bb_db *db, const struct bb_index_estimate_options *options,
                     struct bb_index_estimate *ret_estimate);

/* A copy of the store's schema, for parsing conditions and reading records. Owned:
 * bb_schema_destroy. */
BB_API BB_MUST_CHECK enum bb_status bb_db_schema(struct bb_db *db, struct bb_schema **ret_schema);

/* What was selected, and at what cost. Counts are sums; a field that the library does not know is
 * 0.
 */
struct bb_select_account {
    uint64_t tables;            /* that the key range meets */
    uint64_t tables_indexed;    /* of them, with an index file that was asked */
    uint64_t tables_excluded;   /* of them, not read at all */
    uint64_t granules;          /* of indexed tables */
    uint64_t granules_excluded; /* no record of theirs matches, as an index says */
    uint64_t granules_counted;  /* an index knows how many records match: counted unread */
    uint64_t granules_read;
    uint64_t granules_matching; /* of those read, with a record that matches */
    uint64_t blocks_read;       /* data blocks decoded */
    uint64_t blocks_passed; /* of them, without the bytes that every match has: not looked into */
    uint64_t data_reads;    /* preads of data blocks */
    uint64_t data_read_bytes;
    uint64_t index_reads; /* preads of index files */
    uint64_t index_read_bytes;
    uint64_t damaged_indexes;  /* indexes that were passed over: damaged, missing, or unknown */
    uint64_t records_examined; /* for which the condition was evaluated */
    uint64_t records_matching; /* of them, for which it is true */
    uint64_t records_hidden;   /* of them, hidden by a newer version, a deletion or the snapshot */
    uint64_t records_returned;
    uint64_t newer_asked;       /* newer runs and memtables asked for a record's key */
    uint64_t newer_blocks;      /* data blocks asked for to answer that */
    uint64_t index_nanoseconds; /* asking indexes */
    uint64_t nanoseconds;       /* in all */
    uint64_t reserved[9];
};

struct bb_select_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    /* The condition, as text or as made by calls; at most one of them. Neither: every record. */
    const char *where;                    /* borrowed for the call */
    const struct bb_condition *condition; /* over `schema`; borrowed until the selection ends */
    /* NULL: the store's. Another one must outlive the selection; indexes serve those of its
     * attributes that the store defines alike, by whatever name. */
    const struct bb_schema *schema;
    const struct bb_key_range *range;   /* NULL: all keys; copied */
    const struct bb_snapshot *snapshot; /* NULL: the newest state */
    bool backward;                      /* from the last key to the first */
    bool ignore_indexes;
    uint64_t limit; /* records at most; 0: no limit */
    /* Asked now and then, at least once for some megabytes: false cancels with BB_BUSY. NULL:
     * never. */
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
/* To the next record; *ret_has_record is false at the end. A failure ends the selection: what was
 * returned before is right, and not all. BB_BUSY: cancelled. */
BB_API BB_MUST_CHECK enum bb_status bb_select_next(struct bb_select *select, bool *ret_has_record);
/* Of the record at hand, borrowed until the selection moves. REQUIRES: there is one. */
BB_API struct bb_bytes bb_select_key(const struct bb_select *select);
BB_API struct bb_bytes bb_select_value(const struct bb_select *select);
/* All attributes of the schema, as many as it has: borrowed as above. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_select_attributes(struct bb_select *select, const struct bb_attribute **ret_attributes);
/* The indexes of the catalog, and what each did for the selection so far: *ret_count of them,
 * borrowed until the selection moves or ends. An index that the condition cannot use was not
 * asked. */
struct bb_select_index_account {
    const char *name;
    double rate; /* that it is made for; 0 for kinds that are exact */
    struct bb_skip_account account;
};
BB_API void bb_select_index_accounts(const struct bb_select *select,
                                     const struct bb_select_index_account **ret_accounts,
                                     size_t *ret_count);
/* Counts the matching records, instead of bb_select_next. It does not read granules if the indexes
 * show how many of their records match. REQUIRES: the selection has not moved. */
BB_API BB_MUST_CHECK enum bb_status bb_select_count(struct bb_select *select, uint64_t *ret_count);
/* So far. */
BB_API void bb_select_account(const struct bb_select *select,
                              struct bb_select_account *ret_account);
/* NULL is allowed. */
BB_API void bb_select_destroy(struct bb_select *select);

/* How many records there are. limit counts too. account may be NULL. */
BB_API BB_MUST_CHECK enum bb_status bb_db_select_count(struct bb_db *db,
                                                       const struct bb_select_options *options,
                                                       uint64_t *ret_count,
                                                       struct bb_select_account *account);

#ifdef __cplusplus
}
#endif
#endif
