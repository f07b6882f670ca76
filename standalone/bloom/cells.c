/* The bits of Bloom filters, counted and folded. */
#include "standalone/bloom/cells.h"

#include <math.h>

#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/bloom/bloom.h"
#include "standalone/bloom/counting_bloom.h"
#include "standalone/bloom/split_block.h"

enum bb_status bb_cells_of(const struct bb_envelope *envelope, struct bb_cells *ret_cells)
{
    struct bb_cells cells = {.unit_count = envelope->parameters[0],
                             .unit_bits = 1,
                             .slices = 1,
                             .words = 1,
                             .probes = (uint32_t)envelope->parameters[1]};
    switch (envelope->kind) {
    case BB_FILTER_BLOOM:
    case BB_FILTER_COUNTING:
        break;
    case BB_FILTER_BLOCKED_BLOOM:
        cells.unit_bits = BB_LINE_BITS;
        break;
    case BB_FILTER_SPLIT_BLOCK:
        cells.unit_bits = BB_SPLIT_BLOCK_BITS;
        cells.words = BB_SPLIT_BLOCK_WORDS;
        break;
    case BB_FILTER_PARTITIONED:
        cells.slices = cells.probes;
        if (cells.slices > 0)
            cells.unit_count /= cells.slices;
        break;
    case BB_FILTER_RIBBON:
        return bb_fail(BB_UNSUPPORTED,
                       "the bits of a ribbon filter solve equations and mark no keys: counting or "
                       "uniting sets takes their keys, or a Bloom kind");
    case BB_FILTER_SCALABLE:
        return bb_fail(BB_UNSUPPORTED,
                       "the stages of a scalable filter have different sizes and hashes: its "
                       "key count is exact, and sets are united from their keys");
    default:
        return bb_fail(BB_UNSUPPORTED, "filters of kind %s have no bits to count or unite",
                       bb_filter_kind_name(envelope->kind));
    }
    *ret_cells = cells;
    return BB_OK;
}

double bb_cells_hit(const struct bb_cells *cells)
{
    double line_bits = (double)bb_cells_count(cells) / (double)bb_cells_lines(cells);
    double chance = (double)cells->slices * cells->words / line_bits;
    return -expm1(bb_cells_rivals(cells) * log1p(-chance));
}

uint64_t bb_cells_set_count(const struct bb_envelope *envelope)
{
    struct bb_bytes payload = envelope->payload;
    if (envelope->kind == BB_FILTER_COUNTING)
        return bb_counting_bloom_sums(payload.data, payload.size).used;
    return bb_bloom_set_count(payload.data, payload.size);
}

/* --- Folding --- */

static void fold_lines(const struct bb_cells *cells, uint64_t factor, const uint8_t *payload,
                       uint8_t *into)
{
    size_t line_size = cells->unit_bits / 8;
    for (uint64_t line = 0; line < cells->unit_count; line++, into += line_size)
        for (uint64_t i = 0; i < factor; i++, payload += line_size)
            for (size_t byte = 0; byte < line_size; byte++)
                into[byte] |= payload[byte];
}

/* Slices fold each for itself; since each shrinks by the factor, so do the positions of all. */
static void fold_bits(uint64_t factor, const uint8_t *payload, size_t size, uint8_t *into)
{
    for (size_t byte = 0; byte < size; byte++)
        for (uint32_t rest = payload[byte]; rest != 0; rest &= rest - 1) {
            uint64_t bit = ((uint64_t)byte * 8 + (uint64_t)__builtin_ctz(rest)) / factor;
            into[bit / 8] |= (uint8_t)(1 << bit % 8);
        }
}

void bb_cells_fold(const struct bb_cells *cells, uint64_t factor,
                   const struct bb_envelope *envelope, uint8_t *into)
{
    struct bb_bytes payload = envelope->payload;
    if (envelope->kind == BB_FILTER_COUNTING)
        bb_counting_bloom_fold(payload.data, payload.size, factor, into);
    else if (cells->unit_bits > 1)
        fold_lines(cells, factor, payload.data, into);
    else if (factor > 1)
        fold_bits(factor, payload.data, payload.size, into);
    else
        for (size_t byte = 0; byte < payload.size; byte++)
            into[byte] |= payload.data[byte];
}
