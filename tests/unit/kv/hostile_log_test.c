/* Goal: no log ends the process or loses a write without a report, however absurd its contents.
 * The checksums are valid; the contents are impossible: sequences, counts, kinds, sizes, ranges,
 * orders, durable offsets, fragments.
 * Method: the log of a store whose process crashed is rebuilt with one to three absurdities drawn
 * from a seed, and opened in each recovery mode, with and without the lock, verified and
 * repaired. If an opening reports no loss, the store has every intact record of the file;
 * otherwise it has at least the records before the first absurdity. Seeds are fixed and printed. */
#include "tests/unit/kv/repair_fixture.h"

#include <inttypes.h>

#include "base/buf.h"
#include "kv/batch.h"
#include "kv/wal/wal_format.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define RUNS        500
#define RECORDS     12
#define RECORDS_MAX 24
#define LARGE       5 /* this record spans blocks */
#define LARGE_SIZE  70000

struct record {
    int index; /* of the original; -1: it has been changed */
    struct bb_buf payload;
    bool has_durable; /* else it is where the record begins, as if each was synced */
    uint64_t durable;
    int type; /* of a single fragment; 0: as its size wants it */
};

struct log {
    struct record records[RECORDS_MAX];
    size_t count;
    size_t sound; /* records before the first absurdity */
    struct bb_wal_identity identity;
    uint64_t first_sequence;
    bool has_second; /* the later half is in a log with the next number */
    uint32_t version;
};

/* ---- the original ---- */

static void key_of(int index, char key[32])
{
    snprintf(key, 32, "k%016" PRIx64, bb_hash_mix((uint64_t)index + 77));
}

/* One value, which is below all keys: as the end of a range it deletes nothing. */
static void build_payload(int index, uint64_t sequence, struct bb_buf *payload)
{
    static char value[LARGE_SIZE];
    char key[32];
    struct bb_batch *batch = NULL;
    size_t size = index == LARGE ? LARGE_SIZE : 40;
    memset(value, 'a', sizeof(value));
    key_of(index, key);
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_batch_put(batch, bb_bytes_of_text(key), bb_bytes_of(value, size)));
    if (index % 3 == 0)
        assert_ok(bb_batch_delete_range(batch, bb_bytes_of_text("h1"), bb_bytes_of_text("h2")));
    if (index % 4 == 0)
        assert_ok(bb_batch_delete(batch, bb_bytes_of_text("h3")));
    assert_ok(bb_buf_assign(payload, bb_batch_stamp(batch, sequence)));
    bb_batch_destroy(batch);
}

static void build_log(struct log *log)
{
    uint64_t sequence = log->first_sequence;
    for (int i = 0; i < RECORDS; i++) {
        struct record *record = &log->records[i];
        *record = (struct record){.index = i};
        build_payload(i, sequence, &record->payload);
        sequence += bb_load32(record->payload.data + 8);
    }
    log->count = RECORDS;
    log->sound = RECORDS;
}

/* ---- absurdities ---- */

static uint64_t absurd(struct bb_rng *rng)
{
    static const uint64_t edges[] = {0,
                                     UINT64_C(1) << 8,
                                     UINT64_C(1) << 15,
                                     UINT64_C(1) << 16,
                                     UINT64_C(1) << 30,
                                     UINT64_C(1) << 32,
                                     BB_SEQUENCE_MAX,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX};
    uint64_t edge = edges[bb_rng_below(rng, sizeof(edges) / sizeof(edges[0]))];
    return edge + bb_rng_below(rng, 5) - 2; /* wraps around on purpose */
}

static void note_change(struct log *log, size_t at)
{
    log->sound = at < log->sound ? at : log->sound;
}

