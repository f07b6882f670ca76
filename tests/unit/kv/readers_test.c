/* Goal: a view that a reader has pinned is never freed, every reader gets the current view, and
 * counts through any slot are summed exactly. Method: substitutes for views with a mark that
 * freeing destroys; slots claimed directly up to the last; threads that enter and leave while
 * another publishes, retires and frees as the store does. The builds with the address and the
 * thread sanitizer find errors that the marks do not. */
#include "tests/support/assert_status.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/sync.h"
#include "kv/view/readers.h"
#include "tests/support/rng.h"

#define ALIVE UINT64_C(0xa11fea11fea11fe)
#define DEAD  UINT64_C(0xdeaddeaddeaddead)

/* Opaque to readers.c: an address. */
struct stand_in {
    uint64_t mark;
    uint64_t number;
    struct stand_in *next; /* the list of retired ones */
};

static struct bb_view *as_view(struct stand_in *stand_in)
{
    return (struct bb_view *)(void *)stand_in;
}

static const struct stand_in *of_view(const struct bb_view *view)
{
    return (const struct stand_in *)(const void *)view;
}

static struct stand_in *create_stand_in(uint64_t number)
{
    struct stand_in *stand_in = malloc(sizeof(*stand_in));
    assert_non_null(stand_in);
    *stand_in = (struct stand_in){.mark = ALIVE, .number = number};
    return stand_in;
}

static void readers__enter_pins_the_current_view(void **state)
{
    (void)state;
    struct bb_readers readers;
    struct stand_in old = {.number = 1};
    struct stand_in new = {.number = 2};
    struct bb_view *view = NULL;
    assert_ok(bb_readers_init(&readers));
    bb_readers_publish(&readers, as_view(&old));
    assert_false(bb_readers_is_used(&readers, as_view(&old)));
    struct bb_reader *first = bb_readers_enter(&readers, &view);
    assert_ptr_equal(view, as_view(&old));
    assert_true(bb_readers_is_used(&readers, as_view(&old)));

    /* Present readers keep their view; new readers get the new one. */
    bb_readers_publish(&readers, as_view(&new));
    assert_true(bb_readers_is_used(&readers, as_view(&old)));
    assert_false(bb_readers_is_used(&readers, as_view(&new)));
    struct bb_reader *second = bb_readers_enter(&readers, &view);
    assert_ptr_equal(view, as_view(&new));
    assert_ptr_not_equal(first, second);
    bb_reader_leave(first);
    assert_false(bb_readers_is_used(&readers, as_view(&old)));
    assert_true(bb_readers_is_used(&readers, as_view(&new)));
    bb_reader_leave(second);
    assert_false(bb_readers_is_used(&readers, as_view(&new)));
    bb_readers_deinit(&readers);
}

static void readers__a_view_is_used_until_its_last_reader_leaves(void **state)
{
    (void)state;
    struct bb_readers readers;
    struct stand_in stand_in = {.number = 1};
    struct bb_reader *inside[3];
    struct bb_view *view = NULL;
    assert_ok(bb_readers_init(&readers));
    bb_readers_publish(&readers, as_view(&stand_in));
    for (size_t i = 0; i < 3; i++)
        inside[i] = bb_readers_enter(&readers, &view);
    for (size_t i = 0; i < 3; i++) {
        assert_true(bb_readers_is_used(&readers, as_view(&stand_in)));
        bb_reader_leave(inside[(i + 1) % 3]);
    }
    assert_false(bb_readers_is_used(&readers, as_view(&stand_in)));
    bb_readers_deinit(&readers);
}

struct latecomer {
    struct bb_readers *readers;
    struct bb_reader *slot;
};

static void come_late(void *argument)
{
    struct latecomer *latecomer = argument;
    struct bb_view *view = NULL;
    latecomer->slot = bb_readers_enter(latecomer->readers, &view);
    latecomer->slot->counts.gets++;
    bb_reader_leave(latecomer->slot);
}

/* With every slot taken, one more reader waits for one and enters as soon as it is free. */
static void readers__more_readers_than_slots(void **state)
{
    (void)state;
    static struct bb_reader *inside[BB_READER_COUNT];
    struct bb_readers readers;
    struct bb_reader_counts sum;
    struct stand_in stand_in = {.number = 1};
    struct bb_view *view = NULL;
    struct bb_thread thread;
    assert_ok(bb_readers_init(&readers));
    bb_readers_publish(&readers, as_view(&stand_in));
    for (size_t i = 0; i < BB_READER_COUNT; i++) {
        inside[i] = bb_readers_enter(&readers, &view);
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(inside[i], inside[j]);
    }
    struct latecomer latecomer = {.readers = &readers};
    assert_ok(bb_thread_create(&thread, come_late, &latecomer));
    for (int i = 0; i < 100; i++)
        (void)sched_yield();
    bb_reader_leave(inside[77]);
    bb_thread_join(&thread);
    assert_ptr_equal(latecomer.slot, inside[77]);
    for (size_t i = 0; i < BB_READER_COUNT; i++) {
        if (i != 77)
            bb_reader_leave(inside[i]);
    }
    bb_readers_sum(&readers, &sum);
    assert_int_equal(sum.gets, 1);
    bb_readers_deinit(&readers);
}

