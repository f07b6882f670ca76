/* Goal: an unreadable table filter costs few reads and as little of the filter as possible, never a
 * result or the message of an earlier failure, and it recovers when the failure is over. Method:
 * reads of an open table fail where they touch some bytes of the table filter; reads are counted,
 * and lookups use keys whose blocks and pages are in memory. */
#include "tests/unit/sstable/table_filter_fixture.h"

#include "base/status.h"
#include "sstable/table/table_lookup.h"
#include "tests/support/step.h"

#define KEYS  300000 /* three chunks */
#define ASKED 1000

/* The file of one table, in which reads of some bytes fail. */
static struct {
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    uint64_t first;
    uint64_t end;
} fault;

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    if (offset < fault.end && offset + size > fault.first)
        return bb_fail(BB_IO, "a sector of the test cannot be read");
    return fault.sound->read_at(file, offset, buffer, size, ret_size);
}

/* The table that all tests open; only its options differ. */
static struct table_filter_world built;

static int build(void **state)
{
    (void)state;
    world_init(&built, 20, 4);
    world_build(&built, KEYS);
    return 0;
}

static int remove_built(void **state)
{
    (void)state;
    world_deinit(&built);
    return 0;
}

static void fault_bytes(uint64_t first, uint64_t size)
{
    fault.first = first;
    fault.end = first + size;
}

/* Needed pages and blocks are in memory, the table filter is not. */
static void broken_open(struct table_filter_world *world)
{
    struct bb_read_options past = {.ignore_filters = true};
    *world = built;
    world->options.secret = &world->secret;
    assert_ok(bb_block_cache_create(UINT64_C(1) << 27, &world->options.cache));
    world_open(world);
    for (size_t i = 0; i < ASKED; i++)
        (void)world_get(world, &past, 2 * i + 1);
    world->stats = (struct bb_read_stats){0};
    fault.sound = world->table->file->ops;
    fault.ops = *fault.sound;
    fault.ops.read_at = read_at;
    world->table->file->ops = &fault.ops;
}

static void broken_close(struct table_filter_world *world)
{
    world->table->file->ops = fault.sound;
    world_close(world);
    bb_buf_deinit(&world->value);
    bb_block_cache_destroy(world->options.cache);
}

static uint64_t denials(struct table_filter_world *world, size_t count)
{
    uint64_t before = world->stats.visits[BB_VISIT_TABLE_FILTER_NEGATIVE];
    for (size_t i = 0; i < count; i++)
        (void)world_get(world, NULL, 2 * (i % ASKED) + 1);
    return world->stats.visits[BB_VISIT_TABLE_FILTER_NEGATIVE] - before;
}

/* A key that passed the fast path must not be probed again: a damaged filter would hide that the
 * damage was never counted. */
static void check_short_way(struct table_filter_world *world)
{
    size_t damaged = 0;
    world->stats = (struct bb_read_stats){0};
    for (size_t i = 0; i < ASKED; i++) {
        bool is_let_through = false;
        char text[24];
        uint64_t hash = bb_hash_key(&world->secret, numbered_key(2 * i + 1, text));
        const struct bb_table_filter *table_filter = bb_table_lookup_ready_filter(world->table);
        bool is_denied = bb_table_filter_denies(table_filter, hash, &is_let_through);
        (void)world_get(world, NULL, 2 * i + 1);
        damaged += !is_denied && !is_let_through;
        assert_true(world->stats.damaged_filters == damaged);
    }
    assert_true(damaged > 427 - 128);
}

/* One sector of the second of three chunks: shards 128 to 255 of 300. */
static void table_filter_read__one_sector(void **state)
{
    (void)state;
    struct table_filter_world world;
    broken_open(&world);
    fault_bytes(world.table->table_filter_reading.place.offset + 100000, 512);
    uint64_t denied = denials(&world, ASKED);
    assert_int_equal(world.table->table_filter->chunk_count, 3);
    /* 172 / 300 of 92 %, that is 527, with eight deviations. */
    assert_true(denied > 527 - 128 && denied < 527 + 128);
    assert_true(world.stats.damaged_filters > 427 - 128);
    assert_true(world.stats.table_filter_reads <= 2 + 3);
    size_t members = 0;
    for (size_t i = 0; i < KEYS; i += bb_test_step(), members++)
        assert_int_equal(world_get(&world, NULL, 2 * i), BB_VISIT_PRESENT);
    assert_true(world.stats.visits[BB_VISIT_PRESENT] == members);
    check_short_way(&world);
    broken_close(&world);
}

/* A permanent failure is retried a few times; when it is over, everything recovers. */
static void check_passing(uint64_t bytes_from_end)
{
    struct table_filter_world world;
    broken_open(&world);
    const struct bb_table_filter_reading *reading = &world.table->table_filter_reading;
    uint64_t end = reading->place.offset + reading->size;
    fault_bytes(end - reading->size, reading->size - bytes_from_end);
    assert_int_equal(denials(&world, ASKED), 0);
    assert_true(world.stats.damaged_filters >= ASKED);
    print_message("%llu reads while all fail\n",
                  (unsigned long long)world.stats.table_filter_reads);
    assert_true(world.stats.table_filter_reads <= 11 * 5);
    fault_bytes(0, 0);
    (void)denials(&world, 3 * 1024);
    assert_true(denials(&world, ASKED) > ASKED * 85 / 100);
    uint64_t damaged = world.stats.damaged_filters;
    (void)denials(&world, ASKED);
    assert_true(world.stats.damaged_filters == damaged);
    broken_close(&world);
}

static void table_filter_read__passing_failure(void **state)
{
    (void)state;
    check_passing(0);
    check_passing(1024); /* the list is read, no chunk is */
}

/* Successful lookups report no error from skipped parts. */
static void check_last_error(uint64_t offset, uint64_t size)
{
    struct table_filter_world world;
    broken_open(&world);
    fault_bytes(world.table->table_filter_reading.place.offset + offset, size);
    assert_status(bb_fail(BB_BUSY, "told before"), BB_BUSY);
    (void)denials(&world, ASKED);
    assert_int_equal(bb_error_last()->status, BB_BUSY);
    assert_string_equal(bb_error_last()->message, "told before");
    broken_close(&world);
}

static void table_filter_read__leaves_the_last_error(void **state)
{
    (void)state;
    check_last_error(0, UINT32_MAX);
    check_last_error(100000, 512);
}

/* Attempts of n questions that all fail. */
static uint32_t attempts(struct bb_backoff *backoff, uint32_t count)
{
    uint32_t due = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!bb_backoff_is_due(backoff))
            continue;
        due++;
        bb_backoff_fail(backoff);
    }
    return due;
}

static void table_filter_read__backoff(void **state)
{
    (void)state;
    struct bb_backoff backoff = {0};
    assert_int_equal(attempts(&backoff, 3), 3); /* the first one, and then the 1st and 2nd */
    assert_int_equal(attempts(&backoff, 1), 0);
    assert_int_equal(attempts(&backoff, 1), 1);
    assert_int_equal(attempts(&backoff, 1024 - 4), 8); /* the 8th ... the 1,024th */
    assert_int_equal(attempts(&backoff, 100 * 1024), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_filter_read__one_sector),
        cmocka_unit_test(table_filter_read__passing_failure),
        cmocka_unit_test(table_filter_read__leaves_the_last_error),
        cmocka_unit_test(table_filter_read__backoff),
    };
    return cmocka_run_group_tests_name("table_filter_read", tests, build, remove_built);
}
