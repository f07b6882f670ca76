/* See kind_ribbon_probe.h. */
#include "standalone/kind/kind_ribbon_probe.h"

#include "bloomblock/ribbon/ribbon_probe.h"
#include "bloomblock/ribbon/ribbon_window_avx2.h"
#include "bloomblock/ribbon/ribbon_window_avx512.h"
#include "bloomblock/ribbon/ribbon_window_portable.h"
#include "standalone/kind/kind_ribbon_view.h"

_Static_assert(BB_ENVELOPE_HEADER_SIZE + BB_SHARD_ENTRY_SIZE >= BB_FILTER_LEAD_BYTES,
               "probes may read the header and the directory before the first ribbon");
_Static_assert(BB_ENVELOPE_CHECKSUM_SIZE >= BB_FILTER_PAD_BYTES,
               "probes may read the checksum after the last ribbon");
_Static_assert(BB_KIND_BATCH == BB_FILTER_BATCH, "a batch of a kind is one batch of ribbons");

/* --- Any layout and fingerprint bits --- */

static bool any_one(const struct bb_filter_view *view, uint64_t key_hash)
{
    uint64_t hash = bb_kind_ribbon_view_hash(view, key_hash);
    bb_filter_place place = bb_kind_ribbon_view_place(view, hash);
    return bb_filter_probe_one(view->probe, bb_kind_ribbon_view_payloads(view) + (place >> 16),
                               (uint16_t)place, (uint32_t)view->parameters[BB_VIEW_PROBES], hash);
}

/* The rest of probe i, whose hash is there. */
static inline void batch_find(struct bb_filter_batch *batch, size_t i,
                              const struct bb_filter_view *view)
{
    batch->places[i] = bb_kind_ribbon_view_place(view, batch->hashes[i]);
    batch->payloads[i] = bb_kind_ribbon_view_payloads(view);
    batch->fingerprint_bits[i] = view->parameters[BB_VIEW_PROBES];
}

/* Each short step runs for all probes before the next step: a probe waits only for its previous
 * step, so the processor works on several probes at the same time. */
static uint64_t any_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    struct bb_filter_batch batch;
    const struct bb_filter_probes *probes = views->probe;
    for (size_t i = 0; i < count; i++)
        batch.hashes[i] = bb_kind_ribbon_view_hash(&views[i], key_hash);
    for (size_t i = 0; i < count; i++)
        batch_find(&batch, i, &views[i]);
    return probes->batch(&batch, count);
}

static uint64_t any_many(const struct bb_filter_view *view, const uint64_t *hashes, size_t count)
{
    struct bb_filter_batch batch;
    const struct bb_filter_probes *probes = view->probe;
    for (size_t i = 0; i < count; i++)
        batch.hashes[i] = bb_kind_ribbon_view_hash(view, hashes[i]);
    for (size_t i = 0; i < count; i++)
        batch_find(&batch, i, view);
    return probes->batch(&batch, count);
}

/* --- Windows in all shards --- */

/* The second step for up to BB_KIND_BATCH windows, in reverse order: results are shifted in from
 * the right, so that bit i belongs to probe i. */
typedef uint64_t agree_all(const struct bb_ribbon_window *windows, size_t count);

/* Field by field: a struct that is composed first is stored twice. */
static inline void find(const struct bb_filter_view *view, uint64_t key_hash,
                        struct bb_ribbon_window *ret_window)
{
    struct bb_ribbon_window window = bb_kind_ribbon_view_window(view, key_hash);
    ret_window->bytes = window.bytes;
    ret_window->fingerprint_bits = window.fingerprint_bits;
    ret_window->coefficients = window.coefficients;
    ret_window->fingerprint = window.fingerprint;
    __builtin_prefetch(window.bytes);
    __builtin_prefetch(window.bytes + BB_RIBBON_WINDOW_GROUPS * window.fingerprint_bits - 1);
}

static inline uint64_t ask_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash,
                                agree_all *agree)
{
    struct bb_ribbon_window windows[BB_KIND_BATCH], *window = windows;
    for (const struct bb_filter_view *view = views + count; view > views;)
        find(--view, key_hash, window++);
    return agree(windows, count);
}

static inline uint64_t ask_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                size_t count, agree_all *agree)
{
    struct bb_ribbon_window windows[BB_KIND_BATCH], *window = windows;
    for (const uint64_t *hash = hashes + count; hash > hashes;)
        find(view, *--hash, window++);
    return agree(windows, count);
}

