/* Goal: one leader at a time; every commit is done exactly once, with the status and message of its
 * group; groups follow their rules (size, sync, separate exclusive commits) and the order of entry.
 * Method: scenarios in which the waiting commits are lined up one by one, so that the groups are
 * known; then many threads at random, whose leaders check every group. The results do not depend on
 * timing. */
#include "tests/support/assert_status.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "kv/store/commit_queue.h"
#include "tests/support/rng.h"

static struct bb_batch *create_batch(size_t value_size)
{
    static const uint8_t value[4096];
    struct bb_batch *batch = NULL;
    assert_true(value_size <= sizeof(value));
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_batch_put(batch, (struct bb_bytes){.data = value, .size = 1},
                           (struct bb_bytes){.data = value, .size = value_size}));
    return batch;
}

/* ---- Scenarios ---- */

#define LINE_MAX 8

/* One commit of a scenario. */
struct queued {
    char kind;         /* 'p': plain, 's': synced, 'e': exclusive */
    size_t value_size; /* of its batch's one operation */
};

struct line;

struct waiter {
    struct bb_commit commit; /* first: a commit of the queue is a waiter */
    struct line *line;
    struct bb_thread thread;
    bool has_led;
    enum bb_status status;
    char message[128];
};

/* Commits in the order of their entry; the first one leads on the test's thread. */
struct line {
    struct bb_commit_queue queue;
    size_t size_max_bytes;
    struct waiter waiters[LINE_MAX];
    size_t count;
    size_t groups[LINE_MAX]; /* number of commits of each group; only leaders write it */
    size_t group_count;
    enum bb_status failing; /* BB_OK: no group fails. Else the first one does */
    bool sleep;             /* the leader begins when all others sleep */
};

static size_t measure(const struct bb_commit *leader, const struct bb_commit *last)
{
    size_t count = 1;
    for (const struct bb_commit *commit = leader; commit != last; commit = commit->next)
        count++;
    return count;
}

/* The work of a leader. */
static void lead(struct line *line, struct waiter *leader)
{
    struct bb_commit *last = bb_commit_queue_take(&leader->commit, line->size_max_bytes);
    leader->has_led = true;
    leader->status = BB_OK;
    if (line->failing != BB_OK && line->group_count == 0)
        leader->status = bb_fail(line->failing, "group of %zu", measure(&leader->commit, last));
    line->groups[line->group_count++] = measure(&leader->commit, last);
    bb_commit_queue_leave(&line->queue, &leader->commit, &leader->commit, last, leader->status);
}

static void keep_message(struct waiter *waiter)
{
    snprintf(waiter->message, sizeof(waiter->message), "%.120s", bb_error_last()->message);
}

static void wait_in_line(void *argument)
{
    struct waiter *waiter = argument;
    if (bb_commit_queue_enter(&waiter->line->queue, &waiter->commit))
        lead(waiter->line, waiter);
    else
        waiter->status = bb_commit_queue_result(&waiter->commit);
    keep_message(waiter);
}

/* True once the last waiter is linked to its predecessor and, if line->sleep, sleeps. */
static bool is_in_line(const struct line *line)
{
    const struct waiter *waiter = &line->waiters[line->count - 1];
    return waiter[-1].commit.next == &waiter->commit &&
           (!line->sleep || waiter->commit.state == BB_COMMIT_SLEEPS);
}

static void add_waiter(struct line *line, const struct queued *place)
{
    struct waiter *waiter = &line->waiters[line->count];
    *waiter = (struct waiter){.line = line};
    waiter->commit.sync = place->kind == 's';
    waiter->commit.batch = place->kind == 'e' ? NULL : create_batch(place->value_size);
    if (line->count++ == 0) {
        assert_true(bb_commit_queue_enter(&line->queue, &waiter->commit));
        return;
    }
    assert_ok(bb_thread_create(&waiter->thread, wait_in_line, waiter));
    while (!is_in_line(line))
        (void)sched_yield();
}

