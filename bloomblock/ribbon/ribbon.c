/* The byte-grouped ribbon, written and asked. */
#include "bloomblock/ribbon/ribbon.h"

#include "bloomblock/ribbon/ribbon_parity.h"
#include "bloomblock/ribbon/ribbon_question.h"

const struct bb_ribbon_factors bb_ribbon_factors = {.tweak = BB_RIBBON_TWEAK_FACTOR,
                                                    .start = BB_RIBBON_START_FACTOR,
                                                    .coefficient = BB_RIBBON_COEFFICIENT_FACTOR};

/* The sums of all columns up to rank_limit. For single probes rank_limit is a constant of the
 * table, but the rank of a filter is not: so the end of the loop is predictable, and surplus
 * columns are masked out. */
static inline uint32_t sum_all(const struct bb_ribbon_question *question, uint32_t rank_limit)
{
    const uint8_t *window = question->bytes;
    uint32_t sums = bb_ribbon_sum_columns(window, question->rank, question->coefficients);
    for (uint32_t column = 8; column < rank_limit; column += 8)
        sums |= bb_ribbon_sum_columns(window + column, question->rank, question->coefficients)
                << column;
    return sums;
}

static inline bool answer(const struct bb_ribbon_question *question, uint32_t rank_limit)
{
    return bb_ribbon_question_agrees(question, sum_all(question, rank_limit));
}

/* Apart, so that the usual ranks up to 8 need no stack. */
static __attribute__((noinline)) bool may_contain_wide(const uint8_t *payload, uint64_t descriptor,
                                                       uint64_t rank, uint64_t hash)
{
    struct bb_ribbon_question question =
        bb_ribbon_grouped_question(payload, descriptor, rank, hash);
    return answer(&question, (uint32_t)rank + 1);
}

bool bb_ribbon_may_contain(const uint8_t *payload, uint64_t descriptor, uint64_t rank,
                           uint64_t hash)
{
    if (!bb_ribbon_has_window(descriptor))
        return true;
    if (rank + 1 > 8)
        return may_contain_wide(payload, descriptor, rank, hash);
    struct bb_ribbon_window window = bb_ribbon_window(payload, descriptor, rank, hash);
    uint32_t sums = bb_ribbon_sum_columns(window.bytes, window.rank, window.coefficients | 1);
    return ((sums ^ window.fingerprint) & bb_ribbon_rank_mask((uint32_t)window.rank)) == 0;
}

bool bb_ribbon_answer(const struct bb_ribbon_question *question)
{
    return answer(question, question->rank);
}

uint32_t bb_ribbon_sums(const struct bb_ribbon_question *question)
{
    return sum_all(question, question->rank);
}
