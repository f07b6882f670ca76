/* Goal: a table returns its entries, with every kind of access and under every option. Method:
 * random lists of entries compared with a walk of the list; hand-made lists for versions across
 * borders, bounds and statistics; files in memory. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/hash.h"
#include "sstable/table/table.h"
#include "sstable/table/table_lookup.h"
#include "sstable/table/table_iter.h"
#include "tests/support/step.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_rng rng;
    struct bb_hash_secret secret;
    struct bb_table_options options;
    size_t let_through_count; /* gets that also used the fast path */
};

static void world_init(struct world *world, uint64_t seed)
{
    *world = (struct world){0};
    world->memory = bb_file_memory_create(seed);
    bb_rng_init(&world->rng, seed);
    bb_hash_secret_from_seed(seed, &world->secret);
    world->options.file_system = bb_file_memory_system(world->memory);
    world->options.secret = &world->secret;
}

static void world_deinit(struct world *world)
{
    if (world->options.cache != NULL)
        bb_block_cache_destroy(world->options.cache);
    bb_file_memory_destroy(world->memory);
}

static struct bb_table *world_build(struct world *world, const struct entry_list *list)
{
    struct bb_table *table = NULL;
    struct bb_file_system *fs = world->options.file_system;
    enum bb_status removed = fs->ops->remove(fs, FIXTURE_PATH);
    assert_true(removed == BB_OK || removed == BB_NOT_FOUND);
    build_table(FIXTURE_PATH, &world->options, list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    return table;
}

/* The fast path, for a key within bounds: it agrees with the get, which ended with `visit`. */
static void check_short_way(struct world *world, struct bb_table *table, struct bb_bytes key,
                            uint64_t sequence, enum bb_visit visit, struct bb_bytes value)
{
    uint64_t hash = bb_hash_key(&world->secret, key);
    struct bb_read_stats stats = {0};
    struct bb_buf again = {0};
    bool is_let_through = false;
    const struct bb_table_filter *table_filter = bb_table_lookup_ready_filter(table);
    if (table_filter != NULL && bb_table_filter_denies(table_filter, hash, &is_let_through)) {
        assert_int_equal(visit, BB_VISIT_TABLE_FILTER_NEGATIVE);
        assert_false(is_let_through);
    }
    if (!is_let_through)
        return;
    world->let_through_count++;
    struct bb_table_question question = {
        .key = key, .key_hash = hash, .sequence = sequence, .value = &again};
    struct bb_table_lookup lookup = {
        .table = table, .question = &question, .stats = &stats, .state = BB_LOOKUP_LET_THROUGH};
    assert_ok(bb_table_lookup_run(&lookup));
    assert_int_equal(lookup.state, BB_LOOKUP_ENDED);
    assert_int_equal(lookup.visit, visit);
    assert_true(stats.visits[visit] == 1);
    if (visit == BB_VISIT_PRESENT)
        assert_true(bb_bytes_equal(bb_buf_bytes(&again), value));
    bb_buf_deinit(&again);
}

/* One get against the list; filters may only turn an absence into a negative. */
static void check_get(struct world *world, struct bb_table *table, const struct entry_list *list,
                      struct bb_bytes key, uint64_t sequence, struct bb_buf *value)
{
    const struct bb_comparator *comparator = world->options.comparator;
    const struct bb_entry *expected = NULL;
    enum bb_visit visit = BB_VISIT_COUNT;
    uint64_t found_sequence = 0;
    struct bb_read_stats stats = {0};
    struct bb_read_options options = {.account_avoided = true};
    enum bb_visit wanted = entry_list_get(list, key, sequence, comparator, &expected);
    assert_ok(bb_table_get(table, &options, key, bb_hash_key(&world->secret, key), sequence, &stats,
                           value, &found_sequence, &visit));
    bool is_denied = visit == BB_VISIT_FILTER_NEGATIVE || visit == BB_VISIT_TABLE_FILTER_NEGATIVE;
    if (wanted == BB_VISIT_FALSE_POSITIVE && is_denied)
        wanted = visit;
    assert_int_equal(visit, wanted);
    assert_true(stats.visits[visit] == 1);
    bool is_inside = visit != BB_VISIT_OUT_OF_BOUNDS;
    assert_true(stats.block_requests + stats.avoided_requests == is_inside);
    assert_true(stats.avoided_requests == is_denied);
    assert_true(stats.page_requests == (is_inside && visit != BB_VISIT_TABLE_FILTER_NEGATIVE));
    if (expected != NULL)
        assert_true(found_sequence == expected->sequence);
    if (visit == BB_VISIT_PRESENT)
        assert_true(bb_bytes_equal(bb_buf_bytes(value), expected->value));
    if (is_inside)
        check_short_way(world, table, key, sequence, visit, bb_buf_bytes(value));
}

static void check_gets(struct world *world, struct bb_table *table, const struct entry_list *list)
{
    struct bb_buf value = {0};
    for (size_t i = 0; i < list->count; i += bb_test_step()) {
        const struct bb_entry *entry = &list->entries[i];
        check_get(world, table, list, entry->key, entry->sequence, &value);
        check_get(world, table, list, entry->key, entry->sequence - 1, &value);
        check_get(world, table, list, entry->key, entry->sequence + 1, &value);
        check_get(world, table, list, entry->key, BB_SEQUENCE_MAX, &value);
        check_get(world, table, list, entry->key, 0, &value);
    }
    for (size_t i = 0; i < list->count; i += bb_test_step()) {
        uint8_t key[300];
        size_t size = bb_rng_key(&world->rng, key, sizeof(key));
        check_get(world, table, list, bb_bytes_of(key, size), bb_rng_below(&world->rng, 2001),
                  &value);
    }
    bb_buf_deinit(&value);
}

static void check_scans(struct world *world, struct bb_table *table, const struct entry_list *list)
{
    struct bb_iter *iter = NULL;
    struct bb_read_stats stats = {0};
    assert_ok(bb_table_iter_create(table, NULL, &stats, &iter));
    size_t at = 0;
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        assert_same_entry(&iter->entry, &list->entries[at++]);
    assert_ok(iter->status);
    assert_int_equal(at, list->count);
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        assert_same_entry(&iter->entry, &list->entries[--at]);
    assert_ok(iter->status);
    assert_int_equal(at, 0);
    bb_iter_destroy(iter);
    assert_true(stats.block_requests >= bb_table_meta(table)->block_count);
    (void)world;
}

/* Seeks to anywhere, followed by steps that turn round at random. */
static void check_walks(struct world *world, struct bb_table *table, const struct entry_list *list)
{
    struct bb_iter *iter = NULL;
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    for (int i = 0; i < 300; i++) {
        uint8_t key[300];
        struct bb_bytes wanted = {.data = key, .size = bb_rng_key(&world->rng, key, sizeof(key))};
        if (bb_rng_one_in(&world->rng, 2))
            wanted = list->entries[bb_rng_below(&world->rng, list->count)].key;
        uint64_t sequence =
            bb_rng_one_in(&world->rng, 3) ? BB_SEQUENCE_MAX : bb_rng_below(&world->rng, 2001);
        size_t at = entry_list_find(list, wanted, sequence, world->options.comparator);
        unsigned near = (unsigned)bb_rng_below(&world->rng, 7);
        for (unsigned n = 0; n < near && bb_table_iter_approach(iter, wanted, sequence, n); n++)
            assert_false(iter->is_valid);
        bb_iter_seek(iter, wanted, sequence);
        for (uint64_t steps = bb_rng_below(&world->rng, 12);; steps--) {
            assert_ok(iter->status);
            assert_int_equal(iter->is_valid, at < list->count);
            if (!iter->is_valid)
                break;
            assert_same_entry(&iter->entry, &list->entries[at]);
            if (steps == 0)
                break;
            if (bb_rng_one_in(&world->rng, 2)) {
                bb_iter_next(iter);
                at++;
            } else {
                bb_iter_prev(iter);
                at = at == 0 ? list->count : at - 1;
            }
        }
    }
    bb_iter_destroy(iter);
}

static void check_meta(const struct bb_table *table, const struct entry_list *list,
                       const struct bb_comparator *comparator)
{
    const struct bb_table_meta *meta = bb_table_meta(table);
    uint64_t keys = 0;
    uint64_t tombstones = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct bb_entry *entry = &list->entries[i];
        keys += i == 0 || bb_key_compare(comparator, list->entries[i - 1].key, entry->key) != 0;
        tombstones += entry->kind == BB_ENTRY_DELETE;
        bytes += entry->key.size + entry->value.size;
        assert_true(entry->sequence >= meta->sequence_min && entry->sequence <= meta->sequence_max);
    }
    assert_int_equal(meta->entry_count, list->count);
    assert_int_equal(meta->key_count, keys);
    assert_int_equal(meta->tombstone_count, tombstones);
    assert_int_equal(meta->raw_bytes, bytes);
    assert_true(bb_bytes_equal(bb_buf_bytes(&meta->smallest), list->entries[0].key));
    assert_true(bb_bytes_equal(bb_buf_bytes(&meta->largest), list->entries[list->count - 1].key));
}

