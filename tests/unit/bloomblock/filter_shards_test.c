/* Goal: shards probed in one call agree with single probes, in every form, and no unreadable byte
 * is touched. Method: random descriptors over random bytes, which once begin, with their lead,
 * right after an unreadable page and once end, with their pad, right before one; every key is also
 * probed in its shard in the portable form. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_probe.h"

#define SHARDS_MAX           7
#define FINGERPRINT_BITS_MAX 16
#define KEYS                 400
#define PAYLOADS_MAX         (SHARDS_MAX * BB_RIBBON_GROUPS_MAX * (FINGERPRINT_BITS_MAX + 1))

struct set {
    struct bb_filter_shards shards;
    uint64_t places[SHARDS_MAX];
    uint8_t bytes[BB_FILTER_LEAD_BYTES + PAYLOADS_MAX + BB_FILTER_PAD_BYTES];
    size_t size; /* of payloads */
};

static void append(struct set *set, size_t shard, struct bb_descriptor parts)
{
    uint32_t fingerprint_bits = (uint32_t)set->shards.fingerprint_bits + parts.step;
    size_t size = parts.bit_exact ? bb_ribbon_bits_size(parts.size, fingerprint_bits)
                                  : (size_t)parts.size * fingerprint_bits;
    set->places[shard] = (uint64_t)set->size << 16 | bb_descriptor_encode(parts);
    set->size += size;
}

static struct bb_descriptor random_window(struct bb_rng *rng)
{
    uint32_t sizes = BB_RIBBON_GROUPS_MAX - BB_RIBBON_GROUPS_MIN + 1;
    uint64_t random = bb_rng_next(rng);
    return (struct bb_descriptor){.step = random & 1,
                                  .seed = random >> 1 & 63,
                                  .size = BB_RIBBON_GROUPS_MIN + (uint32_t)(random >> 8) % sizes};
}

static void set_init(struct set *set, uint32_t fingerprint_bits, size_t count, struct bb_rng *rng)
{
    set->shards = (struct bb_filter_shards){.places = set->places,
                                            .domain = bb_rng_next(rng),
                                            .count = count,
                                            .fingerprint_bits = fingerprint_bits};
    set->size = 0;
    for (size_t i = 0; i < count; i++)
        append(set, i, random_window(rng));
    bb_rng_bytes(rng, set->bytes, sizeof(set->bytes));
}

/* Has an answer been of each kind? */
struct tally {
    size_t yes;
    size_t no;
};

static void check_key(const struct set *set, uint64_t key_hash, struct tally *tally)
{
    const struct bb_filter_shards *shards = &set->shards;
    const struct bb_filter_probes *probes =
        bb_ribbon_probe_of(BB_CPU_PORTABLE, (uint32_t)shards->fingerprint_bits);
    uint64_t hash = key_hash ^ shards->domain;
    uint64_t place = set->places[bb_shard_hash_shard(hash, shards->count)];
    bool expected = (uint16_t)place == BB_DESCRIPTOR_NONE ||
                    bb_filter_probe_one(probes, shards->payloads + (place >> 16), (uint16_t)place,
                                        (uint32_t)shards->fingerprint_bits, hash);
    shards->prefetch(shards, key_hash); /* reads only the place */
    assert_int_equal(shards->probe(shards, key_hash), expected);
    *(expected ? &tally->yes : &tally->no) += 1;
}

/* Returns whether the form is a short one. */
static bool check_form(struct set *set, enum bb_cpu cpu, uint64_t seed)
{
    const struct bb_filter_probes *probes =
        bb_ribbon_probe_of(cpu, (uint32_t)set->shards.fingerprint_bits);
    size_t size = BB_FILTER_LEAD_BYTES + set->size + BB_FILTER_PAD_BYTES;
    struct guarded space = guarded_copy(set->bytes, size);
    struct tally tally = {0};
    struct bb_rng rng;
    for (int i = 0; i < 2; i++) {
        /* The copies overlap where they are larger than a page: each is made before its probe. */
        uint8_t *copy = memcpy(i == 0 ? space.start : space.data, set->bytes, size);
        set->shards.payloads = copy + BB_FILTER_LEAD_BYTES;
        bb_ribbon_probe_shards(&set->shards, probes);
        bb_rng_init(&rng, seed);
        for (size_t key = 0; key < KEYS; key++)
            check_key(set, bb_rng_next(&rng), &tally);
    }
    assert_true(tally.no > 0 && (tally.yes > 0 || set->shards.fingerprint_bits > 4));
    guarded_free(&space);
    return set->shards.probe == probes->shards;
}

/* has_windows: all shards have windows. Then each form is short that exists. */
static void check_set(struct set *set, uint64_t seed, bool has_windows)
{
    uint32_t bits = (uint32_t)set->shards.fingerprint_bits;
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        if (bb_cpu_has(cpu)) {
            bool exists = bits < 8 || (bits < 16 && cpu != BB_CPU_PORTABLE);
            assert_int_equal(check_form(set, cpu, seed), has_windows && exists);
        }
}

static void filter_shards__all_fingerprint_bits(void **state)
{
    (void)state;
    static struct set set;
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    for (uint32_t fingerprint_bits = 1; fingerprint_bits <= FINGERPRINT_BITS_MAX;
         fingerprint_bits++)
        for (size_t count = 1; count <= SHARDS_MAX; count++) {
            set_init(&set, fingerprint_bits, count, &rng);
            check_set(&set, bb_rng_next(&rng), true);
        }
}

/* The short forms take no other layout. */
static void filter_shards__of_any_layout(void **state)
{
    (void)state;
    static struct set set;
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed + 1);
    for (uint32_t fingerprint_bits = 1; fingerprint_bits <= FINGERPRINT_BITS_MAX;
         fingerprint_bits++) {
        set_init(&set, fingerprint_bits, 4, &rng);
        append(&set, 3, (struct bb_descriptor){.bit_exact = true, .size = 200});
        check_set(&set, bb_rng_next(&rng), false);
    }
}

/* A damaged shard returns maybe, and the others continue. */
static void filter_shards__without_one(void **state)
{
    (void)state;
    static struct set set;
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed + 2);
    for (uint32_t fingerprint_bits = 1; fingerprint_bits < 8; fingerprint_bits++) {
        set_init(&set, fingerprint_bits, 5, &rng);
        set.places[fingerprint_bits % 5] = UINT64_MAX << 16;
        check_set(&set, bb_rng_next(&rng), false);
    }
}

static int set_up(void **state)
{
    (void)state;
    keys_init("filter_shards");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_shards__all_fingerprint_bits),
        cmocka_unit_test(filter_shards__of_any_layout),
        cmocka_unit_test(filter_shards__without_one),
    };
    return cmocka_run_group_tests_name("filter_shards", tests, set_up, NULL);
}
