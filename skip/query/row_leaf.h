/* A leaf of a condition, decided by a column for each record of a granule.
 *
 *     column, a granule    values 200, 304, 404; numbers 0 0 2 1 0
 *     status = 404         truths 0, 0, 1        true    0 0 1 0 0
 *
 * The leaf is evaluated once for each distinct value. Each record then looks up the truth of its
 * value by number.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_QUERY_ROW_LEAF_H
#define BB_SKIP_QUERY_ROW_LEAF_H

#include "bloomblock/cpu.h"
#include "skip/condition/tree.h"
#include "skip/file/skip_file.h"
#include "skip/kind/column.h"
#include "skip/kind/column_intervals.h"

struct bb_row_leaf {
    const struct bb_condition *node;      /* borrowed; a leaf with an attribute */
    struct bb_skip_file *file;            /* borrowed */
    size_t index;                         /* of the column; the file's index_count: no column */
    bool is_decided;                      /* by the column, in the current granule */
    struct bb_skip_verdicts verdicts;     /* owned: of the indexes, if no column decides */
    struct bb_condition_run *run;         /* owned; of TEXT */
    struct bb_attribute *attributes;      /* borrowed: the input of the run */
    struct bb_column_intervals intervals; /* owned; of INTERVALS of numbers */
    const struct bb_head_chunk *chunk;    /* the current chunk; NULL: no chunk is read */
    size_t chunk_granule;                 /* the file's number of the chunk's first granule */
    struct bb_buf scratch;                /* owned: space for the unit */
    struct bb_bytes unit;                 /* the bytes of the chunk */
    struct bb_column_granule granule;     /* owned: the current one */
    uint8_t *truths;                      /* owned: of each value of the granule, enum bb_truth */
    size_t truth_capacity;
};

/* A zeroed leaf is valid for deinit. attributes: one for each attribute of the schema. They, the
 * file and the node are borrowed until deinit. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_row_leaf_init(struct bb_row_leaf *leaf, struct bb_skip_file *file,
                                              const struct bb_condition *node,
                                              const struct bb_schema *schema,
                                              struct bb_attribute *attributes);
void bb_row_leaf_deinit(struct bb_row_leaf *leaf);

static inline bool bb_row_leaf_has_column(const struct bb_row_leaf *leaf)
{
    return leaf->index < leaf->file->directory.index_count;
}

/* Sets the bits of the records for which the leaf is true in *is_true, and unknown in *is_null. The
 * caller zeroes both. After a failure some bits may be set. BB_CORRUPT, BB_NO_MEMORY, BB_IO;
 * BB_NOT_FOUND, without a message: the column has no values of the granule; BB_TOO_LARGE: a regular
 * expression gives up. REQUIRES: the leaf has a column. */
BB_MUST_CHECK enum bb_status bb_row_leaf_decide(struct bb_row_leaf *leaf, size_t granule,
                                                enum bb_cpu cpu, struct bb_skip_account *account,
                                                uint64_t *is_true, uint64_t *is_null);

#endif
