/* See index_question.h. */
#include "skip/query/index_question.h"

#include "bloomblock/hash_sort.h"
#include "skip/query/member_query.h"
#include "skip/member/spec.h"
#include "skip/kind/value_set.h"

struct question {
    struct bb_skip_file *file;
    const struct bb_directory_entry *index;
    const struct bb_leaf *leaf;
    enum bb_attribute_type type;
    const struct bb_member_query *query; /* of kinds with members, or NULL */
    struct bb_skip_account *account;
    struct bb_buf *scratch;
    struct bb_buf *hashes;       /* borrowed from the memory */
    struct bb_skip_section last; /* the section that chunk holds; zeroed: none */
    struct bb_bytes chunk;
    struct bb_text_question *text; /* borrowed from the memory */
    struct bb_granule_bits needed; /* the needed granules of the current segment */
};

/* The verdicts of a segment: the index rules out the other granules. */
struct answer {
    struct bb_granule_bits may_be_true;
    struct bb_granule_bits may_be_false;
};

static bool has_members(const struct bb_directory_entry *index)
{
    return bb_spec_has_members(index->spec.kind);
}

bool bb_index_question_fits(const struct bb_directory_entry *index, const struct bb_leaf *leaf)
{
    if (index->spec.kind == BB_SKIP_MIN_MAX)
        return bb_min_max_knows(leaf);
    if (index->spec.kind == BB_SKIP_SET)
        return leaf->kind == BB_LEAF_INTERVALS ||
               (leaf->kind == BB_LEAF_TEXT && leaf->group_count > 0);
    return has_members(index) && bb_member_query_fits(&index->spec, leaf);
}

/* --- min_max --- */

/* If the bounds of the whole segment decide, the bounds of its granules need not be read. */
static bool segment_decides(struct question *question, const struct bb_head_segment *segment,
                            struct answer *answer)
{
    bool may_be_true = false;
    bool may_be_false = false;
    bb_min_max_bounds_judge(&segment->bounds, question->leaf, &may_be_true, &may_be_false);
    if (may_be_true && may_be_false)
        return false;
    if (may_be_true)
        bb_granule_bits_set_all(&answer->may_be_true);
    if (may_be_false)
        bb_granule_bits_set_all(&answer->may_be_false);
    return true;
}

static enum bb_status ask_bounds(struct question *question, const struct bb_head_segment *segment,
                                 struct answer *answer)
{
    struct bb_bytes unit = {0};
    if (segment_decides(question, segment, answer))
        return BB_OK;
    enum bb_status status = bb_skip_file_read(question->file, BB_SKIP_UNIT_DATA, segment->data,
                                              question->scratch, question->account, &unit);
    if (status != BB_OK)
        return status;
    return bb_min_max_judge(unit, question->type, segment->granule_count, question->leaf,
                            &answer->may_be_true, &answer->may_be_false)
               ? BB_OK
               : BB_CORRUPT;
}

/* --- set --- */

static enum bb_status ask_values(struct question *question, const struct bb_head_segment *segment,
                                 struct answer *answer)
{
    struct bb_bytes unit = {0};
    enum bb_status status = bb_skip_file_read(question->file, BB_SKIP_UNIT_DATA, segment->data,
                                              question->scratch, question->account, &unit);
    if (status != BB_OK)
        return status;
    return bb_value_set_judge(unit, question->type, segment->granule_count, question->leaf,
                              &answer->may_be_true, &answer->may_be_false)
               ? BB_OK
               : BB_CORRUPT;
}

/* --- values, tokens, ngrams, text --- */

/* Reads the chunk that may hold a member, unless it was the last chunk read. */
static enum bb_status find_chunk(struct question *question, const struct bb_head_segment *segment,
                                 uint64_t hash)
{
    uint64_t offset = 0;
    uint32_t size = 0;
    struct bb_bytes unit = {0};
    bb_segment_chunk(&segment->inverted, hash, &offset, &size);
    struct bb_skip_section section = {.offset = segment->data.offset + offset, .size = size};
    if (question->last.offset == section.offset && question->last.size == size)
        return BB_OK;
    question->last = (struct bb_skip_section){0};
    enum bb_status status = bb_skip_file_read(question->file, BB_SKIP_UNIT_DATA, section,
                                              question->scratch, question->account, &unit);
    if (status == BB_OK) {
        question->last = section;
        question->chunk = (struct bb_bytes){.data = unit.data, .size = size};
    }
    return status;
}

static enum bb_status add_member(struct question *question, const struct bb_head_segment *segment,
                                 uint64_t hash, struct bb_granule_bits *bits)
{
    enum bb_status status = find_chunk(question, segment, hash);
    if (status != BB_OK)
        return status;
    return bb_segment_ask(&segment->inverted, question->chunk, hash, bits) ? BB_OK : BB_CORRUPT;
}