static bool portable_one(const struct bb_filter_view *view, uint64_t key_hash)
{
    return bb_ribbon_window_portable_agrees(bb_kind_ribbon_view_window(view, key_hash));
}

static uint64_t portable_agree(const struct bb_ribbon_window *windows, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + bb_ribbon_window_portable_agrees(windows[i]);
    return bits;
}

static uint64_t portable_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    return ask_each(views, count, key_hash, portable_agree);
}

static uint64_t portable_many(const struct bb_filter_view *view, const uint64_t *hashes,
                              size_t count)
{
    return ask_many(view, hashes, count, portable_agree);
}

#if BB_CPU_X86
BB_CPU_TARGET_AVX2 static bool avx2_one(const struct bb_filter_view *view, uint64_t key_hash)
{
    return bb_ribbon_window_avx2_agrees(bb_kind_ribbon_view_window(view, key_hash));
}

BB_CPU_TARGET_AVX2 static __attribute__((noinline)) uint64_t
avx2_agree(const struct bb_ribbon_window *windows, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + bb_ribbon_window_avx2_agrees(windows[i]);
    return bits;
}

static uint64_t avx2_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    return ask_each(views, count, key_hash, avx2_agree);
}

static uint64_t avx2_many(const struct bb_filter_view *view, const uint64_t *hashes, size_t count)
{
    return ask_many(view, hashes, count, avx2_agree);
}

BB_CPU_TARGET_AVX512 static bool avx512_one(const struct bb_filter_view *view, uint64_t key_hash)
{
    struct bb_ribbon_window window = bb_kind_ribbon_view_window(view, key_hash);
    return bb_ribbon_window_avx512_agrees(bb_ribbon_window_avx512_known(), window);
}

BB_CPU_TARGET_AVX512 static __attribute__((noinline)) uint64_t
avx512_agree(const struct bb_ribbon_window *windows, size_t count)
{
    const struct bb_ribbon_window_avx512 *known = bb_ribbon_window_avx512_known();
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits * 2 + bb_ribbon_window_avx512_agrees(known, windows[i]);
    return bits;
}

static uint64_t avx512_each(const struct bb_filter_view *views, size_t count, uint64_t key_hash)
{
    if (count >= BB_KIND_RIBBON_PROBE_AVX512_MIN)
        return bb_kind_ribbon_probe_avx512_each(views, count, key_hash);
    return ask_each(views, count, key_hash, avx512_agree);
}
#endif

/* --- All forms --- */

static const struct bb_kind_probe any = {.may_contain = any_one,
                                         .use = bb_kind_ribbon_probe_use,
                                         .may_contain_many = any_many,
                                         .may_contain_each = any_each};

static const struct bb_kind_probe forms[BB_CPU_COUNT] = {
    [BB_CPU_PORTABLE] = {.may_contain = portable_one,
                         .use = bb_kind_ribbon_probe_use,
                         .may_contain_many = portable_many,
                         .may_contain_each = portable_each},
#if BB_CPU_X86
    [BB_CPU_AVX2] = {.may_contain = avx2_one,
                     .use = bb_kind_ribbon_probe_use,
                     .may_contain_many = avx2_many,
                     .may_contain_each = avx2_each},
    [BB_CPU_AVX512] = {.may_contain = avx512_one,
                       .use = bb_kind_ribbon_probe_use,
                       .may_contain_many = bb_kind_ribbon_probe_avx512_many,
                       .may_contain_each = avx512_each},
#endif
};

static bool has_windows(const struct bb_filter_view *view)
{
    if (view->parameters[BB_VIEW_PROBES] >= BB_RIBBON_WINDOW_FINGERPRINT_BITS_MAX)
        return false;
    for (uint64_t i = 0; i < view->parameters[BB_VIEW_SIZE]; i++)
        if (!bb_ribbon_window_exists_at(bb_shard_directory_place(view->payload.data, i)))
            return false;
    return true;
}

void bb_kind_ribbon_probe_use(struct bb_filter_view *view, enum bb_cpu cpu)
{
    uint32_t fingerprint_bits = (uint32_t)view->parameters[BB_VIEW_PROBES];
    enum bb_cpu form =
        cpu == BB_CPU_AVX2 && fingerprint_bits < BB_RIBBON_WINDOW_AVX2_FINGERPRINT_BITS_MIN
            ? BB_CPU_PORTABLE
            : cpu;
    view->kind = has_windows(view) ? &forms[form] : &any;
    view->probe = bb_ribbon_probe_of(cpu, fingerprint_bits);
}
