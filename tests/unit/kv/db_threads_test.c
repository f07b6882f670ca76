/* Goal: any number of threads may use a store concurrently: batches are visible whole or not at
 * all, no thread sees a state go back, snapshots and iterators keep their state, and all of this
 * while memtables are frozen, flushed and compacted. Method: writers whose batches put one version
 * number under two keys; readers, batch readers, snapshot readers, scanners and a thread that
 * flushes and compacts, all of which check their results. Keys are long enough for the fast path of
 * a run's ready table filters. The builds with the thread and the address sanitizer find the rest.
 * Interleavings that are held in place are in db_interleavings_test.c. */
#include "tests/support/store.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/sync.h"
#include "tests/support/file_fault.h"
#include "tests/support/rng.h"

/* ---- All threads together ---- */

#define WRITERS        2
#define PAIRS          40 /* keys of each writer: one at each end of the key range */
#define WRITES         4000
#define VALUE_SIZE     150
#define READERS        8
#define CHECKPOINTS    6
#define KEY_SIZE       24
#define PAIR_COUNT     (WRITERS * PAIRS)
#define VERSION_ABSENT 0

struct crowd {
    struct bb_db *db;
    uint64_t seed;
    _Atomic uint32_t writing;             /* writers that are not done */
    _Atomic uint64_t version[PAIR_COUNT]; /* acknowledged last; a deletion is a version too */
    _Atomic uint64_t bad;
    _Atomic uint64_t checks;
    const struct bb_db_options *options;
    uint32_t checkpoints; /* the maintaining thread's */
};

struct member {
    struct crowd *crowd;
    struct bb_thread thread;
    uint32_t index;
    struct bb_rng rng;
};

/* "a0007..." and "z0007...": the halves of a pair are far apart, mostly in different tables. */
static struct bb_bytes key_of(char half, uint32_t pair, char text[KEY_SIZE])
{
    snprintf(text, KEY_SIZE, "%c%04u and a tail", half, pair);
    return bb_bytes_of_text(text);
}

static void complain(struct crowd *crowd, const char *what, uint32_t pair, uint64_t found,
                     uint64_t other)
{
    fprintf(stderr, "db_threads_test: %s: pair %" PRIu32 ": %" PRIu64 " and %" PRIu64 ": %s\n",
            what, pair, found, other, bb_error_last()->message);
    crowd->bad++;
}

static uint64_t version_of(struct bb_bytes value)
{
    uint64_t version = 0;
    if (value.size == VALUE_SIZE)
        memcpy(&version, value.data, sizeof(version));
    return version;
}

static void write_pair(struct member *member, uint32_t pair, uint64_t version,
                       struct bb_batch *batch)
{
    uint8_t value[VALUE_SIZE] = {0};
    char left[KEY_SIZE];
    char right[KEY_SIZE];
    bool is_delete = version % 7 == 0;
    bool sync = version % 16 == 0;
    memcpy(value, &version, sizeof(version));
    bb_batch_reset(batch);
    bool ok = true;
    if (is_delete) {
        ok &= bb_batch_delete(batch, key_of('a', pair, left)) == BB_OK;
        ok &= bb_batch_delete(batch, key_of('z', pair, right)) == BB_OK;
    } else {
        ok &= bb_batch_put(batch, key_of('a', pair, left), bb_bytes_of(value, sizeof(value))) ==
              BB_OK;
        ok &= bb_batch_put(batch, key_of('z', pair, right), bb_bytes_of(value, sizeof(value))) ==
              BB_OK;
    }
    ok &= bb_db_write(member->crowd->db, &(struct bb_write_options){.sync = sync}, batch) == BB_OK;
    if (!ok)
        complain(member->crowd, "write", pair, version, 0);
    member->crowd->version[pair] = version;
}

