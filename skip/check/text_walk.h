/* Reads every token of a segment of an index of text, in order, and checks all that is stored of
 * it.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_CHECK_TEXT_WALK_H
#define BB_SKIP_CHECK_TEXT_WALK_H

#include "skip/file/skip_file.h"
#include "skip/kind/token_block.h"

struct bb_text_walk {
    struct bb_skip_file *file;             /* borrowed */
    const struct bb_head_segment *segment; /* borrowed */
    bool has_counts;
    enum bb_tokenizer tokenizer;
    struct bb_buf scratch;       /* owned */
    struct bb_token_block block; /* owned */
    struct bb_token_lists lists;
    uint32_t next_block;
    struct bb_buf last; /* owned: the current token */
    uint64_t token_count;
    uint64_t pair_count;
    /* The current token: its granules, and with counts the records of each. */
    struct bb_granule_bits granules;
    uint32_t counts[BB_SEGMENT_GRANULES_MAX];
};

/* segment: of form DICTIONARY. */
void bb_text_walk_init(struct bb_text_walk *walk, struct bb_skip_file *file,
                       const struct bb_head_segment *segment, bool has_counts,
                       enum bb_tokenizer tokenizer);
void bb_text_walk_deinit(struct bb_text_walk *walk);
/* Goes to the next token, the first one at first. *ret_has_token false: there is no other token,
 * and all is correct. BB_CORRUPT, BB_IO, BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_text_walk_next(struct bb_text_walk *walk, bool *ret_has_token);

#endif