static void run_line(struct line *line, const struct queued *places, size_t count)
{
    bb_commit_queue_init(&line->queue);
    for (size_t i = 0; i < count; i++)
        add_waiter(line, &places[i]);
    lead(line, &line->waiters[0]);
    for (size_t i = 1; i < count; i++)
        bb_thread_join(&line->waiters[i].thread);
    for (size_t i = 0; i < count; i++)
        bb_batch_destroy((struct bb_batch *)(uintptr_t)line->waiters[i].commit.batch);
    assert_true(bb_commit_queue_is_still(&line->queue));
    bb_commit_queue_deinit(&line->queue);
}

/* kinds: one letter for each commit, all with empty values. groups: their sizes, as digits. */
static void assert_groups_of(const char *kinds, const char *groups, bool sleep)
{
    struct queued places[LINE_MAX];
    struct line line = {.size_max_bytes = 1 << 20, .sleep = sleep};
    char found[LINE_MAX + 1] = "";
    size_t count = strlen(kinds);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct queued){.kind = kinds[i]};
    run_line(&line, places, count);
    for (size_t i = 0; i < line.group_count; i++)
        found[i] = (char)('0' + line.groups[i]);
    if (strcmp(found, groups) != 0)
        fail_msg("commits %s: groups %s, expected %s", kinds, found, groups);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(line.waiters[i].status, BB_OK);
}

static void assert_groups(const char *kinds, const char *groups)
{
    assert_groups_of(kinds, groups, false);
    assert_groups_of(kinds, groups, true);
}

static void commit_queue__alone(void **state)
{
    (void)state;
    assert_groups("p", "1");
    assert_groups("s", "1");
    assert_groups("e", "1");
}

static void commit_queue__later_writers_join(void **state)
{
    (void)state;
    assert_groups("pp", "2");
    assert_groups("pppppppp", "8");
    assert_groups("ssss", "4");
}

/* A synced leader may take plain ones along, not the other way round. */
static void commit_queue__sync_takes_plain_along(void **state)
{
    (void)state;
    assert_groups("sppp", "4");
    assert_groups("spsp", "4");
    assert_groups("ppspp", "23");
    assert_groups("ps", "11");
}

static void commit_queue__exclusive_commits_are_alone(void **state)
{
    (void)state;
    assert_groups("eppp", "13");
    assert_groups("ppep", "211");
    assert_groups("eee", "111");
    assert_groups("sesp", "112");
}

/* The groups of batches with these sizes of values, of which `fit` fill a group exactly. */
static void assert_sizes(const size_t *sizes, size_t count, size_t fit, const char *groups)
{
    struct queued places[LINE_MAX];
    struct line line = {.size_max_bytes = 0};
    for (size_t i = 0; i < count; i++)
        places[i] = (struct queued){.kind = 'p', .value_size = sizes[i]};
    for (size_t i = 0; i < fit; i++) {
        struct bb_batch *batch = create_batch(sizes[i]);
        line.size_max_bytes += bb_batch_size_bytes(batch);
        bb_batch_destroy(batch);
    }
    run_line(&line, places, count);
    assert_int_equal(line.group_count, strlen(groups));
    for (size_t i = 0; i < line.group_count; i++)
        assert_int_equal(line.groups[i], groups[i] - '0');
}

static void commit_queue__groups_are_bounded(void **state)
{
    (void)state;
    assert_sizes((size_t[]){100, 100, 100, 100, 100}, 5, 2, "221");
    assert_sizes((size_t[]){100, 101, 0, 0}, 4, 1, "112");
    /* A commit that does not fit ends the group, even if a smaller one follows. */
    assert_sizes((size_t[]){50, 10, 4000, 10}, 4, 2, "211");
    /* A commit larger than a group forms its own group. */
    assert_sizes((size_t[]){10, 4000, 4000, 1}, 4, 1, "1111");
}

static void commit_queue__limit_of_nothing(void **state)
{
    (void)state;
    struct queued places[] = {{.kind = 'p'}, {.kind = 'p'}, {.kind = 'p'}};
    struct line line = {.size_max_bytes = 0};
    run_line(&line, places, 3);
    assert_int_equal(line.group_count, 3);
}

