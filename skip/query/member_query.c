/* See member_query.h. */
#include "skip/query/member_query.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/status.h"
#include "skip/member/canonical.h"

/* Can words answer the leaf? A leaf of tokens they cannot: a token may be only a part of a word. */
static bool tells_of_words(const struct bb_skip_spec *spec, const struct bb_leaf *leaf)
{
    if (leaf->word_group_count > 0)
        return spec->folds_case || !leaf->words_are_folded;
    return leaf->group_count > 0 && !leaf->groups[0].pieces[0].is_token;
}

bool bb_member_query_fits(const struct bb_skip_spec *spec, const struct bb_leaf *leaf)
{
    if (leaf->kind == BB_LEAF_INTERVALS)
        return leaf->is_points && leaf->interval_count > 0;
    if (spec->tokenizer == BB_TOKENIZER_UNICODE)
        return leaf->kind == BB_LEAF_TEXT && tells_of_words(spec, leaf);
    return leaf->kind == BB_LEAF_TEXT && leaf->group_count > 0 && spec->kind != BB_SKIP_VALUES;
}

static enum bb_status no_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for probing an index");
}

static enum bb_status add_hash(struct bb_member_query *query, uint64_t hash)
{
    enum bb_status status =
        bb_array_reserve(&query->hashes, query->hash_count, &query->hash_capacity,
                         sizeof(query->hashes[0]), "hashes for probing an index");
    if (status == BB_OK)
        query->hashes[query->hash_count++] = hash;
    return status;
}

/* Does every value with the piece have member i? Every such value has all n-grams of the piece. A
 * token at an end of the piece may be a part of a longer token of the value. */
static bool is_whole(const struct bb_member_scan *scan, const struct bb_piece *piece, size_t i)
{
    if (scan->kind == BB_SKIP_NGRAMS || piece->is_token)
        return true;
    bool is_first = scan->piece.data + scan->edges[2 * i] == piece->bytes.data;
    bool is_last = scan->rest.size == 0 && scan->edges[2 * i + 1] == scan->piece.size;
    return (!is_first || piece->is_at_start) && (!is_last || piece->is_at_end);
}

static enum bb_status add_members(struct bb_member_query *query, struct bb_member_scan *scan,
                                  const struct bb_piece *piece)
{
    enum bb_status status = BB_OK;
    bb_member_scan_begin(scan, piece->bytes);
    for (size_t count = bb_member_scan_next(scan); count > 0 && status == BB_OK;
         count = bb_member_scan_next(scan))
        for (size_t i = 0; i < count && status == BB_OK; i++)
            if (is_whole(scan, piece, i))
                status = add_hash(query, scan->hashes[i]);
    return status;
}

static size_t part_count(const struct bb_member_query *query)
{
    return query->parts.size / sizeof(struct bb_token_part);
}

/* Finds the first run of token bytes that begins at or after `from`. False: there is no run. */
static bool find_run(struct bb_bytes bytes, size_t from, size_t *ret_begin, size_t *ret_end)
{
    size_t begin = from;
    while (begin < bytes.size && !bb_token_has(bytes.data[begin]))
        begin++;
    size_t end = begin;
    while (end < bytes.size && bb_token_has(bytes.data[end]))
        end++;
    *ret_begin = begin;
    *ret_end = end;
    return begin < end;
}

/* Adds the tokens of the piece, and the parts of tokens at its ends. */
static enum bb_status add_parts(struct bb_member_query *query, const struct bb_piece *piece)
{
    enum bb_status status = BB_OK;
    size_t begin = 0;
    size_t end = 0;
    while (status == BB_OK && find_run(piece->bytes, end, &begin, &end)) {
        struct bb_token_part part = {
            .bytes = {.data = piece->bytes.data + begin, .size = end - begin},
            .is_open_at_start = begin == 0 && !piece->is_at_start && !piece->is_token,
            .is_open_at_end = end == piece->bytes.size && !piece->is_at_end && !piece->is_token,
            .ignores_case = piece->ignores_case};
        status = bb_buf_append(&query->parts, &part, sizeof(part));
    }
    return status;
}

/* Parts that a binary search finds are before the others, because they are cheap. Among these,
 * whole tokens are before parts, and longer ones before shorter ones: they match fewer granules. */
static int compare_parts(const void *left, const void *right)
{
    const struct bb_token_part *a = left;
    const struct bb_token_part *b = right;
    int by_search = (int)bb_token_part_is_searched(a) - (int)bb_token_part_is_searched(b);
    int by_end = (int)a->is_open_at_end - (int)b->is_open_at_end;
    int by_size = (a->bytes.size < b->bytes.size) - (a->bytes.size > b->bytes.size);
    return by_search != 0 ? by_search : by_end != 0 ? by_end : by_size;
}

static enum bb_status add_part_list(struct bb_member_query *query, const struct bb_piece *piece,
                                    struct bb_member_list *alternative)
{
    alternative->first = part_count(query);
    enum bb_status status = add_parts(query, piece);
    alternative->count = part_count(query) - alternative->first;
    if (alternative->count > 1)
        qsort(query->parts.data + alternative->first * sizeof(struct bb_token_part),
              alternative->count, sizeof(struct bb_token_part), compare_parts);
    return status;
}

