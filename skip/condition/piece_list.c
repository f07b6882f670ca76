/* See piece_list.h. The bytes move while they grow: pieces and groups get their addresses at the
 * end. */
#include "skip/condition/piece_list.h"

#include "base/assert.h"

static struct bb_piece *pieces_of(const struct bb_piece_list *list, size_t *ret_count)
{
    *ret_count = list->pieces.size / sizeof(struct bb_piece);
    return (struct bb_piece *)(void *)list->pieces.data;
}

static struct bb_piece_group *groups_of(const struct bb_piece_list *list, size_t *ret_count)
{
    *ret_count = list->groups.size / sizeof(struct bb_piece_group);
    return (struct bb_piece_group *)(void *)list->groups.data;
}

enum bb_status bb_piece_list_add(struct bb_piece_list *list, const struct bb_piece *piece)
{
    BB_ASSERT(piece->bytes.size > 0);
    enum bb_status status = bb_buf_append(&list->bytes, piece->bytes.data, piece->bytes.size);
    if (status == BB_OK)
        status = bb_buf_append(&list->pieces, piece, sizeof(*piece));
    if (status == BB_OK)
        list->open_count++;
    return status;
}

enum bb_status bb_piece_list_end_group(struct bb_piece_list *list)
{
    BB_ASSERT(list->open_count > 0);
    struct bb_piece_group group = {.piece_count = list->open_count};
    list->open_count = 0;
    return bb_buf_append(&list->groups, &group, sizeof(group));
}

enum bb_status bb_piece_list_add_group(struct bb_piece_list *list, const struct bb_piece *piece)
{
    enum bb_status status = bb_piece_list_add(list, piece);
    return status == BB_OK ? bb_piece_list_end_group(list) : status;
}

const struct bb_piece_group *bb_piece_list_finish(struct bb_piece_list *list, size_t *ret_count)
{
    size_t piece_count = 0;
    struct bb_piece *pieces = pieces_of(list, &piece_count);
    struct bb_piece_group *groups = groups_of(list, ret_count);
    const uint8_t *bytes = list->bytes.data;
    for (size_t i = 0; i < piece_count; i++) {
        pieces[i].bytes.data = bytes;
        bytes += pieces[i].bytes.size;
    }
    for (size_t i = 0; i < *ret_count; i++) {
        groups[i].pieces = pieces;
        pieces += groups[i].piece_count;
    }
    return groups;
}

void bb_piece_list_deinit(struct bb_piece_list *list)
{
    bb_buf_deinit(&list->bytes);
    bb_buf_deinit(&list->pieces);
    bb_buf_deinit(&list->groups);
}
