/* Goal: range tombstones of ingested tables hide the covered data in their table, in earlier input
 * tables, and in the store, and no other data. Method: random stores and inputs compared with a
 * plain array of each key's final state; before and after compactions and openings, and at an
 * earlier snapshot. */
#include "tests/support/store.h"

#include "tests/support/rng.h"

#define KEYS   60
#define INPUTS 4
#define RANGES 3

/* The newest information of an input about a key. */
enum word { NOTHING, DELETED, PUT };

struct input {
    bool has[2][KEYS]; /* versions at the sequences 20 and 10 */
    bool is_put[2][KEYS];
    struct {
        uint32_t low;
        uint32_t high;
        uint64_t sequence;
    } ranges[RANGES];
    size_t range_count;
};

static void name_key(char *key, size_t size, uint32_t number)
{
    snprintf(key, size, "k%04u", number);
}

static void draw(struct bb_rng *rng, struct input *input)
{
    *input = (struct input){.range_count = bb_rng_below(rng, RANGES + 1)};
    for (int version = 0; version < 2; version++) {
        for (uint32_t k = 0; k < KEYS; k++) {
            input->has[version][k] = bb_rng_one_in(rng, 4);
            input->is_put[version][k] = !bb_rng_one_in(rng, 4);
        }
    }
    for (size_t i = 0; i < input->range_count; i++) {
        uint32_t low = (uint32_t)bb_rng_below(rng, KEYS);
        input->ranges[i].low = low;
        input->ranges[i].high = low + 1 + (uint32_t)bb_rng_below(rng, KEYS / 2);
        input->ranges[i].sequence = bb_rng_below(rng, 31);
    }
}

/* Values tell input and version, and are long enough for several tables. */
static void print_value(char *value, size_t size, size_t input, int version)
{
    snprintf(value, size, "%zu-%d-%0500d", input, version, 7);
}

static void add_entries(struct bb_table_builder *builder, const struct input *input, size_t number)
{
    char key[16];
    char value[600];
    for (uint32_t k = 0; k < KEYS; k++) {
        name_key(key, sizeof(key), k);
        for (int version = 0; version < 2; version++) {
            bool is_put = input->is_put[version][k];
            print_value(value, sizeof(value), number, version);
            struct bb_entry entry = {.key = bb_bytes_of_text(key),
                                     .sequence = version == 0 ? 20 : 10,
                                     .kind = is_put ? BB_ENTRY_PUT : BB_ENTRY_DELETE,
                                     .value = bb_bytes_of_text(is_put ? value : "")};
            if (input->has[version][k])
                assert_ok(bb_table_builder_add(builder, &entry));
        }
    }
}

static void build(struct store *store, const char *path, const struct input *input, size_t number)
{
    char low[16];
    char high[16];
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = store->options.file_system};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    add_entries(builder, input, number);
    for (size_t i = 0; i < input->range_count; i++) {
        name_key(low, sizeof(low), input->ranges[i].low);
        name_key(high, sizeof(high), input->ranges[i].high);
        assert_ok(bb_table_builder_add_range_tombstone(
            builder, bb_bytes_of_text(low), bb_bytes_of_text(high), input->ranges[i].sequence));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

/* The version whose put it is, when it is one. */
static enum word word_of(const struct input *input, uint32_t k, int *ret_version)
{
    bool is_in_range = false;
    uint64_t newest = 0;
    for (size_t i = 0; i < input->range_count; i++) {
        if (k < input->ranges[i].low || k >= input->ranges[i].high)
            continue;
        is_in_range = true;
        newest = input->ranges[i].sequence > newest ? input->ranges[i].sequence : newest;
    }
    for (int version = 0; version < 2; version++) {
        if (!input->has[version][k])
            continue;
        if (newest > (version == 0 ? 20U : 10U))
            return DELETED;
        *ret_version = version;
        return input->is_put[version][k] ? PUT : DELETED;
    }
    return is_in_range ? DELETED : NOTHING;
}

struct scene {
    struct store store;
    struct bb_rng rng;
    struct input inputs[INPUTS];
    size_t count;
    uint32_t filled; /* keys below were put when the store was filled */
    struct bb_snapshot *before;
    uint64_t tables; /* below level 0, of levels with several */
};

static bool was_there(const struct scene *scene, uint32_t k)
{
    return k < scene->filled && k % 3 != 0;
}

/* The expected contents of the store: its previous value if no input has the key. */
static void expect(const struct scene *scene, uint32_t k, char *value, size_t size,
                   bool *ret_is_there)
{
    for (size_t i = scene->count; i > 0; i--) {
        int version = 0;
        enum word word = word_of(&scene->inputs[i - 1], k, &version);
        if (word == NOTHING)
            continue;
        *ret_is_there = word == PUT;
        print_value(value, size, i - 1, version);
        return;
    }
    *ret_is_there = was_there(scene, k);
    snprintf(value, size, "old");
}

static void check(struct scene *scene)
{
    static char all[64 * 1024];
    char key[16];
    char value[600];
    size_t used = 0;
    all[0] = 0;
    for (uint32_t k = 0; k < KEYS; k++) {
        bool is_there = false;
        name_key(key, sizeof(key), k);
        expect(scene, k, value, sizeof(value), &is_there);
        assert_get(&scene->store, key, is_there ? value : NULL);
        if (scene->before != NULL)
            assert_get_at(scene->store.db, scene->before, key, was_there(scene, k) ? "old" : NULL);
        if (is_there)
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s=%s", used > 0 ? " " : "",
                                     key, value);
    }
    assert_content(&scene->store, all);
}