/* The groups of a leaf that an index with the tokenizer can answer. */
struct groups {
    const struct bb_piece_group *first;
    size_t count;
};

static struct groups groups_of(const struct bb_leaf *leaf, enum bb_tokenizer tokenizer)
{
    if (leaf->kind != BB_LEAF_TEXT)
        return (struct groups){NULL, 0};
    if (tokenizer == BB_TOKENIZER_UNICODE && leaf->word_group_count > 0)
        return (struct groups){leaf->word_groups, leaf->word_group_count};
    return (struct groups){leaf->groups, leaf->group_count};
}

/* --- Words of Unicode --- */

/* word: at its full length, and folded if the index folds. */
static enum bb_status add_known_word(struct bb_member_query *query,
                                     const struct bb_member_scan *scan, struct bb_bytes word)
{
    word = bb_token_known(word);
    if (scan->kind != BB_SKIP_TEXT)
        return add_hash(query, bb_member_hash(&scan->hasher.secret, word));
    struct bb_token_part part = {
        .bytes = {.data = query->words.data + query->words.size, .size = word.size}};
    BB_ASSERT(query->words.capacity - query->words.size >= word.size);
    enum bb_status status = bb_buf_append(&query->words, word.data, word.size);
    return status == BB_OK ? bb_buf_append(&query->parts, &part, sizeof(part)) : status;
}

static enum bb_status add_word(struct bb_member_query *query, const struct bb_member_scan *scan,
                               struct bb_bytes word)
{
    uint8_t space[BB_WORD_FOLDED_MAX];
    return add_known_word(query, scan, scan->hasher.folds_case ? bb_word_fold(word, space) : word);
}

/* Adds a piece that is a whole word of every matching value. */
static enum bb_status add_whole_word(struct bb_member_query *query,
                                     const struct bb_member_scan *scan, const struct bb_leaf *leaf,
                                     struct bb_bytes word)
{
    if (leaf->words_are_folded)
        return scan->hasher.folds_case ? add_known_word(query, scan, word) : BB_OK;
    return add_word(query, scan, word);
}

/* Adds the words that every value with the piece has. */
static enum bb_status add_words_inside(struct bb_member_query *query,
                                       const struct bb_member_scan *scan,
                                       const struct bb_piece *piece)
{
    struct bb_word_walk walk;
    struct bb_bytes word;
    enum bb_status status = BB_OK;
    bb_word_walk_begin(
        &walk, &scan->rules,
        bb_word_inside(&scan->rules, piece->bytes, piece->is_at_start, piece->is_at_end));
    while (status == BB_OK && bb_word_walk_next(&walk, &word))
        status = add_word(query, scan, word);
    return status;
}

/* Reserves space for all words, because parts point to their bytes, which must not move. */
static enum bb_status reserve_words(struct bb_member_query *query, const struct bb_leaf *leaf)
{
    size_t size = 0;
    struct groups groups = groups_of(leaf, BB_TOKENIZER_UNICODE);
    for (size_t i = 0; leaf->kind == BB_LEAF_INTERVALS && i < leaf->interval_count; i++)
        size += leaf->intervals[i].low.value.as.bytes.size;
    for (size_t i = 0; i < groups.count; i++)
        for (size_t j = 0; j < groups.first[i].piece_count; j++)
            size += groups.first[i].pieces[j].bytes.size;
    return bb_buf_reserve(&query->words, size * (BB_WORD_FOLDED_MAX / BB_WORD_SIZE_MAX) + 1);
}

/* --- Pieces --- */

static size_t member_count(const struct bb_member_query *query, const struct bb_member_scan *scan)
{
    return scan->kind == BB_SKIP_TEXT ? part_count(query) : query->hash_count;
}

static enum bb_status add_word_piece(struct bb_member_query *query,
                                     const struct bb_member_scan *scan, const struct bb_leaf *leaf,
                                     const struct bb_piece *piece)
{
    struct bb_member_list *alternative = &query->alternatives[query->alternative_count++];
    enum bb_status status = BB_OK;
    alternative->first = member_count(query, scan);
    if (leaf->word_group_count > 0)
        status = add_whole_word(query, scan, leaf, piece->bytes);
    else if (!piece->ignores_case || scan->hasher.folds_case)
        status = add_words_inside(query, scan, piece);
    alternative->count = member_count(query, scan) - alternative->first;
    return status;
}

/* Adds a piece as an alternative. Without members it rules out no granule, so end_group omits its
 * group. */
static enum bb_status add_piece(struct bb_member_query *query, struct bb_member_scan *scan,
                                const struct bb_leaf *leaf, const struct bb_piece *piece)
{
    if (scan->tokenizer == BB_TOKENIZER_UNICODE)
        return add_word_piece(query, scan, leaf, piece);
    struct bb_member_list *alternative = &query->alternatives[query->alternative_count++];
    enum bb_status status = BB_OK;
    if (scan->kind == BB_SKIP_TEXT)
        return add_part_list(query, piece, alternative);
    alternative->first = query->hash_count;
    if (!piece->ignores_case || scan->hasher.folds_case)
        status = add_members(query, scan, piece);
    alternative->count = query->hash_count - alternative->first;
    return status;
}

