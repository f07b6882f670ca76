/* Probes and describes the filters of a table: formats, descriptors, and the probe functions of
 * each kind. */
#include "bloomblock/table/block_filter.h"

#include <math.h>

#include "base/status.h"
#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/sizing/rate.h"
#include "bloomblock/ribbon/ribbon_probe.h"
#include "bloomblock/ribbon/ribbon_shape.h"
#include "bloomblock/ribbon/ribbon_values.h"
#include "bloomblock/table_kind.h"

_Static_assert(BB_FILTER_GROUP_KEYS_MAX == BB_RIBBON_KEYS_MAX,
               "the largest group without shards is the largest ribbon");

/* --- Probes --- */

static bool everything_may_be_there(const uint8_t *payload, uint64_t descriptor,
                                    uint64_t bits_per_probe, uint64_t hash)
{
    (void)payload;
    (void)descriptor;
    (void)bits_per_probe;
    (void)hash;
    return true;
}

static bool bits_may_contain(const uint8_t *payload, uint64_t descriptor, uint64_t probes,
                             uint64_t hash)
{
    return descriptor == BB_DESCRIPTOR_NONE ||
           bb_bloom_may_contain(payload, descriptor * 8, (uint32_t)probes, hash);
}

static bool lines_may_contain(const uint8_t *payload, uint64_t descriptor, uint64_t probes,
                              uint64_t hash)
{
    return descriptor == BB_DESCRIPTOR_NONE ||
           bb_blocked_bloom_may_contain(payload, (uint32_t)descriptor, (uint32_t)probes,
                                        bb_shard_hash_line(hash));
}

#if BB_CPU_X86
static bool lines_may_contain_avx2(const uint8_t *payload, uint64_t descriptor, uint64_t probes,
                                   uint64_t hash)
{
    return descriptor == BB_DESCRIPTOR_NONE ||
           bb_blocked_bloom_avx2(payload, (uint32_t)descriptor, (uint32_t)probes,
                                 bb_shard_hash_line(hash));
}

static bool lines_may_contain_avx512(const uint8_t *payload, uint64_t descriptor, uint64_t probes,
                                     uint64_t hash)
{
    return descriptor == BB_DESCRIPTOR_NONE ||
           bb_blocked_bloom_avx512(payload, (uint32_t)descriptor, (uint32_t)probes,
                                   bb_shard_hash_line(hash));
}
#endif

static bb_filter_probe *lines_probe(enum bb_cpu cpu)
{
#if BB_CPU_X86
    if (cpu != BB_CPU_PORTABLE)
        return cpu == BB_CPU_AVX2 ? lines_may_contain_avx2 : lines_may_contain_avx512;
#endif
    (void)cpu;
    return lines_may_contain;
}

static struct bb_filter_probes same_for_all(bb_filter_probe *probe)
{
    return (struct bb_filter_probes){.layouts = {probe, probe}};
}

void bb_block_filter_format_use(struct bb_block_filter_format *format, enum bb_cpu cpu)
{
    if (format->kind == BB_FILTER_RIBBON)
        format->probes = *bb_ribbon_probe_of(cpu, format->bits_per_probe);
    else if (format->kind == BB_FILTER_BLOCKED_BLOOM)
        format->probes = same_for_all(lines_probe(cpu));
    else if (format->kind == BB_FILTER_BLOOM)
        format->probes = same_for_all(bits_may_contain);
    else
        format->probes = same_for_all(everything_may_be_there);
}

/* --- Formats --- */

static uint32_t best_bits_per_probe(enum bb_filter_kind kind, double target_rate)
{
    switch (kind) {
    case BB_FILTER_RIBBON:
        return bb_rate_ribbon_fingerprint_bits(target_rate);
    case BB_FILTER_BLOCKED_BLOOM:
        return bb_rate_blocked_bloom_probes(target_rate);
    case BB_FILTER_BLOOM:
        return bb_rate_bloom_probes(target_rate);
    default:
        return 0;
    }
}

static uint32_t bits_per_probe_max(enum bb_filter_kind kind)
{
    return kind == BB_FILTER_RIBBON ? BB_RIBBON_FINGERPRINT_BITS_MAX - 1 : BB_BLOOM_PROBES_MAX;
}

static bool rate_is_possible(double target_rate)
{
    return target_rate >= BB_FILTER_RATE_MIN && target_rate <= BB_FILTER_RATE_MAX;
}

static struct bb_block_filter_format format_of(enum bb_filter_kind kind, double target_rate,
                                               uint64_t salt, uint32_t bits_per_probe)
{
    struct bb_block_filter_format format = {.kind = kind,
                                            .target_rate = target_rate,
                                            .salt = salt,
                                            .bits_per_probe = bits_per_probe,
                                            .domain = bb_domain(BB_DOMAIN_BLOCK, salt)};
    bb_block_filter_format_use(&format, bb_cpu_best());
    return format;
}

