/* Bloom filters that grow: stages, adding keys, encoding and decoding. */
#include "standalone/bloom/scalable_bloom.h"

#include <math.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/coding.h"
#include "base/status.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/sizing/rate.h"

/* --- Stages --- */

static double stage_rate(const struct bb_scalable_bloom *bloom, uint32_t stage)
{
    return bloom->target_rate * (1 - bloom->ratio) * pow(bloom->ratio, stage);
}

/* Below this rate the best number of probes exceeds BB_BLOOM_PROBES_MAX. The filter uses the
 * maximum instead, which costs a few bits more. */
#define RATE_OF_MOST_PROBES 0x1p-29

/* Returns the keys that a stage is sized for beyond its share. WHY: the number of keys at which
 * half of the bits are set has a standard deviation of 0.67 sqrt(keys / probes). The result is
 * three times that, plus one key: a stage ends before the key that could exceed its limit. */
uint64_t bb_scalable_bloom_spare_keys(uint64_t keys, double rate)
{
    double probes = rate >= RATE_OF_MOST_PROBES ? bb_rate_limit(rate) : BB_BLOOM_PROBES_MAX;
    return 1 + (uint64_t)ceil(2 * sqrt((double)keys / probes));
}

uint64_t bb_scalable_bloom_stage_bits(uint64_t keys, double rate, uint32_t *ret_probes)
{
    uint64_t bits = 0;
    *ret_probes = BB_BLOOM_PROBES_MAX;
    if (rate < RATE_OF_MOST_PROBES)
        return bb_rate_bloom_bits(keys, BB_BLOOM_PROBES_MAX, rate);
    *ret_probes = bb_rate_bloom_best_probes(keys, rate, &bits);
    return bits;
}

static struct bb_scalable_stage plan_stage(const struct bb_scalable_bloom *bloom, uint32_t number)
{
    struct bb_scalable_stage stage = {0};
    double rate = stage_rate(bloom, number);
    uint64_t keys = bb_scalable_bloom_stage_keys(bloom->first_key_count, number);
    keys += bb_scalable_bloom_spare_keys(keys, rate);
    stage.bits = bb_scalable_bloom_stage_bits(keys, rate, &stage.probes);
    return stage;
}

/* Appends a stage of these bits and probes; no bit is set. */
static enum bb_status append_stage(struct bb_scalable_bloom *bloom, struct bb_scalable_stage stage)
{
    uint32_t number = bloom->stage_count;
    double fill = pow(stage_rate(bloom, number), 1.0 / stage.probes);
    stage.set_limit = (uint64_t)((double)stage.bits * fill);
    stage.payload = bb_alloc_zeroed(bb_bloom_size(stage.bits), 1);
    if (stage.payload == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for stage %u of a scalable filter (%zu bytes)",
                       number, bb_bloom_size(stage.bits));
    bloom->stages[number] = stage;
    bloom->stage_count++;
    return BB_OK;
}

static enum bb_status add_stage(struct bb_scalable_bloom *bloom)
{
    if (bloom->stage_count == BB_SCALABLE_STAGES_MAX)
        return bb_fail(BB_TOO_LARGE, "a scalable filter has %d stages, which is the limit",
                       BB_SCALABLE_STAGES_MAX);
    return append_stage(bloom, plan_stage(bloom, bloom->stage_count));
}

enum bb_status bb_scalable_bloom_init(struct bb_scalable_bloom *bloom, double target_rate,
                                      double ratio, uint64_t first_key_count)
{
    *bloom = (struct bb_scalable_bloom){
        .target_rate = target_rate, .ratio = ratio, .first_key_count = first_key_count};
    return add_stage(bloom);
}

void bb_scalable_bloom_deinit(struct bb_scalable_bloom *bloom)
{
    for (uint32_t i = 0; i < bloom->stage_count; i++)
        bb_free(bloom->stages[i].payload);
    *bloom = (struct bb_scalable_bloom){0};
}

/* --- Keys --- */

/* The number of a key's probes that hit unset bits. The key would set at most as many bits. */
static uint32_t missing_bits(const struct bb_scalable_stage *stage, uint64_t hash)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < stage->probes; i++) {
        uint64_t bit = bb_bloom_next(&hash, stage->bits);
        missing += (stage->payload[bit / 8] >> (bit % 8) & 1) == 0;
    }
    return missing;
}

static void set_bits(struct bb_scalable_stage *stage, uint64_t hash)
{
    for (uint32_t i = 0; i < stage->probes; i++) {
        uint64_t bit = bb_bloom_next(&hash, stage->bits);
        uint8_t mask = (uint8_t)(1 << (bit % 8));
        stage->set_count += (stage->payload[bit / 8] & mask) == 0;
        stage->payload[bit / 8] |= mask;
    }
    stage->key_count++;
}

