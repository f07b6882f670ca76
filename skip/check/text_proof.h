/* Compares a segment of a text index with the tokens of its records. */
#ifndef BB_SKIP_CHECK_TEXT_PROOF_H
#define BB_SKIP_CHECK_TEXT_PROOF_H

#include "skip/file/skip_file.h"
#include "skip/kind/text_index.h"

/* found: the tokens of the records of the segment's granules; the call resets it. spare: memory for
 * sorting. BB_CORRUPT: the segment is wrong or damaged. */
BB_MUST_CHECK enum bb_status bb_text_proof_check(struct bb_text_index_builder *found,
                                                 struct bb_skip_file *file,
                                                 const struct bb_head_segment *segment,
                                                 struct bb_buf *spare);

#endif
