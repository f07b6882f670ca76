/* Groups of pieces (leaf.h) while they are found, and then as a leaf shows them. */
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

/* Adds a piece to the group that is being made; its bytes are copied. REQUIRES: the piece has
 * bytes, because every match contains an empty piece. */
BB_MUST_CHECK enum bb_status bb_piece_list_add(struct bb_piece_list *list,
                                               const struct bb_piece *piece);
/* Makes a group of the pieces since the last one. REQUIRES: there is one. */
BB_MUST_CHECK enum bb_status bb_piece_list_end_group(struct bb_piece_list *list);
/* A group of one piece. */
BB_MUST_CHECK enum bb_status bb_piece_list_add_group(struct bb_piece_list *list,
                                                     const struct bb_piece *piece);

/* The groups, valid until the list changes. No piece may be added after it. */
const struct bb_piece_group *bb_piece_list_finish(struct bb_piece_list *list, size_t *ret_count);

void bb_piece_list_deinit(struct bb_piece_list *list);

#endif
