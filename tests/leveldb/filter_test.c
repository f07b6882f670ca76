/* Goal: filters have the requested cost, do not exist unless requested and permitted, and hide no
 * key of an order that treats different bytes as equal. Method: stores are written through
 * LevelDB's interface and read through bloomblock's. */
#include "tests/leveldb/opened.h"

#include <ctype.h>

#include "bb/db.h"

enum { KEYS = 30000 };

static void fill(struct opened *o)
{
    char key[32];
    char *error = NULL;
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "Key%09d", (int)((long)i * 7919 % KEYS));
        leveldb_put(o->db, o->write, key, strlen(key), "some value", 10, &error);
    }
    assert_null(error);
}

/* Bits of filters for each key, all levels, of the store when it is closed. */
static double bits_per_key(struct opened *o, const struct bb_comparator *order)
{
    struct bb_db_options options = {.comparator = order};
    struct bb_db_stats stats;
    struct bb_db *db = NULL;
    uint64_t keys = 0;
    assert_int_equal(bb_db_open(o->path, &options, &db), BB_OK);
    bb_db_stats(db, &stats);
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        keys += stats.levels[i].key_count;
    assert_in_range(keys, KEYS / 2, 2 * KEYS);
    assert_int_equal(bb_db_close(db), BB_OK);
    return (double)stats.filter_bytes * 8 / (double)keys;
}

/* A compaction without new data does nothing: a key precedes each. */
static double bits_with(leveldb_filterpolicy_t *policy, int compactions)
{
    char *error = NULL;
    struct opened o;
    opened_prepare(&o);
    leveldb_options_set_write_buffer_size(o.options, 64 << 10);
    leveldb_options_set_filter_policy(o.options, policy);
    opened_again(&o);
    fill(&o);
    for (int i = 0; i < compactions; i++) {
        leveldb_put(o.db, o.write, "Key000000000", 12, "some value", 10, &error);
        leveldb_compact_range(o.db, NULL, 0, NULL, 0);
    }
    assert_null(error);
    leveldb_close(o.db);
    double bits = bits_per_key(&o, NULL);
    opened_again(&o);
    opened_deinit(&o);
    return bits;
}

static void bloom_costs_about_its_bits(void **state)
{
    static const int wanted[] = {4, 10, 20};
    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create_bloom(wanted[i]);
        double again = bits_with(policy, 2);
        double compacted = bits_with(policy, 1);
        double loaded = bits_with(policy, 0);
        leveldb_filterpolicy_destroy(policy);
        print_message("%d bits asked: %.2f compacted again, %.2f compacted, %.2f as loaded\n",
                      wanted[i], again, compacted, loaded);
        assert_true(again > 0.85 * wanted[i] && again <= 1.02 * wanted[i]);
        /* Planned with the cost of filters in the earlier tables. The number of small ones, where a
         * key costs up to a bit more, depends on the order of threads. */
        assert_true(compacted > 0.85 * wanted[i] - 0.8 && compacted <= 1.02 * wanted[i]);
        /* How many runs there are depends on the threads too, and work may still be due. On a busy
         * machine 4.85 bits were seen for 4. */
        assert_true(loaded > 0.7 * wanted[i] && loaded <= 1.15 * wanted[i] + 0.8);
    }
}

static void no_bits_are_no_filter(void **state)
{
    leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create_bloom(0);
    (void)state;
    assert_true(bits_with(policy, 1) == 0);
    leveldb_filterpolicy_destroy(policy);
}

static void policy_destructor(void *state)
{
    (*(int *)state)++;
}

static char *create_filter(void *state, const char *const *keys, const size_t *sizes, int count,
                           size_t *ret_size)
{
    (void)state, (void)keys, (void)sizes, (void)count, (void)ret_size;
    fail_msg("a program's filter is not asked");
    return NULL;
}

static uint8_t may_match(void *state, const char *key, size_t size, const char *filter,
                         size_t filter_size)
{
    (void)state, (void)key, (void)size, (void)filter, (void)filter_size;
    fail_msg("a program's filter is not asked");
    return 0;
}

static const char *policy_name(void *state)
{
    (void)state;
    return "test.policy";
}

static void other_policies_are_the_default(void **state)
{
    int destroyed = 0;
    (void)state;
    leveldb_filterpolicy_t *own = leveldb_filterpolicy_create(
        &destroyed, policy_destructor, create_filter, may_match, policy_name);
    double with_own = bits_with(own, 1);
    double with_none = bits_with(NULL, 1);
    leveldb_filterpolicy_destroy(own);
    assert_int_equal(destroyed, 1);
    assert_true(with_own > 6 && with_own < 9);
    assert_true(with_none > 6 && with_none < 9);
}

static int compare_caseless(const char *a, size_t alen, const char *b, size_t blen)
{
    for (size_t i = 0; i < alen && i < blen; i++) {
        int difference = tolower((unsigned char)a[i]) - tolower((unsigned char)b[i]);
        if (difference != 0)
            return difference;
    }
    return (alen > blen) - (alen < blen);
}

static int compare_theirs(void *state, const char *a, size_t alen, const char *b, size_t blen)
{
    (void)state;
    return compare_caseless(a, alen, b, blen);
}

static int compare_ours(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return compare_caseless((const char *)a.data, a.size, (const char *)b.data, b.size);
}

static const char *order_name(void *state)
{
    (void)state;
    return "test.caseless";
}

/* Even with a filter of the program's own, which may well be why it has one. */
static void equated_keys_are_found(void **state)
{
    const struct bb_comparator order = {.name = "test.caseless", .compare = compare_ours};
    int destroyed = 0;
    struct opened o;
    (void)state;
    leveldb_comparator_t *comparator =
        leveldb_comparator_create(&destroyed, policy_destructor, compare_theirs, order_name);
    leveldb_filterpolicy_t *own = leveldb_filterpolicy_create(
        &destroyed, policy_destructor, create_filter, may_match, policy_name);
    opened_prepare(&o);
    leveldb_options_set_comparator(o.options, comparator);
    leveldb_options_set_filter_policy(o.options, own);
    opened_again(&o);
    fill(&o);
    opened_expect(&o, "kEY000000017", "some value");
    leveldb_compact_range(o.db, NULL, 0, NULL, 0);
    opened_expect(&o, "kEY000000017", "some value");
    leveldb_close(o.db);
    assert_true(bits_per_key(&o, &order) == 0);
    opened_again(&o);
    opened_expect(&o, "KEY000000018", "some value");
    opened_deinit(&o);
    leveldb_filterpolicy_destroy(own);
    leveldb_comparator_destroy(comparator);
    assert_int_equal(destroyed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bloom_costs_about_its_bits),
        cmocka_unit_test(no_bits_are_no_filter),
        cmocka_unit_test(other_policies_are_the_default),
        cmocka_unit_test(equated_keys_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