/* Adds the granules that may hold a member, or a part of a token. needed: see
 * bb_text_question_ask. */
static enum bb_status add_any(struct question *question, const struct bb_head_segment *segment,
                              size_t number, const struct bb_granule_bits *needed,
                              struct bb_granule_bits *bits)
{
    const struct bb_member_query *query = question->query;
    return segment->form == BB_SKIP_FORM_DICTIONARY
               ? bb_text_question_ask(question->text, segment, bb_member_query_part(query, number),
                                      needed, bits)
               : add_member(question, segment,
                            bb_segment_hash(&segment->inverted, query->hashes[number]), bits);
}

/* Adds the granules that may hold all members of an alternative. */
static enum bb_status add_alternative(struct question *question,
                                      const struct bb_head_segment *segment,
                                      struct bb_member_list alternative,
                                      struct bb_granule_bits *bits)
{
    struct bb_granule_bits all = question->needed;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < alternative.count && status == BB_OK; i++) {
        struct bb_granule_bits one = {{0}};
        status = add_any(question, segment, alternative.first + i, &all, &one);
        if (!bb_granule_bits_restrict(&all, &one))
            break;
    }
    bb_granule_bits_add(bits, &all);
    return status;
}

/* Adds the granules that may hold one of many values. Each segment permutes the hashes, so they are
 * sorted for it: then each chunk is read once. */
static enum bb_status add_values(struct question *question, const struct bb_head_segment *segment,
                                 struct bb_granule_bits *bits)
{
    const struct bb_member_query *query = question->query;
    bb_buf_reset(question->hashes);
    enum bb_status status = bb_buf_reserve(question->hashes, query->hash_count * sizeof(uint64_t));
    if (status != BB_OK)
        return status;
    uint64_t *hashes = (uint64_t *)(void *)question->hashes->data;
    for (size_t i = 0; i < query->hash_count; i++)
        hashes[i] = bb_segment_hash(&segment->inverted, query->hashes[i]);
    size_t count = bb_hash_sort(hashes, query->hash_count);
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = add_member(question, segment, hashes[i], bits);
    return status;
}

/* Adds the granules that may hold an alternative of the group. */
static enum bb_status ask_group(struct question *question, const struct bb_head_segment *segment,
                                struct bb_member_list group, struct bb_granule_bits *bits)
{
    enum bb_status status = BB_OK;
    if (question->index->spec.kind == BB_SKIP_VALUES && group.count > 1)
        return add_values(question, segment, bits);
    for (size_t i = 0; i < group.count && status == BB_OK; i++)
        status = add_alternative(question, segment, question->query->alternatives[group.first + i],
                                 bits);
    return status;
}

static void add_unindexed(const struct bb_head_segment *segment, struct bb_granule_bits *bits)
{
    if (segment->unindexed == NULL)
        return;
    for (uint32_t granule = 0; granule < segment->granule_count; granule++)
        if (!bb_head_segment_indexes(segment, granule))
            bb_granule_bits_set(bits, granule);
}

/* Adds the granules that are not needed: they were not queried, so any of them may be true. */
static void add_others(const struct bb_granule_bits *needed, struct bb_granule_bits *bits)
{
    for (uint32_t word = 0; word < BB_SEGMENT_WORDS; word++)
        bits->words[word] |= ~needed->words[word];
}

static enum bb_status ask_members(struct question *question, const struct bb_head_segment *segment,
                                  struct answer *answer)
{
    enum bb_status status = BB_OK;
    answer->may_be_true = question->needed;
    bb_granule_bits_set_all(&answer->may_be_false);
    question->text->searched_blocks = 0;
    for (size_t i = 0; i < question->query->group_count && status == BB_OK; i++) {
        struct bb_granule_bits group = {{0}};
        status = ask_group(question, segment, question->query->groups[i], &group);
        if (!bb_granule_bits_restrict(&answer->may_be_true, &group))
            break;
    }
    add_unindexed(segment, &answer->may_be_true);
    add_others(&question->needed, &answer->may_be_true);
    return status;
}

/* --- All kinds --- */

static enum bb_status ask_form(struct question *question, const struct bb_head_segment *segment,
                               struct answer *answer)
{
    switch (segment->form) {
    case BB_SKIP_FORM_BOUNDS:
        return ask_bounds(question, segment, answer);
    case BB_SKIP_FORM_VALUES:
        return ask_values(question, segment, answer);
    case BB_SKIP_FORM_INVERTED_1:
    case BB_SKIP_FORM_RIBBONS_1:
    case BB_SKIP_FORM_INVERTED:
    case BB_SKIP_FORM_RIBBONS:
    case BB_SKIP_FORM_DICTIONARY:
        return ask_members(question, segment, answer);
    case BB_SKIP_FORM_NONE:
    case BB_SKIP_FORM_COLUMN:
        break;
    }
    bb_granule_bits_set_all(&answer->may_be_true);
    bb_granule_bits_set_all(&answer->may_be_false);
    return BB_OK;
}

