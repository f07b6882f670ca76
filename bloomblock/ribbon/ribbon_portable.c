/* Probing ribbons without vectors: both layouts. */
#include "bloomblock/ribbon/ribbon_portable.h"

#include "bloomblock/ribbon/ribbon_window_portable.h"

/* --- Byte-grouped --- */

/* The sums of all columns up to column_limit. For single probes column_limit is a constant of the
 * table, but the number of columns of a filter is not: so the end of the loop is predictable, and
 * surplus columns are masked out. */
static inline uint32_t sum_groups(const struct bb_ribbon_question *question, uint32_t column_limit)
{
    const uint8_t *window = question->bytes;
    uint32_t sums =
        bb_ribbon_parity_sums(window, question->fingerprint_bits, question->coefficients);
    for (uint32_t column = 8; column < column_limit; column += 8)
        sums |= bb_ribbon_parity_sums(window + column, question->fingerprint_bits,
                                      question->coefficients)
                << column;
    return sums;
}

static inline bool answer_groups(const struct bb_ribbon_question *question, uint32_t column_limit)
{
    return bb_ribbon_question_agrees(question, sum_groups(question, column_limit));
}

/* Apart, so that the usual filters of up to 8 columns need no stack. */
static __attribute__((noinline)) bool probe_wide_groups(const uint8_t *payload, uint64_t descriptor,
                                                        uint64_t fingerprint_bits, uint64_t hash)
{
    struct bb_ribbon_question question =
        bb_ribbon_question_grouped(payload, descriptor, fingerprint_bits, hash);
    return answer_groups(&question, (uint32_t)fingerprint_bits + 1);
}

bool bb_ribbon_portable_groups(const uint8_t *payload, uint64_t descriptor,
                               uint64_t fingerprint_bits, uint64_t hash)
{
    if (!bb_ribbon_window_exists(descriptor))
        return true;
    if (fingerprint_bits + 1 > 8)
        return probe_wide_groups(payload, descriptor, fingerprint_bits, hash);
    return bb_ribbon_window_portable_agrees(
        bb_ribbon_window(payload, descriptor, fingerprint_bits, hash));
}

/* --- Bit-exact ---
 *
 * The parity of a column is its 64 bits folded in half six times. Folding two columns into the two
 * halves of one word does half of that work: eight columns become eight bytes of one word, whose
 * parities come together at the end. Without a population count this is the quickest form. */

/* The used bits of a column; for a column that does not exist, the first column's. exist: the
 * number of columns that are known to exist from the table's fingerprint bits. */
static inline uint64_t load_column(const struct bb_ribbon_question *question, uint32_t exist,
                                   uint32_t i)
{
    uint32_t there = i < exist ? UINT32_MAX : 0 - (uint32_t)(i < question->fingerprint_bits);
    uint32_t position = question->start + (i * question->slots & there);
    return bb_load64(question->bytes + position / 8) >> (position % 8) & question->coefficients;
}

/* a folded into the bits of mask, b into the others; mask has every second run of shift bits. */
static inline uint64_t fold(uint64_t a, uint64_t b, unsigned shift, uint64_t mask)
{
    return ((a ^ a >> shift) & mask) | ((b ^ b << shift) & ~mask);
}

/* The sums of eight columns, first and after it. */
static inline uint32_t sum_eight(const struct bb_ribbon_question *question, uint32_t exist,
                                 uint32_t first)
{
    const uint64_t halves = UINT64_C(0x00000000ffffffff);
    const uint64_t quarters = UINT64_C(0x0000ffff0000ffff);
    const uint64_t eighths = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t c[8];
    for (uint32_t i = 0; i < 8; i++)
        c[i] = load_column(question, exist, first + i);
    uint64_t even = fold(fold(c[0], c[4], 32, halves), fold(c[2], c[6], 32, halves), 16, quarters);
    uint64_t odd = fold(fold(c[1], c[5], 32, halves), fold(c[3], c[7], 32, halves), 16, quarters);
    return bb_ribbon_parity_bytes(fold(even, odd, 8, eighths));
}

/* The usual 6, 7 and 8 fingerprint bits need neither loops nor stack. */
static inline bool answer_bits_7(const struct bb_ribbon_question *question)
{
    return bb_ribbon_question_agrees(question, sum_eight(question, 6, 0));
}

/* Adds up as many columns as the table's longest filters have, because this number is predictable,
 * unlike that of the filter; and eight instead of seven. Columns that the filter does not have are
 * masked out. */
static inline uint32_t sum_bits(const struct bb_ribbon_question *question, uint32_t exist,
                                uint32_t column_limit)
{
    uint32_t sums = 0;
    uint32_t column = 0;
    for (; column + 7 <= column_limit; column += 8)
        sums |= sum_eight(question, exist, column) << column;
    for (; column < column_limit; column++)
        sums |= (uint32_t)__builtin_parityll(load_column(question, exist, column)) << column;
    return sums;
}

static __attribute__((noinline)) bool answer_wide_bits(const struct bb_ribbon_question *question,
                                                       uint32_t exist, uint32_t column_limit)
{
    return bb_ribbon_question_agrees(question, sum_bits(question, exist, column_limit));
}

bool bb_ribbon_portable_bits(const uint8_t *payload, uint64_t descriptor, uint64_t fingerprint_bits,
                             uint64_t hash)
{
    if (!bb_ribbon_question_has_columns(descriptor))
        return true;
    struct bb_ribbon_question question =
        bb_ribbon_question_bits(payload, descriptor, fingerprint_bits, hash);
    return fingerprint_bits == 6 || fingerprint_bits == 7
               ? answer_bits_7(&question)
               : answer_wide_bits(&question, (uint32_t)fingerprint_bits,
                                  (uint32_t)fingerprint_bits + 1);
}

/* --- Both --- */

uint32_t bb_ribbon_portable_sums(const struct bb_ribbon_question *question)
{
    return question->slots > 0
               ? sum_bits(question, question->fingerprint_bits, question->fingerprint_bits)
               : sum_groups(question, question->fingerprint_bits);
}

static bool answer(const struct bb_ribbon_question *question)
{
    uint32_t fingerprint_bits = question->fingerprint_bits;
    if (question->slots == 0)
        return answer_groups(question, fingerprint_bits);
    return fingerprint_bits >= 6 && fingerprint_bits <= 8
               ? answer_bits_7(question)
               : answer_wide_bits(question, fingerprint_bits, fingerprint_bits);
}

uint64_t bb_ribbon_portable_batch(const struct bb_filter_batch *batch, size_t count)
{
    struct bb_ribbon_question questions[BB_FILTER_BATCH];
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        bb_ribbon_question_init(&questions[i], batch, i);
        bb_ribbon_question_prefetch(&questions[i]);
    }
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)answer(&questions[i]) << i;
    return bits;
}

bool bb_ribbon_portable_shards(const struct bb_filter_shards *shards, uint64_t key_hash)
{
    return bb_ribbon_window_portable_agrees(bb_ribbon_window_of_shards(shards, key_hash));
}