enum bb_status bb_scalable_bloom_add(struct bb_scalable_bloom *bloom, uint64_t hash)
{
    struct bb_scalable_stage *last = &bloom->stages[bloom->stage_count - 1];
    if (bb_scalable_bloom_key_count(bloom) >= BB_FILTER_KEY_COUNT_MAX)
        return bb_fail(BB_TOO_LARGE, "a scalable filter has %llu keys, which is the limit",
                       (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    uint64_t missing = missing_bits(last, bb_scalable_bloom_hash(hash, bloom->stage_count - 1));
    if (last->key_count > 0 && last->set_count + missing > last->set_limit) {
        enum bb_status status = add_stage(bloom);
        if (status != BB_OK)
            return status;
        last++;
    }
    set_bits(last, bb_scalable_bloom_hash(hash, bloom->stage_count - 1));
    return BB_OK;
}

/* Probes the last stage first, because it has about half of all keys. */
bool bb_scalable_bloom_may_contain(const struct bb_scalable_bloom *bloom, uint64_t hash)
{
    for (uint32_t i = bloom->stage_count; i-- > 0;) {
        const struct bb_scalable_stage *stage = &bloom->stages[i];
        if (bb_bloom_may_contain(stage->payload, stage->bits, stage->probes,
                                 bb_scalable_bloom_hash(hash, i)))
            return true;
    }
    return false;
}

uint64_t bb_scalable_bloom_key_count(const struct bb_scalable_bloom *bloom)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < bloom->stage_count; i++)
        count += bloom->stages[i].key_count;
    return count;
}

/* --- Payloads --- */

enum bb_status bb_scalable_bloom_encode(const struct bb_scalable_bloom *bloom, struct bb_buf *buf)
{
    enum bb_status status = bb_append_u64(buf, bloom->stage_count);
    if (status == BB_OK)
        status = bb_append_double(buf, bloom->ratio);
    for (uint32_t i = 0; i < bloom->stage_count && status == BB_OK; i++) {
        const struct bb_scalable_stage *stage = &bloom->stages[i];
        status = bb_append_u64(buf, stage->key_count);
        if (status == BB_OK)
            status = bb_append_u64(buf, stage->bits);
        if (status == BB_OK)
            status = bb_append_u64(buf, stage->probes);
    }
    for (uint32_t i = 0; i < bloom->stage_count && status == BB_OK; i++)
        status = bb_buf_append(buf, bloom->stages[i].payload, bb_bloom_size(bloom->stages[i].bits));
    return status;
}

struct bb_scalable_bloom_walk bb_scalable_bloom_walk(struct bb_bytes payload)
{
    uint32_t stages = (uint32_t)bb_load64(payload.data);
    return (struct bb_scalable_bloom_walk){.stage_count = stages,
                                           .offset = BB_SCALABLE_HEADER_SIZE +
                                                     (size_t)stages * BB_SCALABLE_STAGE_ENTRY_SIZE};
}

bool bb_scalable_bloom_walk_next(struct bb_scalable_bloom_walk *walk, struct bb_bytes payload,
                                 struct bb_scalable_entry *ret_entry)
{
    if (walk->next == walk->stage_count)
        return false;
    const uint8_t *entry = payload.data + BB_SCALABLE_HEADER_SIZE +
                           (size_t)walk->next++ * BB_SCALABLE_STAGE_ENTRY_SIZE;
    *ret_entry = (struct bb_scalable_entry){.key_count = bb_load64(entry),
                                            .bits = bb_load64(entry + 8),
                                            .probes = bb_load64(entry + 16),
                                            .offset = walk->offset};
    walk->offset += bb_bloom_size(ret_entry->bits);
    return true;
}

double bb_scalable_bloom_ratio(struct bb_bytes payload)
{
    return bb_double_of_bits(bb_load64(payload.data + 8));
}

static enum bb_status copy_stage(struct bb_scalable_bloom *bloom, struct bb_bytes payload,
                                 const struct bb_scalable_entry *entry)
{
    size_t size = bb_bloom_size(entry->bits);
    enum bb_status status =
        append_stage(bloom, (struct bb_scalable_stage){.key_count = entry->key_count,
                                                       .bits = entry->bits,
                                                       .probes = (uint32_t)entry->probes});
    if (status != BB_OK)
        return status;
    struct bb_scalable_stage *stage = &bloom->stages[bloom->stage_count - 1];
    memcpy(stage->payload, payload.data + entry->offset, size);
    stage->set_count = bb_bloom_set_count(stage->payload, size);
    return BB_OK;
}

enum bb_status bb_scalable_bloom_decode(struct bb_scalable_bloom *bloom,
                                        const struct bb_envelope *envelope)
{
    struct bb_scalable_bloom_walk walk = bb_scalable_bloom_walk(envelope->payload);
    struct bb_scalable_entry entry;
    enum bb_status status = BB_OK;
    *bloom = (struct bb_scalable_bloom){.target_rate = envelope->target_rate,
                                        .ratio = bb_scalable_bloom_ratio(envelope->payload),
                                        .first_key_count = envelope->parameters[0]};
    while (status == BB_OK && bb_scalable_bloom_walk_next(&walk, envelope->payload, &entry))
        status = copy_stage(bloom, envelope->payload, &entry);
    if (status != BB_OK)
        bb_scalable_bloom_deinit(bloom);
    return status;
}
