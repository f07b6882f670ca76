/* Goal: selections, indexes that are created, dropped, materialized and rebuilt, writers, flushes
 * and compactions may all run concurrently: a selection shows one state, in which a batch is whole,
 * with indexes and without; and at the end every table gets its index file, and no unneeded file
 * remains. Method: writers whose batches put one number under two keys at both ends of the range;
 * threads that select by the number and by a snapshot, a thread that changes indexes, a thread that
 * flushes and compacts. The builds with the thread and the address sanitizer find the rest. */
#include "tests/support/indexed_store.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/sync.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define WRITERS   2
#define SELECTORS 3
#define PAIRS     60
#define WRITES    15000 /* without a step (tests/support/step.h) */
#define NUMBERS   8     /* that rows hold */

struct crowd {
    struct bb_db *db;
    _Atomic uint32_t writing; /* writers that are not done */
    _Atomic uint64_t bad;
    _Atomic uint64_t selections;
    _Atomic uint64_t rows;
    _Atomic uint64_t changes;
    uint64_t seed;
};

struct member {
    struct crowd *crowd;
    struct bb_thread thread;
    uint32_t index;
    struct bb_rng rng;
};

static void complain(struct crowd *crowd, const char *what)
{
    fprintf(stderr, "select_threads_test: %s: %s\n", what, bb_error_last()->message);
    crowd->bad++;
}

static void must(struct crowd *crowd, enum bb_status status, const char *what)
{
    if (status != BB_OK)
        complain(crowd, what);
}

/* ---- writers ---- */

static struct bb_bytes key_of(char half, uint32_t pair, char text[16])
{
    snprintf(text, 16, "%c%05u", half, pair);
    return bb_bytes_of_text(text);
}

static void add_half(struct member *member, struct bb_batch *batch, char half, uint32_t pair,
                     uint64_t number)
{
    char key[16];
    char row[160];
    int size = snprintf(row, sizeof(row), "%u,user%u,a text of pair%u with some more words in it",
                        (unsigned)number, pair, pair);
    enum bb_status status = number == NUMBERS ? bb_batch_delete(batch, key_of(half, pair, key))
                                              : bb_batch_put(batch, key_of(half, pair, key),
                                                             bb_bytes_of(row, (size_t)size));
    must(member->crowd, status, "batch");
}

static void write_pairs(void *argument)
{
    struct member *member = argument;
    struct bb_batch *batch = NULL;
    size_t writes = WRITES / bb_test_step();
    must(member->crowd, bb_batch_create(&batch), "batch");
    for (size_t i = 0; i < writes; i++) {
        uint32_t pair = member->index * PAIRS + (uint32_t)bb_rng_below(&member->rng, PAIRS);
        uint64_t number = bb_rng_below(&member->rng, NUMBERS + 1);
        bb_batch_reset(batch);
        add_half(member, batch, 'a', pair, number);
        add_half(member, batch, 'z', pair, number);
        must(member->crowd, bb_db_write(member->crowd->db, NULL, batch), "write");
    }
    bb_batch_destroy(batch);
    member->crowd->writing--;
}

/* ---- selections ---- */

/* The pairs whose first half was returned, and then the pairs whose second was: each of the first
 * once. */
static void take_row(struct crowd *crowd, struct bb_bytes key, bool seen[WRITERS * PAIRS])
{
    char text[16] = "";
    memcpy(text, key.data, key.size < 15 ? key.size : 15);
    unsigned long pair = strtoul(text + 1, NULL, 10) % (WRITERS * PAIRS);
    if (seen[pair] != (text[0] == 'z'))
        complain(crowd, "a selection shows half of a pair");
    seen[pair] = text[0] == 'a';
    crowd->rows++;
}

static void select_number(struct member *member)
{
    struct crowd *crowd = member->crowd;
    struct bb_select *select = NULL;
    bool seen[WRITERS * PAIRS] = {false};
    bool has_record = true;
    char where[64];
    snprintf(where, sizeof(where), "status = %u", (unsigned)bb_rng_below(&member->rng, NUMBERS));
    struct bb_select_options options = {.where = where};
    options.ignore_indexes = bb_rng_one_in(&member->rng, 4);
    must(crowd, bb_db_select(crowd->db, &options, &select), "select");
    while (select != NULL && has_record) {
        has_record = false;
        must(crowd, bb_select_next(select, &has_record), "next");
        if (has_record)
            take_row(crowd, bb_select_key(select), seen);
    }
    bb_select_destroy(select);
    for (size_t i = 0; i < WRITERS * PAIRS; i++) {
        if (seen[i])
            complain(crowd, "a selection shows the first half of a pair alone");
    }
    crowd->selections++;
}

