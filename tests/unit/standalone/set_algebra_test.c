/* Goal: estimates of sets from bits are right, within the documented error; unions are the filters
 * of united sets. Method: repeated trials, whose error is compared with the documented standard
 * error; unions and folded filters compared with directly built ones, bit for bit. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "bloomblock/bloom/blocked_bloom.h"
#include "bloomblock/bloom/bloom.h"
#include "bloomblock/domain.h"
#include "standalone/envelope/envelope.h"
#include "standalone/bloom/partitioned_bloom.h"
#include "standalone/bloom/split_block.h"

struct shape {
    enum bb_filter_kind kind;
    uint64_t units;
    uint32_t probes;
};

static const struct shape classic = {BB_FILTER_BLOOM, 9600, 7};
static const struct shape blocked = {BB_FILTER_BLOCKED_BLOOM, 20, 6};
static const struct shape split = {BB_FILTER_SPLIT_BLOCK, 42, 8};
static const struct shape partitioned = {BB_FILTER_PARTITIONED, 1371, 7};

/* Units are counted in each slice. */
static size_t payload_size(struct shape shape)
{
    switch (shape.kind) {
    case BB_FILTER_BLOCKED_BLOOM:
        return shape.units * BB_LINE_SIZE;
    case BB_FILTER_SPLIT_BLOCK:
        return shape.units * BB_SPLIT_BLOCK_SIZE;
    case BB_FILTER_PARTITIONED:
        return bb_bloom_size(shape.units * shape.probes);
    default:
        return bb_bloom_size(shape.units);
    }
}

static void add_key(struct shape shape, uint8_t *payload, uint64_t hash)
{
    switch (shape.kind) {
    case BB_FILTER_BLOCKED_BLOOM:
        bb_blocked_bloom_add(payload, (uint32_t)shape.units, shape.probes, hash);
        break;
    case BB_FILTER_SPLIT_BLOCK:
        bb_split_block_add(payload, (uint32_t)shape.units, hash);
        break;
    case BB_FILTER_PARTITIONED:
        bb_partitioned_bloom_add(payload, shape.units, shape.probes, hash);
        break;
    default:
        bb_bloom_add(payload, shape.units, shape.probes, hash);
    }
}

/* Members begin ... end - 1 of a set, in a filter of exactly that shape. The salt is the set's
 * number, except for split blocks, which have no salt. */
static struct bb_buf filter_of(struct shape shape, uint64_t set, uint64_t begin, uint64_t end)
{
    bool raw = shape.kind == BB_FILTER_SPLIT_BLOCK;
    uint64_t slices = shape.kind == BB_FILTER_PARTITIONED ? shape.probes : 1;
    uint64_t domain = bb_domain(BB_DOMAIN_ENVELOPE, set);
    struct bb_buf buf = {0};
    struct bb_envelope fields = {.kind = shape.kind,
                                 .salt = raw ? 0 : set,
                                 .key_count = end - begin,
                                 .target_rate = 0.01,
                                 .parameters = {shape.units * slices, shape.probes}};
    uint8_t *payload = NULL;
    if (begin == end)
        memset(fields.parameters, 0, sizeof(fields.parameters));
    assert_ok(bb_envelope_encode(&fields, &buf));
    assert_ok(bb_buf_extend(&buf, begin == end ? 0 : payload_size(shape), &payload));
    for (uint64_t i = begin; i < end; i++) {
        uint64_t hash = member_hash(set, i);
        add_key(shape, payload, raw ? hash : bb_domain_hash(domain, hash));
    }
    assert_ok(bb_envelope_finish(&buf, 0, BB_OK));
    return buf;
}

static struct bb_bytes payload_of(const struct bb_buf *envelope)
{
    return (struct bb_bytes){envelope->data + 64, envelope->size - 72};
}

/* --- Errors over many trials --- */

#define TRIALS 400

struct errors {
    double squares;
    double sum;
    double stated;
};

