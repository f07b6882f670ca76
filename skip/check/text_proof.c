/* See text_proof.h. */
#include "skip/check/text_proof.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "skip/check/text_walk.h"

#define NAME_SIZE 64 /* of a token in a message */

/* Both dictionaries, token by token. */
struct comparison {
    const struct bb_head_segment *segment;
    struct bb_granule_bits indexed; /* granules that the file indexes */
    struct bb_sorted_token *tokens; /* that were found */
    size_t token_count;
    size_t next;
    struct bb_granule_bits granules; /* of the next one: where it was found */
    struct bb_text_walk walk;
};

static enum bb_status refuse(const struct comparison *comparison, struct bb_bytes token,
                             uint32_t granule, const char *what)
{
    char name[NAME_SIZE];
    struct bb_place place = {.file = comparison->walk.file->file->path,
                             .offset = comparison->segment->data.offset};
    return bb_corrupt(place, 0,
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

/* Moves to the next token that was found in an indexed granule, from this one on. */
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

/* stored: granules that the file lists for its current token. */
static enum bb_status compare_token(struct comparison *comparison,
                                    const struct bb_granule_bits *stored)
{
    struct bb_bytes token = bb_buf_bytes(&comparison->walk.last);
    const struct bb_sorted_token *found = &comparison->tokens[comparison->next];
    struct bb_granule_bits rest;
    int order =
        comparison->next == comparison->token_count ? 1 : bb_bytes_compare(found->bytes, token);
    if (order > 0)
        return refuse(comparison, token, first_of(stored), "has, without a record,");
    if (order < 0)
        return refuse(comparison, found->bytes, first_of(&comparison->granules), "lacks");
    if (subtract(&comparison->granules, stored, &rest))
        return refuse(comparison, token, first_of(&rest), "lacks");
    if (subtract(stored, &comparison->granules, &rest))
        return refuse(comparison, token, first_of(&rest), "has, without a record,");
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

/* Granules whose tokens the file has. BB_CORRUPT: there was space for the tokens of another
 * granule. */
static enum bb_status find_indexed(const struct bb_text_index_builder *found,
                                   struct comparison *comparison)
{
    const struct bb_head_segment *segment = comparison->segment;
    for (uint32_t granule = 0; granule < segment->granule_count; granule++) {
        if (segment->unindexed != NULL && (segment->unindexed[granule / 8] >> granule % 8 & 1) != 0)
            continue;
        if (bb_granule_bits_has(&found->unindexed, granule))
            return refuse(comparison, bb_bytes_of("", 0), granule, "has too few tokens without");
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
