/* The hashes of tokens, from their edges in a text (tokenizer.h).
 *
 *     text     GET /index.html
 *     edges    0 3  5 10  11 15      begin and end alternate
 *     hashes   of GET, index, html   member_hash.h
 *
 * With AVX-512 eight tokens of at most 16 bytes are hashed together. Both forms give the same
 * hashes.
 *
 * Pure functions; any thread.
 */
#ifndef BB_SKIP_MEMBER_TOKEN_HASH_H
#define BB_SKIP_MEMBER_TOKEN_HASH_H

#include "bloomblock/cpu.h"
#include "skip/member/member_hash.h"

#define BB_TOKEN_SIZE_MAX 256 /* ON DISK */

struct bb_token_hasher {
    struct bb_hash_secret secret;
    bool folds_case; /* ASCII letters are hashed in lower case */
    enum bb_cpu cpu;
};

/* The bytes of a token or a word that its hash and the dictionary use: the first
 * BB_TOKEN_SIZE_MAX. */
static inline struct bb_bytes bb_token_known(struct bb_bytes token)
{
    if (token.size > BB_TOKEN_SIZE_MAX)
        token.size = BB_TOKEN_SIZE_MAX;
    return token;
}

/* Sets hashes[i] to the hash of token i. edges: 2 * count, ascending, within the text. */
void bb_token_hash(const struct bb_token_hasher *hasher, struct bb_bytes text,
                   const uint32_t *edges, size_t count, uint64_t *hashes);

/* One token. */
uint64_t bb_token_hash_one(const struct bb_token_hasher *hasher, struct bb_bytes text,
                           const uint32_t *edges);

#if BB_CPU_X86
/* As bb_token_hash. REQUIRES: 16 bytes are readable from the first byte of each token on. */
void bb_token_hash_avx512(const struct bb_token_hasher *hasher, struct bb_bytes text,
                          const uint32_t *edges, size_t count, uint64_t *hashes);
#endif

#endif
