/* Counts the matches of a granule that no newer table hides. Columns know which records match;
 * their keys are only in blocks, so a match is looked up in the newer tables once:
 *
 *     record      0 1 2 3 4 5 6 7 ...
 *     matches     0 1 1 0 0 1 0 0        by columns
 *     known       1 1 0 0 0 1 0 1        looked up before (kv/indexes/known_rows.h)
 *     hidden      0 1 0 0 0 0 0 1        of these
 *
 * Here record 2 is looked up, and record 5 is counted unread.
 *
 * Call order: init, count*, deinit. Threads: one; any number of these objects share known bits.
 */
#ifndef BB_KV_SELECT_VISIBLE_ROWS_H
#define BB_KV_SELECT_VISIBLE_ROWS_H

#include "bb/skip.h"
#include "compaction/levels/table_file.h"
#include "kv/indexes/known_rows.h"
#include "kv/select/candidate_source.h"
#include "sstable/block/block_iter.h"
#include "sstable/table/table_blocks.h"

struct bb_visible_rows {
    struct bb_candidate_source *source; /* borrowed */
    struct bb_table_file *file;         /* borrowed */
    size_t run;                         /* of the table */
    struct bb_known_rows *known;        /* one reference */
    struct bb_table_blocks blocks;
    bool has_blocks;
    struct bb_block_iter entries;
};

/* known: bb_index_file_known_rows of the table's index file and its newer tables; deinit drops the
 * reference. REQUIRES: the table's counting is BB_COUNTING_VISIBLE. */
void bb_visible_rows_init(struct bb_visible_rows *rows, struct bb_candidate_source *source,
                          struct bb_table_file *file, size_t run, struct bb_known_rows *known);
void bb_visible_rows_deinit(struct bb_visible_rows *rows);

/* The number of visible matches of a granule, which has the blocks begin ... end - 1. matches: the
 * records with is_true; without is_true, all of them. *ret_is_read: blocks were read. After any
 * failure the caller reads the granule. Errors: BB_NOT_FOUND, without a message, when the blocks or
 * earlier counts have another number of records; BB_BUSY, cancelled; those of reading. */
BB_MUST_CHECK enum bb_status bb_visible_rows_count(struct bb_visible_rows *rows, size_t granule,
                                                   uint64_t begin, uint64_t end,
                                                   const struct bb_skip_row_bits *matches,
                                                   uint64_t *ret_count, bool *ret_is_read);

#endif
