/* Goal: batches have the results of single probes, for any number of hashes or filters, and write
 * only the results. Method: filters of all kinds, without keys, without bytes, damaged; every
 * number of probes around the sizes of words. */
#include "tests/unit/standalone/envelope_fixture.h"

#include <math.h>

#include "standalone/kind/kind.h"

#define QUESTIONS 300
#define WORDS     (QUESTIONS / 64 + 2)
#define VIEWS     130

static void assert_bits(const uint64_t *bits, const bool *answers, size_t count)
{
    size_t words = (count + 63) / 64;
    for (size_t i = 0; i < words * 64; i++)
        assert_int_equal(bits[i / 64] >> (i % 64) & 1, i < count && answers[i]);
    assert_true(bits[words] == UINT64_C(0x5555555555555555)); /* untouched */
}

static void assert_many(const struct bb_filter_view *view, const uint64_t *hashes)
{
    bool answers[QUESTIONS];
    uint64_t bits[WORDS];
    for (size_t i = 0; i < QUESTIONS; i++)
        answers[i] = bb_filter_may_contain(view, hashes[i]);
    for (size_t count = 0; count <= QUESTIONS; count += count < 140 ? 1 : 13) {
        memset(bits, 0x55, sizeof(bits));
        bb_filter_may_contain_many(view, hashes, count, bits);
        assert_bits(bits, answers, count);
    }
}

/* Two kinds of keys, mixed. */
static void draw(uint64_t *hashes, uint64_t set, uint64_t key_count)
{
    for (uint64_t i = 0; i < QUESTIONS; i++)
        hashes[i] = i % 3 == 0 && key_count > 0 ? member_hash(set, i % key_count) : absent_hash(i);
}

static bool exists(enum bb_filter_kind kind)
{
    struct bb_filter_options options = {.kind = kind};
    struct bb_filter_builder *builder = NULL;
    bool there = bb_filter_builder_create(&options, &builder) == BB_OK;
    bb_filter_builder_destroy(builder);
    return there;
}

static void filter_batch__many_hashes(void **state)
{
    (void)state;
    static const uint64_t key_counts[] = {0, 1, 40, 300, 1000, 30000};
    uint64_t hashes[QUESTIONS];
    for (enum bb_filter_kind kind = BB_FILTER_NONE; kind < 32; kind++)
        for (size_t n = 0; n < BB_ARRAY_LENGTH(key_counts) && exists(kind); n++) {
            struct bb_buf envelope = envelope_of(kind, 0.2, n, key_counts[n]);
            struct bb_filter_view view;
            assert_ok(bb_filter_view_init(&view, (struct bb_bytes){envelope.data, envelope.size}));
            draw(hashes, n, key_counts[n]);
            for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
                if (bb_cpu_has(cpu)) {
                    bb_kind_view_use(&view, cpu);
                    assert_many(&view, hashes);
                }
            bb_buf_deinit(&envelope);
        }
}

static void filter_batch__a_view_without_a_filter_lets_all_through(void **state)
{
    (void)state;
    struct bb_filter_view view = {0};
    uint64_t hashes[QUESTIONS];
    draw(hashes, 0, 0);
    assert_many(&view, hashes);
    assert_status(bb_filter_view_init(&view, (struct bb_bytes){NULL, 0}), BB_CORRUPT);
    assert_many(&view, hashes);
}

static void assert_each(const struct bb_filter_view *views, uint64_t hash)
{
    bool answers[VIEWS];
    uint64_t bits[VIEWS / 64 + 2];
    for (size_t i = 0; i < VIEWS; i++)
        answers[i] = bb_filter_may_contain(&views[i], hash);
    for (size_t count = 0; count <= VIEWS; count++) {
        memset(bits, 0x55, sizeof(bits));
        bb_filter_may_contain_each(views, count, hash, bits);
        assert_bits(bits, answers, count);
    }
}

static void filter_batch__many_filters(void **state)
{
    (void)state;
    static struct bb_buf envelopes[VIEWS];
    static struct bb_filter_view views[VIEWS];
    for (uint64_t i = 0; i < VIEWS; i++) {
        enum bb_filter_kind kind = (enum bb_filter_kind)(1 + i % 9);
        if (!exists(kind))
            continue; /* a view of zeros */
        envelopes[i] = envelope_of(kind, 0.3, i, i % 11 == 10 ? 0 : i * 37);
        envelopes[i].data[envelopes[i].size - 1] ^= i % 17 == 16;
        enum bb_status status =
            bb_filter_view_init(&views[i], (struct bb_bytes){envelopes[i].data, envelopes[i].size});
        assert_int_equal(status, i % 17 == 16 ? BB_CORRUPT : BB_OK);
    }
    for (uint64_t i = 0; i < 40; i++) {
        assert_each(views, absent_hash(i));
        assert_each(views, member_hash(i, 0));
    }
    for (size_t i = 0; i < VIEWS; i++)
        bb_buf_deinit(&envelopes[i]);
}

/* Ribbons probed together: all of large shards; then with small ones and wide ones, which are
 * probed in another way, between them, more than a word's worth of them in a row. */