bool bb_block_filter_format_restore(struct bb_block_filter_format *format, enum bb_filter_kind kind,
                                    double target_rate, uint64_t salt, uint32_t bits_per_probe)
{
    bool possible = kind == BB_FILTER_NONE
                        ? bits_per_probe == 0
                        : kind != BB_FILTER_DEFAULT && bb_table_kind_find(kind) != NULL &&
                              rate_is_possible(target_rate) && bits_per_probe >= 1 &&
                              bits_per_probe <= bits_per_probe_max(kind);
    if (possible)
        *format = format_of(kind, target_rate, salt, bits_per_probe);
    return possible;
}

enum bb_status bb_block_filter_format_init(struct bb_block_filter_format *format,
                                           enum bb_filter_kind kind, double target_rate,
                                           uint64_t salt)
{
    if (kind == BB_FILTER_DEFAULT)
        kind = BB_TABLE_KIND_DEFAULT;
    if (bb_table_kind_find(kind) == NULL) {
        const char *name = bb_filter_kind_name(kind);
        return name == NULL
                   ? bb_fail(BB_INVALID, "there are no filters of kind %d", (int)kind)
                   : bb_fail(BB_UNSUPPORTED, "tables cannot hold filters of kind %s", name);
    }
    if (kind != BB_FILTER_NONE && !rate_is_possible(target_rate))
        return bb_fail(BB_INVALID, "the filters' target rate is %g, allowed are %g to %g",
                       target_rate, BB_FILTER_RATE_MIN, BB_FILTER_RATE_MAX);
    *format = format_of(kind, target_rate, salt, best_bits_per_probe(kind, target_rate));
    return BB_OK;
}

bool bb_block_filter_size(const struct bb_block_filter_format *format, uint16_t descriptor,
                          size_t *ret_size)
{
    if (descriptor == BB_DESCRIPTOR_NONE) {
        *ret_size = 0;
        return true;
    }
    switch (format->kind) {
    case BB_FILTER_RIBBON:
        return bb_ribbon_values_payload_size(descriptor, format->bits_per_probe, ret_size);
    case BB_FILTER_BLOCKED_BLOOM:
        *ret_size = (size_t)descriptor * BB_LINE_SIZE;
        return true;
    case BB_FILTER_BLOOM:
        *ret_size = descriptor;
        return true;
    default:
        return false;
    }
}

bool bb_block_filter_rest_is_zero(const struct bb_block_filter_format *format, uint16_t descriptor,
                                  const uint8_t *payload)
{
    struct bb_descriptor parts = bb_descriptor_decode(descriptor);
    if (format->kind != BB_FILTER_RIBBON || !parts.bit_exact)
        return true; /* whole bytes */
    size_t bits = (size_t)parts.size * (format->bits_per_probe + parts.step);
    return bits % 8 == 0 || payload[bits / 8] >> bits % 8 == 0;
}

double bb_block_filter_rate(const struct bb_block_filter_format *format, uint16_t descriptor,
                            const uint8_t *payload)
{
    if (descriptor == BB_DESCRIPTOR_NONE)
        return 1;
    switch (format->kind) {
    case BB_FILTER_RIBBON:
        return bb_rate_ribbon(format->bits_per_probe + bb_descriptor_decode(descriptor).step);
    case BB_FILTER_BLOCKED_BLOOM:
        return bb_blocked_bloom_rate(payload, descriptor, format->bits_per_probe);
    case BB_FILTER_BLOOM: {
        double fill = (double)bb_bloom_set_count(payload, descriptor) / (8.0 * descriptor);
        return pow(fill, format->bits_per_probe);
    }
    default:
        return 1;
    }
}

static void ribbon_info(const struct bb_block_filter_format *format, uint16_t descriptor,
                        double set_bits, struct bb_block_filter_info *info)
{
    struct bb_descriptor parts = bb_descriptor_decode(descriptor);
    info->layout = parts.bit_exact ? "bit-exact" : "byte-grouped";
    info->slots = parts.bit_exact ? parts.size : parts.size * BB_RIBBON_GROUP_ROWS;
    info->seed = parts.seed;
    info->bits_per_probe = format->bits_per_probe + parts.step;
    info->fill = set_bits / ((double)info->slots * info->bits_per_probe);
}

static void bloom_info(const struct bb_block_filter_format *format, double set_bits,
                       struct bb_block_filter_info *info)
{
    info->layout = format->kind == BB_FILTER_BLOCKED_BLOOM ? "lines" : "bits";
    info->slots = info->size_bytes * 8;
    info->bits_per_probe = format->bits_per_probe;
    info->fill = set_bits / info->slots;
}

bool bb_block_filter_info(const struct bb_block_filter_format *format, uint16_t descriptor,
                          struct bb_bytes payload, struct bb_block_filter_info *ret_info)
{
    size_t size = 0;
    if (!bb_block_filter_size(format, descriptor, &size) || size != payload.size)
        return false;
    struct bb_block_filter_info info = {.layout = "none",
                                        .size_bytes = (uint32_t)size,
                                        .predicted_rate =
                                            bb_block_filter_rate(format, descriptor, payload.data)};
    double set_bits = (double)bb_bloom_set_count(payload.data, payload.size);
    if (size > 0 && format->kind == BB_FILTER_RIBBON)
        ribbon_info(format, descriptor, set_bits, &info);
    else if (size > 0)
        bloom_info(format, set_bits, &info);
    *ret_info = info;
    return true;
}