static void write_often(void *argument)
{
    struct member *member = argument;
    struct bb_batch *batch = NULL;
    uint64_t next[PAIRS];
    for (size_t i = 0; i < PAIRS; i++)
        next[i] = 1;
    if (bb_batch_create(&batch) != BB_OK)
        abort();
    for (int i = 0; i < WRITES; i++) {
        uint32_t mine = (uint32_t)bb_rng_below(&member->rng, PAIRS);
        write_pair(member, member->index * PAIRS + mine, next[mine]++, batch);
    }
    bb_batch_destroy(batch);
    member->crowd->writing--;
}

static uint64_t get_version(struct crowd *crowd, const struct bb_snapshot *snapshot, char half,
                            uint32_t pair, struct bb_buf *buf)
{
    struct bb_get_options options = {.snapshot = snapshot};
    char key[KEY_SIZE];
    enum bb_status status = bb_db_get(crowd->db, &options, key_of(half, pair, key), buf);
    if (status == BB_NOT_FOUND)
        return VERSION_ABSENT;
    uint64_t version = status == BB_OK ? version_of(bb_bytes_of(buf->data, buf->size)) : 0;
    if (version == 0)
        complain(crowd, "get", pair, version, (uint64_t)status);
    return version;
}

/* Writes acknowledged before the get are visible; and no state goes back. */
static void read_often(void *argument)
{
    struct member *member = argument;
    struct crowd *crowd = member->crowd;
    struct bb_buf buf = {0};
    uint64_t seen[PAIR_COUNT] = {0};
    while (crowd->writing > 0) {
        uint32_t pair = (uint32_t)bb_rng_below(&member->rng, PAIR_COUNT);
        uint64_t acknowledged = crowd->version[pair];
        uint64_t version =
            get_version(crowd, NULL, bb_rng_one_in(&member->rng, 2) ? 'a' : 'z', pair, &buf);
        /* A key is absent before its first version and after every seventh one. */
        bool was_deleted =
            version == VERSION_ABSENT && (acknowledged % 7 == 0 || acknowledged % 7 == 6 ||
                                          crowd->version[pair] != acknowledged);
        if (!was_deleted && (version < acknowledged || version < seen[pair]))
            complain(crowd, "an older version than before", pair, version, acknowledged);
        if (version > seen[pair])
            seen[pair] = version;
        crowd->checks++;
    }
    bb_buf_deinit(&buf);
}

/* Both halves of every pair, and keys between them that are never written. */
struct everything {
    char texts[3 * PAIR_COUNT][KEY_SIZE];
    struct bb_bytes keys[3 * PAIR_COUNT];
    struct bb_buf values[3 * PAIR_COUNT];
    enum bb_status statuses[3 * PAIR_COUNT];
};

static uint64_t version_at(struct crowd *crowd, const struct everything *all, uint32_t i)
{
    if (all->statuses[i] == BB_NOT_FOUND)
        return VERSION_ABSENT;
    uint64_t version = version_of(bb_bytes_of(all->values[i].data, all->values[i].size));
    if (all->statuses[i] != BB_OK || version == 0)
        complain(crowd, "one of many gets", i / 3, version, (uint64_t)all->statuses[i]);
    return version;
}

/* Many gets see one state, of which both halves of a pair are of one batch. */
static void look_at_everything(struct crowd *crowd, struct everything *all)
{
    if (bb_db_get_many(crowd->db, NULL, all->keys, 3 * PAIR_COUNT, all->values, all->statuses) !=
        BB_OK)
        complain(crowd, "many gets", 0, 0, 0);
    for (uint32_t pair = 0; pair < PAIR_COUNT; pair++) {
        uint64_t left = version_at(crowd, all, 3 * pair);
        uint64_t right = version_at(crowd, all, 3 * pair + 2);
        if (left != right)
            complain(crowd, "half of a batch in many gets", pair, left, right);
        if (all->statuses[3 * pair + 1] != BB_NOT_FOUND)
            complain(crowd, "a key that nobody wrote", pair, 0, 0);
    }
    crowd->checks++;
}