static void errors_add(struct errors *errors, struct bb_filter_estimate estimate, double truth)
{
    double error = estimate.value - truth;
    errors->squares += error * error;
    errors->sum += error;
    errors->stated += estimate.standard_error;
}

/* The root mean square is the standard error that was stated, and the mean is about 0. */
static void assert_errors(const struct errors *errors, const char *what)
{
    double stated = errors->stated / TRIALS;
    double found = sqrt(errors->squares / TRIALS);
    double bias = errors->sum / TRIALS;
    if (found >= 0.7 * stated && found <= 1.3 * stated && fabs(bias) <= 0.3 * stated)
        return;
    print_error("%s: error %g, stated %g, bias %g\n", what, found, stated, bias);
    fail();
}

static void set_algebra__counts_err_as_they_say(void **state)
{
    (void)state;
    static const struct {
        struct shape shape;
        uint64_t keys;
    } cases[] = {
        {{BB_FILTER_BLOOM, 1000, 7}, 100},         {{BB_FILTER_BLOOM, 10007, 7}, 1000},
        {{BB_FILTER_BLOOM, 10000, 7}, 50},         {{BB_FILTER_BLOOM, 3000, 7}, 1000},
        {{BB_FILTER_BLOOM, 2000, 1}, 1500},        {{BB_FILTER_BLOOM, 24000, 17}, 1000},
        {{BB_FILTER_BLOCKED_BLOOM, 1, 7}, 50},     {{BB_FILTER_BLOCKED_BLOOM, 2, 7}, 100},
        {{BB_FILTER_BLOCKED_BLOOM, 20, 6}, 1000},  {{BB_FILTER_BLOCKED_BLOOM, 40, 14}, 700},
        {{BB_FILTER_BLOCKED_BLOOM, 100, 6}, 9000}, {{BB_FILTER_BLOCKED_BLOOM, 40, 30}, 1200},
        {{BB_FILTER_BLOCKED_BLOOM, 100, 6}, 20},   {{BB_FILTER_SPLIT_BLOCK, 42, 8}, 1000},
        {{BB_FILTER_SPLIT_BLOCK, 1, 8}, 30},       {{BB_FILTER_SPLIT_BLOCK, 42, 8}, 4000},
        {{BB_FILTER_SPLIT_BLOCK, 42, 8}, 30},      {{BB_FILTER_PARTITIONED, 1371, 7}, 1000},
        {{BB_FILTER_PARTITIONED, 100, 3}, 200}};
    for (size_t c = 0; c < BB_ARRAY_LENGTH(cases); c++) {
        struct errors errors = {0};
        char what[100];
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            struct bb_buf buf = filter_of(cases[c].shape, trial, 0, cases[c].keys);
            struct bb_filter_estimate keys;
            assert_ok(bb_filter_estimate_keys(bb_buf_bytes(&buf), &keys));
            errors_add(&errors, keys, (double)cases[c].keys);
            bb_buf_deinit(&buf);
        }
        snprintf(what, sizeof(what), "%s, %llu units, %u probes, %llu keys",
                 bb_filter_kind_name(cases[c].shape.kind), (unsigned long long)cases[c].shape.units,
                 cases[c].shape.probes, (unsigned long long)cases[c].keys);
        assert_errors(&errors, what);
    }
}

/* Two sets: members 0 ... first - 1, and from begin to end - 1. */
struct sets {
    uint64_t first, begin, end;
};