static void check_everything(struct world *world, const struct entry_list *list)
{
    struct bb_table *table = world_build(world, list);
    check_meta(table, list, world->options.comparator);
    check_gets(world, table, list);
    check_scans(world, table, list);
    check_walks(world, table, list);
    check_gets(world, table, list); /* now from pinned pages and the cache */
    bb_table_close(table);
}

static void draw_options(struct world *world)
{
    static const uint32_t block_sizes[] = {64, 100, 256, 1024, 4096, 70000};
    static const uint32_t intervals[] = {1, 2, 3, 16, 1024};
    static const uint32_t granularities[] = {1, 2, 3, 5, 64, BB_GRANULARITY_PAGE};
    static const uint32_t page_sizes[] = {256, 1024, 4096, 65536};
    static const enum bb_filter_kind kinds[] = {BB_FILTER_NONE, BB_FILTER_RIBBON, BB_FILTER_RIBBON,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM};
    static const double rates[] = {0.5, 0.1, 0.01, 0.0001, 1};
    struct bb_rng *rng = &world->rng;
    struct bb_table_options *o = &world->options;
    o->block_size_bytes = block_sizes[bb_rng_below(rng, 6)];
    o->restart_interval = intervals[bb_rng_below(rng, 5)];
    o->filter_granularity = granularities[bb_rng_below(rng, 6)];
    o->index_page_size_bytes = page_sizes[bb_rng_below(rng, 4)];
    o->filter_kind = kinds[bb_rng_below(rng, 5)];
    o->filter_rate = rates[bb_rng_below(rng, 5)];
    o->compression = bb_rng_one_in(rng, 2) ? BB_COMPRESSION_NONE : BB_COMPRESSION_LZ4;
    o->comparator = bb_rng_one_in(rng, 4) ? &backwards : NULL;
    o->read_mode = (enum bb_read_mode)bb_rng_below(rng, 3);
    if (bb_rng_one_in(rng, 2))
        assert_ok(bb_block_cache_create(bb_rng_one_in(rng, 2) ? 1 << 14 : 1 << 20, &o->cache));
    if (o->cache != NULL && bb_rng_one_in(rng, 2))
        o->index_residency = BB_INDEX_CACHED;
    static const double splits[] = {BB_TABLE_FILTER_NONE, BB_TABLE_FILTER_DEFAULT, 2, 4,
                                    BB_TABLE_FILTER_ALL};
    o->table_filter_bits = splits[bb_rng_below(rng, 5)];
    o->table_filter_off = bb_rng_one_in(rng, 3);
}

