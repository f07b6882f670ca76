/* Operations read from logs, gathered in memory and brought into the order of a table at once.
 *
 *     arena    [sequence, kind, sizes, key, value] [...] ...      in order of arrival
 *     kept     buffers that large values are in, which are not copied
 *     items    {8 bytes of the key, place in the arena}           sorted, then gone through
 *
 * Recovery shows nothing before it has read everything, so it needs no tree that is in order at all
 * times: sorting costs an eighth of inserting into a memtable.
 *
 * Call order: create add* sort iter, destroy. Threads: one.
 */
#ifndef BB_KV_RECOVERY_LOG_RUN_H
#define BB_KV_RECOVERY_LOG_RUN_H

#include "base/buf.h"
#include "bb/table.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_log_run;

/* capacity_bytes: for all that is kept and what sorting needs, at most 24 GiB (BB_TOO_LARGE), but
 * room for one operation of first_bytes of key and value there is always. comparator is borrowed;
 * NULL: bytewise. */
BB_MUST_CHECK enum bb_status bb_log_run_create(const struct bb_comparator *comparator,
                                               uint64_t capacity_bytes, uint64_t first_bytes,
                                               struct bb_log_run **ret_run);
/* NULL is allowed. */
void bb_log_run_destroy(struct bb_log_run *run);

/* Is there room for one more, with so many bytes of key and value? */
bool bb_log_run_fits(const struct bb_log_run *run, uint64_t raw_bytes);
/* Copies an operation; a range that is empty is passed over. REQUIRES: its sequence is above that of
 * all before. BB_NO_SPACE never after fits said yes. */
BB_MUST_CHECK enum bb_status bb_log_run_add(struct bb_log_run *run, const struct bb_entry *entry);
/* The same but for the value, which is not copied: it stays where it is until the run is destroyed,
 * or is written no more. */
BB_MUST_CHECK enum bb_status bb_log_run_add_in_place(struct bb_log_run *run,
                                                     const struct bb_entry *entry);
/* Takes a buffer that values were added from in place, to be freed with the run; *buf is empty
 * afterwards. On failure nothing is taken. */
BB_MUST_CHECK enum bb_status bb_log_run_keep(struct bb_log_run *run, struct bb_buf *buf);
bool bb_log_run_is_empty(const struct bb_log_run *run);

/* Nothing may be added afterwards. */
BB_MUST_CHECK enum bb_status bb_log_run_sort(struct bb_log_run *run);
/* Different keys, ranges not counted. REQUIRES: sorted. */
uint64_t bb_log_run_key_count(const struct bb_log_run *run);
/* All versions in the order of entries, forward only: seek_first and next. REQUIRES: sorted. Entries
 * are borrowed from the run, which must outlive it. */
BB_MUST_CHECK enum bb_status bb_log_run_iter_create(const struct bb_log_run *run,
                                                    struct bb_iter **ret_iter);
/* What can be seen of the range tombstones; owned; NULL: there are none. */
BB_MUST_CHECK enum bb_status bb_log_run_ranges(const struct bb_log_run *run,
                                               struct bb_range_tombstones **ret_ranges);

#endif