static void get_many_often(void *argument)
{
    struct member *member = argument;
    struct everything *all = calloc(1, sizeof(*all));
    if (all == NULL)
        abort();
    for (uint32_t i = 0; i < 3 * PAIR_COUNT; i++)
        all->keys[i] = key_of("amz"[i % 3], i / 3, all->texts[i]);
    while (member->crowd->writing > 0)
        look_at_everything(member->crowd, all);
    for (uint32_t i = 0; i < 3 * PAIR_COUNT; i++)
        bb_buf_deinit(&all->values[i]);
    free(all);
}

/* In a snapshot both halves of a pair are of one batch, and stay. */
static void look_at_snapshot(struct member *member, struct bb_buf *buf)
{
    struct crowd *crowd = member->crowd;
    struct bb_snapshot *snapshot = NULL;
    uint64_t versions[PAIR_COUNT];
    if (bb_snapshot_create(crowd->db, &snapshot) != BB_OK)
        abort();
    for (uint32_t pair = 0; pair < PAIR_COUNT; pair++) {
        versions[pair] = get_version(crowd, snapshot, 'a', pair, buf);
        uint64_t other = get_version(crowd, snapshot, 'z', pair, buf);
        if (versions[pair] != other)
            complain(crowd, "half of a batch", pair, versions[pair], other);
    }
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t pair = (uint32_t)bb_rng_below(&member->rng, PAIR_COUNT);
        uint64_t again = get_version(crowd, snapshot, 'z', pair, buf);
        if (again != versions[pair])
            complain(crowd, "a snapshot has changed", pair, versions[pair], again);
    }
    bb_snapshot_release(crowd->db, snapshot);
    crowd->checks++;
}

static void look_at_snapshots(void *argument)
{
    struct member *member = argument;
    struct bb_buf buf = {0};
    while (member->crowd->writing > 0)
        look_at_snapshot(member, &buf);
    bb_buf_deinit(&buf);
}

/* One pass, forward or backward: keys ascend or descend, and the two halves agree. */
static void scan_once(struct crowd *crowd, bool backward)
{
    struct bb_db_iter *iter = NULL;
    uint64_t versions[2][PAIR_COUNT] = {{0}};
    char before[KEY_SIZE] = "";
    if (bb_db_iter_create(crowd->db, NULL, &iter) != BB_OK)
        abort();
    for (backward ? bb_db_iter_seek_last(iter) : bb_db_iter_seek_first(iter);
         bb_db_iter_valid(iter); backward ? bb_db_iter_prev(iter) : bb_db_iter_next(iter)) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "%.*s", (int)bb_db_iter_key(iter).size,
                 (const char *)bb_db_iter_key(iter).data);
        uint32_t pair = (uint32_t)strtoul(key + 1, NULL, 10) % PAIR_COUNT;
        int order = strcmp(key, before);
        if (before[0] != 0 && (backward ? order >= 0 : order <= 0))
            complain(crowd, "keys out of order", pair, 0, 0);
        versions[key[0] == 'z'][pair] = version_of(bb_db_iter_value(iter));
        memcpy(before, key, sizeof(key));
    }
    if (bb_db_iter_status(iter) != BB_OK)
        complain(crowd, "scan", 0, 0, 0);
    bb_db_iter_destroy(iter);
    for (uint32_t pair = 0; pair < PAIR_COUNT; pair++) {
        if (versions[0][pair] != versions[1][pair])
            complain(crowd, "half of a batch in a scan", pair, versions[0][pair],
                     versions[1][pair]);
    }
    crowd->checks++;
}

static void scan_often(void *argument)
{
    struct member *member = argument;
    while (member->crowd->writing > 0)
        scan_once(member->crowd, bb_rng_one_in(&member->rng, 2));
}

