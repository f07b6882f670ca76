/* Words of Unicode as members. See member_scan.h. */
#include <assert.h>

#include "base/bytes.h"
#include "skip/member/member_scan.h"

static_assert(BB_MEMBER_SCAN_HASHES * 2 <= BB_TOKENIZER_PIECE_SIZE + 2 + BB_EDGE_LIST_SLACK,
              "there are edges for all hashes");

/* Writes one word after the other into the space for a piece, as long as the longest word would
 * fit. */
size_t bb_word_scan_next(struct bb_member_scan *scan)
{
    uint8_t space[BB_WORD_FOLDED_MAX];
    struct bb_bytes word;
    size_t count = 0;
    size_t size = 0;
    while (BB_TOKENIZER_PIECE_SIZE - size >= BB_TOKEN_SIZE_MAX && count < BB_MEMBER_SCAN_HASHES &&
           bb_word_walk_next(&scan->walk, &word)) {
        struct bb_bytes bytes =
            bb_token_known(scan->hasher.folds_case ? bb_word_fold(word, space) : word);
        memcpy(scan->words + size, bytes.data, bytes.size);
        scan->edges[2 * count] = (uint32_t)size;
        scan->hashes[count] = bb_member_hash(&scan->hasher.secret, bytes);
        size += bytes.size;
        scan->edges[2 * count++ + 1] = (uint32_t)size;
    }
    scan->piece = bb_bytes_of(scan->words, size);
    scan->rest = bb_bytes_of(NULL, 0);
    return count;
}