static void commit_queue__the_group_shares_a_failure(void **state)
{
    (void)state;
    struct queued places[] = {
        {.kind = 's'}, {.kind = 'p'}, {.kind = 'p'}, {.kind = 'e'}, {.kind = 'p'}};
    struct line line = {.size_max_bytes = 1 << 20, .failing = BB_NO_SPACE};
    run_line(&line, places, 5);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(line.waiters[i].status, BB_NO_SPACE);
    for (size_t i = 1; i < 3; i++) {
        assert_false(line.waiters[i].has_led);
        assert_string_equal(line.waiters[i].message, "group of 3");
    }
    /* Others have nothing to do with it. */
    for (size_t i = 3; i < 5; i++)
        assert_int_equal(line.waiters[i].status, BB_OK);
}

/* The status is the argument of leave, independent of later failures of the leader's thread. */
static void commit_queue__the_status_is_what_leave_was_given(void **state)
{
    (void)state;
    struct queued places[] = {{.kind = 'p'}, {.kind = 'p'}};
    struct line line = {.size_max_bytes = 1 << 20};
    bb_commit_queue_init(&line.queue);
    for (size_t i = 0; i < 2; i++)
        add_waiter(&line, &places[i]);
    struct bb_commit *last = bb_commit_queue_take(&line.waiters[0].commit, 1 << 20);
    assert_ptr_equal(last, &line.waiters[1].commit);
    (void)bb_fail(BB_NOT_FOUND, "something in passing");
    bb_commit_queue_leave(&line.queue, &line.waiters[0].commit, &line.waiters[0].commit, last,
                          BB_IO);
    bb_thread_join(&line.waiters[1].thread);
    assert_int_equal(line.waiters[1].status, BB_IO);
    for (size_t i = 0; i < 2; i++)
        bb_batch_destroy((struct bb_batch *)(uintptr_t)line.waiters[i].commit.batch);
    bb_commit_queue_deinit(&line.queue);
}

/* The first of two commits leads, and continues if the second one is plain. */
static void assert_continues(const char *kinds, bool continues, bool sleep)
{
    struct line line = {.size_max_bytes = 1 << 20, .sleep = sleep};
    struct waiter *waiters = line.waiters;
    bb_commit_queue_init(&line.queue);
    for (size_t i = 0; kinds[i] != '\0'; i++)
        add_waiter(&line, &(struct queued){.kind = kinds[i]});
    struct bb_commit *next =
        bb_commit_queue_continue(&line.queue, &waiters[0].commit, &waiters[0].commit);
    assert_ptr_equal(next, continues ? &waiters[1].commit : NULL);
    if (continues) {
        (void)bb_fail(BB_IO, "the second group");
        bb_commit_queue_leave(&line.queue, &waiters[0].commit, next,
                              bb_commit_queue_take(next, 1 << 20), BB_IO);
    }
    for (size_t i = 1; i < line.count; i++) {
        bb_thread_join(&waiters[i].thread);
        assert_int_equal(waiters[i].has_led, !continues);
        assert_int_equal(waiters[i].status, continues ? BB_IO : BB_OK);
    }
    for (size_t i = 0; i < line.count; i++)
        bb_batch_destroy((struct bb_batch *)(uintptr_t)waiters[i].commit.batch);
    assert_true(bb_commit_queue_is_still(&line.queue));
    bb_commit_queue_deinit(&line.queue);
}

static void commit_queue__a_leader_hands_over(void **state)
{
    (void)state;
    for (int sleep = 0; sleep < 2; sleep++) {
        struct line line = {.size_max_bytes = 1 << 20, .sleep = sleep != 0};
        struct waiter *waiters = line.waiters;
        bb_commit_queue_init(&line.queue);
        for (size_t i = 0; i < 3; i++)
            add_waiter(&line, &(struct queued){.kind = 'p'});
        struct bb_commit *next =
            bb_commit_queue_continue(&line.queue, &waiters[0].commit, &waiters[0].commit);
        assert_ptr_equal(next, &waiters[1].commit);
        bb_commit_queue_hand_over(&line.queue, next);
        for (size_t i = 1; i < 3; i++) {
            bb_thread_join(&waiters[i].thread);
            assert_int_equal(waiters[i].has_led, i == 1);
            assert_int_equal(waiters[i].status, BB_OK);
        }
        for (size_t i = 0; i < 3; i++)
            bb_batch_destroy((struct bb_batch *)(uintptr_t)waiters[i].commit.batch);
        assert_true(bb_commit_queue_is_still(&line.queue));
        bb_commit_queue_deinit(&line.queue);
    }
}