static void table__random_options(void **state)
{
    (void)state;
    size_t let_through_count = 0;
    uint64_t seed = bb_rng_seed("table__random_options", 20240601);
    for (uint64_t round = 0; round < 40; round += bb_test_step()) {
        struct world world;
        struct entry_list list = {0};
        world_init(&world, seed + round);
        draw_options(&world);
        entry_list_add_random(&list, &world.rng, bb_rng_between(&world.rng, 1, 250),
                              bb_rng_one_in(&world.rng, 3) ? 3000 : 40);
        entry_list_sort(&list, world.options.comparator);
        check_everything(&world, &list);
        entry_list_deinit(&list);
        let_through_count += world.let_through_count;
        world_deinit(&world);
    }
    assert_true(let_through_count > 1000 / bb_test_step() / bb_test_step());
}

static void table__one_entry(void **state)
{
    (void)state;
    struct world world;
    struct entry_list list = {0};
    world_init(&world, 1);
    entry_list_add_text(&list, "", 1, "the empty key");
    check_everything(&world, &list);
    entry_list_deinit(&list);
    world_deinit(&world);
}

/* Versions of a few keys over many blocks and pages: every fence between them carries a sequence,
 * and the filter of each block has the key. */
static void table__versions_over_borders(void **state)
{
    (void)state;
    struct world world;
    struct entry_list list = {0};
    world_init(&world, 2);
    world.options.block_size_bytes = 64;
    world.options.index_page_size_bytes = 256;
    for (uint64_t v = 3000; v > 0; v--)
        entry_list_add_text(&list, v > 1500 ? "left" : "right", v * 2, v % 7 == 0 ? NULL : "v");
    entry_list_add_text(&list, "middle", 9, "one version between");
    entry_list_sort(&list, NULL);
    struct bb_table *table = world_build(&world, &list);
    assert_true(table->root.page_count > 3);
    bb_table_close(table);
    for (uint32_t granularity = 1; granularity <= 5; granularity++) {
        world.options.filter_granularity = granularity == 4 ? BB_GRANULARITY_PAGE : granularity;
        check_everything(&world, &list);
    }
    entry_list_deinit(&list);
    world_deinit(&world);
}

