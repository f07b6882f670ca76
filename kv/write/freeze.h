/* Makes space for the next write: freezes the memtable, and waits when too much is frozen or level
 * 0 is too full. */
#ifndef BB_KV_WRITE_FREEZE_H
#define BB_KV_WRITE_FREEZE_H

#include "kv/store/store.h"

/* The space that a write needs: a number of entries, with this total size of keys and values. */
struct bb_write_space {
    size_t entry_count;
    size_t raw_bytes;
};

/* Called by the leader. Returns when the write fits the active memtable, and its log is sound and
 * not too long; freezes and waits as needed. Fails with the error that stopped the background
 * work. */
BB_MUST_CHECK enum bb_status bb_freeze_make_space(struct bb_db *db,
                                                  const struct bb_write_space *space);

/* Called by the leader. True: the call above would have nothing to do. */
bool bb_freeze_has_space(const struct bb_db *db, const struct bb_write_space *space);

/* Called by the leader. BB_WOULD_WAIT: the call above would wait for background work. Otherwise
 * BB_OK, or the failure that it would return if the work fails again. Changes nothing. */
BB_MUST_CHECK enum bb_status bb_freeze_check_space(struct bb_db *db,
                                                   const struct bb_write_space *space);

/* Called by the leader. Freezes the active memtable and replaces it by an empty one of
 * capacity_bytes with a new log. Waits while BB_FROZEN_MAX are frozen. */
BB_MUST_CHECK enum bb_status bb_freeze_memtable(struct bb_db *db, size_t capacity_bytes);

/* Called by the leader. Waits until no memtable is frozen: all of them are in tables then. */
BB_MUST_CHECK enum bb_status bb_freeze_drain(struct bb_db *db);

/* A new write buffer with its log, whose name is not durable yet. */
BB_MUST_CHECK enum bb_status bb_freeze_new_buffer(struct bb_db *db, size_t capacity_bytes,
                                                  struct bb_write_buffer **ret_buffer);
/* A new write buffer for a cleanly closed store: the first write begins its log. old_log_number: of
 * the existing empty log, which is removed when the buffer is flushed; 0 if none. */
BB_MUST_CHECK enum bb_status bb_freeze_new_resting_buffer(struct bb_db *db, uint64_t old_log_number,
                                                          struct bb_write_buffer **ret_buffer);

#endif