static void change_payload(struct bb_rng *rng, struct bb_buf *payload)
{
    size_t size = payload->size;
    if (size < BB_BATCH_HEADER_SIZE + 2)
        return;
    switch (bb_rng_below(rng, 6)) {
    case 0:
        bb_store64(payload->data, bb_rng_one_in(rng, 2)
                                      ? absurd(rng)
                                      : bb_load64(payload->data) + bb_rng_below(rng, 9) - 4);
        break;
    case 1:
        bb_store32(payload->data + 8, (uint32_t)absurd(rng));
        break;
    case 2:
        payload->data[BB_BATCH_HEADER_SIZE] = (uint8_t)bb_rng_below(rng, 5);
        break;
    case 3:
        for (uint64_t i = bb_rng_between(rng, 1, 3); i > 0; i--)
            payload->data[bb_rng_below(rng, size < 64 ? size : 64)] = (uint8_t)bb_rng_next(rng);
        break;
    case 4:
        payload->size = bb_rng_below(rng, size);
        break;
    default:
        assert_ok(bb_buf_append(payload, "\x01\x00\x00\xff", bb_rng_between(rng, 1, 4)));
        break;
    }
}

/* An operation that no batch has, in a batch that is otherwise sound. */
static void replace_payload(struct bb_rng *rng, struct bb_buf *payload)
{
    uint8_t bytes[BB_BATCH_HEADER_SIZE + 64] = {0};
    uint8_t *p = bytes + BB_BATCH_HEADER_SIZE;
    memcpy(bytes, payload->data, 8);
    bb_store32(bytes + 8, bb_rng_one_in(rng, 4) ? 0 : 1);
    switch (bb_rng_below(rng, 5)) {
    case 0: /* no operations */
        break;
    case 1: /* a key, or a value, of absurd size */
        *p++ = BB_ENTRY_PUT;
        p = bb_store_varint(p, bb_rng_one_in(rng, 2) ? absurd(rng) : 0);
        p = bb_store_varint(p, absurd(rng));
        break;
    case 2: /* a range whose end is below its beginning, or beyond the payload */
        *p++ = BB_ENTRY_DELETE_RANGE;
        memcpy(p, "\x02hz\x02ha", 6);
        p += 6 - bb_rng_below(rng, 4);
        break;
    case 3: /* a varint that is longer than it has to be, or has no end */
        *p++ = BB_ENTRY_DELETE;
        memset(p, 0x80, 12);
        p += bb_rng_below(rng, 13);
        break;
    default:
        *p++ = (uint8_t)bb_rng_between(rng, 3, 255);
        *p++ = 0;
        break;
    }
    assert_ok(bb_buf_assign(payload, bb_bytes_of(bytes, (size_t)(p - bytes))));
}

static void insert_record(struct log *log, size_t at, const struct record *record)
{
    struct record copy = *record;
    if (log->count == RECORDS_MAX)
        return;
    copy.payload = (struct bb_buf){0};
    assert_ok(bb_buf_assign(&copy.payload, bb_buf_bytes(&record->payload)));
    memmove(&log->records[at + 1], &log->records[at], (log->count - at) * sizeof(copy));
    log->records[at] = copy;
    log->count++;
}

static void remove_record(struct log *log, size_t at)
{
    bb_buf_deinit(&log->records[at].payload);
    log->count--;
    memmove(&log->records[at], &log->records[at + 1], (log->count - at) * sizeof(struct record));
}

static void change_order(struct bb_rng *rng, struct log *log, size_t at)
{
    size_t other = bb_rng_below(rng, log->count);
    struct record swapped = log->records[at];
    switch (bb_rng_below(rng, 3)) {
    case 0:
        log->records[at] = log->records[other];
        log->records[other] = swapped;
        note_change(log, other);
        break;
    case 1:
        insert_record(log, other, &swapped);
        note_change(log, other);
        break;
    default:
        remove_record(log, at);
        break;
    }
}

static void change_fragment(struct bb_rng *rng, struct record *record)
{
    if (bb_rng_one_in(rng, 2)) {
        record->has_durable = true;
        record->durable = absurd(rng);
    } else {
        record->type = (int)bb_rng_between(rng, 1, 7);
    }
}

