/* Some 20,000 operations of every kind, drawn from a seed, in a store whose options are drawn too;
 * with iterators and snapshots that live across all of it.
 *
 *     random_program SEED [OPERATIONS]
 */
#include <stdint.h>
#include <stdlib.h>

#include "tests/leveldb/order.h"
#include "tests/leveldb/session.h"

enum { ITERATORS = 5, SNAPSHOTS = 6, KEYS = 700 };

struct run {
    struct session s;
    uint64_t draw;
    leveldb_iterator_t *iterators[ITERATORS];
    const leveldb_snapshot_t *snapshots[SNAPSHOTS];
    leveldb_comparator_t *order;
    leveldb_filterpolicy_t *filter;
    leveldb_cache_t *cache;
    char key[64];
    char value[3000];
};

static uint64_t below(struct run *run, uint64_t count)
{
    run->draw = run->draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (run->draw >> 33) % count;
}

/* Numbers, empty, and keys with bytes of every kind and a common beginning. */
static struct text draw_key(struct run *run)
{
    uint64_t number = below(run, KEYS);
    size_t size = 0;
    switch (number % 4) {
    case 0:
        size = number % 50;
        memset(run->key, (int)(number % 256), size);
        break;
    case 1:
        size = (size_t)snprintf(run->key, sizeof(run->key), "some/common/path/%03d", (int)number);
        run->key[number % 20] = (char)(number * 3);
        break;
    default:
        size = (size_t)snprintf(run->key, sizeof(run->key), "%s%05d", number % 8 < 4 ? "K" : "k",
                                (int)number);
    }
    return (struct text){run->key, size};
}

static struct text draw_value(struct run *run)
{
    size_t size = below(run, 20) == 0 ? below(run, sizeof(run->value)) : below(run, 120);
    uint64_t seed = below(run, 1000);
    for (size_t i = 0; i < size; i++)
        run->value[i] = (char)(i % 7 == 0 ? seed * i >> 3 : seed);
    return (struct text){run->value, size};
}

static void write_one(struct run *run)
{
    struct text key = draw_key(run);
    if (below(run, 4) == 0)
        session_delete(&run->s, key);
    else
        session_put(&run->s, key, draw_value(run));
}

static void write_batch(struct run *run)
{
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    for (uint64_t i = below(run, 40); i > 0; i--) {
        struct text key = draw_key(run);
        struct text value = draw_value(run);
        if (below(run, 3) == 0)
            leveldb_writebatch_delete(batch, key.data, key.size);
        else
            leveldb_writebatch_put(batch, key.data, key.size, value.data, value.size);
    }
    leveldb_write(run->s.db, run->s.write, batch, &run->s.error);
    session_check(&run->s, "write");
    leveldb_writebatch_destroy(batch);
}

/* Reads of one of the snapshots, or of the newest state. */
static void choose_snapshot(struct run *run)
{
    leveldb_readoptions_set_snapshot(run->s.read, run->snapshots[below(run, SNAPSHOTS)]);
}

static void get(struct run *run)
{
    choose_snapshot(run);
    session_get(&run->s, draw_key(run));
}

static void change_snapshot(struct run *run)
{
    uint64_t i = below(run, SNAPSHOTS);
    leveldb_readoptions_set_snapshot(run->s.read, NULL);
    if (run->snapshots[i] != NULL)
        leveldb_release_snapshot(run->s.db, run->snapshots[i]);
    run->snapshots[i] = below(run, 3) == 0 ? NULL : leveldb_create_snapshot(run->s.db);
}

static void change_iterator(struct run *run)
{
    uint64_t i = below(run, ITERATORS);
    if (run->iterators[i] != NULL)
        leveldb_iter_destroy(run->iterators[i]);
    choose_snapshot(run);
    run->iterators[i] = below(run, 4) == 0 ? NULL : leveldb_create_iterator(run->s.db, run->s.read);
}

