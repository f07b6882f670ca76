/* See text_proof.h. */
#include "skip/check/text_proof.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "skip/check/text_walk.h"

#define NAME_SIZE 64 /* of a token in a message */

/* The dictionary of the file and the tokens found in the records, both in order. */
struct comparison {
    const struct bb_head_segment *segment;
    struct bb_granule_bits indexed; /* granules that the file indexes */
    struct bb_sorted_token *tokens; /* found in the records; owned */
    size_t token_count;
    size_t next;                     /* index of the found token that is compared next */
    struct bb_granule_bits granules; /* indexed granules in which that token was found */
    struct bb_text_walk walk;        /* of the file's dictionary */
};

static struct bb_place place_of(const struct comparison *comparison)
{
    return (struct bb_place){.file = comparison->walk.file->file->path,
                             .offset = comparison->segment->data.offset};
}

static enum bb_status refuse(const struct comparison *comparison, struct bb_bytes token,
                             uint32_t granule, const char *what)
{
    char name[NAME_SIZE];
    return bb_corrupt(place_of(comparison), 0,
                      "a dictionary %s \"%s\" in granule %llu: build the index file again", what,
                      bb_bytes_escape(token, name, sizeof(name)),
                      (unsigned long long)comparison->segment->first_granule + granule);
}

static uint32_t first_of(const struct bb_granule_bits *bits)
{
    uint16_t granules[BB_SEGMENT_GRANULES_MAX] = {0};
    (void)bb_granule_bits_list(bits, granules);
    return granules[0];
}

/* *ret_bits: left without right. True if any granule remains. */
static bool subtract(const struct bb_granule_bits *left, const struct bb_granule_bits *right,
                     struct bb_granule_bits *ret_bits)
{
    uint64_t any = 0;
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        any |= ret_bits->words[word] = left->words[word] & ~right->words[word];
    return any != 0;
}

/* Moves `next` forward to a token that was found in an indexed granule, unless it is at one. */
static void find_next(struct comparison *comparison)
{
    for (; comparison->next < comparison->token_count; comparison->next++) {
        const struct bb_sorted_token *token = &comparison->tokens[comparison->next];
        comparison->granules = (struct bb_granule_bits){{0}};
        for (uint32_t i = 0; i < token->pair_count; i++)
            bb_granule_bits_set(&comparison->granules, bb_token_pair_granule(token->pairs[i]));
        if (bb_granule_bits_restrict(&comparison->granules, &comparison->indexed))
            return;
    }
}

static enum bb_status compare_counts(const struct comparison *comparison,
                                     const struct bb_sorted_token *token)
{
    for (uint32_t i = 0; i < token->pair_count && comparison->walk.has_counts; i++) {
        uint32_t granule = bb_token_pair_granule(token->pairs[i]);
        if (bb_granule_bits_has(&comparison->indexed, granule) &&
            comparison->walk.counts[granule] != bb_token_pair_records(token->pairs[i]))
            return refuse(comparison, token->bytes, granule, "has the wrong number of records for");
    }
    return BB_OK;
}

/* Compares the current token of the file with the next found token. stored: the indexed granules
 * that the file lists for it. */
static enum bb_status compare_token(struct comparison *comparison,
                                    const struct bb_granule_bits *stored)
{
    struct bb_bytes token = bb_buf_bytes(&comparison->walk.last);
    const struct bb_sorted_token *found = &comparison->tokens[comparison->next];
    struct bb_granule_bits rest;
    int order =
        comparison->next == comparison->token_count ? 1 : bb_bytes_compare(found->bytes, token);
    if (order > 0)
        return refuse(comparison, token, first_of(stored), "wrongly has");
    if (order < 0)
        return refuse(comparison, found->bytes, first_of(&comparison->granules), "lacks");
    if (subtract(&comparison->granules, stored, &rest))
        return refuse(comparison, token, first_of(&rest), "lacks");
    if (subtract(stored, &comparison->granules, &rest))
        return refuse(comparison, token, first_of(&rest), "wrongly has");
    enum bb_status status = compare_counts(comparison, found);
    comparison->next++;
    find_next(comparison);
    return status;
}

static enum bb_status compare_all(struct comparison *comparison)
{
    bool has_token = true;
    enum bb_status status = BB_OK;
    find_next(comparison);
    while (status == BB_OK && has_token) {
        status = bb_text_walk_next(&comparison->walk, &has_token);
        if (status != BB_OK || !has_token)
            continue;
        struct bb_granule_bits stored = comparison->walk.granules;
        if (bb_granule_bits_restrict(&stored, &comparison->indexed))
            status = compare_token(comparison, &stored);
    }
    if (status == BB_OK && comparison->next < comparison->token_count)
        status = refuse(comparison, comparison->tokens[comparison->next].bytes,
                        first_of(&comparison->granules), "lacks");
    return status;
}

/* Finds the granules that the file indexes. BB_CORRUPT: the file indexes a granule that has more
 * tokens than a dictionary can hold. */
static enum bb_status find_indexed(const struct bb_text_index_builder *found,
                                   struct comparison *comparison)
{
    const struct bb_head_segment *segment = comparison->segment;
    for (uint32_t granule = 0; granule < segment->granule_count; granule++) {
        if (!bb_head_segment_indexes(segment, granule))
            continue;
        if (bb_granule_bits_has(&found->unindexed, granule))
            return bb_corrupt(
                place_of(comparison), 0,
                "a dictionary indexes granule %llu, which has too many tokens for it: "
                "build the index file again",
                (unsigned long long)segment->first_granule + granule);
        bb_granule_bits_set(&comparison->indexed, granule);
    }
    return BB_OK;
}

enum bb_status bb_text_proof_check(struct bb_text_index_builder *found, struct bb_skip_file *file,
                                   const struct bb_head_segment *segment, struct bb_buf *spare)
{
    struct comparison comparison = {.segment = segment};
    bb_text_walk_init(&comparison.walk, file, segment, found->has_counts, found->scan.tokenizer);
    enum bb_status status = find_indexed(found, &comparison);
    if (status == BB_OK)
        status =
            bb_token_table_sort(&found->table, spare, &comparison.tokens, &comparison.token_count);
    if (status == BB_OK)
        status = compare_all(&comparison);
    bb_text_walk_deinit(&comparison.walk);
    bb_free(comparison.tokens);
    bb_text_index_builder_reset(found);
    return status;
}
