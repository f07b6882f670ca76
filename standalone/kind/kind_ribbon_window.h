/* Stand-alone ribbons with up to 8 fingerprint bits, with the step, and with windows in all their
 * shards: the usual ones. A probe has two steps. The first finds the window, in the same way on
 * every processor. The second compares the window with the fingerprint; it has a form for each
 * instruction set.
 *
 *     key's hash, view --> shard --> window, coefficients, fingerprint --> answer
 *                       one form: kind_ribbon_window.c             |  portable, AVX2, AVX-512
 *
 * (AVX-512 has a separate form of both steps for batches, eight probes at a time.)
 *
 * A batch does the first step for all probes before the second one: their cache misses overlap, and
 * the chains of products do not wait for the vectors of other probes. Probing six filters with one
 * hash takes a quarter less time this way, with the same instructions.
 *
 * The forms for AVX-512 load whole vectors; the window is their last bytes. The bytes before it are
 * earlier bytes of the envelope: an entry of the directory and the header of the envelope precede
 * the payload of the first shard. These are 72 bytes, of which at most 56 are read.
 *
 *     envelope   | header, 64 bytes | directory | payload ...... | window, 8r bytes | ...
 *     vector                             |<------------- 64 bytes ------------->|
 *
 * Pure functions except for their outputs; any thread.
 */
#ifndef BB_STANDALONE_KIND_KIND_RIBBON_WINDOW_H
#define BB_STANDALONE_KIND_KIND_RIBBON_WINDOW_H

#include "standalone/kind/kind_ribbon.h"

#define BB_KIND_RIBBON_WINDOW_RANK_MAX 8

_Static_assert(BB_ENVELOPE_HEADER_SIZE + BB_SHARD_ENTRY_SIZE >= 64 - BB_RIBBON_WINDOW_GROUPS,
               "enough bytes precede a window of rank 1 for the vector that is loaded");

/* The probe of one key in a view. */
struct bb_kind_ribbon_window {
    const uint8_t *bytes;  /* 8 * rank of them */
    uint64_t rank;         /* of the shard */
    uint64_t coefficients; /* bit 0 is set, even if it is clear here */
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

/* The second step for up to BB_KIND_BATCH windows, in reverse order: results are shifted in from
 * the right, so that bit i belongs to probe i. */
typedef uint64_t bb_kind_ribbon_agree(const struct bb_kind_ribbon_window *windows, size_t count);

/* Whether all shards have windows, of ranks up to 8. */
bool bb_kind_ribbon_has_windows(const struct bb_filter_view *view);
/* The functions that probe a view with windows. */
const struct bb_kind_probe *bb_kind_ribbon_window_probe(enum bb_cpu cpu, uint32_t rank);

#endif
