/* Put, get, delete: keys and values of any bytes, empty ones, large ones; closing and reopening;
 * compaction of the whole store and of parts. */
#include <stdlib.h>

#include "tests/leveldb/session.h"

static void write_strange_keys(struct session *s)
{
    static const struct text keys[] = {
        {"", 0},  {"\0", 1},   {"\0\0", 2}, {"\xff", 1},     {"\xff\xff", 2},
        {"a", 1}, {"a\0", 2},  {"a\0b", 3}, {"a\xff", 2},    {"ab", 2},
        {"b", 1}, {"\x7f", 1}, {"\x80", 1}, {"\xc3\xa4", 2}, {"aardvark", 8},
    };
    enum { COUNT = sizeof(keys) / sizeof(keys[0]) };
    for (int i = 0; i < COUNT; i++)
        session_put(s, keys[i], keys[COUNT - 1 - i]);
    for (int i = 0; i < COUNT; i++)
        session_get(s, keys[i]);
    session_get(s, text_of("abc"));
    for (int i = 0; i < COUNT; i += 3)
        session_delete(s, keys[i]);
    session_delete(s, text_of("never there"));
    for (int i = 0; i < COUNT; i++)
        session_get(s, keys[i]);
}

/* Values of 1 MiB in a store whose write buffer is 64 KiB. */
static void write_large_values(struct session *s)
{
    enum { SIZE = 1 << 20, COUNT = 6 };
    char *value = malloc(SIZE);
    char key[16];
    for (int i = 0; i < COUNT; i++) {
        for (size_t at = 0; at < SIZE; at++)
            value[at] = (char)(at * (size_t)(i + 1) >> (i % 3));
        snprintf(key, sizeof(key), "large %d", i % 4);
        session_put(s, text_of(key), (struct text){value, (size_t)(SIZE - i)});
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof(key), "large %d", i);
        session_get(s, text_of(key));
    }
    free(value);
}

static void write_many(struct session *s, int round)
{
    char key[32];
    char value[100];
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof(key), "key %06d", i * 7919 % 3000);
        snprintf(value, sizeof(value), "%d of round %d, %060d", i, round, i);
        if (i % 5 == round)
            session_delete(s, text_of(key));
        else
            session_put(s, text_of(key), text_of(value));
    }
}

static void compact(struct session *s, const char *low, const char *high)
{
    leveldb_compact_range(s->db, low, low == NULL ? 0 : strlen(low), high,
                          high == NULL ? 0 : strlen(high));
}

int main(void)
{
    struct session s;
    session_init(&s, "store");
    session_open(&s);
    session_dump(&s);
    write_strange_keys(&s);
    write_large_values(&s);
    session_dump(&s);
    session_close(&s);
    session_open(&s);
    session_dump(&s);
    for (int round = 0; round < 3; round++) {
        write_many(&s, round);
        compact(&s, "key 000100", "key 000900");
        compact(&s, "key 002000", NULL);
        compact(&s, "key 0005", "key 0005");
    }
    session_dump(&s);
    compact(&s, NULL, NULL);
    session_dump(&s);
    compact(&s, "z", "a");
    compact(&s, NULL, "");
    leveldb_writeoptions_set_sync(s.write, 1);
    session_put(&s, text_of("durable"), text_of("yes"));
    leveldb_readoptions_set_verify_checksums(s.read, 1);
    leveldb_readoptions_set_fill_cache(s.read, 0);
    session_get(&s, text_of("durable"));
    session_deinit(&s);
    return 0;
}