static void check_comparisons(struct shape large, struct shape small, struct sets sets)
{
    struct errors errors[7] = {{0}};
    static const char *const names[7] = {"first",      "second",      "either", "both",
                                         "first only", "second only", "jaccard"};
    double both = (double)(sets.first - sets.begin), either = (double)sets.end;
    double truths[7] = {(double)sets.first, (double)(sets.end - sets.begin), either,       both,
                        (double)sets.begin, (double)(sets.end - sets.first), both / either};
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct bb_buf first = filter_of(large, trial, 0, sets.first);
        struct bb_buf second = filter_of(small, trial, sets.begin, sets.end);
        struct bb_filter_comparison found;
        assert_ok(bb_filter_compare(bb_buf_bytes(&first), bb_buf_bytes(&second), &found));
        const struct bb_filter_estimate estimates[7] = {
            found.first,      found.second,      found.either, found.both,
            found.first_only, found.second_only, found.jaccard};
        for (int i = 0; i < 7; i++)
            errors_add(&errors[i], estimates[i], truths[i]);
        bb_buf_deinit(&first);
        bb_buf_deinit(&second);
    }
    for (int i = 0; i < 7; i++)
        assert_errors(&errors[i], names[i]);
}

static void set_algebra__comparisons_err_as_they_say(void **state)
{
    (void)state;
    check_comparisons(classic, classic, (struct sets){600, 400, 1000});
    check_comparisons(classic, classic, (struct sets){1000, 100, 1050});
    check_comparisons(classic, classic, (struct sets){100, 50, 1000});
    check_comparisons(blocked, blocked, (struct sets){600, 400, 1000});
    check_comparisons(blocked, blocked, (struct sets){1000, 200, 1100});
    check_comparisons((struct shape){BB_FILTER_BLOCKED_BLOOM, 40, 14},
                      (struct shape){BB_FILTER_BLOCKED_BLOOM, 40, 14},
                      (struct sets){400, 200, 700});
    check_comparisons(split, split, (struct sets){600, 400, 1000});
    check_comparisons(partitioned, partitioned, (struct sets){600, 400, 1000});
}

static void set_algebra__folded_filters_compare(void **state)
{
    (void)state;
    struct shape larger = classic;
    larger.units *= 3;
    check_comparisons(larger, classic, (struct sets){600, 400, 1000});
    larger = blocked;
    larger.units *= 4;
    check_comparisons(larger, blocked, (struct sets){600, 400, 1000});
    larger = split;
    larger.units *= 2;
    check_comparisons(larger, split, (struct sets){600, 400, 1000});
    larger = partitioned;
    larger.units *= 5;
    check_comparisons(larger, partitioned, (struct sets){600, 400, 1000});
}

/* --- Unions --- */

static void assert_same_payload(const struct bb_buf *found, const struct bb_buf *expected)
{
    struct bb_bytes a = payload_of(found), b = payload_of(expected);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

/* Filters of factor[0] and factor[1] times the units. */
static void check_union(struct shape shape, const uint64_t factors[2])
{
    struct shape shapes[2] = {shape, shape};
    struct bb_buf filters[2];
    struct bb_buf expected = filter_of(shape, 5, 0, 900);
    struct bb_buf found = {0};
    struct bb_filter_info info, alone;
    for (int i = 0; i < 2; i++) {
        shapes[i].units *= factors[i];
        filters[i] = filter_of(shapes[i], 5, i == 0 ? 0 : 500, i == 0 ? 600 : 900);
    }
    assert_ok(bb_filter_union(bb_buf_bytes(&filters[0]), bb_buf_bytes(&filters[1]), &found));
    assert_same_payload(&found, &expected);
    assert_ok(bb_filter_info(bb_buf_bytes(&found), &info));
    assert_ok(bb_filter_info(bb_buf_bytes(&expected), &alone));
    assert_true(info.predicted_rate == alone.predicted_rate && info.fill == alone.fill);
    assert_int_equal(info.kind, shape.kind);
    assert_int_equal(info.salt, shape.kind == BB_FILTER_SPLIT_BLOCK ? 0 : 5);
    assert_in_range(info.key_count, 820, 980);
    for (int i = 0; i < 2; i++)
        bb_buf_deinit(&filters[i]);
    bb_buf_deinit(&found);
    bb_buf_deinit(&expected);
}

static void set_algebra__a_union_is_the_filter_of_all_keys(void **state)
{
    (void)state;
    static const uint64_t factors[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 1}, {1, 7}, {64, 1}};
    static const struct shape shapes[] = {
        {BB_FILTER_BLOOM, 9600, 7},       {BB_FILTER_BLOOM, 9601, 5},
        {BB_FILTER_BLOOM, 6007, 1},       {BB_FILTER_BLOOM, 8009, 20},
        {BB_FILTER_BLOCKED_BLOOM, 20, 6}, {BB_FILTER_BLOCKED_BLOOM, 13, 13},
        {BB_FILTER_SPLIT_BLOCK, 40, 8},   {BB_FILTER_SPLIT_BLOCK, 37, 8},
        {BB_FILTER_PARTITIONED, 1371, 7}, {BB_FILTER_PARTITIONED, 1024, 10}};
    for (size_t s = 0; s < BB_ARRAY_LENGTH(shapes); s++)
        for (size_t f = 0; f < BB_ARRAY_LENGTH(factors); f++)
            check_union(shapes[s], factors[f]);
}

