/* Goal: order, common prefixes and eight-byte prefixes of keys are right for every length, and no
 * byte past the end is read. Method: compared with the obvious loop, over random keys in heap
 * blocks of exactly their size (a sanitizer finds the first byte too many); the printed form
 * compared with written-out examples, at every buffer size. */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/comparator.h"
#include "tests/support/rng.h"

#define KEY_SIZE_MAX 40
#define ROUNDS       20000

/* A random key at the end of a separate block. */
static struct bb_bytes draw_key(struct bb_rng *rng)
{
    uint8_t drawn[KEY_SIZE_MAX];
    size_t size = bb_rng_key(rng, drawn, bb_rng_below(rng, KEY_SIZE_MAX + 1));
    uint8_t *data = malloc(size == 0 ? 1 : size);
    assert_non_null(data);
    memcpy(data, drawn, size);
    return bb_bytes_of(data, size);
}

static void free_key(struct bb_bytes key)
{
    free((uint8_t *)(uintptr_t)key.data);
}

static size_t naive_shared_prefix(struct bb_bytes a, struct bb_bytes b)
{
    size_t i = 0;
    while (i < a.size && i < b.size && a.data[i] == b.data[i])
        i++;
    return i;
}

static int naive_compare(struct bb_bytes a, struct bb_bytes b)
{
    size_t i = naive_shared_prefix(a, b);
    if (i < a.size && i < b.size)
        return a.data[i] < b.data[i] ? -1 : 1;
    return a.size < b.size ? -1 : a.size > b.size;
}

static uint64_t naive_prefix64(struct bb_bytes bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++)
        value = value << 8 | (i < bytes.size ? bytes.data[i] : 0);
    return value;
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void bytes__agree_with_the_obvious_loops(void **state)
{
    struct bb_rng *rng = *state;
    size_t shared_8_or_more = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct bb_bytes a = draw_key(rng);
        struct bb_bytes b = draw_key(rng);
        size_t shared = bb_bytes_shared_prefix(a, b);
        assert_int_equal(shared, naive_shared_prefix(a, b));
        assert_int_equal(sign(bb_bytes_compare(a, b)), naive_compare(a, b));
        assert_int_equal(sign(bb_bytes_compare(b, a)), -naive_compare(a, b));
        assert_int_equal(bb_bytes_equal(a, b), naive_compare(a, b) == 0);
        assert_true(bb_bytes_prefix64(a) == naive_prefix64(a));
        if (bb_bytes_prefix64(a) != bb_bytes_prefix64(b))
            assert_int_equal(sign(bb_bytes_compare(a, b)),
                             bb_bytes_prefix64(a) < bb_bytes_prefix64(b) ? -1 : 1);
        shared_8_or_more += shared >= 8;
        free_key(a);
        free_key(b);
    }
    assert_true(shared_8_or_more > ROUNDS / 100); /* the keys do exercise the wide path */
}

static void bytes__shared_prefix_ends_at_every_place(void **state)
{
    (void)state;
    uint8_t a[KEY_SIZE_MAX];
    uint8_t b[KEY_SIZE_MAX];
    for (size_t size = 0; size <= KEY_SIZE_MAX; size++) {
        for (size_t differs = 0; differs < size; differs++) {
            memset(a, 7, sizeof(a));
            memset(b, 7, sizeof(b));
            b[differs] = 0x87; /* only the high bit */
            assert_int_equal(bb_bytes_shared_prefix(bb_bytes_of(a, size), bb_bytes_of(b, size)),
                             differs);
        }
        assert_int_equal(bb_bytes_shared_prefix(bb_bytes_of(a, size), bb_bytes_of(a, KEY_SIZE_MAX)),
                         size);
    }
}

static void bytes__empty_bytes_may_have_no_address(void **state)
{
    (void)state;
    struct bb_bytes none = {0};
    struct bb_bytes one = bb_bytes_of_text("a");
    assert_int_equal(bb_bytes_compare(none, none), 0);
    assert_true(bb_bytes_compare(none, one) < 0);
    assert_true(bb_bytes_compare(one, none) > 0);
    assert_true(bb_bytes_equal(none, none));
    assert_int_equal(bb_bytes_shared_prefix(none, one), 0);
    assert_true(bb_bytes_prefix64(none) == 0);
}

static void bytes__prefix64_orders_like_the_bytes(void **state)
{
    (void)state;
    assert_true(bb_bytes_prefix64(bb_bytes_of_text("abcdefgh")) == UINT64_C(0x6162636465666768));
    assert_true(bb_bytes_prefix64(bb_bytes_of_text("abcdefghi")) == UINT64_C(0x6162636465666768));
    assert_true(bb_bytes_prefix64(bb_bytes_of_text("abcde")) == UINT64_C(0x6162636465000000));
    assert_true(bb_bytes_prefix64(bb_bytes_of_text("ab")) ==
                bb_bytes_prefix64(bb_bytes_of("ab\0", 3)));
    assert_true(bb_bytes_prefix64(bb_bytes_of_text("\xff")) >
                bb_bytes_prefix64(bb_bytes_of_text("zzzzzzzz")));
}

static int compare_backwards(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static void bytes__comparator_null_is_bytewise(void **state)
{
    (void)state;
    struct bb_comparator backwards = {.name = "backwards", .compare = compare_backwards};
    struct bb_bytes a = bb_bytes_of_text("a");
    struct bb_bytes b = bb_bytes_of_text("b");
    assert_true(bb_key_compare(NULL, a, b) < 0);
    assert_true(bb_key_compare(&backwards, a, b) > 0);
    assert_string_equal(bb_comparator_name(NULL), "bytewise");
    assert_string_equal(bb_comparator_name(&backwards), "backwards");
}

static void bytes__escape_shows_every_byte(void **state)
{
    (void)state;
    char buffer[64];
    assert_string_equal(
        bb_bytes_escape(bb_bytes_of("a\0\\~\x7f\n\xff ", 8), buffer, sizeof(buffer)),
        "a\\x00\\\\~\\x7f\\x0a\\xff ");
    assert_string_equal(bb_bytes_escape((struct bb_bytes){0}, buffer, sizeof(buffer)), "");
}

static void bytes__escape_cuts_between_forms(void **state)
{
    (void)state;
    static const struct {
        size_t size; /* of the buffer; 13 is enough for the whole text and its terminator */
        const char *text;
    } cases[] = {
        {1, ""},
        {2, "."},
        {3, ".."},
        {4, "..."},
        {5, "a..."},
        {8, "a..."},
        {9, "a\\x00..."},
        {10, "a\\x00b..."},
        {12, "a\\x00b..."},
        {13, "a\\x00b\\x01cd"},
    };
    struct bb_bytes bytes = bb_bytes_of("a\0b\1cd", 6);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *buffer = malloc(cases[i].size);
        assert_non_null(buffer);
        assert_string_equal(bb_bytes_escape(bytes, buffer, cases[i].size), cases[i].text);
        free(buffer);
    }
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("bytes_test", 1));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(bytes__agree_with_the_obvious_loops, &rng),
        cmocka_unit_test(bytes__shared_prefix_ends_at_every_place),
        cmocka_unit_test(bytes__empty_bytes_may_have_no_address),
        cmocka_unit_test(bytes__prefix64_orders_like_the_bytes),
        cmocka_unit_test(bytes__comparator_null_is_bytewise),
        cmocka_unit_test(bytes__escape_shows_every_byte),
        cmocka_unit_test(bytes__escape_cuts_between_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
