/* The tokens of a segment: each once, with its granules and the records of each. */
#include "skip/kind/token_table.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "tests/support/assert_status.h"

static void table__drops_a_granule_and_keeps_the_others(void **state)
{
    (void)state;
    struct bb_token_table table;
    struct bb_sorted_token *tokens = NULL;
    struct bb_buf spare = {0};
    size_t count = 0;
    bool is_full = false;
    char token[16];
    assert_ok(bb_token_table_init(&table));
    for (uint32_t granule = 0; granule < 3; granule++) {
        uint32_t end = granule == 1 ? BB_TOKEN_TABLE_GRANULE_TOKENS_MAX + 1 : 5;
        for (uint32_t i = 0; i < end; i++) {
            size_t size = (size_t)sprintf(token, "%u", i);
            bb_token_table_next_record(&table);
            bb_token_table_add(&table, bb_hash_mix(i), bb_bytes_of(token, size));
            bb_token_table_add(&table, bb_hash_mix(i), bb_bytes_of(token, size));
        }
        assert_ok(bb_token_table_end_granule(&table, &is_full));
        assert_int_equal(is_full, granule == 1);
    }
    assert_ok(bb_token_table_sort(&table, &spare, &tokens, &count));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tokens[i].bytes.data[0], '0' + i);
        assert_int_equal(tokens[i].pair_count, 2);
        assert_int_equal(bb_token_pair_granule(tokens[i].pairs[0]), 0);
        assert_int_equal(bb_token_pair_granule(tokens[i].pairs[1]), 2);
        assert_int_equal(bb_token_pair_records(tokens[i].pairs[1]), 1);
    }
    bb_free(tokens);
    bb_buf_deinit(&spare);
    bb_token_table_deinit(&table);
}

/* Two tokens of one hash are two tokens. */
static void table__tells_tokens_of_one_hash_apart(void **state)
{
    (void)state;
    struct bb_token_table table;
    struct bb_sorted_token *tokens = NULL;
    struct bb_buf spare = {0};
    size_t count = 0;
    assert_ok(bb_token_table_init(&table));
    bb_token_table_next_record(&table);
    bb_token_table_add(&table, 42, bb_bytes_of("left", 4));
    bb_token_table_add(&table, 42, bb_bytes_of("right", 5));
    bb_token_table_add(&table, 42, bb_bytes_of("left", 4));
    assert_ok(bb_token_table_sort(&table, &spare, &tokens, &count));
    assert_int_equal(count, 2);
    assert_memory_equal(tokens[0].bytes.data, "left", 4);
    assert_memory_equal(tokens[1].bytes.data, "right", 5);
    bb_free(tokens);
    bb_buf_deinit(&spare);
    bb_token_table_deinit(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__drops_a_granule_and_keeps_the_others),
        cmocka_unit_test(table__tells_tokens_of_one_hash_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
