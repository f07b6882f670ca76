/* Goal: bounds agree with whole comparisons for every key. Method: all strings of a small alphabet
 * up to a length as bounds and as keys, then long random ones that share prefixes; both orders. */
#include "tests/unit/sstable/table_fixture.h"

#include "sstable/meta/bounds.h"

static void check(const struct bb_bounds *bounds, const struct bb_comparator *comparator,
                  struct bb_bytes key)
{
    bool expected = bb_key_compare(comparator, key, bounds->smallest) >= 0 &&
                    bb_key_compare(comparator, key, bounds->largest) <= 0;
    if (bb_bounds_contain(bounds, comparator, key) == expected &&
        bb_bounds_contain_any(bounds, comparator, key) == expected)
        return;
    char text[3][128];
    print_error("\"%s\" in \"%s\" ... \"%s\"\n", bb_bytes_escape(key, text[0], 128),
                bb_bytes_escape(bounds->smallest, text[1], 128),
                bb_bytes_escape(bounds->largest, text[2], 128));
    fail();
}

/* Strings of the bytes 0, 'a' and 255, in any order. */
#define SHORT_MAX   3
#define SHORT_COUNT (1 + 3 + 9 + 27)

static size_t list_short(uint8_t text[SHORT_COUNT][SHORT_MAX], struct bb_bytes *ret_keys)
{
    static const uint8_t alphabet[] = {0, 'a', 255};
    size_t count = 0;
    for (size_t size = 0, combinations = 1; size <= SHORT_MAX; size++, combinations *= 3)
        for (size_t i = 0; i < combinations; i++, count++) {
            for (size_t j = 0, rest = i; j < size; j++, rest /= 3)
                text[count][j] = alphabet[rest % 3];
            ret_keys[count] = bb_bytes_of(text[count], size);
        }
    return count;
}

static void check_all(const struct bb_comparator *comparator, const struct bb_bytes *keys,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            struct bb_bounds bounds;
            if (bb_key_compare(comparator, keys[i], keys[j]) > 0)
                continue;
            bb_bounds_init(&bounds, comparator, keys[i], keys[j]);
            for (size_t k = 0; k < count; k++)
                check(&bounds, comparator, keys[k]);
        }
}

static void bounds__short_keys(void **state)
{
    (void)state;
    uint8_t text[SHORT_COUNT][SHORT_MAX];
    struct bb_bytes keys[SHORT_COUNT];
    size_t count = list_short(text, keys);
    assert_int_equal(count, SHORT_COUNT);
    check_all(NULL, keys, count);
    check_all(&backwards, keys, count);
}

/* After prefixes of any length, the longer ones beyond the eight bytes of a number. */
static void bounds__long_keys(void **state)
{
    (void)state;
    enum { COUNT = 60, SIZE = 40 };
    uint8_t text[COUNT][SIZE];
    struct bb_bytes keys[COUNT];
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("bounds", 1));
    for (size_t common = 0; common <= 20; common++) {
        for (size_t i = 0; i < COUNT; i++) {
            memset(text[i], 'p', SIZE);
            size_t size = common + bb_rng_below(&rng, SIZE - common + 1);
            for (size_t j = common; j < size; j++)
                text[i][j] = (uint8_t)(bb_rng_one_in(&rng, 3) ? bb_rng_below(&rng, 256) : 'x');
            if (bb_rng_one_in(&rng, 10))
                text[i][bb_rng_below(&rng, SIZE)] ^= 1;
            keys[i] = bb_bytes_of(text[i], size);
        }
        check_all(NULL, keys, COUNT);
    }
    check_all(&backwards, keys, COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds__short_keys),
        cmocka_unit_test(bounds__long_keys),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
