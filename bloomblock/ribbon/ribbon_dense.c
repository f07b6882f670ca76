/* Gauss-Jordan elimination of words. */
#include "bloomblock/ribbon/ribbon_dense.h"

#include <string.h>

#include "base/assert.h"
#include "bloomblock/ribbon/ribbon_spread.h"

struct dense {
    uint64_t equations[BB_RIBBON_DENSE_COUNT_MAX];
    size_t count;
    uint64_t slots; /* the bits of the coefficients */
    uint32_t slot_count;
};

static void equations_init(struct dense *dense, const uint64_t *hashes, uint32_t fingerprint_bits,
                           uint32_t tweak)
{
    uint64_t results = bb_ribbon_equation_fingerprint_mask(fingerprint_bits);
    for (size_t i = 0; i < dense->count; i++) {
        struct bb_ribbon_equation equation =
            bb_ribbon_bits_equation(hashes[i], tweak, dense->slot_count);
        dense->equations[i] = equation.coefficients | (equation.fingerprint & results)
                                                          << dense->slot_count;
    }
}

/* Adds an equation to those from first to end that have the row. */
static inline void add_to_all(uint64_t *equations, size_t first, size_t end, uint64_t equation,
                              uint32_t row)
{
    for (size_t i = first; i < end; i++)
        equations[i] ^= equation & (0 - (equations[i] >> row & 1));
}

static inline uint32_t pivot_of(const struct dense *dense, uint64_t equation)
{
    return (uint32_t)__builtin_ctzll(equation & dense->slots);
}

/* False: an equation without coefficients has a result. */
static bool eliminate_forward(struct dense *dense)
{
    for (size_t i = 0; i < dense->count; i++) {
        uint64_t equation = dense->equations[i];
        if ((equation & dense->slots) != 0)
            add_to_all(dense->equations, i + 1, dense->count, equation, pivot_of(dense, equation));
        else if (equation != 0)
            return false;
    }
    return true;
}

static void eliminate_backward(struct dense *dense)
{
    for (size_t i = dense->count; i-- > 0;) {
        uint64_t equation = dense->equations[i];
        if (equation != 0)
            add_to_all(dense->equations, 0, i, equation, pivot_of(dense, equation));
    }
}

static void set_rows(const struct dense *dense, uint32_t fingerprint_bits,
                     struct bb_ribbon_rows *rows)
{
    uint32_t words = (dense->slot_count + BB_RIBBON_SLAB_WIDTH - 1) / BB_RIBBON_SLAB_WIDTH;
    for (uint32_t slab = 0; slab < bb_ribbon_rows_slab_count(fingerprint_bits); slab++) {
        uint64_t *slab_words = rows->slabs[slab];
        memset(slab_words, 0, words * sizeof(slab_words[0]));
        for (size_t i = 0; i < dense->count; i++) {
            uint64_t equation = dense->equations[i];
            if (equation == 0)
                continue;
            uint32_t row = pivot_of(dense, equation);
            uint32_t result = (uint32_t)(equation >> dense->slot_count) >> (8 * slab);
            slab_words[row / 8] |= bb_ribbon_spread(result) << (row % 8);
        }
    }
}

bool bb_ribbon_dense_solve(const uint64_t *hashes, size_t count, uint32_t slot_count,
                           uint32_t fingerprint_bits, uint32_t tweak,
                           struct bb_ribbon_rows *ret_rows)
{
    struct dense dense = {
        .count = count, .slots = (UINT64_C(1) << slot_count) - 1, .slot_count = slot_count};
    BB_ASSERT(bb_ribbon_dense_takes(count, slot_count, fingerprint_bits));
    equations_init(&dense, hashes, fingerprint_bits, tweak);
    if (!eliminate_forward(&dense))
        return false;
    eliminate_backward(&dense);
    set_rows(&dense, fingerprint_bits, ret_rows);
    return true;
}