static void change_header(struct bb_rng *rng, struct log *log)
{
    switch (bb_rng_below(rng, 4)) {
    case 0:
        log->identity.log_number += bb_rng_between(rng, 1, 3);
        break;
    case 1:
        log->identity.store_id[bb_rng_below(rng, BB_WAL_STORE_ID_SIZE)] ^= 1;
        break;
    case 2:
        log->version = (uint32_t)absurd(rng);
        break;
    default:
        log->has_second = true;
        return; /* as after a freeze: valid */
    }
    note_change(log, 0);
}

static void twist(struct bb_rng *rng, struct log *log)
{
    for (uint64_t i = bb_rng_between(rng, 1, 3); i > 0 && log->count > 0; i--) {
        size_t at = bb_rng_below(rng, log->count);
        struct record *record = &log->records[at];
        uint64_t what = bb_rng_below(rng, 10);
        if (what < 9)
            note_change(log, at);
        if (what < 4)
            change_payload(rng, &record->payload);
        else if (what < 6)
            replace_payload(rng, &record->payload);
        if (what < 6)
            record->index = -1;
        else if (what < 8)
            change_order(rng, log, at);
        else if (what == 8)
            change_fragment(rng, record);
        else
            change_header(rng, log);
    }
}

/* ---- files ---- */

static void append_zeros(struct bb_buf *file, size_t count)
{
    static const uint8_t zeros[BB_WAL_FRAGMENT_SIZE_MIN];
    assert_ok(bb_buf_append(file, zeros, count));
}

static void append_fragment(struct bb_buf *file, uint64_t seed, int type, struct bb_bytes body)
{
    uint8_t header[BB_WAL_FRAGMENT_HEADER];
    bb_store64(header,
               bb_wal_format_check(seed, file->size, (enum bb_wal_fragment_type)type, body));
    bb_store16(header + 8, (uint16_t)body.size);
    header[10] = (uint8_t)type;
    assert_ok(bb_buf_append(file, header, sizeof(header)));
    assert_ok(bb_buf_append(file, body.data, body.size));
}

static void append_record(struct bb_buf *file, uint64_t seed, const struct record *record)
{
    struct bb_buf body = {0};
    uint8_t durable[BB_WAL_DURABLE_SIZE];
    size_t done = 0;
    if (bb_wal_block_left(file->size) < BB_WAL_FRAGMENT_SIZE_MIN)
        append_zeros(file, bb_wal_block_left(file->size));
    bb_store64(durable, record->has_durable ? record->durable : file->size);
    assert_ok(bb_buf_append(&body, durable, sizeof(durable)));
    assert_ok(bb_buf_append(&body, record->payload.data, record->payload.size));
    do {
        size_t space = bb_wal_block_left(file->size) - BB_WAL_FRAGMENT_HEADER;
        size_t part = body.size - done < space ? body.size - done : space;
        bool is_last = done + part == body.size;
        int type = done == 0 ? (is_last ? BB_WAL_FULL : BB_WAL_FIRST)
                             : (is_last ? BB_WAL_LAST : BB_WAL_MIDDLE);
        append_fragment(file, seed, record->type != 0 ? record->type : type,
                        bb_bytes_of(body.data + done, part));
        done += part;
    } while (done < body.size);
    bb_buf_deinit(&body);
}

static void put_log(struct store *store, const struct log *log, const char *path, size_t first,
                    size_t end)
{
    struct bb_buf file = {0};
    uint8_t header[BB_WAL_HEADER_SIZE];
    struct record mark = {.type = BB_WAL_MARK};
    uint64_t seed = bb_wal_format_seed(&log->identity);
    bb_wal_format_encode_header(&log->identity, header);
    bb_store32(header + 8, log->version);
    bb_store64(header + 40, bb_wal_format_check_header(header));
    assert_ok(bb_buf_append(&file, header, sizeof(header)));
    for (size_t i = first; i < end; i++)
        append_record(&file, seed, &log->records[i]);
    append_record(&file, seed, &mark);
    bb_file_memory_put(store->memory, path, bb_buf_bytes(&file));
    bb_buf_deinit(&file);
}