/* A checkpoint is a separate store, as of some moment: both halves of every pair agree. */
static void check_checkpoint(struct crowd *crowd, const char *path)
{
    struct bb_db_options options = *crowd->options;
    struct crowd other = {.db = NULL};
    options.on_event = NULL;
    options.deterministic = true;
    options.create_if_missing = false;
    if (bb_db_open(path, &options, &other.db) != BB_OK)
        abort();
    scan_once(&other, false);
    if (bb_db_close(other.db) != BB_OK)
        abort();
    crowd->bad += other.bad;
}

static enum bb_status make_checkpoint(struct crowd *crowd)
{
    char path[64];
    if (crowd->checkpoints == CHECKPOINTS)
        return BB_OK;
    snprintf(path, sizeof(path), "/data/checkpoint-%u", crowd->checkpoints++);
    enum bb_status status = bb_db_checkpoint(crowd->db, path);
    if (status == BB_OK)
        check_checkpoint(crowd, path);
    return status;
}

static enum bb_status compact_part(struct member *member)
{
    char low[KEY_SIZE];
    char high[KEY_SIZE];
    struct bb_bytes from = key_of('a', (uint32_t)bb_rng_below(&member->rng, PAIR_COUNT), low);
    struct bb_bytes to = key_of('z', (uint32_t)bb_rng_below(&member->rng, PAIR_COUNT), high);
    return bb_db_compact_range(member->crowd->db, bb_rng_one_in(&member->rng, 4) ? NULL : &from,
                               bb_rng_one_in(&member->rng, 4) ? NULL : &to);
}

static void maintain_once(struct member *member)
{
    struct bb_db *db = member->crowd->db;
    struct bb_db_stats stats;
    struct bb_db_table_list list = {0};
    enum bb_status status = BB_OK;
    switch (bb_rng_below(&member->rng, 7)) {
    case 0:
        status = bb_db_flush(db);
        break;
    case 1:
        status = bb_db_compact(db);
        break;
    case 2:
        status = bb_db_tables(db, &list);
        bb_db_table_list_deinit(&list);
        break;
    case 3:
        bb_db_stats(db, &stats);
        break;
    case 4:
        status = compact_part(member);
        break;
    case 5:
        status = make_checkpoint(member->crowd);
        break;
    default:
        bb_db_clear_cache(db);
    }
    if (status != BB_OK)
        complain(member->crowd, "maintenance", 0, 0, (uint64_t)status);
}

static void maintain_often(void *argument)
{
    struct member *member = argument;
    while (member->crowd->writing > 0) {
        maintain_once(member);
        for (int i = 0; i < 20; i++)
            (void)sched_yield();
    }
}

static void start(struct member *member, struct crowd *crowd, uint32_t index, void (*run)(void *))
{
    *member = (struct member){.crowd = crowd, .index = index};
    bb_rng_init(&member->rng, crowd->seed + index);
    assert_ok(bb_thread_create(&member->thread, run, member));
}

static uint64_t denials_of(const struct bb_db_stats *stats)
{
    uint64_t denials = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        denials += stats->level_reads[level].visits[BB_VISIT_TABLE_FILTER_NEGATIVE];
    return denials;
}

static void assert_all_there(struct store *store, const struct crowd *crowd)
{
    struct crowd after = {.db = store->db};
    struct bb_buf buf = {0};
    for (uint32_t pair = 0; pair < PAIR_COUNT; pair++) {
        uint64_t expected = crowd->version[pair] % 7 == 0 ? VERSION_ABSENT : crowd->version[pair];
        assert_int_equal(get_version(&after, NULL, 'a', pair, &buf), expected);
        assert_int_equal(get_version(&after, NULL, 'z', pair, &buf), expected);
    }
    assert_int_equal(after.bad, 0);
    bb_buf_deinit(&buf);
}

static void write_on(struct store *store, struct crowd *crowd)
{
    struct member member = {.crowd = crowd};
    struct bb_batch *batch = NULL;
    crowd->db = store->db;
    assert_ok(bb_batch_create(&batch));
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t pair = i % PAIR_COUNT;
        write_pair(&member, pair, crowd->version[pair] + 1, batch);
    }
    bb_batch_destroy(batch);
    assert_int_equal(crowd->bad, 0);
}