/* Every 64-bit field of a struct gets a different number. */
static void number_fields(void *fields, size_t size, uint64_t first)
{
    uint64_t number = first;
    for (size_t i = 0; i < size / sizeof(number); i++, number++)
        memcpy((uint8_t *)fields + i * sizeof(number), &number, sizeof(number));
}

static void assert_fields(const void *fields, size_t size, uint64_t first, uint64_t step)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        uint64_t found = 0;
        memcpy(&found, (const uint8_t *)fields + i * sizeof(found), sizeof(found));
        assert_int_equal(found, first + i * step);
    }
}

static void readers__stats_add_field_by_field(void **state)
{
    (void)state;
    struct bb_read_stats sum;
    struct bb_read_stats part;
    number_fields(&sum, sizeof(sum), 1000);
    number_fields(&part, sizeof(part), 1);
    bb_readers_add_stats(&sum, &part);
    assert_fields(&sum, sizeof(sum), 1001, 2);
    assert_fields(&part, sizeof(part), 1, 1);
}

static void readers__sum_of_all_slots_and_fields(void **state)
{
    (void)state;
    static struct bb_reader *inside[BB_READER_COUNT];
    struct bb_readers readers;
    struct stand_in stand_in = {.number = 1};
    struct bb_view *view = NULL;
    struct bb_reader_counts sum;
    assert_ok(bb_readers_init(&readers));
    bb_readers_publish(&readers, as_view(&stand_in));
    bb_readers_sum(&readers, &sum);
    assert_fields(&sum, sizeof(sum), 0, 0);
    for (size_t i = 0; i < BB_READER_COUNT; i++) {
        inside[i] = bb_readers_enter(&readers, &view);
        number_fields(&inside[i]->counts, sizeof(inside[i]->counts), 7);
    }
    for (size_t i = 0; i < BB_READER_COUNT; i++)
        bb_reader_leave(inside[i]);
    for (int twice = 0; twice < 2; twice++) {
        bb_readers_sum(&readers, &sum);
        assert_fields(&sum, sizeof(sum), UINT64_C(7) * BB_READER_COUNT, BB_READER_COUNT);
    }
    bb_readers_deinit(&readers);
}

/* A sum waited for each reader inside, so it hung while a device hung. */
static void readers__sum_does_not_wait_for_readers(void **state)
{
    (void)state;
    struct bb_readers readers;
    struct stand_in stand_in = {.number = 1};
    struct bb_view *view = NULL;
    struct bb_reader_counts sum;
    assert_ok(bb_readers_init(&readers));
    bb_readers_publish(&readers, as_view(&stand_in));
    struct bb_reader *inside = bb_readers_enter(&readers, &view);
    inside->counts.gets = 5;
    inside->counts.level_reads[1].block_reads = 7;
    bb_readers_sum(&readers, &sum);
    assert_int_equal(sum.gets, 5);
    assert_int_equal(sum.level_reads[1].block_reads, 7);
    bb_reader_leave(inside);
    bb_readers_deinit(&readers);
}

static void readers__scans_are_added(void **state)
{
    (void)state;
    struct bb_readers readers;
    struct stand_in stand_in = {.number = 1};
    struct bb_read_stats stats;
    struct bb_reader_counts sum;
    assert_ok(bb_readers_init(&readers));
    bb_readers_publish(&readers, as_view(&stand_in));
    number_fields(&stats, sizeof(stats), 5);
    for (int i = 0; i < 3; i++)
        bb_readers_add_scan(&readers, &stats);
    bb_readers_sum(&readers, &sum);
    assert_fields(&sum.scan_reads, sizeof(sum.scan_reads), 15, 3);
    assert_int_equal(sum.gets, 0);
    bb_readers_deinit(&readers);
}

/* The store in small: one publisher, who also frees, and readers. */

#define READER_THREADS   3
#define READS_PER_THREAD 20000 /* at least, and until this many views have been published: */
#define PUBLICATIONS     3000

struct small_store {
    struct bb_readers readers;
    struct bb_mutex mutex; /* publish and is_used, as the store's */
    struct stand_in *current;
    struct stand_in *retired;
    uint64_t freed;
    _Atomic uint32_t running; /* reader threads */
    _Atomic uint64_t published;
    _Atomic uint64_t bad; /* freed, or older than one seen before by the same thread */
    uint64_t seed;
};

struct reader_thread {
    struct small_store *store;
    struct bb_thread thread;
    uint64_t index;
    struct bb_reader_counts counted; /* its additions to slots */
};

