/* Goal: no filter of any kind rules out a member, in any form of its probe, single or in batches;
 * all forms agree for non-member keys; no byte outside an envelope is read. Method: filters of n =
 * 0 ... 4,096 keys at several rates, of every buildable kind; every member is probed in every form.
 * Envelopes end at an unreadable page; small ribbons with up to 8 fingerprint bits, whose probes
 * may load bytes before a window, also begin after one.
 *
 * BB_TEST_PROBES: see tests/support/probe_slice.h. From about 50,000,000 per kind every n is tested
 * for every kind; more probes use other sets of keys, at other rates.
 */
#include "tests/unit/standalone/envelope_fixture.h"

#include "standalone/kind/kind.h"
#include "tests/support/probe_slice.h"

#define ABSENT_COUNT 64
#define KIND_END     32 /* after the last kind, with space for future ones */

static const double rates[] = {0.3, 0.01, 1.0 / 128, 0.0005, 1e-5, BB_FILTER_RATE_MIN};

#define RATE_COUNT (sizeof(rates) / sizeof(rates[0]))

static uint32_t form_count(void)
{
    uint32_t count = 0;
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        count += bb_cpu_has(cpu);
    return count;
}

static bool can_be_built(enum bb_filter_kind kind)
{
    struct bb_filter_options options = {.kind = kind, .target_rate = 0.01};
    struct bb_filter_builder *builder = NULL;
    if (bb_filter_kind_name(kind) == NULL || kind == BB_FILTER_NONE ||
        bb_filter_builder_create(&options, &builder) != BB_OK)
        return false;
    bb_filter_builder_destroy(builder);
    return true;
}

static void fail_member(enum bb_filter_kind kind, double rate, uint64_t set, uint64_t count,
                        enum bb_cpu cpu, uint64_t i)
{
    print_error("%s at %g, %llu keys of set %llu, %s: member %llu is denied\n",
                bb_filter_kind_name(kind), rate, (unsigned long long)count, (unsigned long long)set,
                bb_cpu_name(cpu), (unsigned long long)i);
    fail();
}

/* The first denied of the hashes, or count. */
static uint64_t first_denied(const struct bb_filter_view *view, const uint64_t *hashes,
                             uint64_t count)
{
    static uint64_t bits[PROBE_SLICE_KEYS_MAX / 64 + 1];
    bb_filter_may_contain_many(view, hashes, (size_t)count, bits);
    for (uint64_t i = 0; i < count; i++)
        if (!(bits[i / 64] >> (i % 64) & 1) || !bb_filter_may_contain(view, hashes[i]))
            return i;
    return count;
}

static uint64_t absent_answers(const struct bb_filter_view *view)
{
    uint64_t answers = 0, many = 0, hashes[ABSENT_COUNT];
    for (uint64_t i = 0; i < ABSENT_COUNT; i++) {
        hashes[i] = absent_hash(i);
        answers |= (uint64_t)bb_filter_may_contain(view, hashes[i]) << i;
    }
    bb_filter_may_contain_many(view, hashes, ABSENT_COUNT, &many);
    assert_int_equal(many, answers);
    return answers;
}

/* Returns the number of member probes. */
static uint64_t assert_filter(enum bb_filter_kind kind, double rate, uint64_t set, uint64_t count)
{
    static uint64_t hashes[PROBE_SLICE_KEYS_MAX];
    struct bb_buf envelope = envelope_of(kind, rate, set, count);
    struct guarded guarded = guarded_copy(envelope.data, envelope.size);
    struct bb_filter_view view;
    uint64_t portable = 0, asked = 0;
    for (uint64_t i = 0; i < count; i++)
        hashes[i] = member_hash(set, i);
    assert_ok(bb_filter_view_init(&view, (struct bb_bytes){guarded.data, envelope.size}));
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        if (!bb_cpu_has(cpu))
            continue;
        bb_kind_view_use(&view, cpu);
        uint64_t denied = first_denied(&view, hashes, count);
        if (denied < count)
            fail_member(kind, rate, set, count, cpu, denied);
        uint64_t answers = absent_answers(&view);
        if (cpu == BB_CPU_PORTABLE)
            portable = answers;
        assert_int_equal(answers, portable);
        asked += 2 * count;
    }
    guarded_free(&guarded);
    bb_buf_deinit(&envelope);
    return asked;
}