/* A group of more keys than one filter takes is spread over several. */
static void table__sharded_groups(void **state)
{
    (void)state;
    struct world world;
    struct entry_list list = {0};
    world_init(&world, 3);
    world.options.block_size_bytes = 1 << 20;
    world.options.table_filter_bits = 4;
    assert_ok(bb_block_cache_create(16 << 20, &world.options.cache));
    for (uint32_t i = 0; i < 9000; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%08u", i * 3);
        entry_list_add_text(&list, key, i + 1, "");
    }
    entry_list_sort(&list, NULL);
    check_everything(&world, &list);
    struct bb_table *table = world_build(&world, &list);
    struct bb_index_page *page = NULL;
    struct bb_read_stats stats = {0};
    assert_ok(bb_table_page_acquire(table, 0, &stats, &page));
    assert_true(page->shard_count >= 9000 / BB_FILTER_GROUP_KEYS_MAX);
    bb_table_page_release(table, page);
    bb_table_close(table);
    entry_list_deinit(&list);
    world_deinit(&world);
}

/* Values larger than a block get separate ones, up to the limit of a key with them. */
static void table__large_entries(void **state)
{
    (void)state;
    struct world world;
    struct entry_list list = {0};
    world_init(&world, 4);
    uint8_t *large = bb_must_alloc_zeroed(1000000);
    bb_rng_bytes(&world.rng, large, 1000000);
    for (size_t i = 0; i < 16; i++) {
        large[0] = (uint8_t)i;
        size_t key_size = i % 4 == 0 ? BB_KEY_SIZE_MAX - i : i + 1;
        size_t value_size = i % 3 == 0 ? 100000 * (i % 10) : i * 100;
        entry_list_add(&list, bb_bytes_of(large, key_size), i + 1, BB_ENTRY_PUT,
                       bb_bytes_of(large, value_size));
    }
    entry_list_sort(&list, NULL);
    check_everything(&world, &list);
    free(large);
    entry_list_deinit(&list);
    world_deinit(&world);
}