static void assert_ribbons(size_t others)
{
    static struct bb_buf envelopes[VIEWS];
    static struct bb_filter_view views[VIEWS];
    for (uint64_t i = 0; i < VIEWS; i++) {
        bool other = others > 0 && i % others == others - 1;
        double rate = other && i % 2 == 0 ? 0.001 : ldexp(0.75, -1 - (int)(i % 8));
        uint64_t count = other && i % 2 == 1 ? 40 : 300 + i * 30;
        envelopes[i] = envelope_of(BB_FILTER_RIBBON, rate, i, count);
        assert_ok(bb_filter_view_init(&views[i],
                                      (struct bb_bytes){envelopes[i].data, envelopes[i].size}));
    }
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        for (size_t i = 0; i < VIEWS && bb_cpu_has(cpu); i++)
            bb_kind_view_use(&views[i], cpu);
        for (uint64_t i = 0; i < 10; i++) {
            assert_each(views, absent_hash(i));
            assert_each(views, member_hash(i * 13, i));
        }
    }
    for (size_t i = 0; i < VIEWS; i++)
        bb_buf_deinit(&envelopes[i]);
}

static void filter_batch__many_ribbons(void **state)
{
    (void)state;
    assert_ribbons(0);
    assert_ribbons(5);
    assert_ribbons(90);
}

/* --- Runs --- */

#define RUN_MAX 64 /* views, in one word of answers */

/* A view of the pool: ribbons with up to 8 fingerprint bits, with and without a step, of one shard
 * and of many; between them, regularly, kinds that are probed in other ways. */
static struct bb_buf pool_envelope(uint64_t i)
{
    switch (i % 12) {
    case 8:
        return envelope_of(BB_FILTER_RIBBON, 0.001, i, 500);
    case 9:
        return envelope_of(BB_FILTER_RIBBON, 0.05, i, 30);
    case 10:
        return envelope_of(BB_FILTER_BLOCKED_BLOOM, 0.1, i, 200);
    case 11:
        return envelope_of(BB_FILTER_RIBBON, 0.1, i, 0);
    default:
        return envelope_of(BB_FILTER_RIBBON, ldexp(i % 24 < 12 ? 1 : 0.75, -1 - (int)(i % 8)), i,
                           i % 5 == 0 ? 9000 : 250 + i);
    }
}

/* others: one in this many views is any of the pool, the rest are ribbons; 0: all are ribbons. */
static uint64_t drawn_view(struct bb_rng *rng, uint32_t others)
{
    if (others > 0 && bb_rng_one_in(rng, others))
        return bb_rng_below(rng, RUN_MAX);
    return bb_rng_below(rng, RUN_MAX / 12) * 12 + bb_rng_below(rng, 8);
}

/* Views that end at an unreadable page are probed in every form; single probes of the first form
 * must agree with all. */
static void assert_run(struct bb_filter_view *views, size_t count, uint64_t hash)
{
    struct guarded guarded = guarded_copy((const uint8_t *)views, count * sizeof(*views));
    struct bb_filter_view *copies = (struct bb_filter_view *)(void *)guarded.data;
    bool answers[RUN_MAX];
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        uint64_t bits[2] = {0, UINT64_C(0x5555555555555555)};
        for (size_t i = 0; i < count && bb_cpu_has(cpu); i++) {
            bb_kind_view_use(&copies[i], cpu);
            if (cpu == BB_CPU_PORTABLE)
                answers[i] = bb_filter_may_contain(&copies[i], hash);
        }
        bb_filter_may_contain_each(copies, count, hash, bits);
        assert_bits(bits, answers, count);
    }
    guarded_free(&guarded);
}

static void filter_batch__runs_of_every_length(void **state)
{
    (void)state;
    struct bb_buf envelopes[RUN_MAX];
    struct bb_filter_view pool[RUN_MAX], views[RUN_MAX];
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    for (uint64_t i = 0; i < RUN_MAX; i++) {
        envelopes[i] = pool_envelope(i);
        envelopes[i].data[envelopes[i].size - 1] ^= i == 22;
        struct bb_bytes bytes = {envelopes[i].data, envelopes[i].size};
        assert_int_equal(bb_filter_view_init(&pool[i], bytes), i == 22 ? BB_CORRUPT : BB_OK);
    }
    for (size_t count = 1; count <= RUN_MAX; count++)
        for (uint32_t turn = 0; turn < 24; turn++) {
            static const uint32_t others[] = {0, 40, 8, 2};
            uint64_t set = 0;
            for (size_t i = 0; i < count; i++)
                views[i] = pool[set = drawn_view(&rng, others[turn % 4])];
            assert_run(views, count, turn % 3 == 0 ? member_hash(set, 0) : absent_hash(turn));
        }
    for (size_t i = 0; i < RUN_MAX; i++)
        bb_buf_deinit(&envelopes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_batch__many_hashes),
        cmocka_unit_test(filter_batch__a_view_without_a_filter_lets_all_through),
        cmocka_unit_test(filter_batch__many_filters),
        cmocka_unit_test(filter_batch__many_ribbons),
        cmocka_unit_test(filter_batch__runs_of_every_length),
    };
    keys_init("filter_batch");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
