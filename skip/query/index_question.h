/* Evaluates one leaf of a condition with one index, segment by segment. */
#ifndef BB_SKIP_QUERY_INDEX_QUESTION_H
#define BB_SKIP_QUERY_INDEX_QUESTION_H

#include "skip/query/query_cache.h"
#include "skip/file/skip_file.h"
#include "skip/query/text_question.h"
#include "skip/query/truth_bits.h"

/* Memory that the questions of one condition share. Valid when zeroed. Owned:
 * bb_index_question_memory_deinit. */
struct bb_question_memory {
    struct bb_query_cache queries;
    struct bb_buf scratch;
    struct bb_buf hashes; /* u64 numbers: the values of a list, as a segment permutes them */
    struct bb_text_question text;
};

void bb_index_question_memory_deinit(struct bb_question_memory *memory);

/* Whether the kind of the index can answer such a leaf. The leaf must be of the index's attribute.
 * Reads no bytes of the file. */
bool bb_index_question_fits(const struct bb_directory_entry *index, const struct bb_leaf *leaf);

/* Removes from the verdicts of the leaf the granules that the index rules out. A segment is queried
 * only if it has a needed granule for which the leaf may be true. needed: bits of the file's
 * granules; NULL: all are needed. account may be NULL. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status
bb_index_question_ask(struct bb_skip_file *file, size_t index, const struct bb_leaf *leaf,
                      const uint64_t *needed, struct bb_question_memory *memory,
                      struct bb_skip_account *account, struct bb_skip_verdicts *verdicts);

#endif