static void table__refuses_disorder_and_excess(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_builder *builder = NULL;
    world_init(&world, 5);
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    struct bb_entry entry = {.key = bb_bytes_of_text("b"), .sequence = 5, .kind = BB_ENTRY_PUT};
    assert_ok(bb_table_builder_add(builder, &entry));
    assert_status(bb_table_builder_add(builder, &entry), BB_INVALID);
    assert_message("not after the last");
    entry.key = bb_bytes_of_text("c");
    assert_status(bb_table_builder_add(builder, &entry), BB_INVALID); /* sticky */
    assert_message("not after the last");
    assert_status(bb_table_builder_finish(builder, NULL), BB_INVALID);
    bb_table_builder_destroy(builder);
    size_t size = 0;
    assert_null(bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size)); /* removed */

    uint8_t *key = bb_must_alloc_zeroed(BB_KEY_SIZE_MAX + 1);
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    entry.key = bb_bytes_of(key, BB_KEY_SIZE_MAX + 1);
    assert_status(bb_table_builder_add(builder, &entry), BB_TOO_LARGE);
    bb_table_builder_destroy(builder);
    free(key);

    assert_ok(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder));
    assert_status(bb_table_builder_finish(builder, NULL), BB_INVALID);
    assert_message("must have entries");
    bb_table_builder_destroy(builder);
    world_deinit(&world);
}

static void table__keeps_files_of_others(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_builder *builder = NULL;
    world_init(&world, 6);
    bb_file_memory_put(world.memory, FIXTURE_PATH, bb_bytes_of_text("somebody's"));
    assert_status(bb_table_builder_create(FIXTURE_PATH, &world.options, &builder), BB_EXISTS);
    size_t size = 0;
    assert_non_null(bb_file_memory_bytes(world.memory, FIXTURE_PATH, &size));
    world_deinit(&world);
}

static void table__other_comparator_is_refused(void **state)
{
    (void)state;
    struct world world;
    struct entry_list list = {0};
    struct bb_table *table = NULL;
    world_init(&world, 7);
    entry_list_add_text(&list, "a", 1, "1");
    build_table(FIXTURE_PATH, &world.options, &list, NULL);
    world.options.comparator = &backwards;
    assert_status(bb_table_open(FIXTURE_PATH, &world.options, &table), BB_INVALID);
    assert_message("backwards");
    entry_list_deinit(&list);
    world_deinit(&world);
}

/* Under a foreign secret, or none, the table hashes keys itself. */
static void table__hashes_under_its_own_secret(void **state)
{
    (void)state;
    struct world world;
    struct entry_list list = {0};
    world_init(&world, 8);
    entry_list_add_random(&list, &world.rng, 200, 20);
    entry_list_sort(&list, NULL);
    build_table(FIXTURE_PATH, &world.options, &list, NULL);
    struct bb_hash_secret other;
    bb_hash_secret_from_seed(99, &other);
    const struct bb_hash_secret *secrets[] = {NULL, &other, &world.secret};
    for (size_t i = 0; i < 3; i++) {
        struct bb_table *table = NULL;
        world.options.secret = secrets[i];
        assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &table));
        assert_int_equal(table->takes_given_hash, i == 2);
        check_gets(&world, table, &list);
        bb_table_close(table);
    }
    entry_list_deinit(&list);
    world_deinit(&world);
}

static int compare_caseless(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        int left = a.data[i] | 0x20;
        int right = b.data[i] | 0x20;
        if (left != right)
            return left < right ? -1 : 1;
    }
    return (a.size > b.size) - (a.size < b.size);
}

static void table__equated_keys_have_no_filters(void **state)
{
    (void)state;
    static const struct bb_comparator caseless = {
        .name = "caseless", .compare = compare_caseless, .equates_different_bytes = true};
    struct world world;
    struct entry_list list = {0};
    world_init(&world, 9);
    world.options.comparator = &caseless;
    world.options.block_size_bytes = 64;
    for (int i = 0; i < 500; i++) {
        char key[16];
        snprintf(key, sizeof(key), "KEY%04d", i / 2);
        entry_list_add_text(&list, key, 2 * (uint64_t)i + 1, "v");
    }
    entry_list_sort(&list, &caseless);
    struct bb_table *table = world_build(&world, &list);
    struct bb_buf value = {0};
    assert_true(bb_table_meta(table)->filter_bytes == 0);
    for (int i = 0; i < 250; i++) {
        char key[16];
        snprintf(key, sizeof(key), "kEy%04d", i);
        check_get(&world, table, &list, bb_bytes_of_text(key), BB_SEQUENCE_MAX, &value);
        check_get(&world, table, &list, bb_bytes_of_text(key), 4 * (uint64_t)i + 2, &value);
    }
    bb_buf_deinit(&value);
    check_scans(&world, table, &list);
    bb_table_close(table);
    entry_list_deinit(&list);
    world_deinit(&world);
}