/* A segment that cannot be read rules out no granule. */
static enum bb_status ask_segment(struct question *question, const struct bb_head_segment *segment,
                                  struct bb_skip_verdicts *verdicts)
{
    struct answer answer = {{{0}}, {{0}}};
    struct bb_skip_account *account = question->account;
    size_t first = (size_t)segment->first_granule;
    enum bb_status status = ask_form(question, segment, &answer);
    account->segments_searched++;
    account->granules_searched += segment->granule_count;
    if (status == BB_NO_MEMORY)
        return status;
    if (status != BB_OK) {
        account->damaged_segments++;
        question->last = (struct bb_skip_section){0};
        return BB_OK;
    }
    account->granules_excluded += bb_truth_bits_restrict(
        verdicts->may_be_true, first, segment->granule_count, &answer.may_be_true);
    account->granules_included += bb_truth_bits_restrict(
        verdicts->may_be_false, first, segment->granule_count, &answer.may_be_false);
    return BB_OK;
}

/* Sets question->needed to the segment's needed granules for which the leaf may be true so far.
 * False if there are no such granules. Only a dictionary reads less if fewer granules are needed.
 * Other segments read whole chunks, so they answer for every granule. */
static bool find_needed(struct question *question, const struct bb_head_segment *segment,
                        const uint64_t *needed, const struct bb_skip_verdicts *verdicts)
{
    size_t first = (size_t)segment->first_granule;
    struct bb_granule_bits other;
    bb_truth_bits_window(verdicts->may_be_true, first, segment->granule_count, &question->needed);
    bb_granule_bits_set_all(&other);
    if (needed != NULL)
        bb_truth_bits_window(needed, first, segment->granule_count, &other);
    bool is_needed = bb_granule_bits_restrict(&question->needed, &other);
    if (segment->form != BB_SKIP_FORM_DICTIONARY)
        bb_granule_bits_set_all(&question->needed);
    return is_needed;
}

static enum bb_status ask_all(struct question *question, const struct bb_loaded_head *loaded,
                              const uint64_t *needed, struct bb_skip_verdicts *verdicts)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < loaded->head.segment_count && status == BB_OK; i++)
        if (find_needed(question, &loaded->head.segments[i], needed, verdicts))
            status = ask_segment(question, &loaded->head.segments[i], verdicts);
    return status;
}

void bb_index_question_memory_deinit(struct bb_question_memory *memory)
{
    bb_query_cache_deinit(&memory->queries);
    bb_buf_deinit(&memory->scratch);
    bb_buf_deinit(&memory->hashes);
    bb_text_question_deinit(&memory->text);
}

/* Makes the question for members. *ret_can_answer is false if it has no groups: no segment can then
 * rule out a granule. */
static enum bb_status prepare(struct question *question, struct bb_question_memory *memory,
                              bool *ret_can_answer)
{
    *ret_can_answer = true;
    if (!has_members(question->index))
        return BB_OK;
    enum bb_status status =
        bb_query_cache_get(&memory->queries, &question->index->spec,
                           &question->file->directory.secret, question->leaf, &question->query);
    *ret_can_answer = status == BB_OK && question->query->group_count > 0;
    return status;
}

static enum bb_status ask_head(struct question *question, size_t index, const uint64_t *needed,
                               struct bb_skip_verdicts *verdicts)
{
    const struct bb_loaded_head *loaded = NULL;
    question->account->leaves++;
    enum bb_status status = bb_skip_file_head(question->file, index, question->account, &loaded);
    if (status == BB_OK && loaded->is_damaged)
        question->account->damaged_segments += question->index->segment_count;
    else if (status == BB_OK)
        status = ask_all(question, loaded, needed, verdicts);
    return status;
}

enum bb_status bb_index_question_ask(struct bb_skip_file *file, size_t index,
                                     const struct bb_leaf *leaf, const uint64_t *needed,
                                     struct bb_question_memory *memory,
                                     struct bb_skip_account *account,
                                     struct bb_skip_verdicts *verdicts)
{
    struct bb_skip_account unseen = {0};
    const struct bb_directory_entry *entry = &file->directory.indexes[index];
    struct question question = {.file = file,
                                .index = entry,
                                .leaf = leaf,
                                .type = file->directory.attributes[entry->spec.attribute].type,
                                .scratch = &memory->scratch,
                                .hashes = &memory->hashes,
                                .text = &memory->text,
                                .account = account == NULL ? &unseen : account};
    bb_text_question_begin(&memory->text, file, entry->spec.counts_records, question.account);
    bool can_answer = false;
    enum bb_status status = prepare(&question, memory, &can_answer);
    return can_answer ? ask_head(&question, index, needed, verdicts) : status;
}
