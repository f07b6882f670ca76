/* Queries one index about one leaf, segment by segment. */
#ifndef BB_SKIP_QUERY_INDEX_QUESTION_H
#define BB_SKIP_QUERY_INDEX_QUESTION_H

#include "skip/query/query_cache.h"
#include "skip/file/skip_file.h"
#include "skip/query/text_question.h"
#include "skip/query/truth_bits.h"

/* Memory that questions of one condition share. Zeroed it is valid; owned:
 * bb_index_question_memory_deinit. */
struct bb_question_memory {
    struct bb_query_cache queries;
    struct bb_buf scratch;
    struct bb_text_question text;
};

void bb_index_question_memory_deinit(struct bb_question_memory *memory);

/* Whether the index can answer such a leaf, which is of its attribute: it reads no bytes. */
bool bb_index_question_fits(const struct bb_directory_entry *index, const struct bb_leaf *leaf);

/* Removes from the verdicts of the leaf the granules that the index excludes. Segments without a
 * granule that may be true, or without a needed one, are not queried; needed NULL: all are. account
 * may be NULL. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status
bb_index_question_ask(struct bb_skip_file *file, size_t index, const struct bb_leaf *leaf,
                      const uint64_t *needed, struct bb_question_memory *memory,
                      struct bb_skip_account *account, struct bb_skip_verdicts *verdicts);

#endif
