/* Range tombstones, cut into fragments. Each means "every key from low, inclusive, to high,
 * exclusive, is deleted as of these sequences".
 *
 *     written       [a ........ f)@5                fragments    [a, c) 5
 *                         [c .......... m)@9                     [c, f) 9 5
 *                                                                [f, m) 9
 *
 * Fragments ascend and do not overlap, so that one binary search finds everything that covers a
 * key. The sequences of each descend. A tombstone of sequence s hides versions with sequences below
 * s. A tombstone of sequence 0 therefore hides nothing, and where only hiding counts a covering
 * sequence of 0 means "none".
 *
 * Threads: a list is constant after it is made.
 */
#ifndef BB_SSTABLE_RANGES_RANGE_TOMBSTONES_H
#define BB_SSTABLE_RANGES_RANGE_TOMBSTONES_H

#include "base/bytes.h"
#include "base/status.h"

/* One tombstone in its original form. REQUIRES, for every function that takes one: low is below
 * high. */
struct bb_range_tombstone {
    struct bb_bytes low;
    struct bb_bytes high;
    uint64_t sequence;
};

struct bb_range_tombstone_fragment {
    struct bb_bytes low;
    struct bb_bytes high;
    const uint64_t *sequences; /* newest first */
    size_t count;              /* number of sequences, at least 1 */
};

struct bb_range_tombstones {
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    const struct bb_range_tombstone_fragment *fragments;
    size_t count;
    size_t sequence_count; /* of all fragments together */
    size_t memory_size;    /* bytes of the whole list */
};

/* Cuts tombstones, given in any order, into fragments. Everything is copied; owned. Adjacent
 * fragments with the same sequences become one. Errors: BB_TOO_LARGE when there would be more than
 * sequence_count_max sequences: tombstones that all overlap have as many as the square of their
 * number. */
BB_MUST_CHECK enum bb_status bb_range_tombstones_create(const struct bb_range_tombstone *tombstones,
                                                        size_t count,
                                                        const struct bb_comparator *comparator,
                                                        size_t sequence_count_max,
                                                        struct bb_range_tombstones **ret_list);
/* The same, limited to visible sequences: of each fragment, the newest sequence of each interval
 * between snapshots (ascending), as drawn in compaction/merge/retain.h. Tombstones that all overlap
 * then have at most their number of sequences per interval. */
BB_MUST_CHECK enum bb_status
bb_range_tombstones_create_seen(const struct bb_range_tombstone *tombstones, size_t count,
                                const struct bb_comparator *comparator, const uint64_t *snapshots,
                                size_t snapshot_count, struct bb_range_tombstones **ret_list);
/* NULL is allowed. */
void bb_range_tombstones_destroy(struct bb_range_tombstones *list);

/* The index of the first fragment that ends after the key; count if none exists. */
size_t bb_range_tombstones_find(const struct bb_range_tombstones *list, struct bb_bytes key);

/* The highest sequence of a fragment that is at most `sequence`; 0 if none exists. */
uint64_t bb_range_tombstone_fragment_newest(const struct bb_range_tombstone_fragment *fragment,
                                            uint64_t sequence);

/* The highest sequence of at most `sequence` that covers the key; 0 if none. */
uint64_t bb_range_tombstones_covering(const struct bb_range_tombstones *list, struct bb_bytes key,
                                      uint64_t sequence);

/* The same, and true when there is one: a tombstone may have sequence 0. */
bool bb_range_tombstones_cover(const struct bb_range_tombstones *list, struct bb_bytes key,
                               uint64_t sequence, uint64_t *ret_covering);

/* The range tombstones of an open table, borrowed; NULL without any. (sstable/table/table.c) */
struct bb_table;
const struct bb_range_tombstones *bb_table_range_tombstones(const struct bb_table *table);

/* ---- the stored form, drawn in range_tombstones_coding.c ---- */

/* Appends the section. Errors: BB_TOO_LARGE beyond BB_RANGE_SECTION_SIZE_MAX. */
BB_MUST_CHECK enum bb_status bb_range_tombstones_encode(const struct bb_range_tombstones *list,
                                                        struct bb_buf *buf);
/* Reads a section and checks everything drawn above, under the comparator. Keys and sequences are
 * copied; owned. Errors: BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_range_tombstones_decode(struct bb_bytes section,
                                                        const struct bb_comparator *comparator,
                                                        struct bb_place place,
                                                        struct bb_range_tombstones **ret_list);

/* ---- building a list, fragment by fragment in order ---- */

/* Empty when zeroed, except for comparator and sequence_count_max. Keys are borrowed until
 * finish. */
struct bb_range_tombstone_builder {
    const struct bb_comparator *comparator;
    size_t sequence_count_max;
    struct bb_buf pieces; /* private from here on */
    struct bb_buf sequences;
    size_t taken; /* sequences that already belong to fragments */
};

void bb_range_tombstone_builder_deinit(struct bb_range_tombstone_builder *list);
/* Adds a sequence to the next fragment, newest first. Errors: BB_TOO_LARGE beyond the maximum. */
BB_MUST_CHECK enum bb_status
bb_range_tombstone_builder_add_sequence(struct bb_range_tombstone_builder *list, uint64_t sequence);
/* Makes a fragment of the sequences added since the last one. It is joined to the last one if they
 * are adjacent and have the same sequences. REQUIRES: at least one sequence, low below high, not
 * before the end of the last fragment. */
BB_MUST_CHECK enum bb_status
bb_range_tombstone_builder_add_fragment(struct bb_range_tombstone_builder *list,
                                        struct bb_bytes low, struct bb_bytes high);
/* Copies everything. The caller keeps the list that it built from. */
BB_MUST_CHECK enum bb_status
bb_range_tombstone_builder_finish(const struct bb_range_tombstone_builder *list,
                                  struct bb_range_tombstones **ret_list);

/* ---- tombstones collected in any order ---- */

/* Empty when zeroed. Keys are borrowed. */
struct bb_range_tombstone_array {
    struct bb_range_tombstone *tombstones; /* owned */
    size_t count;
    size_t capacity;
};

void bb_range_tombstone_array_deinit(struct bb_range_tombstone_array *array);
BB_MUST_CHECK enum bb_status bb_range_tombstone_array_add(struct bb_range_tombstone_array *array,
                                                          struct bb_bytes low, struct bb_bytes high,
                                                          uint64_t sequence);
/* Adds every sequence of every fragment. */
BB_MUST_CHECK enum bb_status
bb_range_tombstone_array_add_list(struct bb_range_tombstone_array *array,
                                  const struct bb_range_tombstones *list);

#endif
