/* The summary's part of a verification: every chunk read, asked for each key of its part, and, when
 * this builder wrote the table, built again and compared.
 *
 * Memory: the summary, and the memory to build it again. Call order: create add* finish destroy.
 * One thread.
 */
#ifndef BB_SSTABLE_VERIFY_SUMMARY_H
#define BB_SSTABLE_VERIFY_SUMMARY_H

#include "sstable/table.h"

struct bb_summary_verifier;

/* Reads the summary; BB_CORRUPT at the first chunk that is damaged. REQUIRES: table->has_summary.
 */
BB_MUST_CHECK enum bb_status bb_summary_verifier_create(struct bb_table *table, bool rebuild,
                                                        struct bb_summary_verifier **ret_verifier);
void bb_summary_verifier_destroy(struct bb_summary_verifier *verifier);
/* The next key of the table, which stands at place; the last entry before it. */
BB_MUST_CHECK enum bb_status bb_summary_verifier_add(struct bb_summary_verifier *verifier,
                                                     struct bb_place place,
                                                     struct bb_bytes last_key,
                                                     uint64_t last_sequence, struct bb_bytes key);
/* Behind the last key. */
BB_MUST_CHECK enum bb_status bb_summary_verifier_finish(struct bb_summary_verifier *verifier,
                                                        struct bb_table_verify_report *report);

#endif
