/* Goal: searching finds the first place, at every length and alignment, also among many near
 * matches. Method: random texts of few letters, compared with a search byte by byte.
 *
 * BB_TEST_SEED sets the seed.
 */
#include "tests/support/assert_status.h"

#include <ctype.h>
#include <string.h>

#include "base/bytes.h"
#include "skip/condition/search.h"
#include "tests/support/rng.h"

#define TEXT_SIZE 200
#define DRAWS     200000

static bool find_slowly(struct bb_bytes text, size_t from, struct bb_bytes wanted, bool is_folded,
                        size_t *ret_at)
{
    for (size_t at = from; at + wanted.size <= text.size; at++) {
        size_t same = 0;
        while (same < wanted.size && (is_folded ? tolower(text.data[at + same])
                                                : text.data[at + same]) == wanted.data[same])
            same++;
        if (same == wanted.size) {
            *ret_at = at;
            return true;
        }
    }
    return false;
}

static void compare(struct bb_bytes text, size_t from, struct bb_bytes wanted)
{
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        size_t at = SIZE_MAX;
        size_t expected = SIZE_MAX;
        bool is_found = is_folded ? bb_search_folded(text, from, wanted, &at)
                                  : bb_search(text, from, wanted, &at);
        assert_int_equal(is_found, find_slowly(text, from, wanted, is_folded, &expected));
        assert_int_equal(at, expected);
    }
}

static void search__finds_the_first_place(void **state)
{
    (void)state;
    static const uint8_t letters[] = {'a', 'b', '{', 'A', '[', 0, 0xc1, 0xe1};
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("search", 5));
    for (size_t i = 0; i < DRAWS; i++) {
        uint8_t text[TEXT_SIZE];
        uint8_t wanted[20];
        size_t size = (size_t)bb_rng_skewed(&rng, TEXT_SIZE);
        size_t wanted_size = (size_t)bb_rng_below(&rng, sizeof(wanted));
        size_t letter_count = bb_rng_one_in(&rng, 2) ? 2 : sizeof(letters);
        for (size_t j = 0; j < size; j++)
            text[j] = letters[bb_rng_below(&rng, letter_count)];
        for (size_t j = 0; j < wanted_size; j++)
            wanted[j] = bb_fold_byte(letters[bb_rng_below(&rng, letter_count)]);
        compare(bb_bytes_of(text, size), (size_t)bb_rng_below(&rng, size + 1),
                bb_bytes_of(wanted, wanted_size));
    }
}

/* Both ends of the needle are at every place. */
static void search__many_places_that_nearly_match(void **state)
{
    (void)state;
    static uint8_t text[100000];
    uint8_t wanted[50];
    memset(text, 'a', sizeof(text));
    memset(wanted, 'a', sizeof(wanted));
    wanted[25] = 'b';
    compare(bb_bytes_of(text, sizeof(text)), 0, bb_bytes_of(wanted, sizeof(wanted)));
    text[99000] = 'b';
    compare(bb_bytes_of(text, sizeof(text)), 0, bb_bytes_of(wanted, sizeof(wanted)));
    compare(bb_bytes_of(text, sizeof(text)), 98976, bb_bytes_of(wanted, sizeof(wanted)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search__finds_the_first_place),
        cmocka_unit_test(search__many_places_that_nearly_match),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
