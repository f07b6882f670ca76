/* Room for the next write: freezing the memtable, and waiting when too much is frozen or level 0 is
 * too full. */
#ifndef BB_KV_WRITE_FREEZE_H
#define BB_KV_WRITE_FREEZE_H

#include "kv/store.h"

/* What a write needs: so many entries with so many bytes of keys and values in all. */
struct bb_room {
    size_t entry_count;
    size_t raw_bytes;
};

/* The leader's. Returns when the active memtable has room and its log is sound and not too long; freezes
 * and waits as needed. Fails with what stopped the background work. */
BB_MUST_CHECK enum bb_status bb_store_make_room(struct bb_db *db, const struct bb_room *room);

/* The leader's. Puts an empty memtable of capacity_bytes with a new log in the place of the active
 * one, which is frozen. Waits while BB_FROZEN_MAX are frozen. */
BB_MUST_CHECK enum bb_status bb_store_freeze(struct bb_db *db, size_t capacity_bytes);

/* The leader's. Waits until nothing is frozen: what was frozen is in tables then. */
BB_MUST_CHECK enum bb_status bb_store_drain(struct bb_db *db);

/* A new write buffer with its log, whose name is not durable yet. */
BB_MUST_CHECK enum bb_status bb_store_new_write_buffer(struct bb_db *db, size_t capacity_bytes,
                                                       struct bb_write_buffer **ret_buffer);
/* A new write buffer for a store at rest: its log is begun by the first write. old_log_number: of the
 * empty log that is there, which goes when the buffer is flushed; 0: none is. */
BB_MUST_CHECK enum bb_status bb_store_new_resting_buffer(struct bb_db *db, uint64_t old_log_number,
                                                         struct bb_write_buffer **ret_buffer);

#endif
