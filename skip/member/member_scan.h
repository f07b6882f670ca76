/* Finds the members of a value, its tokens or its n-grams, and their hashes, a few thousand at a
 * time.
 *
 *     bb_member_scan_begin(&scan, value);
 *     while ((count = bb_member_scan_next(&scan)) > 0)
 *         scan.hashes[0 ... count - 1]
 *
 * Of a token that is longer than BB_TOKEN_SIZE_MAX, only the first BB_TOKEN_SIZE_MAX bytes count. A
 * value that is shorter than an n-gram has no n-grams.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_MEMBER_MEMBER_SCAN_H
#define BB_SKIP_MEMBER_MEMBER_SCAN_H

#include "bb/skip.h"
#include "skip/condition/words.h"
#include "skip/member/token_hash.h"
#include "skip/member/tokenizer.h"

#define BB_MEMBER_SCAN_HASHES (BB_TOKENIZER_PIECE_SIZE / 2 + 1)

struct bb_member_scan {
    enum bb_skip_kind kind; /* TOKENS or NGRAMS */
    uint32_t ngram_size;
    enum bb_tokenizer tokenizer;
    struct bb_token_hasher hasher;
    bb_token_edges *find_edges;
    struct bb_bytes rest;  /* of the value, not scanned yet */
    struct bb_bytes piece; /* that the last hashes are from */
    uint32_t *edges;       /* owned; of the tokens in the piece, begin and end alternate */
    uint64_t *hashes;      /* owned */
    /* Words of Unicode: the piece is their bytes, folded if need be. */
    struct bb_word_rules rules;
    struct bb_word_walk walk;
    uint8_t *words; /* owned */
};

/* spec: of kind TOKENS or NGRAMS. */
BB_MUST_CHECK enum bb_status bb_member_scan_init(struct bb_member_scan *scan,
                                                 const struct bb_skip_spec *spec,
                                                 const struct bb_hash_secret *secret);
void bb_member_scan_deinit(struct bb_member_scan *scan);

/* value: borrowed until the scan ends. */
static inline void bb_member_scan_begin(struct bb_member_scan *scan, struct bb_bytes value)
{
    scan->rest = value;
    if (scan->tokenizer == BB_TOKENIZER_UNICODE)
        bb_word_walk_begin(&scan->walk, &scan->rules, value);
}

/* bb_member_scan_next of words of Unicode. */
size_t bb_word_scan_next(struct bb_member_scan *scan);

/* The number of hashes found in the next piece; 0: the value has no more. */
size_t bb_member_scan_next(struct bb_member_scan *scan);

#endif
