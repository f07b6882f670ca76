/* Operations read from logs, collected in memory and sorted in one step into table order.
 *
 *     arena    [sequence, kind, sizes, key, value] [...] ...      in order of arrival
 *     kept     buffers with large values, which are not copied
 *     items    {8 bytes of the key, place in the arena}           sorted, then iterated
 *
 * Recovery shows no data before it has read everything, so it needs no tree that is always sorted:
 * sorting costs an eighth of inserting into a memtable.
 *
 * Call order: create add* sort iter, destroy. Threads: one.
 */
#ifndef BB_KV_RECOVERY_LOG_RUN_H
#define BB_KV_RECOVERY_LOG_RUN_H

#include "base/buf.h"
#include "bb/table.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_log_run;

/* capacity_bytes: for all data and for sorting. Errors: BB_TOO_LARGE beyond 24 GiB. One operation
 * with first_bytes bytes of key and value always fits. comparator is borrowed; NULL: bytewise. */
BB_MUST_CHECK enum bb_status bb_log_run_create(const struct bb_comparator *comparator,
                                               uint64_t capacity_bytes, uint64_t first_bytes,
                                               struct bb_log_run **ret_run);
/* NULL is allowed. */
void bb_log_run_destroy(struct bb_log_run *run);

/* True when one more operation fits, with this number of bytes of key and value. */
bool bb_log_run_fits(const struct bb_log_run *run, uint64_t raw_bytes);
/* Copies an operation; an empty range is ignored. Never fails with BB_NO_SPACE after fits returned
 * true. REQUIRES: its sequence is above all earlier ones. */
BB_MUST_CHECK enum bb_status bb_log_run_add(struct bb_log_run *run, const struct bb_entry *entry);
/* The same without copying the value, which stays in place until the run is destroyed or has been
 * written. */
BB_MUST_CHECK enum bb_status bb_log_run_add_in_place(struct bb_log_run *run,
                                                     const struct bb_entry *entry);
/* Takes a buffer with values that were added in place, to be freed with the run; *buf is empty
 * afterwards. On failure *buf is unchanged. */
BB_MUST_CHECK enum bb_status bb_log_run_keep(struct bb_log_run *run, struct bb_buf *buf);
bool bb_log_run_is_empty(const struct bb_log_run *run);

/* No operation may be added afterwards. */
BB_MUST_CHECK enum bb_status bb_log_run_sort(struct bb_log_run *run);
/* The number of different keys, without ranges. REQUIRES: sorted. */
uint64_t bb_log_run_key_count(const struct bb_log_run *run);
/* All versions in entry order, forward only: seek_first and next. Entries are borrowed from the
 * run, which must outlive the iterator. REQUIRES: sorted. */
BB_MUST_CHECK enum bb_status bb_log_run_iter_create(const struct bb_log_run *run,
                                                    struct bb_iter **ret_iter);
/* The visible range tombstones; owned; NULL if none exist. */
BB_MUST_CHECK enum bb_status bb_log_run_ranges(const struct bb_log_run *run,
                                               struct bb_range_tombstones **ret_ranges);

#endif
