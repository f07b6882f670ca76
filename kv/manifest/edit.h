/* One change of what the store consists of: a record of the manifest.
 *
 * A snapshot is an edit too: the one that adds everything to nothing. Bytes:
 * docs/format-manifest.md.
 *
 * In numbers of an edit 0 means "as before"; none of them ever shrinks.
 * Threads: an edit is for one thread at a time.
 */
#ifndef BB_KV_MANIFEST_EDIT_H
#define BB_KV_MANIFEST_EDIT_H

#include "base/buf.h"
#include "base/status.h"
#include "bb/table.h"
#include "kv/wal/wal_format.h"

/* ON DISK: version of the store's format, that is of manifest, logs and names together. 0 is read
 * by its own development only. */
#define BB_STORE_FORMAT_VERSION 0

#define BB_STORE_ID_SIZE            16
#define BB_COMPARATOR_NAME_SIZE_MAX 255

/* An encoded edit beyond this is refused, on write and on read: millions of tables with ordinary
 * keys, 8000 whose bounds have 64 KiB each. */
#define BB_EDIT_SIZE_MAX (UINT32_C(1) << 30)

/* What is said once, when a store is created, and never changes. */
struct bb_store_identity {
    uint32_t format_version;
    uint8_t store_id[BB_STORE_ID_SIZE]; /* random */
    struct bb_hash_secret secret;
    char comparator[BB_COMPARATOR_NAME_SIZE_MAX + 1]; /* name, terminated; "bytewise" for none */
};

struct bb_edit_table {
    int level;    /* 0 ... BB_LEVEL_COUNT - 1 */
    uint64_t run; /* within the level, the greater the newer; 0 in level 0 */
    uint64_t number;
    uint64_t index_number;     /* of the index file next to it; 0: none */
    struct bb_table_meta meta; /* owned */
};

/* A catalog beyond this is refused, on write and on read. */
#define BB_CATALOG_SIZE_MAX (UINT32_C(1) << 20)

/* A zeroed struct is a valid empty edit. */
struct bb_edit {
    bool has_identity; /* in the first record of a manifest, and only there */
    struct bb_store_identity identity;

    uint64_t next_file_number; /* above every number given out so far */
    uint64_t last_sequence;    /* at least that of every entry in a table */
    uint64_t log_number; /* logs with smaller numbers are obsolete: tables have what they held */
    bool log_is_absent;  /* with log_number: no log of that number was begun (logging is off), so
                            recovery does  not miss it */

    bool has_catalog;      /* of attributes and indexes: replaces the one before */
    struct bb_buf catalog; /* owned */
    bool is_close;         /* the last edit of a store that was closed: no write came after it */
    struct bb_wal_end *log_ends; /* with is_close: of the logs that the store had then; owned */
    size_t log_end_count;
    size_t log_end_capacity;

    uint64_t *removed; /* numbers of tables; owned */
    size_t removed_count;
    size_t removed_capacity;
    struct bb_edit_table *added; /* owned */
    size_t added_count;
    size_t added_capacity;
};

void bb_edit_init(struct bb_edit *edit);
/* Leaves a valid empty edit. */
void bb_edit_deinit(struct bb_edit *edit);

/* A table that is both removed and added (with the same table id) moves to another level, or gets
 * another index file. */
BB_MUST_CHECK enum bb_status bb_edit_remove_table(struct bb_edit *edit, uint64_t number);
/* To run 0 of the level. meta is copied. */
BB_MUST_CHECK enum bb_status bb_edit_add_table(struct bb_edit *edit, int level, uint64_t number,
                                               const struct bb_table_meta *meta);
BB_MUST_CHECK enum bb_status bb_edit_add_run_table(struct bb_edit *edit, int level, uint64_t run,
                                                   uint64_t number,
                                                   const struct bb_table_meta *meta);
/* The index file of the table that was added last. REQUIRES: one was added. */
void bb_edit_set_index(struct bb_edit *edit, uint64_t index_number);
/* The catalog is copied. */
BB_MUST_CHECK enum bb_status bb_edit_set_catalog(struct bb_edit *edit, struct bb_bytes catalog);

BB_MUST_CHECK enum bb_status bb_edit_add_log_end(struct bb_edit *edit,
                                                 const struct bb_wal_end *end);

/* Appends the edit's bytes to buf. BB_TOO_LARGE beyond BB_EDIT_SIZE_MAX. */
BB_MUST_CHECK enum bb_status bb_edit_encode(const struct bb_edit *edit, struct bb_buf *buf);
/* *ret_edit is owned by the caller; everything in it is copied from bytes. BB_CORRUPT with offset
 * (place: where the record begins); BB_UNSUPPORTED for a newer format version or a field that is
 * marked as not to be skipped. Only what one edit can tell is checked: bb_manifest_state_apply
 * checks it against what it changes. */
BB_MUST_CHECK enum bb_status bb_edit_decode(struct bb_bytes bytes, struct bb_place place,
                                            struct bb_edit *ret_edit);

/* Appends text for a person, one line per change. The secret is not printed. */
BB_MUST_CHECK enum bb_status bb_edit_print(const struct bb_edit *edit, struct bb_buf *text);

/* ON DISK: runs are numbered up to here. */
#define BB_RUN_NUMBER_MAX ((UINT64_C(1) << 62) - 1)

/* What no table can be (counts, bounds, sequences, level, number that contradict each other or a
 * limit), in a few words; NULL when there is nothing of the kind. */
const char *bb_edit_table_defect(const struct bb_edit_table *table);

/* An independent copy of a meta; *ret_copy is owned. */
BB_MUST_CHECK enum bb_status bb_edit_copy_meta(const struct bb_table_meta *meta,
                                               struct bb_table_meta *ret_copy);

#endif
