/* Ribbons that stand alone, of ranks up to 8 with the step, and with windows in all their shards:
 * the usual ones. They are asked in two steps. Where windows are is worked out in the same way on
 * every processor; whether they agree is what the forms for instruction sets differ in.
 *
 *     key's hash, view --> shard --> window, coefficients, fingerprint --> answer
 *                       one form: kind_ribbon_window.c             |  portable, AVX2, AVX-512
 *
 * (AVX-512 has a form of its own for both steps of many questions, eight at a time.)
 *
 * Where many are asked, the first step is made for all of them before the second one: their misses
 * are waited for together, and the chains of products do not wait behind the vectors of others. One
 * hash asked of six filters takes a quarter less time so, with the same instructions.
 *
 * The forms for AVX-512 load whole vectors, of which a window takes the last bytes. What is loaded
 * with it are earlier bytes of the envelope: in front of the first shard's payload there are an
 * entry of the directory and the envelope's header, 72 bytes, of which 56 at most are touched.
 *
 *     envelope   | header, 64 bytes | directory | payload ...... | window, 8r bytes | ...
 *     vector                             |<------------- 64 bytes ------------->|
 *
 * Pure functions but for their outputs; any thread.
 */
#ifndef BB_BLOOMBLOCK_STANDALONE_KIND_RIBBON_WINDOW_H
#define BB_BLOOMBLOCK_STANDALONE_KIND_RIBBON_WINDOW_H

#include "bloomblock/standalone/kind_ribbon.h"

#define BB_KIND_RIBBON_WINDOW_RANK_MAX 8

_Static_assert(BB_ENVELOPE_HEADER_SIZE + BB_SHARD_ENTRY_SIZE >= 64 - BB_RIBBON_WINDOW_GROUPS,
               "in front of a window of rank 1 there are the bytes that are loaded with it");

/* What a key asks of a view. */
struct bb_kind_ribbon_window {
    const uint8_t *bytes;  /* 8 * rank of them */
    uint64_t rank;         /* of the shard */
    uint64_t coefficients; /* the first is set, whatever it is here */
    uint32_t fingerprint;  /* the lowest rank bits count */
};

static inline struct bb_kind_ribbon_window
bb_kind_ribbon_find_window(const struct bb_filter_view *view, uint64_t key_hash)
{
    struct bb_kind_ribbon_place place = bb_kind_ribbon_find(view, key_hash);
    uint64_t size = place.descriptor & 255;
    uint64_t rank = view->parameters[BB_VIEW_PROBES] + (place.descriptor >> 14);
    const uint8_t *payload = place.payload;
    __asm__("" : "+r"(payload)); /* whole before the products: else each part waits for them */
    uint64_t drawn = bb_ribbon_draw_group(place.hash, place.descriptor, size);
    return (struct bb_kind_ribbon_window){
        .bytes = payload + bb_ribbon_group(drawn, size) * rank,
        .rank = rank,
        .coefficients = bb_ribbon_later_coefficients(place.hash, place.descriptor),
        .fingerprint = bb_ribbon_fingerprint(drawn)};
}

/* The second step for up to BB_KIND_BATCH windows, the last question's first: answers are shifted
 * in from the right, and bit i is that of question i. */
typedef uint64_t bb_kind_ribbon_agree(const struct bb_kind_ribbon_window *windows, size_t count);

/* Whether all shards have windows, of ranks up to 8. */
bool bb_kind_ribbon_has_windows(const struct bb_filter_view *view);
/* How a view that has them is asked. */
const struct bb_kind_probe *bb_kind_ribbon_window_probe(enum bb_cpu cpu, uint32_t rank);

#endif
