/* See truth_bits.h. */
#include "skip/query/truth_bits.h"

#include <string.h>

void bb_truth_bits_place(struct bb_skip_verdicts *verdicts, uint64_t *words, size_t granule_count)
{
    size_t count = bb_truth_words(granule_count);
    memset(words, 0, 3 * count * sizeof(words[0]));
    *verdicts = (struct bb_skip_verdicts){.may_be_true = words,
                                          .may_be_false = words + count,
                                          .may_be_null = words + 2 * count,
                                          .granule_count = granule_count,
                                          .word_count = count};
}

void bb_truth_bits_fill(struct bb_skip_verdicts *verdicts)
{
    size_t last = verdicts->granule_count % 64;
    memset(verdicts->may_be_true, 0xff, 3 * verdicts->word_count * sizeof(uint64_t));
    if (last == 0)
        return;
    uint64_t mask = (UINT64_C(1) << last) - 1;
    verdicts->may_be_true[verdicts->word_count - 1] &= mask;
    verdicts->may_be_false[verdicts->word_count - 1] &= mask;
    verdicts->may_be_null[verdicts->word_count - 1] &= mask;
}

static void join(uint64_t *restrict all, uint64_t *restrict any, uint64_t *restrict null,
                 const struct bb_skip_verdicts *other, bool is_and)
{
    const uint64_t *other_all = is_and ? other->may_be_true : other->may_be_false;
    const uint64_t *other_any = is_and ? other->may_be_false : other->may_be_true;
    for (size_t i = 0; i < other->word_count; i++) {
        all[i] &= other_all[i];
        any[i] |= other_any[i];
        null[i] |= other->may_be_null[i];
    }
}

void bb_truth_bits_and(struct bb_skip_verdicts *verdicts, const struct bb_skip_verdicts *other)
{
    join(verdicts->may_be_true, verdicts->may_be_false, verdicts->may_be_null, other, true);
}

void bb_truth_bits_or(struct bb_skip_verdicts *verdicts, const struct bb_skip_verdicts *other)
{
    join(verdicts->may_be_false, verdicts->may_be_true, verdicts->may_be_null, other, false);
}

void bb_truth_bits_not(struct bb_skip_verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->word_count; i++) {
        uint64_t word = verdicts->may_be_true[i];
        verdicts->may_be_true[i] = verdicts->may_be_false[i];
        verdicts->may_be_false[i] = word;
    }
}

/* A mask of the granules in the word that begins at `from`: all 64, or fewer at the segment's
 * end. */
static uint64_t window(uint32_t from, uint32_t count)
{
    uint32_t left = count - from;
    return left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

static size_t clear_bits(uint64_t *word, uint64_t mask)
{
    size_t cleared = (size_t)__builtin_popcountll(*word & mask);
    *word &= ~mask;
    return cleared;
}

size_t bb_truth_bits_restrict(uint64_t *words, size_t first, uint32_t count,
                              const struct bb_granule_bits *bits)
{
    size_t cleared = 0;
    for (uint32_t from = 0; from < count; from += 64) {
        uint64_t gone = ~bits->words[from / 64] & window(from, count);
        size_t at = first + from;
        cleared += clear_bits(&words[at / 64], gone << at % 64);
        if (at % 64 != 0 && gone >> (64 - at % 64) != 0)
            cleared += clear_bits(&words[at / 64 + 1], gone >> (64 - at % 64));
    }
    return cleared;
}

void bb_truth_bits_window(const uint64_t *words, size_t first, uint32_t count,
                          struct bb_granule_bits *ret_bits)
{
    *ret_bits = (struct bb_granule_bits){{0}};
    for (uint32_t from = 0; from < count; from += 64) {
        uint64_t wanted = window(from, count);
        size_t at = first + from;
        uint64_t word = words[at / 64] >> at % 64;
        if (at % 64 != 0 && wanted >> (64 - at % 64) != 0)
            word |= words[at / 64 + 1] << (64 - at % 64);
        ret_bits->words[from / 64] = word & wanted;
    }
}

bool bb_truth_bits_any(const uint64_t *words, size_t first, uint32_t count)
{
    for (uint32_t from = 0; from < count; from += 64) {
        uint64_t wanted = window(from, count);
        size_t at = first + from;
        if ((words[at / 64] & wanted << at % 64) != 0)
            return true;
        if (at % 64 != 0 && wanted >> (64 - at % 64) != 0 &&
            (words[at / 64 + 1] & wanted >> (64 - at % 64)) != 0)
            return true;
    }
    return false;
}