static void commit_queue__a_leader_continues_for_plain_commits(void **state)
{
    (void)state;
    assert_continues("p", false, false);
    for (int sleep = 0; sleep < 2; sleep++) {
        assert_continues("pp", true, sleep != 0);
        assert_continues("ppp", true, sleep != 0);
        assert_continues("sp", true, sleep != 0);
        assert_continues("ps", false, sleep != 0);
        assert_continues("ss", false, sleep != 0);
        assert_continues("pe", false, sleep != 0);
    }
}

/* ---- Many threads ---- */

#define WRITERS            6
#define COMMITS_PER_WRITER 3000
#define GROUP_SIZE         400
#define BATCH_SIZES        8

/* Only leaders write it, without a lock: the thread sanitizer finds two of them at a time. */
struct book {
    uint64_t leaders_inside;
    uint64_t done[WRITERS]; /* how many commits of each writer were done */
    uint64_t failed[WRITERS];
    uint64_t groups;
    uint64_t continued; /* groups of leaders that had led one before */
    uint64_t largest;
    uint64_t bad;
};

struct crowd {
    struct bb_commit_queue queue;
    struct book book;
    struct bb_batch *batches[BATCH_SIZES]; /* read-only, shared by all */
    uint64_t seed;
};

struct writer {
    struct crowd *crowd;
    struct bb_thread thread;
    uint64_t index;
    struct bb_rng rng;
    uint64_t failed; /* as reported to its commits */
    uint64_t bad;
};

struct marked_commit {
    struct bb_commit commit; /* first */
    uint64_t writer;
    uint64_t number; /* among the writer's */
};

static void note_commit(struct book *book, const struct bb_commit *commit, bool fails)
{
    const struct marked_commit *marked = (const struct marked_commit *)commit;
    book->bad += marked->commit.state == BB_COMMIT_DONE;
    book->bad += book->done[marked->writer] != marked->number;
    book->done[marked->writer]++;
    book->failed[marked->writer] += fails;
}

static size_t size_of(const struct bb_commit *commit)
{
    return commit->batch == NULL ? 0 : bb_batch_size_bytes(commit->batch);
}

/* The rules of a group, and that everybody in it is at the head of its thread's commits. */
static void note_group(struct book *book, const struct bb_commit *leader,
                       const struct bb_commit *last, bool fails)
{
    uint64_t count = 1;
    size_t size = size_of(leader);
    note_commit(book, leader, fails);
    for (const struct bb_commit *commit = leader; commit != last; count++) {
        commit = commit->next;
        note_commit(book, commit, fails);
        size += size_of(commit);
        book->bad += leader->batch == NULL || commit->batch == NULL;
        book->bad += commit->sync && !leader->sync;
    }
    book->bad += count > 1 && size > GROUP_SIZE;
    book->groups++;
    if (count > book->largest)
        book->largest = count;
}

/* Executes a group, and returns its last commit. */
static struct bb_commit *execute(struct writer *writer, struct bb_commit *first, bool fails)
{
    struct book *book = &writer->crowd->book;
    book->bad += book->leaders_inside++ != 0;
    if (bb_rng_one_in(&writer->rng, 4))
        (void)sched_yield(); /* so that some queue up */
    struct bb_commit *last = bb_commit_queue_take(first, GROUP_SIZE);
    note_group(book, first, last, fails);
    book->leaders_inside--;
    return last;
}

static enum bb_status end_of(const struct writer *writer, bool fails)
{
    return fails ? bb_fail(BB_IO, "led by %" PRIu64, writer->index) : BB_OK;
}