static void move_iterator(struct run *run, leveldb_iterator_t *iterator)
{
    struct text key = draw_key(run);
    uint64_t move = below(run, 12);
    if (move == 0)
        leveldb_iter_seek_to_first(iterator);
    else if (move == 1)
        leveldb_iter_seek_to_last(iterator);
    else if (move < 4 || !leveldb_iter_valid(iterator))
        leveldb_iter_seek(iterator, key.data, key.size);
    else if (move < 8)
        leveldb_iter_next(iterator);
    else
        leveldb_iter_prev(iterator);
    print_place(iterator);
}

static void move_iterators(struct run *run)
{
    leveldb_iterator_t *iterator = run->iterators[below(run, ITERATORS)];
    for (uint64_t i = below(run, 10); i > 0 && iterator != NULL; i--)
        move_iterator(run, iterator);
}

static void compact(struct run *run)
{
    char low[64];
    struct text key = draw_key(run);
    size_t size = key.size;
    memcpy(low, key.data, size);
    key = draw_key(run);
    leveldb_compact_range(run->s.db, below(run, 4) == 0 ? NULL : low, size,
                          below(run, 4) == 0 ? NULL : key.data, key.size);
}

static void let_go(struct run *run)
{
    leveldb_readoptions_set_snapshot(run->s.read, NULL);
    for (int i = 0; i < ITERATORS; i++) {
        if (run->iterators[i] != NULL)
            leveldb_iter_destroy(run->iterators[i]);
        run->iterators[i] = NULL;
    }
    for (int i = 0; i < SNAPSHOTS; i++) {
        if (run->snapshots[i] != NULL)
            leveldb_release_snapshot(run->s.db, run->snapshots[i]);
        run->snapshots[i] = NULL;
    }
}

static void reopen(struct run *run)
{
    let_go(run);
    session_close(&run->s);
    session_open(&run->s);
}

static void step(struct run *run)
{
    uint64_t what = below(run, 1000);
    if (what < 500)
        write_one(run);
    else if (what < 560)
        write_batch(run);
    else if (what < 800)
        get(run);
    else if (what < 830)
        change_snapshot(run);
    else if (what < 870)
        change_iterator(run);
    else if (what < 997)
        move_iterators(run);
    else if (what < 999)
        compact(run);
    else
        reopen(run);
}

/* No Bloom filter for the order that equates keys. */
static void draw_options(struct run *run, uint64_t seed)
{
    leveldb_options_t *options = run->s.options;
    run->filter = leveldb_filterpolicy_create_bloom((int)(seed % 3) * 7);
    run->cache = leveldb_cache_create_lru(seed % 5 * 50000);
    run->order = seed % 4 == 1 ? order_create_reverse() : NULL;
    if (seed % 4 == 2)
        run->order = order_create_caseless();
    if (run->order != NULL)
        leveldb_options_set_comparator(options, run->order);
    leveldb_options_set_cache(options, run->cache);
    if (seed % 4 != 2 && seed % 8 != 0)
        leveldb_options_set_filter_policy(options, run->filter);
    leveldb_options_set_compression(options, seed % 2 == 0 ? leveldb_no_compression
                                                           : leveldb_snappy_compression);
    leveldb_options_set_block_size(options, (size_t)300 << seed % 5);
    leveldb_options_set_max_open_files(options, (int)(seed % 100));
    leveldb_options_set_max_file_size(options, 1000);
    leveldb_options_set_paranoid_checks(options, seed % 2);
}

int main(int argc, char **argv)
{
    static struct run run;
    uint64_t seed = strtoull(argc > 1 ? argv[1] : "1", NULL, 10);
    long operations = strtol(argc > 2 ? argv[2] : "20000", NULL, 10);
    run.draw = seed;
    session_init(&run.s, "store");
    draw_options(&run, seed);
    session_open(&run.s);
    for (long i = 0; i < operations; i++)
        step(&run);
    let_go(&run);
    session_dump(&run.s);
    reopen(&run);
    session_dump(&run.s);
    session_deinit(&run.s);
    leveldb_filterpolicy_destroy(run.filter);
    leveldb_cache_destroy(run.cache);
    if (run.order != NULL)
        leveldb_comparator_destroy(run.order);
    return 0;
}