static void fill(struct scene *scene)
{
    char key[16];
    uint32_t flushed = (uint32_t)bb_rng_below(&scene->rng, 2 * KEYS);
    scene->filled = bb_rng_one_in(&scene->rng, 2) ? KEYS : 0;
    for (uint32_t k = 0; k < scene->filled; k++) {
        name_key(key, sizeof(key), k);
        if (was_there(scene, k))
            store_put(&scene->store, key, "old");
        if (k == flushed)
            assert_ok(bb_db_compact(scene->store.db));
    }
}

static void ingest(struct scene *scene)
{
    char paths[INPUTS][32];
    const char *list[INPUTS];
    scene->count = bb_rng_between(&scene->rng, 1, INPUTS);
    for (size_t i = 0; i < scene->count; i++) {
        snprintf(paths[i], sizeof(paths[i]), "/data/t%zu", i);
        list[i] = paths[i];
        draw(&scene->rng, &scene->inputs[i]);
        build(&scene->store, paths[i], &scene->inputs[i], i);
    }
    assert_ok(bb_db_ingest(scene->store.db, list, scene->count, NULL));
    struct bb_db_stats stats = store_stats(&scene->store);
    for (int level = 1; level < BB_LEVEL_COUNT; level++)
        scene->tables += stats.levels[level].table_count > 1 ? stats.levels[level].table_count : 0;
}

static void run_one(struct scene *scene)
{
    store_init(&scene->store);
    scene->store.options.table_size_bytes = 4096;
    scene->store.options.compression = BB_COMPRESSION_NONE;
    store_open(&scene->store);
    fill(scene);
    scene->before = store_snapshot(&scene->store);
    ingest(scene);
    check(scene);
    if (bb_rng_one_in(&scene->rng, 2))
        assert_ok(bb_db_compact(scene->store.db));
    check(scene);
    bb_snapshot_release(scene->store.db, scene->before);
    scene->before = NULL;
    store_kill(&scene->store);
    check(scene);
    assert_ok(bb_db_compact(scene->store.db));
    check(scene);
    store_deinit(&scene->store);
}

static void ingest_ranges__drawn(void **state)
{
    static struct scene scene;
    bb_rng_init(&scene.rng, *(uint64_t *)*state);
    for (int i = 0; i < 100; i++)
        run_one(&scene);
    assert_true(scene.tables > 100); /* tombstones were cut between tables of a run */
}

static void build_range(struct store *store, const char *path, const char *low, const char *high,
                        uint64_t sequence)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = store->options.file_system};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    assert_ok(bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text(low),
                                                   bb_bytes_of_text(high), sequence));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

/* And of sequence 0, which hides no data of its table. */
static void ingest_ranges__without_entries(void **state)
{
    (void)state;
    const char *range = "/data/range";
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_put(&store, "b", "2");
    store_put(&store, "c", "3");
    build_range(&store, range, "b", "c", 0);
    assert_ok(bb_db_ingest(store.db, &range, 1, NULL));
    assert_content(&store, "a=1 c=3");
    store_put(&store, "b", "4");
    assert_content(&store, "a=1 b=4 c=3");
    store_reopen(&store);
    assert_content(&store, "a=1 b=4 c=3");
    assert_ok(bb_db_ingest(store.db, &range, 1, NULL));
    assert_content(&store, "a=1 c=3");
    assert_ok(bb_db_compact(store.db));
    assert_content(&store, "a=1 c=3");
    store_deinit(&store);
}

#define SMALL_RANGES 3000

/* Alternately a key and a range after it. */
static void build_many(struct store *store, const char *path)
{
    char low[16];
    char high[16];
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = store->options.file_system};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    for (uint32_t i = 0; i < SMALL_RANGES; i++) {
        name_key(low, sizeof(low), 3 * i);
        struct bb_entry entry = {.key = bb_bytes_of_text(low), .sequence = 2, .kind = BB_ENTRY_PUT};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    for (uint32_t i = 0; i < SMALL_RANGES; i++) {
        name_key(low, sizeof(low), 3 * i + 1);
        name_key(high, sizeof(high), 3 * i + 2);
        assert_ok(bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text(low),
                                                       bb_bytes_of_text(high), 1));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

/* Without them the keys are less than a table. */
static void ingest_ranges__count_for_the_size_of_tables(void **state)
{
    (void)state;
    const char *path = "/data/many";
    struct store store;
    store_init(&store);
    store_open(&store);
    build_many(&store, path);
    assert_ok(bb_db_ingest(store.db, &path, 1, NULL));
    const struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.levels[1].file_bytes > 3 * store.options.table_size_bytes);
    assert_in_range(stats.levels[1].table_count, 3, 6);
    store_deinit(&store);
}

int main(void)
{
    uint64_t seed = bb_rng_seed("ingest_ranges_test", 1);
    void *state = &seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(ingest_ranges__drawn, state),
        cmocka_unit_test(ingest_ranges__without_entries),
        cmocka_unit_test(ingest_ranges__count_for_the_size_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