static enum bb_status lead_crowd(struct writer *writer, struct bb_commit *leader)
{
    struct bb_commit_queue *queue = &writer->crowd->queue;
    bool fails = bb_rng_one_in(&writer->rng, 5);
    struct bb_commit *first = leader;
    struct bb_commit *last = execute(writer, leader, fails);
    enum bb_status status = end_of(writer, fails);
    if (!fails && bb_rng_one_in(&writer->rng, 2)) {
        first = bb_commit_queue_continue(queue, leader, last);
        if (first == NULL)
            return BB_OK;
        writer->crowd->book.continued++;
        writer->bad += first->batch == NULL || first->sync;
        fails = bb_rng_one_in(&writer->rng, 5);
        last = execute(writer, first, fails);
    }
    bb_commit_queue_leave(queue, leader, first, last, end_of(writer, fails));
    return status;
}

static void commit_once(struct writer *writer, uint64_t number)
{
    struct marked_commit marked = {.writer = writer->index, .number = number};
    marked.commit.sync = bb_rng_one_in(&writer->rng, 3);
    if (!bb_rng_one_in(&writer->rng, 20))
        marked.commit.batch = writer->crowd->batches[bb_rng_below(&writer->rng, BATCH_SIZES)];
    bool led = bb_commit_queue_enter(&writer->crowd->queue, &marked.commit);
    enum bb_status status =
        led ? lead_crowd(writer, &marked.commit) : bb_commit_queue_result(&marked.commit);
    writer->bad += !led && marked.commit.batch == NULL;
    writer->bad += marked.commit.state != (led ? BB_COMMIT_LEADS : BB_COMMIT_DONE);
    writer->failed += status != BB_OK;
    if (status != BB_OK)
        writer->bad += status != BB_IO || strstr(bb_error_last()->message, "led by ") == NULL;
}

static void write_often(void *argument)
{
    struct writer *writer = argument;
    bb_rng_init(&writer->rng, writer->crowd->seed + writer->index);
    for (uint64_t i = 0; i < COMMITS_PER_WRITER; i++)
        commit_once(writer, i);
}

static void commit_queue__many_threads(void **state)
{
    (void)state;
    static struct crowd crowd;
    static struct writer writers[WRITERS];
    crowd.seed = bb_rng_seed("commit_queue_test", 1);
    bb_commit_queue_init(&crowd.queue);
    for (size_t i = 0; i < BATCH_SIZES; i++)
        crowd.batches[i] = create_batch(i * i * 10);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.crowd = &crowd, .index = i};
        assert_ok(bb_thread_create(&writers[i].thread, write_often, &writers[i]));
    }
    for (size_t i = 0; i < WRITERS; i++)
        bb_thread_join(&writers[i].thread);
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(crowd.book.done[i], COMMITS_PER_WRITER);
        assert_int_equal(crowd.book.failed[i], writers[i].failed);
        assert_int_equal(writers[i].bad, 0);
        assert_true(writers[i].failed > 0);
    }
    assert_int_equal(crowd.book.bad, 0);
    assert_true(crowd.book.largest > 1);
    assert_true(crowd.book.continued > 0);
    printf("%" PRIu64 " groups of at most %" PRIu64 "\n", crowd.book.groups, crowd.book.largest);
    for (size_t i = 0; i < BATCH_SIZES; i++)
        bb_batch_destroy(crowd.batches[i]);
    bb_commit_queue_deinit(&crowd.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commit_queue__alone),
        cmocka_unit_test(commit_queue__later_writers_join),
        cmocka_unit_test(commit_queue__sync_takes_plain_along),
        cmocka_unit_test(commit_queue__exclusive_commits_are_alone),
        cmocka_unit_test(commit_queue__groups_are_bounded),
        cmocka_unit_test(commit_queue__limit_of_nothing),
        cmocka_unit_test(commit_queue__the_group_shares_a_failure),
        cmocka_unit_test(commit_queue__a_leader_continues_for_plain_commits),
        cmocka_unit_test(commit_queue__a_leader_hands_over),
        cmocka_unit_test(commit_queue__the_status_is_what_leave_was_given),
        cmocka_unit_test(commit_queue__many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