/* The smallest geometries: every unit count up to 64, folded by every factor up to 8. */
static void set_algebra__folding_holds_at_every_size(void **state)
{
    (void)state;
    static const struct shape shapes[] = {{BB_FILTER_BLOOM, 64, 3},
                                          {BB_FILTER_BLOCKED_BLOOM, 12, 3},
                                          {BB_FILTER_SPLIT_BLOCK, 12, 8},
                                          {BB_FILTER_PARTITIONED, 30, 3}};
    for (size_t s = 0; s < BB_ARRAY_LENGTH(shapes); s++)
        for (uint64_t units = 1; units <= shapes[s].units; units++)
            for (uint64_t factor = 1; factor <= 8; factor++) {
                struct shape shape = {shapes[s].kind, units, shapes[s].probes};
                struct shape larger = {shapes[s].kind, units * factor, shapes[s].probes};
                struct bb_buf expected = filter_of(shape, 9, 0, 5 + units / 4);
                struct bb_buf large = filter_of(larger, 9, 0, 5 + units / 4);
                struct bb_buf small = filter_of(shape, 9, 0, 1), found = {0};
                assert_ok(bb_filter_union(bb_buf_bytes(&large), bb_buf_bytes(&small), &found));
                assert_same_payload(&found, &expected);
                bb_buf_deinit(&expected);
                bb_buf_deinit(&large);
                bb_buf_deinit(&small);
                bb_buf_deinit(&found);
            }
}

static void set_algebra__unions_deny_no_member(void **state)
{
    (void)state;
    struct shape larger = blocked;
    larger.units *= 2;
    struct bb_buf first = filter_of(blocked, 3, 0, 400), second = filter_of(larger, 3, 300, 1000);
    struct bb_buf found = {0};
    struct bb_filter_view view;
    assert_ok(bb_buf_append(&found, "before", 6));
    assert_ok(bb_filter_union(bb_buf_bytes(&first), bb_buf_bytes(&second), &found));
    assert_memory_equal(found.data, "before", 6);
    assert_ok(bb_filter_view_init(&view, (struct bb_bytes){found.data + 6, found.size - 6}));
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(bb_filter_may_contain(&view, member_hash(3, i)));
    bb_buf_deinit(&first);
    bb_buf_deinit(&second);
    bb_buf_deinit(&found);
}

static void set_algebra__unions_keep_within_their_counts(void **state)
{
    (void)state;
    for (uint64_t begin = 0; begin <= 300; begin += 50) {
        struct bb_buf first = filter_of(classic, begin, 0, 300);
        struct bb_buf second = filter_of(classic, begin, begin, 300 + begin);
        struct bb_buf found = {0};
        struct bb_filter_info info;
        assert_ok(bb_filter_union(bb_buf_bytes(&first), bb_buf_bytes(&second), &found));
        assert_ok(bb_filter_info(bb_buf_bytes(&found), &info));
        assert_in_range(info.key_count, 300, 600);
        assert_true(begin > 0 || info.key_count < 330);
        bb_buf_deinit(&first);
        bb_buf_deinit(&second);
        bb_buf_deinit(&found);
    }
}

