/* Collects groups of pieces (leaf.h), and then returns them in the form that a leaf has. */
#ifndef BB_SKIP_CONDITION_PIECE_LIST_H
#define BB_SKIP_CONDITION_PIECE_LIST_H

#include "skip/condition/leaf.h"

/* A zeroed struct is a valid empty list. */
struct bb_piece_list {
    struct bb_buf bytes;
    struct bb_buf pieces;
    struct bb_buf groups;
    size_t open_count; /* pieces since the last group */
};

/* Adds a piece to the current group; its bytes are copied. REQUIRES: the piece is not empty, since
 * an empty piece would be in every match. */
BB_MUST_CHECK enum bb_status bb_piece_list_add(struct bb_piece_list *list,
                                               const struct bb_piece *piece);
/* Ends the current group. REQUIRES: it has a piece. */
BB_MUST_CHECK enum bb_status bb_piece_list_end_group(struct bb_piece_list *list);
/* Adds a group of one piece. REQUIRES: the current group is empty. */
BB_MUST_CHECK enum bb_status bb_piece_list_add_group(struct bb_piece_list *list,
                                                     const struct bb_piece *piece);

/* The groups, valid until the list is destroyed. No piece may be added after this call. */
const struct bb_piece_group *bb_piece_list_finish(struct bb_piece_list *list, size_t *ret_count);

void bb_piece_list_deinit(struct bb_piece_list *list);

#endif
