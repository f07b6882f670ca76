/* Verification of the table filter. Reads every chunk, probes it for each key of its part and, if
 * this builder version wrote the table, rebuilds it and compares.
 *
 * Memory: the table filter, and the memory to rebuild it. Call order: create add* finish destroy.
 * One thread.
 */
#ifndef BB_SSTABLE_TABLE_TABLE_FILTER_VERIFIER_H
#define BB_SSTABLE_TABLE_TABLE_FILTER_VERIFIER_H

#include "sstable/table/table.h"

struct bb_table_filter_verifier;

/* Reads the table filter. Errors: BB_CORRUPT at the first damaged chunk. REQUIRES:
 * table->has_table_filter. */
BB_MUST_CHECK enum bb_status
bb_table_filter_verifier_create(struct bb_table *table, bool rebuild,
                                struct bb_table_filter_verifier **ret_verifier);
void bb_table_filter_verifier_destroy(struct bb_table_filter_verifier *verifier);
/* Adds the next key of the table, found at place. last_key and last_sequence are the entry before
 * it. */
BB_MUST_CHECK enum bb_status
bb_table_filter_verifier_add(struct bb_table_filter_verifier *verifier, struct bb_place place,
                             struct bb_bytes last_key, uint64_t last_sequence, struct bb_bytes key);
/* The mean predicted rate of the shards that were read. */
double bb_table_filter_verifier_rate(const struct bb_table_filter_verifier *verifier);
/* Call after the last key. */
BB_MUST_CHECK enum bb_status
bb_table_filter_verifier_finish(struct bb_table_filter_verifier *verifier,
                                struct bb_table_verify_report *report);

#endif