/* --- Counting filters --- */

/* The classic filter of the counting filter's contents. */
static void set_algebra__counters_are_bits_to_it(void **state)
{
    (void)state;
    struct bb_filter_options options = {
        .kind = BB_FILTER_COUNTING, .salt = 6, .parameters = {9600, 7}};
    struct bb_buf counting = {0}, found = {0}, expected = filter_of(classic, 6, 0, 900);
    struct bb_buf bits = filter_of(classic, 6, 0, 600), other = filter_of(classic, 6, 400, 900);
    struct bb_filter_estimate of_counters, of_bits;
    struct bb_filter_comparison compared;
    struct bb_filter_info info;
    envelope_append(&counting, &options, 6, 600);
    assert_ok(bb_filter_estimate_keys(bb_buf_bytes(&counting), &of_counters));
    assert_ok(bb_filter_estimate_keys(bb_buf_bytes(&bits), &of_bits));
    assert_memory_equal(&of_counters, &of_bits, sizeof(of_bits));
    assert_ok(bb_filter_compare(bb_buf_bytes(&counting), bb_buf_bytes(&bits), &compared));
    assert_true(compared.jaccard.value == 1 && compared.first_only.value == 0);
    assert_ok(bb_filter_union(bb_buf_bytes(&counting), bb_buf_bytes(&other), &found));
    assert_same_payload(&found, &expected);
    assert_ok(bb_filter_info(bb_buf_bytes(&found), &info));
    assert_int_equal(info.kind, BB_FILTER_BLOOM);
    assert_in_range(info.key_count, 850, 950);
    bb_buf_deinit(&counting);
    bb_buf_deinit(&found);
    bb_buf_deinit(&expected);
    bb_buf_deinit(&bits);
    bb_buf_deinit(&other);
}

static void set_algebra__counters_fold_and_may_count_nothing(void **state)
{
    (void)state;
    struct bb_filter_options options = {
        .kind = BB_FILTER_COUNTING, .salt = 6, .parameters = {9600 * 3, 7}};
    struct bb_buf larger = {0}, none = {0}, found = {0};
    struct bb_buf expected = filter_of(classic, 6, 0, 600), some = filter_of(classic, 6, 0, 1);
    struct bb_filter_info info;
    envelope_append(&larger, &options, 6, 600);
    envelope_append(&none, &options, 6, 0);
    assert_ok(bb_filter_union(bb_buf_bytes(&larger), bb_buf_bytes(&some), &found));
    assert_same_payload(&found, &expected);
    found.size = 0;
    assert_ok(bb_filter_union(bb_buf_bytes(&none), bb_buf_bytes(&none), &found));
    assert_ok(bb_filter_info(bb_buf_bytes(&found), &info));
    assert_true(info.kind == BB_FILTER_BLOOM && info.key_count == 0 && found.size == 72);
    bb_buf_deinit(&larger);
    bb_buf_deinit(&none);
    bb_buf_deinit(&found);
    bb_buf_deinit(&expected);
    bb_buf_deinit(&some);
}

/* --- Corners --- */