static void free_unused(struct small_store *store)
{
    struct stand_in **link = &store->retired;
    while (*link != NULL) {
        struct stand_in *stand_in = *link;
        if (bb_readers_is_used(&store->readers, as_view(stand_in))) {
            link = &stand_in->next;
            continue;
        }
        *link = stand_in->next;
        stand_in->mark = DEAD;
        free(stand_in);
        store->freed++;
    }
}

static void publish_next(struct small_store *store)
{
    struct stand_in *next = create_stand_in(store->current->number + 1);
    bb_mutex_lock(&store->mutex);
    bb_readers_publish(&store->readers, as_view(next));
    store->current->next = store->retired;
    store->retired = store->current;
    store->current = next;
    free_unused(store);
    bb_mutex_unlock(&store->mutex);
}

static void count(struct reader_thread *thread, struct bb_reader *reader, struct bb_rng *rng)
{
    uint64_t level = bb_rng_below(rng, BB_LEVEL_COUNT);
    uint64_t visit = bb_rng_below(rng, BB_VISIT_COUNT);
    bb_counter_add(&reader->counts.gets, 1);
    thread->counted.gets++;
    bb_counter_add(&reader->counts.level_reads[level].visits[visit], level + 1);
    thread->counted.level_reads[level].visits[visit] += level + 1;
}

static void add_scan(struct reader_thread *thread, struct bb_rng *rng)
{
    struct bb_read_stats stats = {.block_requests = bb_rng_below(rng, 100)};
    bb_readers_add_scan(&thread->store->readers, &stats);
    bb_readers_add_stats(&thread->counted.scan_reads, &stats);
}

static void read_often(void *argument)
{
    struct reader_thread *thread = argument;
    struct small_store *store = thread->store;
    struct bb_rng rng;
    uint64_t newest = 0;
    bb_rng_init(&rng, store->seed + thread->index);
    for (int i = 0; i < READS_PER_THREAD || store->published < PUBLICATIONS; i++) {
        struct bb_view *view = NULL;
        struct bb_reader *reader = bb_readers_enter(&store->readers, &view);
        store->bad += of_view(view)->mark != ALIVE || of_view(view)->number < newest;
        newest = of_view(view)->number;
        count(thread, reader, &rng);
        if (bb_rng_one_in(&rng, 64))
            (void)sched_yield();
        store->bad += of_view(view)->mark != ALIVE || of_view(view)->number != newest;
        bb_reader_leave(reader);
        if (bb_rng_one_in(&rng, 64))
            add_scan(thread, &rng);
    }
    store->running--;
}

static void add_counts(uint64_t *sum, const struct bb_reader_counts *part)
{
    const uint64_t *fields = (const uint64_t *)(const void *)part;
    for (size_t i = 0; i < sizeof(*part) / sizeof(uint64_t); i++)
        sum[i] += fields[i];
}

static void readers__views_come_and_go(void **state)
{
    (void)state;
    struct small_store store = {.running = READER_THREADS, .seed = bb_rng_seed("readers_test", 1)};
    static struct reader_thread threads[READER_THREADS];
    struct bb_reader_counts sum = {0};
    struct bb_reader_counts expected = {0};
    assert_ok(bb_readers_init(&store.readers));
    bb_mutex_init(&store.mutex);
    store.current = create_stand_in(1);
    bb_readers_publish(&store.readers, as_view(store.current));
    for (size_t i = 0; i < READER_THREADS; i++) {
        threads[i] = (struct reader_thread){.store = &store, .index = i};
        assert_ok(bb_thread_create(&threads[i].thread, read_often, &threads[i]));
    }
    /* Concurrent sums never decrease, and disturb nothing. */
    for (uint64_t gets = 0; store.running > 0; gets = sum.gets) {
        publish_next(&store);
        if (++store.published % 600 == 0)
            bb_readers_sum(&store.readers, &sum);
        assert_true(sum.gets >= gets);
    }
    for (size_t i = 0; i < READER_THREADS; i++) {
        bb_thread_join(&threads[i].thread);
        add_counts((uint64_t *)(void *)&expected, &threads[i].counted);
    }
    bb_readers_sum(&store.readers, &sum);
    assert_true(sum.gets >= READER_THREADS * READS_PER_THREAD);
    assert_memory_equal(&sum, &expected, sizeof(sum));
    assert_int_equal(store.bad, 0);
    bb_mutex_lock(&store.mutex);
    free_unused(&store);
    bb_mutex_unlock(&store.mutex);
    assert_null(store.retired);
    assert_int_equal(store.freed, store.published);
    free(store.current);
    bb_mutex_deinit(&store.mutex);
    bb_readers_deinit(&store.readers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers__enter_pins_the_current_view),
        cmocka_unit_test(readers__a_view_is_used_until_its_last_reader_leaves),
        cmocka_unit_test(readers__more_readers_than_slots),
        cmocka_unit_test(readers__stats_add_field_by_field),
        cmocka_unit_test(readers__sum_of_all_slots_and_fields),
        cmocka_unit_test(readers__sum_does_not_wait_for_readers),
        cmocka_unit_test(readers__scans_are_added),
        cmocka_unit_test(readers__views_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