static void put_logs(struct store *store, struct log *log, const char *path)
{
    char next[128];
    size_t half = log->has_second ? log->count / 2 : log->count;
    uint64_t number = 0;
    assert_int_equal(sscanf(strrchr(path, '/'), "/%" SCNu64, &number), 1);
    put_log(store, log, path, 0, half);
    if (!log->has_second)
        return;
    snprintf(next, sizeof(next), "%.*s/%06" PRIu64 ".wal", (int)(strrchr(path, '/') - path), path,
             number + 1);
    log->identity.log_number++;
    put_log(store, log, next, half, log->count);
    log->identity.log_number--;
}

/* ---- requirements ---- */

/* Results of the openings, so that a store that refuses every log fails the test. */
static struct {
    uint64_t refused;
    uint64_t reported; /* opened, and something was dropped or repaired */
    uint64_t whole;    /* opened without a loss */
} outcomes[BB_RECOVERY_SALVAGE + 1];

static void check_status(enum bb_status status)
{
    if (status == BB_OK || status == BB_NOT_FOUND)
        return;
    assert_true(bb_error_last()->message[0] != 0);
    if (status != BB_CORRUPT && status != BB_TOO_LARGE && status != BB_INVALID &&
        status != BB_UNSUPPORTED && status != BB_BUSY)
        fail_msg("status %d: %s", (int)status, bb_error_last()->message);
}

static bool has_record(struct bb_db *db, int index)
{
    char key[32];
    struct bb_buf value = {0};
    key_of(index, key);
    enum bb_status status = bb_db_get(db, NULL, bb_bytes_of_text(key), &value);
    bool is_whole =
        status == BB_OK && value.size == (index == LARGE ? LARGE_SIZE : 40) && value.data[0] == 'a';
    bb_buf_deinit(&value);
    return is_whole;
}

static bool is_silent(const struct bb_db_recovery *report)
{
    return report->dropped_bytes == 0 && report->dropped_records == 0 &&
           report->dropped_logs == 0 && !report->is_damaged && !report->is_repaired;
}

static void check_content(struct bb_db *db, const struct log *log, uint64_t seed,
                          const struct bb_db_recovery *report)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct record *record = &log->records[i];
        bool is_expected = i < log->sound || (is_silent(report) && record->index >= 0);
        if (is_expected && record->index >= 0 && !has_record(db, record->index))
            fail_msg("seed %" PRIu64 ": record %d is lost%s", seed, record->index,
                     is_silent(report) ? ", in silence" : "");
    }
}