static void set_algebra__no_keys_are_counted_and_united(void **state)
{
    (void)state;
    struct bb_buf none = filter_of(classic, 1, 0, 0), some = filter_of(classic, 1, 0, 100);
    struct bb_buf found = {0};
    struct bb_filter_estimate keys;
    struct bb_filter_comparison compared;
    struct bb_filter_info info;
    assert_ok(bb_filter_estimate_keys(bb_buf_bytes(&none), &keys));
    assert_true(keys.value == 0 && keys.standard_error == 0);
    assert_ok(bb_filter_compare(bb_buf_bytes(&none), bb_buf_bytes(&none), &compared));
    assert_true(compared.either.value == 0 && compared.both.value == 0);
    assert_true(compared.jaccard.value == 1 && compared.jaccard.standard_error == 0);
    assert_ok(bb_filter_compare(bb_buf_bytes(&none), bb_buf_bytes(&some), &compared));
    assert_true(compared.first.value == 0 && compared.both.value == 0);
    assert_true(compared.second_only.value == compared.second.value);
    assert_true(compared.jaccard.value == 0 && compared.jaccard.standard_error == 0);
    assert_ok(bb_filter_union(bb_buf_bytes(&none), bb_buf_bytes(&none), &found));
    assert_int_equal(found.size, none.size);
    assert_memory_equal(found.data, none.data, none.size);
    found.size = 0;
    assert_ok(bb_filter_union(bb_buf_bytes(&none), bb_buf_bytes(&some), &found));
    assert_ok(bb_filter_info(bb_buf_bytes(&found), &info));
    assert_int_equal(info.key_count, 100);
    assert_same_payload(&found, &some);
    bb_buf_deinit(&none);
    bb_buf_deinit(&some);
    bb_buf_deinit(&found);
}

static void set_algebra__full_filters_say_that_they_say_nothing(void **state)
{
    (void)state;
    struct shape shape = {BB_FILTER_BLOOM, 512, 7};
    struct bb_buf full = filter_of(shape, 1, 0, 5000), some = filter_of(shape, 1, 0, 40);
    struct bb_buf found = {0};
    struct bb_filter_estimate keys;
    struct bb_filter_comparison compared;
    struct bb_filter_info info;
    assert_ok(bb_filter_estimate_keys(bb_buf_bytes(&full), &keys));
    assert_true(isinf(keys.value) && isinf(keys.standard_error));
    assert_ok(bb_filter_compare(bb_buf_bytes(&some), bb_buf_bytes(&full), &compared));
    assert_true(isinf(compared.either.value) && isinf(compared.second.value));
    assert_true(compared.both.value == 0 && isinf(compared.both.standard_error));
    assert_true(compared.first_only.value == 0 && isinf(compared.first_only.standard_error));
    assert_true(isinf(compared.second_only.value) && isinf(compared.second_only.standard_error));
    assert_true(compared.jaccard.value == 0 && isinf(compared.jaccard.standard_error));
    assert_true(isfinite(compared.first.standard_error));
    assert_ok(bb_filter_union(bb_buf_bytes(&some), bb_buf_bytes(&full), &found));
    assert_ok(bb_filter_info(bb_buf_bytes(&found), &info));
    assert_true(info.predicted_rate == 1 && info.key_count == 5040);
    /* Two that claim the maximum number of keys. */
    bb_store64(full.data + 32, BB_FILTER_KEY_COUNT_MAX);
    envelope_repair(&full);
    found.size = 0;
    assert_ok(bb_filter_union(bb_buf_bytes(&full), bb_buf_bytes(&full), &found));
    assert_ok(bb_filter_info(bb_buf_bytes(&found), &info));
    assert_true(info.key_count == BB_FILTER_KEY_COUNT_MAX);
    bb_buf_deinit(&full);
    bb_buf_deinit(&some);
    bb_buf_deinit(&found);
}

static void set_algebra__estimates_keep_within_the_possible(void **state)
{
    (void)state;
    for (uint64_t salt = 0; salt < 300; salt++) {
        struct bb_buf first = filter_of(blocked, salt, 0, 1 + salt * 5);
        struct bb_buf second = filter_of(blocked, salt, salt * (salt % 6), 1 + salt * 6);
        struct bb_filter_comparison c;
        assert_ok(bb_filter_compare(bb_buf_bytes(&first), bb_buf_bytes(&second), &c));
        double least = fmin(c.first.value, c.second.value);
        assert_true(c.both.value >= 0 && c.both.value <= least);
        assert_true(c.either.value >= fmax(c.first.value, c.second.value));
        assert_true(c.either.value <= c.first.value + c.second.value);
        assert_true(c.first_only.value >= 0 && c.first_only.value <= c.first.value);
        assert_true(c.second_only.value >= 0 && c.second_only.value <= c.second.value);
        assert_true(c.jaccard.value >= 0 && c.jaccard.value <= 1);
        assert_true(isfinite(c.jaccard.standard_error) && isfinite(c.both.standard_error));
        bb_buf_deinit(&first);
        bb_buf_deinit(&second);
    }
}

