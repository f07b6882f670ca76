/* See token_hash.h. */
#include "skip/member/token_hash.h"

#include "base/bytes.h"
#include "skip/member/tokenizer.h"

/* For tokens of more than 16 bytes, and for tokens where neither load_forwards nor load_backwards
 * may read 16 bytes. */
static uint64_t hash_long(const struct bb_token_hasher *hasher, struct bb_bytes token)
{
    uint8_t lower[BB_TOKEN_SIZE_MAX];
    token = bb_token_known(token);
    if (!hasher->folds_case)
        return bb_member_hash(&hasher->secret, token);
    for (size_t i = 0; i < token.size; i++)
        lower[i] = bb_token_lower(token.data[i]);
    return bb_member_hash(&hasher->secret, (struct bb_bytes){.data = lower, .size = token.size});
}

__extension__ typedef unsigned __int128 wide_word;

/* Sixteen bytes. */
struct two_words {
    uint64_t low;
    uint64_t high;
};

#define LOW_MASK(size)                                                                             \
    {                                                                                              \
        UINT64_MAX >> (64 - 8 * (size)), 0                                                         \
    }
#define HIGH_MASK(size)                                                                            \
    {                                                                                              \
        UINT64_MAX, UINT64_MAX >> (128 - 8 * (size))                                               \
    }
/* Masks of the first 0 ... 16 bytes. Reading one takes less time than shifting words. */
static const struct two_words BYTE_MASKS[BB_MEMBER_SHORT_MAX + 1] = {
    {0, 0},        LOW_MASK(1),   LOW_MASK(2),   LOW_MASK(3),   LOW_MASK(4),   LOW_MASK(5),
    LOW_MASK(6),   LOW_MASK(7),   LOW_MASK(8),   HIGH_MASK(9),  HIGH_MASK(10), HIGH_MASK(11),
    HIGH_MASK(12), HIGH_MASK(13), HIGH_MASK(14), HIGH_MASK(15), HIGH_MASK(16),
};

/* The bytes of a token of at most 16 bytes, and zeros after them. 16 bytes must be readable from
 * its first byte on. */
static inline struct two_words load_forwards(const uint8_t *data, size_t size)
{
    struct two_words mask = BYTE_MASKS[size];
    return (struct two_words){.low = bb_load64(data) & mask.low,
                              .high = bb_load64(data + 8) & mask.high};
}

/* The same if the 16 bytes that end with its last byte are readable. */
static inline struct two_words load_backwards(const uint8_t *data, size_t size)
{
    const uint8_t *at = data + size - BB_MEMBER_SHORT_MAX;
    wide_word word = (wide_word)bb_load64(at + 8) << 64 | bb_load64(at);
    word >>= 8 * (BB_MEMBER_SHORT_MAX - size);
    return (struct two_words){.low = (uint64_t)word, .high = (uint64_t)(word >> 64)};
}

static inline uint64_t hash_word(struct bb_member_key key, struct two_words words, size_t size,
                                 bool folds_case)
{
    if (folds_case) {
        words.low = bb_token_lower_word(words.low);
        words.high = bb_token_lower_word(words.high);
    }
    return bb_member_hash_words(key, words.low, words.high, size);
}

uint64_t bb_token_hash_one(const struct bb_token_hasher *hasher, struct bb_bytes text,
                           const uint32_t *edges)
{
    struct bb_member_key key = bb_member_key_of(&hasher->secret);
    bool folds_case = hasher->folds_case;
    size_t begin = edges[0];
    size_t size = edges[1] - begin;
    const uint8_t *data = text.data + begin;
    if (size <= BB_MEMBER_SHORT_MAX && begin + BB_MEMBER_SHORT_MAX <= text.size)
        return hash_word(key, load_forwards(data, size), size, folds_case);
    if (size <= BB_MEMBER_SHORT_MAX && begin + size >= BB_MEMBER_SHORT_MAX)
        return hash_word(key, load_backwards(data, size), size, folds_case);
    return hash_long(hasher, bb_bytes_of(data, size));
}

#if BB_CPU_X86
/* The number of tokens from whose first byte on 16 bytes are readable: the last ones lack them. */
static size_t count_readable(struct bb_bytes text, const uint32_t *edges, size_t count)
{
    while (count > 0 && edges[2 * (count - 1)] + (size_t)BB_MEMBER_SHORT_MAX > text.size)
        count--;
    return count;
}
#endif

void bb_token_hash(const struct bb_token_hasher *hasher, struct bb_bytes text,
                   const uint32_t *edges, size_t count, uint64_t *hashes)
{
    size_t done = 0;
#if BB_CPU_X86
    if (hasher->cpu >= BB_CPU_AVX512) {
        done = count_readable(text, edges, count);
        bb_token_hash_avx512(hasher, text, edges, done, hashes);
    }
#endif
    for (size_t i = done; i < count; i++)
        hashes[i] = bb_token_hash_one(hasher, text, edges + 2 * i);
}
