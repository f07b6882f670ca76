/* Searches a segment of an index of text for the granules that hold a token, or a token with a
 * part. */
#ifndef BB_SKIP_QUERY_TEXT_QUESTION_H
#define BB_SKIP_QUERY_TEXT_QUESTION_H

#include "skip/condition/searcher.h"
#include "skip/query/member_query.h"
#include "skip/file/skip_file.h"
#include "skip/kind/token_block.h"

/* Memory that is kept between the segments of a question. Valid when zeroed. Owned:
 * bb_text_question_deinit. */
struct bb_text_question {
    struct bb_skip_file *file;       /* borrowed */
    bool has_counts;                 /* whether the index counts records */
    struct bb_skip_account *account; /* or NULL */
    struct bb_buf scratch;
    struct bb_buf wanted; /* the bytes to search for */
    struct bb_token_block block;
    uint64_t searched_blocks; /* of the current segment */
};

void bb_text_question_deinit(struct bb_text_question *question);

/* Begins a question to an index. account may be NULL. */
static inline void bb_text_question_begin(struct bb_text_question *question,
                                          struct bb_skip_file *file, bool has_counts,
                                          struct bb_skip_account *account)
{
    question->file = file;
    question->has_counts = has_counts;
    question->account = account;
}

/* Adds the granules that hold the part to *bits. Also adds needed granules that do not hold it, if
 * an exact answer would take longer than reading them. needed: only the bits of these granules are
 * used, so the other bits need not be exact. BB_CORRUPT, BB_IO, BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_text_question_ask(struct bb_text_question *question,
                                                  const struct bb_head_segment *segment,
                                                  const struct bb_token_part *part,
                                                  const struct bb_granule_bits *needed,
                                                  struct bb_granule_bits *bits);

/* Counts the records that hold a token, for each granule of the segment. counts: space for
 * BB_SEGMENT_GRANULES_MAX. REQUIRES: has_counts, and the token has fewer than BB_TOKEN_SIZE_MAX
 * bytes. */
BB_MUST_CHECK enum bb_status bb_text_question_count(struct bb_text_question *question,
                                                    const struct bb_head_segment *segment,
                                                    struct bb_bytes token, uint32_t *counts);

#endif