static void assert_refused(struct bb_buf *first, struct bb_buf *second, enum bb_status status,
                           const char *reason)
{
    struct bb_buf found = {0};
    struct bb_filter_comparison compared;
    assert_status(bb_filter_union(bb_buf_bytes(first), bb_buf_bytes(second), &found), status);
    assert_message(reason);
    assert_status(bb_filter_compare(bb_buf_bytes(first), bb_buf_bytes(second), &compared), status);
    assert_message(reason);
    assert_int_equal(found.size, 0);
    bb_buf_deinit(&found);
    bb_buf_deinit(second);
}

static void set_algebra__what_does_not_fit_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct bb_buf first = filter_of(classic, 1, 0, 100);
    struct bb_buf other = filter_of(blocked, 1, 0, 100);
    assert_refused(&first, &other, BB_INVALID, "kinds bloom and blocked-bloom");
    other = filter_of(classic, 2, 0, 100);
    assert_refused(&first, &other, BB_INVALID, "salts");
    other = filter_of((struct shape){BB_FILTER_BLOOM, 9600, 6}, 1, 0, 100);
    assert_refused(&first, &other, BB_INVALID, "7 bits of one filter and 6");
    other = filter_of((struct shape){BB_FILTER_BLOOM, 9601, 7}, 1, 0, 100);
    assert_refused(&first, &other, BB_INVALID, "9600 and 9601 units");
    other = filter_of((struct shape){BB_FILTER_BLOOM, 14400, 7}, 1, 0, 100);
    assert_refused(&first, &other, BB_INVALID, "multiple");
    other = filter_of(classic, 1, 0, 100);
    other.data[70] ^= 1;
    assert_refused(&first, &other, BB_CORRUPT, "checksum");
    bb_buf_deinit(&first);
}

static void set_algebra__ribbons_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_NONE,
                                                BB_FILTER_SCALABLE};
    static const char *const reasons[] = {"takes their keys", "no bits to count", "stages"};
    for (int i = 0; i < 3; i++)
        for (uint64_t count = 0; count <= 100; count += 100) {
            struct bb_buf first = envelope_of(kinds[i], 0.01, 1, count);
            struct bb_buf second = envelope_of(kinds[i], 0.01, 1, count);
            struct bb_filter_estimate keys;
            assert_status(bb_filter_estimate_keys(bb_buf_bytes(&first), &keys), BB_UNSUPPORTED);
            assert_message(reasons[i]);
            assert_refused(&first, &second, BB_UNSUPPORTED, reasons[i]);
            bb_buf_deinit(&first);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_algebra__counts_err_as_they_say),
        cmocka_unit_test(set_algebra__comparisons_err_as_they_say),
        cmocka_unit_test(set_algebra__folded_filters_compare),
        cmocka_unit_test(set_algebra__a_union_is_the_filter_of_all_keys),
        cmocka_unit_test(set_algebra__folding_holds_at_every_size),
        cmocka_unit_test(set_algebra__unions_deny_no_member),
        cmocka_unit_test(set_algebra__unions_keep_within_their_counts),
        cmocka_unit_test(set_algebra__counters_are_bits_to_it),
        cmocka_unit_test(set_algebra__counters_fold_and_may_count_nothing),
        cmocka_unit_test(set_algebra__no_keys_are_counted_and_united),
        cmocka_unit_test(set_algebra__full_filters_say_that_they_say_nothing),
        cmocka_unit_test(set_algebra__estimates_keep_within_the_possible),
        cmocka_unit_test(set_algebra__what_does_not_fit_is_refused_with_the_reason),
        cmocka_unit_test(set_algebra__ribbons_are_refused_with_the_reason),
    };
    keys_init("set_algebra");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