static enum bb_status add_value(struct bb_member_query *query, const struct bb_hash_secret *secret,
                                const struct bb_attribute *value)
{
    uint8_t space[BB_CANONICAL_NUMBER_SIZE];
    struct bb_member_list *alternative = &query->alternatives[query->alternative_count++];
    *alternative = (struct bb_member_list){.first = query->hash_count, .count = 1};
    return add_hash(query, bb_member_hash(secret, bb_canonical_bytes(value, space)));
}

/* Makes a group of the alternatives from `first` on. Omits it if an alternative has no members: the
 * group is then always true. */
static void end_group(struct bb_member_query *query, size_t first)
{
    for (size_t i = first; i < query->alternative_count; i++)
        if (query->alternatives[i].count == 0)
            return;
    query->groups[query->group_count++] =
        (struct bb_member_list){.first = first, .count = query->alternative_count - first};
}

static enum bb_status add_points(struct bb_member_query *query, const struct bb_skip_spec *spec,
                                 const struct bb_hash_secret *secret, struct bb_member_scan *scan,
                                 const struct bb_leaf *leaf)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < leaf->interval_count && status == BB_OK; i++) {
        const struct bb_attribute *value = &leaf->intervals[i].low.value;
        struct bb_piece piece = {.bytes = value->as.bytes, .is_at_start = true, .is_at_end = true};
        status = spec->kind == BB_SKIP_VALUES ? add_value(query, secret, value)
                                              : add_piece(query, scan, leaf, &piece);
    }
    end_group(query, 0);
    return status;
}

static enum bb_status add_groups(struct bb_member_query *query, struct bb_member_scan *scan,
                                 const struct bb_leaf *leaf)
{
    enum bb_status status = BB_OK;
    struct groups groups = groups_of(leaf, scan->tokenizer);
    for (size_t i = 0; i < groups.count && status == BB_OK; i++) {
        size_t first = query->alternative_count;
        for (size_t j = 0; j < groups.first[i].piece_count && status == BB_OK; j++)
            status = add_piece(query, scan, leaf, &groups.first[i].pieces[j]);
        end_group(query, first);
    }
    return status;
}

static size_t count_alternatives(const struct bb_leaf *leaf, struct groups groups)
{
    size_t count = leaf->interval_count;
    for (size_t i = 0; i < groups.count; i++)
        count += groups.first[i].piece_count;
    return count;
}

static enum bb_status allocate(struct bb_member_query *query, const struct bb_leaf *leaf,
                               enum bb_tokenizer tokenizer)
{
    struct groups groups = groups_of(leaf, tokenizer);
    *query = (struct bb_member_query){0};
    query->alternatives =
        bb_alloc_zeroed(count_alternatives(leaf, groups) + 1, sizeof(query->alternatives[0]));
    query->groups = bb_alloc_zeroed(groups.count + 1, sizeof(query->groups[0]));
    if (query->alternatives == NULL || query->groups == NULL)
        return no_memory();
    return tokenizer == BB_TOKENIZER_UNICODE ? reserve_words(query, leaf) : BB_OK;
}

/* Prepares the scan that divides a piece into members. An index of values needs none; for a
 * dictionary of ASCII tokens, add_parts divides the piece. */
static enum bb_status init_scan(struct bb_member_scan *scan, const struct bb_skip_spec *spec,
                                const struct bb_hash_secret *secret)
{
    enum bb_status status = BB_OK;
    bool is_dictionary = spec->kind == BB_SKIP_TEXT && spec->tokenizer == BB_TOKENIZER_ASCII;
    if (spec->kind != BB_SKIP_VALUES && !is_dictionary)
        status = bb_member_scan_init(scan, spec, secret);
    scan->kind = spec->kind;
    return status;
}

enum bb_status bb_member_query_init(struct bb_member_query *query, const struct bb_skip_spec *spec,
                                    const struct bb_hash_secret *secret, const struct bb_leaf *leaf)
{
    struct bb_member_scan scan = {0};
    enum bb_status status = allocate(query, leaf, spec->tokenizer);
    if (status == BB_OK)
        status = init_scan(&scan, spec, secret);
    if (status == BB_OK)
        status = leaf->kind == BB_LEAF_INTERVALS ? add_points(query, spec, secret, &scan, leaf)
                                                 : add_groups(query, &scan, leaf);
    bb_member_scan_deinit(&scan);
    if (status != BB_OK)
        bb_member_query_deinit(query);
    return status;
}

void bb_member_query_deinit(struct bb_member_query *query)
{
    bb_free(query->hashes);
    bb_buf_deinit(&query->parts);
    bb_buf_deinit(&query->words);
    bb_free(query->alternatives);
    bb_free(query->groups);
    *query = (struct bb_member_query){0};
}
