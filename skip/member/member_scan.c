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
    *scan = (struct bb_member_scan){
        .kind = spec->kind,
        .ngram_size = spec->ngram_size,
        .tokenizer = spec->tokenizer,
        .hasher = {.secret = *secret, .folds_case = spec->folds_case, .cpu = bb_cpu_best()},
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

/* The first size bytes of a word, 0 ... 8. */
static inline uint64_t first_bytes(uint64_t word, size_t size)
{
    return size >= 8 ? word : word & ((UINT64_C(1) << 8 * size) - 1);
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

static size_t hash_tokens(struct bb_member_scan *scan, size_t edge_count)
{
    struct bb_bytes text = {.data = scan->piece.data, .size = scan->piece.size + scan->rest.size};
    bb_token_hash(&scan->hasher, text, scan->edges, edge_count / 2, scan->hashes);
    return edge_count / 2;
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
    struct bb_member_key key = bb_member_key_of(&scan->hasher.secret);
    size_t count = 0;
    const uint8_t *data = scan->rest.data;
    while (count < BB_MEMBER_SCAN_HASHES && count + scan->ngram_size <= scan->rest.size) {
        size_t left = scan->rest.size - count;
        uint64_t word = left >= 8 ? first_bytes(bb_load64(data + count), scan->ngram_size)
                                  : bb_member_word(data + count, scan->ngram_size);
        if (scan->hasher.folds_case)
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
