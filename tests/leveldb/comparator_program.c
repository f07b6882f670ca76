/* Stores in custom orders, with and without a filter; the order's name is checked. */
#include <stdint.h>

#include "tests/leveldb/order.h"
#include "tests/leveldb/session.h"

static void write_words(struct session *s)
{
    static const char *const words[] = {"alpha", "Alpha", "ALPHA", "beta",  "b",  "B",
                                        "gamma", "delta", "Delta", "omega", "aa", ""};
    enum { COUNT = sizeof(words) / sizeof(words[0]) };
    char key[64];
    for (int i = 0; i < 2400; i++) {
        snprintf(key, sizeof(key), "%s%d", words[i % COUNT], i * 31 % 199);
        if (i % 9 == 4)
            session_delete(s, text_of(key));
        else
            session_put(s, text_of(key), text_of(words[i * 5 % COUNT]));
    }
    for (int i = 0; i < COUNT; i++)
        session_put(s, text_of(words[i]), text_of(words[i]));
}

static void read_words(struct session *s)
{
    static const char *const words[] = {"alpha",  "aLPHa7", "OMEGA", "nothing",
                                        "beta19", "BETA19", "b"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        session_get(s, text_of(words[i]));
    session_dump(s);
}

static void run_words(leveldb_comparator_t *order, leveldb_filterpolicy_t *filter, const char *name)
{
    struct session s;
    session_init(&s, name);
    printf("==== %s\n", name);
    leveldb_options_set_comparator(s.options, order);
    leveldb_options_set_filter_policy(s.options, filter);
    session_open(&s);
    write_words(&s);
    read_words(&s);
    leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    read_words(&s);
    session_close(&s);
    session_open(&s);
    write_words(&s);
    leveldb_compact_range(s.db, "b", 1, "gamma", 5);
    read_words(&s);
    session_deinit(&s);
}

/* Another order than the store's, and none. */
static void open_wrongly(leveldb_comparator_t *wrong, const char *name)
{
    struct session s;
    session_init(&s, name);
    leveldb_options_set_comparator(s.options, wrong);
    session_open(&s);
    session_deinit(&s);
    session_init(&s, name);
    session_open(&s);
    session_deinit(&s);
}

static struct text number(const uint64_t *value)
{
    return (struct text){(const char *)value, sizeof(*value)};
}

/* Every call that takes keys, with an order that only accepts keys of 8 bytes. */
static void run_numbers(leveldb_filterpolicy_t *filter, const char *name)
{
    struct session s;
    leveldb_comparator_t *order = order_create_numbers();
    uint64_t low = 1000;
    uint64_t high = UINT64_C(1) << 40;
    session_init(&s, name);
    printf("==== %s\n", name);
    leveldb_options_set_comparator(s.options, order);
    leveldb_options_set_filter_policy(s.options, filter);
    session_open(&s);
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t key = i * UINT64_C(0x9e3779b97f4a7c15) >> (i % 40);
        session_put(&s, number(&key), text_of("a value of some thirty bytes, or more"));
        if (i % 1000 == 999)
            leveldb_compact_range(s.db, number(&low).data, 8, number(&high).data, 8);
    }
    const char *starts[] = {number(&low).data};
    const char *limits[] = {number(&high).data};
    size_t sizes[] = {8};
    uint64_t bytes[] = {0};
    leveldb_approximate_sizes(s.db, 1, starts, sizes, limits, sizes, bytes);
    session_get(&s, number(&low));
    leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    session_get(&s, number(&high));
    session_dump(&s);
    session_deinit(&s);
    leveldb_comparator_destroy(order);
}

int main(void)
{
    long count = 0;
    leveldb_comparator_t *reverse = order_create_reverse();
    leveldb_comparator_t *by_length = order_create_by_length(&count);
    leveldb_comparator_t *caseless = order_create_caseless();
    leveldb_filterpolicy_t *bloom = leveldb_filterpolicy_create_bloom(10);
    run_words(reverse, NULL, "reverse");
    run_words(reverse, bloom, "reverse-filter");
    run_words(by_length, bloom, "by-length");
    run_words(caseless, NULL, "caseless");
    open_wrongly(by_length, "reverse");
    run_words(reverse, bloom, "reverse");
    printf("%s\n", count > 0 ? "compared" : "never compared");
    run_numbers(NULL, "numbers");
    run_numbers(bloom, "numbers-filter");
    leveldb_filterpolicy_destroy(bloom);
    leveldb_comparator_destroy(caseless);
    leveldb_comparator_destroy(by_length);
    leveldb_comparator_destroy(reverse);
    return 0;
}