static void use(struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    assert_ok(bb_db_iter_create(db, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        continue;
    assert_ok(bb_db_iter_status(iter));
    for (bb_db_iter_seek_last(iter); bb_db_iter_valid(iter); bb_db_iter_prev(iter))
        continue;
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

static void write_some(struct bb_db *db)
{
    check_status(bb_db_put(db, NULL, bb_bytes_of_text("later"), bb_bytes_of_text("1")));
    check_status(bb_db_flush(db));
    check_status(bb_db_compact(db));
}

static void open_beside(struct store *store)
{
    struct bb_db *db = NULL;
    struct bb_db_options options = store->options;
    options.create_if_missing = false;
    options.read_only = true;
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    check_status(status);
    if (status != BB_OK)
        return;
    use(db);
    assert_ok(bb_db_close(db));
}

static void run_mode(const struct store *original, struct log *log, const char *path, uint64_t seed,
                     enum bb_recovery recovery)
{
    struct store store = *original;
    struct bb_db_recovery foreseen;
    struct bb_db_recovery report;
    store.db = NULL;
    store.memory = bb_file_memory_clone(original->memory);
    store.options.file_system = bb_file_memory_system(store.memory);
    store.options.recovery = recovery;
    store.options.recovery_report = &foreseen;
    put_logs(&store, log, path);
    enum bb_status verified = bb_db_verify(STORE_PATH, &store.options, NULL);
    check_status(verified);
    check_status(bb_db_repair(STORE_PATH, &store.options,
                              &(struct bb_db_repair_options){.dry_run = true}, NULL));
    open_beside(&store);
    store.options.recovery_report = &report;
    enum bb_status opened = bb_db_open(STORE_PATH, &store.options, &store.db);
    check_status(opened);
    if (recovery != BB_RECOVERY_SALVAGE)
        assert_int_equal(opened, verified);
    outcomes[recovery].refused += opened != BB_OK;
    outcomes[recovery].reported += opened == BB_OK && !is_silent(&report);
    outcomes[recovery].whole += opened == BB_OK && is_silent(&report);
    if (opened == BB_OK) {
        check_content(store.db, log, seed, &report);
        use(store.db);
        write_some(store.db);
        check_content(store.db, log, seed, &report);
        store_close(&store);
        store.options.recovery_report = NULL;
        (void)store_verify(&store);
    }
    bb_file_memory_destroy(store.memory);
}

static void release(struct log *log)
{
    for (size_t i = 0; i < log->count; i++)
        bb_buf_deinit(&log->records[i].payload);
}

/* A table, and a log that begins after it; the process has crashed. */
static struct store make(struct log *log, char path[128])
{
    struct store store;
    char paths[16][128];
    size_t size = 0;
    *log = (struct log){.version = BB_WAL_VERSION};
    store_init(&store);
    store_open(&store);
    store_put(&store, "b", "1");
    assert_ok(bb_db_flush(store.db));
    log->first_sequence = store_stats(&store).last_sequence + 1;
    size_t count = find_files(&store, ".wal", paths);
    memcpy(path, paths[count - 1], sizeof(paths[0]));
    struct bb_file_memory *died = bb_file_memory_clone(store.memory);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
    store.memory = died;
    const uint8_t *header = bb_file_memory_bytes(died, path, &size);
    assert_true(size >= BB_WAL_HEADER_SIZE);
    log->identity = bb_wal_identity(bb_load64(header + 16), header + 24);
    return store;
}

static void hostile_log__ends_nothing_and_loses_nothing_in_silence(void **state)
{
    (void)state;
    struct log original;
    char path[128];
    struct store store = make(&original, path);
    print_message("seeds 0 to %d\n", RUNS);
    for (uint64_t seed = 0; seed <= RUNS; seed += bb_test_step()) {
        for (int mode = BB_RECOVERY_SYNCED; mode <= BB_RECOVERY_SALVAGE; mode++) {
            struct bb_rng rng;
            struct log log = original;
            bb_rng_init(&rng, seed);
            build_log(&log);
            if (seed > 0) /* the sound one first */
                twist(&rng, &log);
            run_mode(&store, &log, path, seed, (enum bb_recovery)mode);
            release(&log);
        }
    }
    for (int mode = BB_RECOVERY_SYNCED; mode <= BB_RECOVERY_SALVAGE; mode++) {
        print_message("mode %d: %" PRIu64 " refused, %" PRIu64
                      " opened with a loss reported, %" PRIu64 " whole\n",
                      mode, outcomes[mode].refused, outcomes[mode].reported, outcomes[mode].whole);
        assert_true(outcomes[mode].whole > 0);
    }
    assert_true(outcomes[BB_RECOVERY_STRICT].refused > outcomes[BB_RECOVERY_STRICT].whole);
    assert_true(outcomes[BB_RECOVERY_STRICT].reported == 0);
    assert_true(outcomes[BB_RECOVERY_POINT_IN_TIME].reported > 0);
    assert_true(outcomes[BB_RECOVERY_SALVAGE].reported > outcomes[BB_RECOVERY_SALVAGE].refused);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_log__ends_nothing_and_loses_nothing_in_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
