/* Goal: a mapped index file gives the verdicts of a file that is read, reads each page by one call,
 * and finds damage. Method: indexes of all kinds on a file system in memory; a map that is lost at
 * any check of its soundness; mapped bytes that change after the first read. */
#include "tests/unit/skip/indexed_rows.h"

#include "base/bytes.h"
#include "skip/file/skip_file.h"
#include "tests/support/step.h"

#define CONDITIONS 60

struct world {
    struct indexed_rows rows;
    struct bb_condition *conditions[CONDITIONS];
};

static void world_init(struct world *world)
{
    struct bb_rng rng;
    char text[1 << 14];
    bb_rng_init(&rng, bb_rng_seed("skip_file_map_test", 1));
    indexed_rows_init(&world->rows, &rng, 1500, 20, all_specs);
    for (size_t i = 0; i < CONDITIONS; i++) {
        draw_condition(&rng, 1, text);
        assert_ok(
            bb_condition_parse(world->rows.schema, bb_bytes_of_text(text), &world->conditions[i]));
    }
}

static void world_deinit(struct world *world)
{
    for (size_t i = 0; i < CONDITIONS; i++)
        bb_condition_destroy(world->conditions[i]);
    indexed_rows_deinit(&world->rows);
}

static struct bb_skip_file *open_mapped(struct world *world)
{
    struct bb_skip_file *file = NULL;
    assert_ok(open_rows(&world->rows, false, &file));
    bb_skip_file_map(file, bb_file_memory_system(world->rows.memory));
    assert_non_null(file->map.file);
    return file;
}

static struct bb_skip_verdicts ask(struct world *world, struct bb_skip_file *file, size_t condition,
                                   struct bb_skip_account *ret_sum)
{
    struct bb_skip_account accounts[32] = {{0}};
    struct bb_skip_verdicts verdicts = {0};
    *ret_sum = (struct bb_skip_account){0};
    assert_ok(bb_skip_file_evaluate(file, world->conditions[condition], world->rows.schema,
                                    accounts, &verdicts));
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        ret_sum->reads += accounts[i].reads;
        ret_sum->read_bytes += accounts[i].read_bytes;
        ret_sum->segments_searched += accounts[i].segments_searched;
        ret_sum->damaged_segments += accounts[i].damaged_segments;
    }
    return verdicts;
}

static bool are_equal(const struct bb_skip_verdicts *a, const struct bb_skip_verdicts *b)
{
    size_t size = a->word_count * sizeof(uint64_t);
    return a->word_count == b->word_count && memcmp(a->may_be_true, b->may_be_true, size) == 0 &&
           memcmp(a->may_be_false, b->may_be_false, size) == 0 &&
           memcmp(a->may_be_null, b->may_be_null, size) == 0;
}

/* Queries both files. Gives the account of the mapped one. */
static struct bb_skip_account check_equal(struct world *world, struct bb_skip_file *plain,
                                          struct bb_skip_file *mapped, size_t condition)
{
    struct bb_skip_account account;
    struct bb_skip_account unused;
    struct bb_skip_verdicts expected = ask(world, plain, condition, &unused);
    struct bb_skip_verdicts verdicts = ask(world, mapped, condition, &account);
    assert_true(are_equal(&expected, &verdicts));
    assert_int_equal(account.damaged_segments, 0);
    bb_skip_verdicts_deinit(&expected);
    bb_skip_verdicts_deinit(&verdicts);
    return account;
}

static uint64_t count_reads(struct world *world)
{
    struct bb_file_counters counters;
    struct bb_file_system *fs = bb_file_memory_system(world->rows.memory);
    fs->ops->counters(fs, &counters);
    return counters.reads;
}

static void skip_file_map__reads_each_page_once(void **state)
{
    (void)state;
    struct world world;
    struct bb_skip_file *plain = NULL;
    struct bb_skip_account account;
    uint64_t reads = 0;
    world_init(&world);
    assert_ok(open_rows(&world.rows, false, &plain));
    struct bb_skip_file *mapped = open_mapped(&world);
    for (size_t i = 0; i < CONDITIONS; i++)
        reads += check_equal(&world, plain, mapped, i).reads;
    assert_true(reads > 0);
    uint64_t before = count_reads(&world);
    for (size_t i = 0; i < CONDITIONS; i++) {
        struct bb_skip_verdicts verdicts = ask(&world, mapped, i, &account);
        assert_int_equal(account.reads, 0);
        assert_int_equal(account.read_bytes, 0);
        bb_skip_verdicts_deinit(&verdicts);
    }
    assert_int_equal(count_reads(&world), before);
    bb_skip_file_close(plain);
    bb_skip_file_close(mapped);
    world_deinit(&world);
}

/* The file is read by calls then. */
static void skip_file_map__lost_at_any_moment(void **state)
{
    (void)state;
    struct world world;
    struct bb_skip_file *plain = NULL;
    uint64_t reads = 0;
    world_init(&world);
    assert_ok(open_rows(&world.rows, false, &plain));
    for (uint64_t nth = 1; nth <= 40; nth += bb_test_step()) {
        struct bb_skip_file *mapped = open_mapped(&world);
        (void)check_equal(&world, plain, mapped, nth % CONDITIONS);
        bb_file_memory_lose_map(world.rows.memory, nth);
        for (size_t i = 0; i < CONDITIONS; i++)
            (void)check_equal(&world, plain, mapped, i);
        bb_file_memory_lose_map(world.rows.memory, 0);
        for (size_t i = 0; i < CONDITIONS; i++)
            reads += check_equal(&world, plain, mapped, i).reads;
        bb_skip_file_close(mapped);
    }
    assert_true(reads > 0);
    bb_skip_file_close(plain);
    world_deinit(&world);
}

static void flip(uint8_t *bytes, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += 8)
        bytes[at] ^= 1;
}

/* Another program may change the file. A copy is verified each time. */
static void skip_file_map__finds_damage_since_the_first_read(void **state)
{
    (void)state;
    struct world world;
    struct bb_skip_account before;
    struct bb_skip_account after;
    uint64_t damaged = 0;
    world_init(&world);
    struct bb_skip_file *mapped = open_mapped(&world);
    uint8_t *bytes = (uint8_t *)(uintptr_t)mapped->map.file->bytes;
    for (size_t i = 0; i < CONDITIONS; i++) {
        struct bb_skip_verdicts sound = ask(&world, mapped, i, &before);
        flip(bytes, mapped->size);
        struct bb_skip_verdicts verdicts = ask(&world, mapped, i, &after);
        flip(bytes, mapped->size);
        for (size_t word = 0; word < sound.word_count; word++)
            assert_int_equal(sound.may_be_true[word] & ~verdicts.may_be_true[word], 0);
        damaged += after.damaged_segments;
        bb_skip_verdicts_deinit(&sound);
        bb_skip_verdicts_deinit(&verdicts);
    }
    assert_true(damaged > 0);
    bb_skip_file_close(mapped);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skip_file_map__reads_each_page_once),
        cmocka_unit_test(skip_file_map__lost_at_any_moment),
        cmocka_unit_test(skip_file_map__finds_damage_since_the_first_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
