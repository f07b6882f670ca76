/* See member_scan.h. */
#include "skip/member/member_scan.h"

#include "base/alloc.h"
#include "base/status.h"
#include "skip/member/spec.h"

enum bb_status bb_member_scan_init(struct bb_member_scan *scan, const struct bb_skip_spec *spec,
                                   const struct bb_hash_secret *secret)
{
    enum bb_status status = bb_spec_check_build(spec);
    if (status != BB_OK)
        return status;
    *scan = (struct bb_member_scan){.kind = spec->kind,
                                    .ngram_size = spec->ngram_size,
                                    .folds_case = spec->folds_case,
                                    .tokenizer = spec->tokenizer,
                                    .secret = *secret,
                                    .find_edges = bb_tokenizer_edges_of(bb_cpu_best())};
    scan->hashes = bb_alloc(BB_MEMBER_SCAN_HASHES * sizeof(scan->hashes[0]));
    scan->edges =
        bb_alloc((BB_TOKENIZER_PIECE_SIZE + 2 + BB_EDGE_LIST_SLACK) * sizeof(scan->edges[0]));
    bool is_whole = scan->hashes != NULL && scan->edges != NULL;
    if (is_whole && spec->tokenizer == BB_TOKENIZER_UNICODE) {
        bb_word_rules_init(&scan->rules);
        scan->words = bb_alloc(BB_TOKENIZER_PIECE_SIZE);
        is_whole = scan->words != NULL;
    }
    if (is_whole)
        return BB_OK;
    bb_member_scan_deinit(scan);
    return bb_fail(BB_NO_MEMORY, "no memory for finding tokens");
}

void bb_member_scan_deinit(struct bb_member_scan *scan)
{
    bb_free(scan->edges);
    bb_free(scan->hashes);
    bb_free(scan->words);
    scan->edges = NULL;
    scan->hashes = NULL;
    scan->words = NULL;
}

/* For tokens of more than 16 bytes, and for tokens where neither load_forwards nor load_backwards
 * may read 16 bytes. */
static uint64_t hash_long(const struct bb_member_scan *scan, struct bb_bytes token)
{
    uint8_t lower[BB_TOKEN_SIZE_MAX];
    token = bb_token_known(token);
    if (!scan->folds_case)
        return bb_member_hash(&scan->secret, token);
    for (size_t i = 0; i < token.size; i++)
        lower[i] = bb_token_lower(token.data[i]);
    return bb_member_hash(&scan->secret, (struct bb_bytes){.data = lower, .size = token.size});
}

/* The first size bytes of a word, 0 ... 8. */
static inline uint64_t first_bytes(uint64_t word, size_t size)
{
    return size >= 8 ? word : word & ((UINT64_C(1) << 8 * size) - 1);
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

static size_t hash_tokens(struct bb_member_scan *scan, size_t edge_count)
{
    struct bb_member_key key = bb_member_key_of(&scan->secret);
    const uint8_t *data = scan->piece.data;
    const uint32_t *edges = scan->edges;
    uint64_t *hashes = scan->hashes;
    bool folds_case = scan->folds_case;
    size_t readable = scan->piece.size + scan->rest.size;
    for (size_t i = 0; i < edge_count; i += 2) {
        size_t begin = edges[i];
        size_t size = edges[i + 1] - begin;
        if (size <= BB_MEMBER_SHORT_MAX && begin + BB_MEMBER_SHORT_MAX <= readable)
            hashes[i / 2] = hash_word(key, load_forwards(data + begin, size), size, folds_case);
        else if (size <= BB_MEMBER_SHORT_MAX && begin + size >= BB_MEMBER_SHORT_MAX)
            hashes[i / 2] = hash_word(key, load_backwards(data + begin, size), size, folds_case);
        else
            hashes[i / 2] = hash_long(scan, (struct bb_bytes){.data = data + begin, .size = size});
    }
    return edge_count / 2;
}

/* Skips the rest of a token that is longer than a piece. */
static void pass_token(struct bb_member_scan *scan)
{
    size_t size = 0;
    while (size < scan->rest.size && bb_token_has(scan->rest.data[size]))
        size++;
    scan->rest = (struct bb_bytes){.data = scan->rest.data + size, .size = scan->rest.size - size};
}

static void take_piece(struct bb_member_scan *scan, size_t size)
{
    scan->piece = (struct bb_bytes){.data = scan->rest.data, .size = size};
    scan->rest = (struct bb_bytes){.data = scan->rest.data + size, .size = scan->rest.size - size};
}

/* The last token of a piece may continue after it. Then the piece ends before this token, which
 * begins the next piece. A token that fills the whole piece is cut. */
static size_t next_tokens(struct bb_member_scan *scan)
{
    while (scan->rest.size > 0) {
        size_t size =
            scan->rest.size < BB_TOKENIZER_PIECE_SIZE ? scan->rest.size : BB_TOKENIZER_PIECE_SIZE;
        size_t count = scan->find_edges(scan->rest.data, size, scan->edges);
        bool is_cut = size < scan->rest.size && count > 0 && scan->edges[count - 1] == size;
        if (is_cut && scan->edges[count - 2] > 0) {
            size = scan->edges[count - 2];
            count -= 2;
            is_cut = false;
        }
        take_piece(scan, size);
        if (is_cut)
            pass_token(scan);
        if (count > 0)
            return hash_tokens(scan, count);
    }
    return 0;
}

static size_t next_ngrams(struct bb_member_scan *scan)
{
    struct bb_member_key key = bb_member_key_of(&scan->secret);
    size_t count = 0;
    const uint8_t *data = scan->rest.data;
    while (count < BB_MEMBER_SCAN_HASHES && count + scan->ngram_size <= scan->rest.size) {
        size_t left = scan->rest.size - count;
        uint64_t word = left >= 8 ? first_bytes(bb_load64(data + count), scan->ngram_size)
                                  : bb_member_word(data + count, scan->ngram_size);
        if (scan->folds_case)
            word = bb_token_lower_word(word);
        scan->hashes[count++] = bb_member_hash_words(key, word, 0, scan->ngram_size);
    }
    take_piece(scan, count);
    return count;
}

size_t bb_member_scan_next(struct bb_member_scan *scan)
{
    if (scan->tokenizer == BB_TOKENIZER_UNICODE)
        return bb_word_scan_next(scan);
    return scan->kind == BB_SKIP_TOKENS ? next_tokens(scan) : next_ngrams(scan);
}
