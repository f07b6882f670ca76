/* Goal: returns the entries of an input that no range tombstone of it or of later inputs hides, and
 * detects an input that ends early. */
#include "tests/support/assert_status.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/status.h"
#include "kv/ingest/intake_iter.h"
#include "tests/support/array_iter.h"
#include "tests/support/entry_array.h"

static struct bb_range_tombstones *list_of(const char *low, const char *high, uint64_t sequence)
{
    struct bb_range_tombstone tombstone = {bb_bytes_of_text(low), bb_bytes_of_text(high), sequence};
    struct bb_range_tombstones *list = NULL;
    assert_ok(bb_range_tombstones_create(&tombstone, 1, NULL, 1, &list));
    return list;
}

static void begin(struct bb_entry_array *array, struct bb_iter **ret_stream)
{
    *array = (struct bb_entry_array){0};
    bb_entry_array_add_text(array, "a", 9, "1");
    bb_entry_array_add_text(array, "b", 9, "2");
    bb_entry_array_add_text(array, "b", 3, "3");
    bb_entry_array_add_text(array, "c", 3, "4");
    bb_entry_array_add_text(array, "d", 9, "5");
    *ret_stream = bb_entry_array_iter(array);
}

static void assert_given(struct bb_intake_source *source, const char *expected)
{
    char given[64] = "";
    size_t used = 0;
    struct bb_iter *iter = NULL;
    assert_ok(bb_intake_iter_create(source, &iter));
    for (int round = 0; round < 2; round++) {
        used = 0;
        for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter)) {
            used +=
                (size_t)snprintf(given + used, sizeof(given) - used, "%.*s",
                                 (int)iter->entry.value.size, (const char *)iter->entry.value.data);
            assert_int_equal(iter->entry.sequence, source->sequence);
        }
        assert_ok(iter->status);
        assert_string_equal(given, expected);
    }
    bb_iter_destroy(iter);
}

static void intake_iter__hides_what_is_covered(void **state)
{
    (void)state;
    struct bb_range_tombstones *own = list_of("b", "d", 9);
    struct bb_range_tombstones *later = list_of("d", "e", 3);
    for (int which = 0; which < 4; which++) {
        struct bb_entry_array array;
        struct bb_intake_source source = {.entry_count = 5, .sequence = 77, .number = 2};
        begin(&array, &source.stream);
        source.own = (which & 1) != 0 ? own : NULL;
        source.by_input = (which & 2) != 0 ? later : NULL;
        static const char *const expected[] = {"12345", "125", "1234", "12"};
        assert_given(&source, expected[which]);
        bb_entry_array_deinit(&array);
    }
    bb_range_tombstones_destroy(own);
    bb_range_tombstones_destroy(later);
}

struct asked {
    uint32_t count;
    uint32_t refused; /* this one is */
};

static enum bb_status may_go_on(void *context)
{
    struct asked *asked = context;
    return ++asked->count == asked->refused ? bb_fail(BB_BUSY, "closing") : BB_OK;
}

/* Regression: an input that was completely hidden was read to its end while a closing waited. */
static void intake_iter__asks_while_it_passes_what_is_hidden(void **state)
{
    (void)state;
    for (uint32_t refused = 0; refused < 3; refused++) {
        struct asked asked = {.refused = refused};
        struct bb_range_tombstones *later = list_of("k", "l", 3);
        struct bb_entry_array array = {0};
        struct bb_iter *iter = NULL;
        for (uint64_t i = 10000; i > 0; i--)
            bb_entry_array_add_text(&array, "k", i, "v");
        struct bb_intake_source source = {.stream = bb_entry_array_iter(&array),
                                          .entry_count = 10000,
                                          .sequence = 77,
                                          .number = 1,
                                          .by_input = later,
                                          .may_go_on = may_go_on,
                                          .context = &asked};
        assert_ok(bb_intake_iter_create(&source, &iter));
        bb_iter_seek_first(iter);
        assert_false(iter->is_valid);
        assert_status(iter->status, refused == 0 ? BB_OK : BB_BUSY);
        assert_int_equal(asked.count, refused == 0 ? 2 : refused);
        bb_iter_destroy(iter);
        bb_entry_array_deinit(&array);
        bb_range_tombstones_destroy(later);
    }
}

/* Tombstones of the input itself and of earlier inputs. */
static void intake_iter__earlier_inputs_hide_nothing(void **state)
{
    (void)state;
    for (uint64_t number = 3; number <= 4; number++) {
        struct bb_range_tombstones *by_input = list_of("a", "e", 3);
        struct bb_entry_array array;
        struct bb_intake_source source = {
            .entry_count = 5, .sequence = 77, .number = number, .by_input = by_input};
        begin(&array, &source.stream);
        assert_given(&source, "12345");
        bb_entry_array_deinit(&array);
        bb_range_tombstones_destroy(by_input);
    }
}

static void intake_iter__of_an_input_with_too_few_entries(void **state)
{
    (void)state;
    struct bb_range_tombstones *own = list_of("a", "e", 10);
    for (int is_hidden = 0; is_hidden < 2; is_hidden++) {
        struct bb_entry_array array;
        struct bb_iter *iter = NULL;
        struct bb_intake_source source = {
            .entry_count = 6, .sequence = 77, .number = 1, .own = is_hidden ? own : NULL};
        begin(&array, &source.stream);
        assert_ok(bb_intake_iter_create(&source, &iter));
        for (bb_iter_seek_first(iter); iter->is_valid;)
            bb_iter_next(iter);
        assert_status(iter->status, BB_CORRUPT);
        bb_iter_destroy(iter);
        bb_entry_array_deinit(&array);
    }
    bb_range_tombstones_destroy(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intake_iter__hides_what_is_covered),
        cmocka_unit_test(intake_iter__asks_while_it_passes_what_is_hidden),
        cmocka_unit_test(intake_iter__earlier_inputs_hide_nothing),
        cmocka_unit_test(intake_iter__of_an_input_with_too_few_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