static void db_threads__everybody_at_once(void **state)
{
    (void)state;
    static struct crowd crowd;
    static struct member members[WRITERS + READERS + 5];
    uint32_t count = 0;
    struct store store;
    store_init(&store);
    store.options.deterministic = false;
    store.options.level0_run_count_compact = 2;
    store.options.level0_run_count_busy = 2;
    store.options.level0_run_count_stop = 4;
    store_open(&store);
    crowd = (struct crowd){.db = store.db,
                           .writing = WRITERS,
                           .seed = bb_rng_seed("db_threads_test", 1),
                           .options = &store.options};
    for (uint32_t i = 0; i < WRITERS; i++, count++)
        start(&members[count], &crowd, i, write_often);
    for (uint32_t i = 0; i < READERS; i++, count++)
        start(&members[count], &crowd, count, read_often);
    for (uint32_t i = 0; i < 2; i++, count++)
        start(&members[count], &crowd, count, get_many_often);
    start(&members[count], &crowd, count, look_at_snapshots);
    count++;
    start(&members[count], &crowd, count, scan_often);
    count++;
    start(&members[count], &crowd, count, maintain_often);
    count++;
    for (uint32_t i = 0; i < count; i++)
        bb_thread_join(&members[i].thread);
    assert_int_equal(crowd.bad, 0);
    assert_all_there(&store, &crowd);
    struct bb_db_stats stats = store_stats(&store);
    printf("%" PRIu64 " flushes, %" PRIu64 " compactions, %" PRIu64 " checks\n", stats.flushes,
           stats.compactions, (uint64_t)crowd.checks);
    assert_true(stats.flushes > 2);
    assert_true(denials_of(&stats) > 100);
    assert_int_equal(stats.writes, 2 * WRITERS * WRITES);
    assert_int_equal(stats.last_sequence, stats.writes);
    store_kill(&store);
    assert_all_there(&store, &crowd);
    /* Closed while both workers have something to do. */
    for (int i = 0; i < 3; i++) {
        write_on(&store, &crowd);
        store_reopen(&store);
        assert_all_there(&store, &crowd);
    }
    store_deinit(&store);
}

/* ---- A synced write is refused without a log; concurrent unsynced ones are not ---- */

static void put_synced_in_vain(void *argument)
{
    struct member *member = argument;
    struct bb_write_options sync = {.sync = true};
    while (member->crowd->writing > 0) {
        if (bb_db_put(member->crowd->db, &sync, bb_bytes_of_text("never"), bb_bytes_of_text("")) !=
            BB_INVALID)
            complain(member->crowd, "a synced write without a log", 0, 0, 0);
    }
}

static void put_plain(void *argument)
{
    struct member *member = argument;
    for (int i = 0; i < 2000; i++) {
        if (bb_db_put(member->crowd->db, NULL, bb_bytes_of(&i, sizeof(i)), bb_bytes_of_text("")) !=
            BB_OK)
            complain(member->crowd, "a plain write", member->index, 0, 0);
    }
    member->crowd->writing--;
}

static void db_threads__refused_writes_take_nobody_along(void **state)
{
    (void)state;
    static struct crowd crowd;
    static struct member members[4];
    struct store store;
    store_init(&store);
    store.options.wal_off = true;
    store_open(&store);
    crowd = (struct crowd){.db = store.db, .writing = 2};
    for (uint32_t i = 0; i < 4; i++)
        start(&members[i], &crowd, i, i < 2 ? put_plain : put_synced_in_vain);
    for (uint32_t i = 0; i < 4; i++)
        bb_thread_join(&members[i].thread);
    assert_int_equal(crowd.bad, 0);
    assert_get(&store, "never", NULL);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_threads__everybody_at_once),
        cmocka_unit_test(db_threads__refused_writes_take_nobody_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