/* One state, asked twice. */
static void count_twice(struct member *member)
{
    struct crowd *crowd = member->crowd;
    struct bb_snapshot *snapshot = NULL;
    uint64_t counts[2] = {0, 1};
    must(crowd, bb_snapshot_create(crowd->db, &snapshot), "snapshot");
    for (int i = 0; i < 2; i++) {
        struct bb_select_account account = {0};
        struct bb_select_options options = {.where = "status > 2 AND user != 'user7'",
                                            .snapshot = snapshot,
                                            .ignore_indexes = i == 1};
        must(crowd, bb_db_select_count(crowd->db, &options, &counts[i], &account), "count");
        if (account.damaged_indexes > 0)
            complain(crowd, "an index was passed over");
    }
    if (counts[0] != counts[1])
        complain(crowd, "counts with and without indexes differ");
    bb_snapshot_release(crowd->db, snapshot);
}

static void select_often(void *argument)
{
    struct member *member = argument;
    while (member->crowd->writing > 0) {
        select_number(member);
        if (bb_rng_one_in(&member->rng, 4))
            count_twice(member);
    }
}

/* ---- changes ---- */

static void change_indexes(void *argument)
{
    static const char *const specs[] = {"set(status, values=100)", "min_max(status)",
                                        "values(user, rate=0.01)", "tokens(text, rate=0.01)",
                                        "column(status)"};
    struct member *member = argument;
    struct crowd *crowd = member->crowd;
    bool is_there[5] = {false};
    while (crowd->writing > 0) {
        size_t which = bb_rng_below(&member->rng, 5);
        char name[8];
        struct bb_materialize_options options = {.rebuild = bb_rng_one_in(&member->rng, 2)};
        struct bb_db_index_list list;
        snprintf(name, sizeof(name), "i%zu", which);
        must(crowd,
             is_there[which] ? bb_db_index_drop(crowd->db, name)
                             : bb_db_index_create(crowd->db, name, specs[which]),
             "change of an index");
        is_there[which] = !is_there[which];
        must(crowd, bb_db_index_materialize(crowd->db, &options), "materialize");
        must(crowd, bb_db_index_list(crowd->db, &list), "list");
        bb_db_index_list_deinit(&list);
        crowd->changes++;
    }
}

static void materialize_often(void *argument)
{
    struct member *member = argument;
    while (member->crowd->writing > 0)
        must(member->crowd, bb_db_index_materialize(member->crowd->db, NULL), "materialize");
}

static void maintain(void *argument)
{
    struct member *member = argument;
    while (member->crowd->writing > 0) {
        must(member->crowd, bb_db_flush(member->crowd->db), "flush");
        if (bb_rng_one_in(&member->rng, 3))
            must(member->crowd, bb_db_compact(member->crowd->db), "compact");
    }
}

/* ---- all of it ---- */

static void run_crowd(struct crowd *crowd)
{
    void (*const jobs[])(void *) = {write_pairs,  write_pairs,    select_often,      select_often,
                                    select_often, change_indexes, materialize_often, maintain};
    struct member members[sizeof(jobs) / sizeof(jobs[0])];
    crowd->writing = WRITERS;
    for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        members[i] = (struct member){.crowd = crowd, .index = i};
        bb_rng_init(&members[i].rng, crowd->seed + i);
        assert_ok(bb_thread_create(&members[i].thread, jobs[i], &members[i]));
    }
    for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        bb_thread_join(&members[i].thread);
}

static void select_threads__everybody_at_once(void **state)
{
    (void)state;
    struct store store;
    struct crowd crowd = {.seed = bb_rng_seed("select_threads_test", 41)};
    store_init(&store);
    store.options.deterministic = false;
    store_open(&store);
    indexed_create_attributes(&store);
    crowd.db = store.db;
    run_crowd(&crowd);
    print_message("%" PRIu64 " selections of %" PRIu64 " rows, %" PRIu64 " changes of indexes\n",
                  crowd.selections, crowd.rows, crowd.changes);
    assert_int_equal(crowd.bad, 0);
    assert_true(crowd.selections > 0 && crowd.rows > 0 && crowd.changes > 0);
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_wait_idle(store.db));
    indexed_create_indexes(&store);
    assert_ok(bb_db_index_materialize(store.db, NULL));
    indexed_check_all_built(store.db);
    store_close(&store);
    struct bb_db_verify_report report = store_verify(&store);
    assert_int_equal(report.orphans, 0);
    assert_int_equal(report.indexes, report.tables);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"), report.indexes);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_threads__everybody_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