/* It is longer than any that could be added: one more key that is not there. */
static void table__key_longer_than_any(void **state)
{
    (void)state;
    struct world world;
    struct entry_list list = {0};
    struct bb_buf value = {0};
    struct bb_iter *iter = NULL;
    uint64_t offset = 0;
    uint8_t *memory = bb_must_alloc_zeroed(2 * BB_KEY_SIZE_MAX);
    world_init(&world, 1);
    memset(memory, 'k', 2 * BB_KEY_SIZE_MAX);
    entry_list_add_text(&list, "a", 1, "1");
    entry_list_add_text(&list, "z", 1, "2");
    struct bb_table *table = world_build(&world, &list);
    struct bb_bytes key = bb_bytes_of(memory, 2 * BB_KEY_SIZE_MAX);
    check_get(&world, table, &list, key, BB_SEQUENCE_MAX, &value);
    assert_ok(bb_table_offset(table, key, NULL, &offset));
    assert_true(offset < bb_table_meta(table)->file_size);
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    bb_iter_seek(iter, key, BB_SEQUENCE_MAX);
    assert_ok(iter->status);
    assert_same_entry(&iter->entry, &list.entries[1]);
    bb_iter_destroy(iter);
    bb_table_close(table);
    bb_buf_deinit(&value);
    entry_list_deinit(&list);
    free(memory);
    world_deinit(&world);
}

/* Between a key and the end, and empty in the last page. */
static void table__middle_key(void **state)
{
    (void)state;
    enum { COUNT = 6000 };
    struct world world;
    struct entry_list list = {0};
    struct bb_buf middle = {0};
    char text[24];
    size_t empty = 0;
    world_init(&world, 1);
    world.options.block_size_bytes = 128;
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "key %06zu", i);
        entry_list_add_text(&list, text, 1, "a value of some bytes");
    }
    struct bb_table *table = world_build(&world, &list);
    uint32_t pages = table->root.page_count;
    assert_true(pages >= 12);
    for (size_t i = 0; i < COUNT; i += 50) {
        struct bb_bytes key = list.entries[i].key;
        assert_ok(bb_table_middle_key(table, key, &middle));
        empty += middle.size == 0;
        size_t at = i;
        while (at < COUNT && middle.size > 0 &&
               bb_bytes_compare(list.entries[at].key, bb_buf_bytes(&middle)) < 0)
            at++;
        if (middle.size > 0 && i < COUNT / 2)
            assert_in_range(at - i, (COUNT - i) * 3 / 8, (COUNT - i) * 5 / 8);
    }
    assert_in_range(empty, 1, 2 * (size_t)(COUNT / 50) / pages + 1);
    assert_ok(bb_table_middle_key(table, bb_bytes_of_text("z"), &middle));
    assert_int_equal(middle.size, 0);
    bb_table_close(table);
    bb_buf_deinit(&middle);
    entry_list_deinit(&list);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__key_longer_than_any),
        cmocka_unit_test(table__middle_key),
        cmocka_unit_test(table__random_options),
        cmocka_unit_test(table__one_entry),
        cmocka_unit_test(table__versions_over_borders),
        cmocka_unit_test(table__sharded_groups),
        cmocka_unit_test(table__large_entries),
        cmocka_unit_test(table__refuses_disorder_and_excess),
        cmocka_unit_test(table__keeps_files_of_others),
        cmocka_unit_test(table__other_comparator_is_refused),
        cmocka_unit_test(table__hashes_under_its_own_secret),
        cmocka_unit_test(table__equated_keys_have_no_filters),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
