/* The window of a key in a byte-grouped ribbon: all that a probe reads (ribbon.h). A probe has two
 * steps. The first finds the window, in the same way on every processor. The second compares the
 * window with the fingerprint; it has a form for each instruction set. Filters of tables and
 * standalone filters are probed by the same two steps.
 *
 *     hash, descriptor --> window, coefficients, fingerprint --> result
 *               one form: this header            |  ribbon_window_portable.h, _avx2.h, _avx512.h
 *
 * A batch does the first step for all probes before the second one: their cache misses overlap, and
 * the chains of products do not wait for the vectors of other probes. Probing six filters with one
 * hash takes a quarter less time this way, with the same instructions.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_WINDOW_H

#include "base/prefetch.h"
#include "bloomblock/filter_probe.h"
#include "bloomblock/ribbon/ribbon.h"

/* The most that portable windows and those of AVX-512 take, step included. Usual filters have no
 * more; ribbon_wide_avx2.h takes up to 16. */
#define BB_RIBBON_WINDOW_FINGERPRINT_BITS_MAX 8

struct bb_ribbon_window {
    const uint8_t *bytes;      /* 8 * fingerprint_bits of them */
    uint64_t fingerprint_bits; /* of this filter */
    uint64_t coefficients;     /* the first is treated as set */
    uint32_t fingerprint;      /* the lowest fingerprint_bits count */
};

/* descriptor: of the byte-grouped layout. */
static inline bool bb_ribbon_window_exists(uint64_t descriptor)
{
    return (descriptor & 255) >= BB_RIBBON_GROUPS_MIN;
}

/* Whether the filter at a place has windows: it is there, and byte-grouped. */
static inline bool bb_ribbon_window_exists_at(bb_filter_place place)
{
    return !bb_descriptor_is_bit_exact((uint16_t)place) && bb_ribbon_window_exists(place);
}

/* descriptor: of the byte-grouped layout, with a window. Taken apart here, in words of 64 bits. */
static inline struct bb_ribbon_window bb_ribbon_window(const uint8_t *payload, uint64_t descriptor,
                                                       uint64_t fingerprint_bits, uint64_t hash)
{
    uint64_t own_bits = fingerprint_bits + (descriptor >> 14);
    uint64_t drawn = bb_ribbon_draw_group(hash, descriptor, descriptor & 255);
    uint64_t group = bb_ribbon_group(drawn, descriptor & 255);
    return (struct bb_ribbon_window){.bytes = payload + group * own_bits,
                                     .fingerprint_bits = own_bits,
                                     .coefficients =
                                         bb_ribbon_equation_later_coefficients(hash, descriptor),
                                     .fingerprint = bb_ribbon_equation_fingerprint(drawn)};
}

/* The same for a place among the payloads of a set. */
static inline struct bb_ribbon_window bb_ribbon_window_at(const uint8_t *payloads,
                                                          bb_filter_place place,
                                                          uint64_t fingerprint_bits, uint64_t hash)
{
    const uint8_t *payload = payloads + (place >> 16);
    __asm__("" : "+r"(payload)); /* whole before the products: else each part waits for them */
    return bb_ribbon_window(payload, (uint16_t)place, fingerprint_bits, hash);
}

/* Prefetches the lines of the window. */
static inline void bb_ribbon_window_prefetch(struct bb_ribbon_window window)
{
    const uint8_t *end = window.bytes + BB_RIBBON_WINDOW_GROUPS * window.fingerprint_bits;
    __builtin_prefetch(window.bytes);
    __builtin_prefetch(end - 1);
    bb_prefetch_done(end);
}

/* REQUIRES: all shards have windows. */
static inline struct bb_ribbon_window
bb_ribbon_window_of_shards(const struct bb_filter_shards *shards, uint64_t key_hash)
{
    return bb_ribbon_window_at(shards->payloads, *bb_filter_probe_place(shards, key_hash),
                               shards->fingerprint_bits, key_hash ^ shards->domain);
}

#endif