static uint64_t assert_filters(enum bb_filter_kind kind, struct probe_slice slice)
{
    uint64_t asked = 0;
    for (uint64_t turn = 0; turn < slice.turns; turn++) {
        uint64_t set = (uint64_t)kind << 16 | turn, rate = turn;
        for (uint64_t n = (key_seed + set) % slice.stride; n <= PROBE_SLICE_KEYS_MAX;
             n += slice.stride)
            asked += assert_filter(kind, rates[rate++ % RATE_COUNT], set, n);
    }
    return asked;
}

static void filter_probe__no_member_is_denied(void **state)
{
    (void)state;
    uint64_t kinds = 0, asked = 0;
    for (enum bb_filter_kind kind = BB_FILTER_NONE; kind < KIND_END; kind++)
        kinds += can_be_built(kind);
    assert_true(kinds >= 3);
    struct probe_slice slice = probe_slice_of(kinds * 2 * form_count(), probe_slice_wanted());
    for (enum bb_filter_kind kind = BB_FILTER_NONE; kind < KIND_END; kind++)
        if (can_be_built(kind))
            asked += assert_filters(kind, slice);
    print_message("%llu kinds, every %llu. n, %llu times: %llu questions to members\n",
                  (unsigned long long)kinds, (unsigned long long)slice.stride,
                  (unsigned long long)slice.turns, (unsigned long long)asked);
    assert_true(asked > 0);
}

/* --- Windows at the very beginning of an envelope --- */

#define FRONT_FINGERPRINT_BITS_MAX 8
#define FRONT_PROBE_SLICE_KEYS_MAX 100 /* from one window on, and few more groups */

static bool passes_in_every_way(const struct bb_filter_view *view, uint64_t hash)
{
    const struct bb_filter_view views[6] = {*view, *view, *view, *view, *view, *view};
    uint64_t few = 0, many = 0;
    bb_filter_may_contain_each(views, 2, hash, &few);
    bb_filter_may_contain_each(views, 6, hash, &many);
    return few == 3 && many == 63 && first_denied(view, &hash, 1) == 1;
}

static void assert_front(double rate, uint64_t count)
{
    struct bb_buf envelope = envelope_of(BB_FILTER_RIBBON, rate, count, count);
    struct guarded guarded = guarded_copy(envelope.data, envelope.size);
    struct bb_filter_view view;
    memmove(guarded.start, envelope.data, envelope.size);
    assert_ok(bb_filter_view_init(&view, (struct bb_bytes){guarded.start, envelope.size}));
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        if (!bb_cpu_has(cpu))
            continue;
        bb_kind_view_use(&view, cpu);
        for (uint64_t i = 0; i < count; i++)
            assert_true(passes_in_every_way(&view, member_hash(count, i)));
        absent_answers(&view);
    }
    guarded_free(&guarded);
    bb_buf_deinit(&envelope);
}

static void filter_probe__nothing_in_front_of_an_envelope_is_read(void **state)
{
    (void)state;
    for (int fingerprint_bits = 1; fingerprint_bits <= FRONT_FINGERPRINT_BITS_MAX;
         fingerprint_bits++) {
        for (uint64_t count = 1; count <= FRONT_PROBE_SLICE_KEYS_MAX; count++) {
            assert_front(ldexp(1, -fingerprint_bits), count);
            assert_front(ldexp(0.75, -fingerprint_bits), count); /* with a step */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_probe__no_member_is_denied),
        cmocka_unit_test(filter_probe__nothing_in_front_of_an_envelope_is_read),
    };
    keys_init("filter_probe");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
