/* An edit: one change of the set of files and counters that make up the store, stored as a record
 * of the manifest.
 *
 * A snapshot is an edit too: it adds everything to an empty state. docs/format-manifest.md draws
 * the bytes.
 *
 * A number of 0 in an edit means "unchanged"; these numbers never decrease.
 * Threads: one at a time per edit.
 */
#ifndef BB_KV_MANIFEST_EDIT_H
#define BB_KV_MANIFEST_EDIT_H

#include "base/buf.h"
#include "base/status.h"
#include "bb/table.h"
#include "kv/stored_options.h"
#include "kv/wal/wal_format.h"

/* ON DISK: the version of the store's format, for manifest, logs and names together. Version 0 is
 * for development and has no compatibility with later ones. */
#define BB_STORE_FORMAT_VERSION 0

#define BB_STORE_ID_SIZE            16
#define BB_COMPARATOR_NAME_SIZE_MAX 255

/* Larger encoded edits are refused on write and on read. The limit is enough for millions of tables
 * with ordinary keys, or 8000 tables whose bounds have 64 KiB each. */
#define BB_EDIT_SIZE_MAX (UINT32_C(1) << 30)

/* Set when a store is created; never changes. */
struct bb_store_identity {
    uint32_t format_version;
    uint8_t store_id[BB_STORE_ID_SIZE]; /* random */
    struct bb_hash_secret secret;
    char comparator[BB_COMPARATOR_NAME_SIZE_MAX + 1]; /* name, terminated; "bytewise" for none */
};

struct bb_edit_table {
    int level; /* 0 ... BB_LEVEL_COUNT - 1 */
    /* Number within the level; greater is newer. 0 in level 0. */
    uint64_t run;
    uint64_t number;
    uint64_t index_number;     /* of the companion index file; 0 if none */
    struct bb_table_meta meta; /* owned */
};

/* A larger catalog is refused on write and on read. */
#define BB_CATALOG_SIZE_MAX (UINT32_C(1) << 20)

/* A zeroed struct is a valid empty edit. */
struct bb_edit {
    bool has_identity; /* only in the first record of a manifest */
    struct bb_store_identity identity;

    uint64_t next_file_number; /* above every number used so far */
    uint64_t last_sequence;    /* at least that of every entry in a table */
    /* Logs with smaller numbers are obsolete: their contents are in tables. */
    uint64_t log_number;
    /* With log_number: no log of that number exists because logging is off, so recovery does not
     * report it as missing. */
    bool log_is_absent;

    /* Of attributes and indexes: replaces the previous catalog. */
    bool has_catalog;
    struct bb_buf catalog; /* owned */
    /* Replace the previous stored options, unless they are empty. */
    struct bb_stored_options options;
    /* The last edit of a store that was closed: no write followed it. */
    bool is_close;
    /* With is_close: the ends of the store's logs; owned. */
    struct bb_wal_end *log_ends;
    size_t log_end_count;
    size_t log_end_capacity;

    uint64_t *removed; /* numbers of tables; owned */
    size_t removed_count;
    size_t removed_capacity;
    struct bb_edit_table *added; /* owned */
    size_t added_count;
    size_t added_capacity;
};

/* Leaves a valid empty edit. */
void bb_edit_deinit(struct bb_edit *edit);

/* A table that is both removed and added (with the same table id) moves to another level, or gets
 * another index file. */
BB_MUST_CHECK enum bb_status bb_edit_remove_table(struct bb_edit *edit, uint64_t number);
/* Adds a table without an index file. meta is copied. */
BB_MUST_CHECK enum bb_status bb_edit_add_table(struct bb_edit *edit, int level, uint64_t run,
                                               uint64_t number, const struct bb_table_meta *meta);
/* True if meta describes the same file as the table: ids and sizes are equal. */
bool bb_edit_table_is_same(const struct bb_edit_table *table, const struct bb_table_meta *meta);
/* Adds a copy of the table, with its index file. table: not of this edit. */
BB_MUST_CHECK enum bb_status bb_edit_copy_table(struct bb_edit *edit,
                                                const struct bb_edit_table *table);
/* Sets the index file of the table added last. REQUIRES: a table was added. */
void bb_edit_set_index(struct bb_edit *edit, uint64_t index_number);
/* The catalog is copied. */
BB_MUST_CHECK enum bb_status bb_edit_set_catalog(struct bb_edit *edit, struct bb_bytes catalog);

BB_MUST_CHECK enum bb_status bb_edit_add_log_end(struct bb_edit *edit,
                                                 const struct bb_wal_end *end);

/* Appends the edit's bytes to buf. Errors: BB_TOO_LARGE beyond BB_EDIT_SIZE_MAX. */
BB_MUST_CHECK enum bb_status bb_edit_encode(const struct bb_edit *edit, struct bb_buf *buf);
/* The caller owns *ret_edit; everything in it is copied from bytes. place: the start of the record.
 * Errors: BB_CORRUPT with an offset; BB_UNSUPPORTED for a newer format version or an unknown field
 * that must not be skipped. Checks only the edit; bb_manifest_state_apply checks it against the
 * state. */
BB_MUST_CHECK enum bb_status bb_edit_decode(struct bb_bytes bytes, struct bb_place place,
                                            struct bb_edit *ret_edit);

/* ON DISK: the highest run number. */
#define BB_RUN_NUMBER_MAX ((UINT64_C(1) << 62) - 1)

/* Checks a table description for contradictions (counts, bounds, sequences, level, number, limits).
 * Returns a short description of the first one, or NULL. */
const char *bb_edit_table_defect(const struct bb_edit_table *table);

#endif
