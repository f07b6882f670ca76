/* One live table of a store: what is known of its file, the open table on first use, and its end.
 *
 * A table file is shared by all levels that name it. When the last reference goes and the table was
 * marked obsolete (a durable record of the manifest has removed it), the environment removes the
 * file.
 *
 * Threads: any. Opening is guarded by the environment's mutex; an open table is one atomic load
 * away.
 */
#ifndef BB_COMPACTION_TABLE_FILE_H
#define BB_COMPACTION_TABLE_FILE_H

#include <stdatomic.h>

#include "base/large_pages.h"
#include "base/sync.h"
#include "bb/table.h"
#include "compaction/companion.h"

/* What the tables of a store share. Constant after init. */
struct bb_table_env {
    struct bb_table_options options; /* for opening */
    /* The path of a table as a terminated string into *path (replaced). */
    enum bb_status (*path)(void *context, uint64_t number, struct bb_buf *path);
    /* Nothing refers to this table any more: its file may go. */
    void (*remove)(void *context, uint64_t number);
    /* No table has this companion, and none will. */
    void (*remove_companion)(void *context, uint64_t number);
    void *context;
    struct bb_mutex mutex;
    struct bb_large_pages pages; /* what open tables pin */
};

void bb_table_env_init(struct bb_table_env *env);
/* REQUIRES: no table file is left. */
void bb_table_env_deinit(struct bb_table_env *env);

struct bb_table_file {
    _Atomic uint32_t references;
    uint64_t number;
    struct bb_table_meta meta; /* owned */
    double filter_rate; /* of the filters that look-ups ask: meta's, unless the summary is left
                                  unused; then that of the blocks' filters alone. 0 without keys:
                                  range tombstones alone waste no request */
    struct bb_table_env *env;
    _Atomic(struct bb_table *) table; /* NULL until first used */
    _Atomic bool is_obsolete;
    _Atomic bool is_damaged; /* the latest check of the file found damage: kv/background/scrub.h */
    struct bb_companion *companion; /* one reference; guarded by the environment's mutex; or NULL */
};

/* One reference. meta is copied; the file is not touched. */
BB_MUST_CHECK enum bb_status bb_table_file_create(struct bb_table_env *env, uint64_t number,
                                                  const struct bb_table_meta *meta,
                                                  struct bb_table_file **ret_file);
struct bb_table_file *bb_table_file_ref(struct bb_table_file *file);
void bb_table_file_unref(struct bb_table_file *file);

/* The file next to the table, with a reference for the caller; NULL: there is none. */
struct bb_companion *bb_table_file_companion(struct bb_table_file *file);
/* Its number; 0: there is none. */
uint64_t bb_table_file_companion_number(struct bb_table_file *file);
/* Takes the caller's reference to the new companion (NULL: none). The one before is obsolete: a
 * durable record of the manifest says so, or there was none. */
void bb_table_file_set_companion(struct bb_table_file *file, struct bb_companion *companion);
/* The same, and the file of the one before stays: it is another process's. */
void bb_table_file_replace_companion(struct bb_table_file *file, struct bb_companion *companion);

/* The open table, pinned as long as the caller has a reference to the file. BB_CORRUPT too when it
 * is another table than the one that meta describes. */
BB_MUST_CHECK enum bb_status bb_table_file_open(struct bb_table_file *file,
                                                struct bb_table **ret_table);

/* May the table hold the key, as far as its bounds tell? */
bool bb_table_file_covers(const struct bb_table_file *file, const struct bb_comparator *comparator,
                          struct bb_bytes key);
/* Are all of its keys, those that range tombstones cover too, before this one? */
bool bb_table_file_ends_before(const struct bb_table_file *file,
                               const struct bb_comparator *comparator, struct bb_bytes key);
/* The sequence of the oldest tombstone, of a key or a range; at most that, where the table does not
 * tell. UINT64_MAX: there is none. */
static inline uint64_t bb_table_file_oldest_tombstone(const struct bb_table_meta *meta)
{
    if (meta->tombstone_count == 0 && meta->range_tombstone_count == 0)
        return UINT64_MAX;
    return meta->tombstone_sequence_min != 0 ? meta->tombstone_sequence_min : meta->sequence_min;
}
/* Bytes that the open table keeps outside of the cache; 0 while it is not open. */
uint64_t bb_table_file_memory(const struct bb_table_file *file);

#endif
