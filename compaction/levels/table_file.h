/* One live table of a store: its metadata, the table once it is open, and its removal.
 *
 * All levels that name a table share its table file. When the last reference is dropped and the
 * table was marked obsolete (a durable record of the manifest has removed it), the environment
 * removes the file.
 *
 * Threads: any. Reaching an open table takes one atomic load. The first thread that needs a table
 * opens it; other threads that need the same table wait. The opening thread does not hold the
 * environment's mutex, so that a slow file delays no other table.
 */
#ifndef BB_COMPACTION_LEVELS_TABLE_FILE_H
#define BB_COMPACTION_LEVELS_TABLE_FILE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/large_pages.h"
#include "base/path.h"
#include "base/sync.h"
#include "bb/table.h"
#include "compaction/levels/companion.h"

/* State shared by the tables of a store. Constant after init. */
struct bb_table_file_env {
    struct bb_table_options options; /* for opening */
    /* Writes the path of a table. */
    void (*path)(void *context, uint64_t number, char ret_path[BB_PATH_SIZE_MAX]);
    /* Called when nothing refers to this table any more: its file may be removed. */
    void (*remove)(void *context, uint64_t number);
    /* Called when no table has this companion, and none will. */
    void (*remove_companion)(void *context, uint64_t number);
    void *context;
    struct bb_mutex mutex;
    struct bb_condvar opening_ended; /* of any table */
    struct bb_large_pages pages;     /* memory for pinned parts of open tables */
    /* Tables with this number or a greater one were written since the store was opened. UINT64_MAX
     * after init. */
    uint64_t first_new;
    /* A table may have become due for a compaction because of its charge. The thread that clears
     * this flag signals the compacting worker. */
    _Atomic bool has_new_charges;
};

void bb_table_file_env_init(struct bb_table_file_env *env);
/* REQUIRES: no table file remains. */
void bb_table_file_env_deinit(struct bb_table_file_env *env);

struct bb_table_file {
    _Atomic uint32_t references;
    uint64_t number;
    struct bb_table_meta meta; /* owned */
    /* The target rate of the filters that lookups probe: meta's, or the rate of the block filters
     * if the table filter is not used. 0 without keys: a table with only range tombstones wastes no
     * request. */
    double filter_rate;
    /* The rate that follows from the stored bytes of the same filters (struct bb_table_meta). If it
     * is unknown, because an older version wrote the table, it is filter_rate. */
    double predicted_rate;
    struct bb_table_file_env *env;
    _Atomic(struct bb_table *) table; /* NULL until first used */
    bool is_opening;                  /* a thread opens it; guarded by the environment's mutex */
    _Atomic bool is_obsolete;
    _Atomic bool is_unindexable; /* building its companion met damage: kv/background/deferred.h */
    _Atomic bool is_damaged; /* the latest check of the file found damage: kv/background/scrub.h */
    /* One reference; guarded by the environment's mutex. NULL if none. */
    struct bb_companion *companion;
    /* See bb_table_file_charge. */
    _Atomic uint64_t charge_bytes;
};

/* Starts with one reference. meta is copied; the file is not accessed. */
BB_MUST_CHECK enum bb_status bb_table_file_create(struct bb_table_file_env *env, uint64_t number,
                                                  const struct bb_table_meta *meta,
                                                  struct bb_table_file **ret_file);
struct bb_table_file *bb_table_file_ref(struct bb_table_file *file);
void bb_table_file_unref(struct bb_table_file *file);

/* The companion, with a reference for the caller; NULL if none. */
struct bb_companion *bb_table_file_companion(struct bb_table_file *file);
/* The companion's number; 0 if none. */
uint64_t bb_table_file_companion_number(struct bb_table_file *file);
/* Takes the caller's reference to the new companion (NULL: none). The previous one becomes
 * obsolete. REQUIRES: a durable record of the manifest removed it, or there was no companion. */
void bb_table_file_set_companion(struct bb_table_file *file, struct bb_companion *companion);
/* The same, but the previous one's file stays, because another process owns it. */
void bb_table_file_replace_companion(struct bb_table_file *file, struct bb_companion *companion);

/* For bb_table_file_open, when the table is not open yet. */
BB_MUST_CHECK enum bb_status bb_table_file_open_first(struct bb_table_file *file,
                                                      struct bb_table **ret_table);

/* The open table, pinned as long as the caller has a reference to the file. Errors include
 * BB_CORRUPT when meta does not describe the table. */
static inline BB_MUST_CHECK enum bb_status bb_table_file_open(struct bb_table_file *file,
                                                              struct bb_table **ret_table)
{
    struct bb_table *table = atomic_load_explicit(&file->table, memory_order_acquire);
    if (table == NULL)
        return bb_table_file_open_first(file, ret_table);
    *ret_table = table;
    return BB_OK;
}

/* True when bb_table_file_open returns without reading the file. */
static inline bool bb_table_file_is_open(const struct bb_table_file *file)
{
    return atomic_load_explicit(&file->table, memory_order_acquire) != NULL;
}

/* Lets the system drop the file from memory, if it is open: table_open.h. */
void bb_table_file_forget_pages(struct bb_table_file *file);

/* The table's bounds: its keys are from smallest to largest. If meta.largest_is_exclusive, they are
 * below largest. */
static inline struct bb_bytes bb_table_file_smallest(const struct bb_table_file *file)
{
    return bb_buf_bytes(&file->meta.smallest);
}

static inline struct bb_bytes bb_table_file_largest(const struct bb_table_file *file)
{
    return bb_buf_bytes(&file->meta.largest);
}

/* True when all keys of the table, including keys that its range tombstones cover, are before this
 * key. */
bool bb_table_file_ends_before(const struct bb_table_file *file,
                               const struct bb_comparator *comparator, struct bb_bytes key);
/* The sequence of the oldest tombstone, of a key or a range; a lower bound if the table does not
 * record it. UINT64_MAX without tombstones. */
static inline uint64_t bb_table_file_oldest_tombstone(const struct bb_table_meta *meta)
{
    if (meta->tombstone_count == 0 && meta->range_tombstone_count == 0)
        return UINT64_MAX;
    return meta->tombstone_sequence_min != 0 ? meta->tombstone_sequence_min : meta->sequence_min;
}
/* has_new_charges is set whenever a charge has grown by the size of its table, but at least by this
 * number of bytes, because a compaction costs more than reading a small table. */
#define BB_TABLE_FILE_CHARGE_STEP_MIN (UINT64_C(256) * 1024)
/* Adds to the bytes that a compaction of the table may read because of the work that the table
 * causes for iterators (compaction/pick/pick_scans.h). */
void bb_table_file_charge(struct bb_table_file *file, uint64_t bytes);
static inline uint64_t bb_table_file_charge_bytes(const struct bb_table_file *file)
{
    return atomic_load_explicit(&file->charge_bytes, memory_order_relaxed);
}
/* Bytes that the open table keeps outside the cache; 0 while it is not open. */
uint64_t bb_table_file_memory(const struct bb_table_file *file);

#endif
