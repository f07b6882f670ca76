/* Goal: no block filter of any kind rules out a member, in any form of its probe; all forms agree
 * for non-member keys. Method: filters of n = 0 ... 4,096 keys at several rates; every member is
 * probed in every form.
 *
 * BB_TEST_PROBES: see tests/support/probe_slice.h.
 */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "tests/support/probe_slice.h"

#define ABSENT_COUNT 64

static const double rates[] = {0.3, 0.01, 1.0 / 128, 0.0005, 1e-5, BB_FILTER_RATE_MIN};

#define RATE_COUNT (sizeof(rates) / sizeof(rates[0]))

static uint32_t form_count(void)
{
    uint32_t count = 0;
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        count += bb_cpu_has(cpu);
    return count;
}

static const enum bb_filter_kind block_kinds[] = {BB_FILTER_RIBBON, BB_FILTER_BLOCKED_BLOOM,
                                                  BB_FILTER_BLOOM};

static uint64_t assert_group(struct bb_block_filter_format *format,
                             struct bb_block_filter_builder *builder, uint64_t set, uint64_t count)
{
    struct group group;
    uint64_t portable = 0, asked = 0;
    group_init(&group, format, builder, set, (size_t)count);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        if (!bb_cpu_has(cpu))
            continue;
        uint64_t answers = 0;
        bb_block_filter_format_use(format, cpu);
        assert_group_has(&group, set, (size_t)count);
        for (uint64_t i = 0; i < ABSENT_COUNT; i++)
            answers |= (uint64_t)group_may_contain(&group, absent_hash(i)) << i;
        if (cpu == BB_CPU_PORTABLE)
            portable = answers;
        assert_int_equal(answers, portable);
        asked += count;
    }
    group_deinit(&group);
    return asked;
}

static uint64_t assert_groups(enum bb_filter_kind kind, double rate, uint64_t set,
                              struct probe_slice slice)
{
    struct bb_block_filter_format format = format_of(kind, rate, set);
    struct bb_block_filter_builder *builder = builder_of(&format);
    uint64_t asked = 0;
    for (uint64_t turn = 0; turn < slice.turns; turn++)
        for (uint64_t n = (key_seed + set) % slice.stride; n <= PROBE_SLICE_KEYS_MAX;
             n += slice.stride)
            asked += assert_group(&format, builder, set + turn, n);
    bb_block_filter_builder_destroy(builder);
    return asked;
}

static void block_filter_probe__no_member_is_denied(void **state)
{
    (void)state;
    uint64_t asked = 0;
    struct probe_slice slice = probe_slice_of(
        BB_ARRAY_LENGTH(block_kinds) * RATE_COUNT * form_count(), probe_slice_wanted() / 2);
    for (size_t kind = 0; kind < BB_ARRAY_LENGTH(block_kinds); kind++)
        for (size_t rate = 0; rate < RATE_COUNT; rate++)
            asked += assert_groups(block_kinds[kind], rates[rate], (kind << 8 | rate) << 8, slice);
    print_message("filters of blocks, every %llu. n: %llu questions to members\n",
                  (unsigned long long)slice.stride, (unsigned long long)asked);
    assert_true(asked > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_filter_probe__no_member_is_denied),
    };
    keys_init("block_filter_probe");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
