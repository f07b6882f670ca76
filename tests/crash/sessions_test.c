/* Goal: through many sessions with one store, each with other options and another end, no durable
 * data is lost, lost data is a tail, and lost data never reappears. Method: each write has a
 * different key, so that the contents of a store show which writes have survived. A session draws
 * its operations, the call at which the process crashes or the power fails, and a refused call; the
 * next one continues with the result. Sometimes a reader opens the store before a call.
 *
 * BB_TEST_CRASH_SESSIONS sets their number (default 600), BB_TEST_SEED their seed.
 */
#include "tests/support/store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "tests/support/rng.h"

#define WRITES_MAX      400 /* then another store is begun */
#define BIG_SIZE        (40 * 1024)
#define CALLS_MAX       60
#define ACTIONS_MAX     8
#define INGEST_COUNT    3
#define READER_INTERVAL 20

/* The state of a write. */
enum fate {
    MAYBE,  /* it has failed, or has not returned */
    ACKED,  /* it was acknowledged */
    THERE,  /* and is durable */
    ABSENT, /* it was lost */
};

/* An observer's knowledge of the store at some moment. */
struct knowledge {
    enum fate fates[WRITES_MAX];
    size_t count;
    bool keeps_acked; /* acknowledged writes survive the process: there is a log, and it has them */
};

struct session {
    struct store store;
    struct bb_rng *rng;
    struct knowledge known;
    uint64_t call;
    uint64_t end_call;     /* 0: it is closed */
    uint64_t refused_call; /* 0: none */
    bool is_power_cut;
    struct bb_file_memory *image; /* the contents at its end */
    struct knowledge image_known; /* and the knowledge then */
    bool was_refused;
    uint64_t table_count;
};

/* ---- ends ---- */

static void take_image(struct session *session, struct bb_file_memory *memory)
{
    struct bb_crash crash = {.bytes = BB_CRASH_BYTES_ANY,
                             .names = BB_CRASH_NAMES_ANY,
                             .seed = bb_rng_next(session->rng)};
    if (bb_rng_one_in(session->rng, 2))
        crash = (struct bb_crash){0};
    session->image_known = session->known;
    session->image_known.keeps_acked &= !session->is_power_cut;
    session->image =
        session->is_power_cut ? bb_file_memory_crash(memory, &crash) : bb_file_memory_clone(memory);
}

/* ---- the contents ---- */

static struct bb_bytes key_of(size_t number, char text[static 32])
{
    snprintf(text, 32, "%08" PRIx32 "-%zu", (uint32_t)(number * UINT32_C(2654435761)), number);
    return bb_bytes_of_text(text);
}

static bool is_there(struct bb_db *db, size_t number)
{
    char text[32];
    enum bb_status status = bb_db_get(db, NULL, key_of(number, text), NULL);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    return status == BB_OK;
}

static void check_fate(const struct knowledge *known, size_t i, bool is_found, bool has_ended)
{
    if (known->fates[i] == THERE && !is_found)
        fail_msg("write %zu was durable and is lost", i);
    if (known->fates[i] == ABSENT && is_found)
        fail_msg("write %zu was lost and is there again", i);
    if (known->fates[i] == ACKED && known->keeps_acked && !is_found)
        fail_msg("write %zu is lost with the process", i);
    if (known->fates[i] == ACKED && is_found && has_ended)
        fail_msg("write %zu is there, and one before it is lost", i);
}

static void check(const struct knowledge *known, struct bb_db *db)
{
    bool has_ended = false;
    for (size_t i = 0; i < known->count; i++) {
        bool is_found = is_there(db, i);
        check_fate(known, i, is_found, has_ended);
        has_ended |= known->fates[i] == ACKED && !is_found;
    }
}

/* Call after an opening: present data is durable now, absent data never reappears. */
static void look(struct session *session)
{
    struct knowledge *known = &session->known;
    check(known, session->store.db);
    for (size_t i = 0; i < known->count; i++)
        known->fates[i] = is_there(session->store.db, i) ? THERE : ABSENT;
}

/* Opens it without the lock in the middle of a call. Before the store was made it must not
 * exist. */
static void look_beside(struct session *session)
{
    struct bb_db_options options = store_options(session->store.memory);
    struct bb_db *db = NULL;
    options.create_if_missing = false;
    options.read_only = true;
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    if (status == BB_NOT_FOUND && session->known.count == 0)
        return;
    if (status != BB_OK)
        fail_msg("opening to read fails: %s", bb_error_last()->message);
    check(&session->known, db);
    assert_ok(bb_db_close(db));
}

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct session *session = context;
    (void)number;
    session->call++;
    if (session->call == session->end_call)
        take_image(session, memory);
    if (bb_rng_one_in(session->rng, READER_INTERVAL))
        look_beside(session);
    if (session->call != session->refused_call)
        return BB_OK;
    session->was_refused = true;
    return bb_fail(BB_NO_SPACE, "%s of %s is refused", bb_file_call_name(call), path);
}

static void now_durable(struct session *session)
{
    for (size_t i = 0; i < session->known.count; i++) {
        if (session->known.fates[i] == ACKED)
            session->known.fates[i] = THERE;
    }
}

/* ---- actions ---- */

static void put(struct session *session, size_t size, bool sync)
{
    static const uint8_t zeros[BIG_SIZE];
    char text[32];
    struct bb_write_options options = {.sync = sync && !session->store.options.wal_off};
    size_t number = session->known.count++;
    session->known.fates[number] = MAYBE;
    if (bb_db_put(session->store.db, &options, key_of(number, text), bb_bytes_of(zeros, size)) !=
        BB_OK)
        return;
    session->known.fates[number] = ACKED;
    if (options.sync)
        now_durable(session);
}

/* It leaves only its sequence in the log. */
static void delete_nothing(struct session *session)
{
    (void)!bb_db_delete_range(session->store.db, NULL, bb_bytes_of_text("x"),
                              bb_bytes_of_text("x"));
}

static int compare_numbers(const void *a, const void *b)
{
    char x[32];
    char y[32];
    return bb_bytes_compare(key_of(*(const size_t *)a, x), key_of(*(const size_t *)b, y));
}

static enum bb_status add_entries(struct bb_table_builder *builder, size_t first)
{
    size_t numbers[INGEST_COUNT];
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < INGEST_COUNT; i++)
        numbers[i] = first + i;
    qsort(numbers, INGEST_COUNT, sizeof(numbers[0]), compare_numbers);
    for (size_t i = 0; i < INGEST_COUNT && status == BB_OK; i++) {
        char text[32];
        struct bb_entry entry = {.key = key_of(numbers[i], text), .kind = BB_ENTRY_PUT};
        status = bb_table_builder_add(builder, &entry);
    }
    return status;
}

static enum bb_status build(struct session *session, const char *path)
{
    struct bb_table_options options = {.file_system = session->store.options.file_system};
    struct bb_table_builder *builder = NULL;
    enum bb_status status = bb_table_builder_create(path, &options, &builder);
    if (status == BB_OK)
        status = add_entries(builder, session->known.count);
    if (status == BB_OK)
        status = bb_table_builder_finish(builder, NULL);
    bb_table_builder_destroy(builder);
    return status;
}

static void ingest(struct session *session)
{
    char text[64];
    const char *path = text;
    snprintf(text, sizeof(text), "/data/table-%" PRIu64, session->table_count++);
    if (build(session, path) != BB_OK)
        return;
    for (size_t i = 0; i < INGEST_COUNT; i++)
        session->known.fates[session->known.count++] = MAYBE;
    if (bb_db_ingest(session->store.db, &path, 1, NULL) != BB_OK)
        return;
    for (size_t i = 1; i <= INGEST_COUNT; i++)
        session->known.fates[session->known.count - i] = THERE;
}

static void act(struct session *session)
{
    struct bb_db *db = session->store.db;
    switch (bb_rng_below(session->rng, 9)) {
    case 0:
    case 1:
        put(session, 100, false);
        break;
    case 2:
    case 3:
        put(session, 100, true);
        break;
    case 4:
        put(session, BIG_SIZE, bb_rng_one_in(session->rng, 2));
        break;
    case 5:
        if (bb_db_flush(db) == BB_OK)
            now_durable(session);
        break;
    case 6:
        (void)!bb_db_compact(db);
        break;
    case 7:
        ingest(session);
        break;
    default:
        delete_nothing(session);
    }
}

/* ---- sessions ---- */

static void draw_session(struct session *session)
{
    struct bb_rng *rng = session->rng;
    struct bb_db_options *options = &session->store.options;
    *options = store_options(session->store.memory);
    options->wal_off = bb_rng_one_in(rng, 6);
    options->wal_buffer_bytes = bb_rng_one_in(rng, 6) ? 1000 : 0;
    session->call = 0;
    session->end_call = bb_rng_one_in(rng, 3) ? 0 : bb_rng_between(rng, 1, CALLS_MAX);
    session->refused_call = bb_rng_one_in(rng, 3) ? bb_rng_between(rng, 1, CALLS_MAX) : 0;
    session->is_power_cut = bb_rng_one_in(rng, 2);
    session->was_refused = false;
    session->image = NULL;
}

/* Only a call that was refused is a reason to fail. */
static void open_session(struct session *session)
{
    struct store *store = &session->store;
    if (bb_db_open(STORE_PATH, &store->options, &store->db) != BB_OK) {
        if (!session->was_refused)
            fail_msg("opening fails: %s", bb_error_last()->message);
        store->db = NULL;
        store_open(store);
    }
    look(session);
    session->known.keeps_acked = !store->options.wal_off && store->options.wal_buffer_bytes == 0;
}

static void close_session(struct session *session)
{
    struct store *store = &session->store;
    enum bb_status status = bb_db_close(store->db);
    store->db = NULL;
    if (status == BB_OK)
        now_durable(session);
    else if (!session->was_refused)
        fail_msg("closing fails: %s", bb_error_last()->message);
    bb_file_memory_set_hook(store->memory, NULL, NULL);
}

static void go_on_with_image(struct session *session)
{
    if (session->image == NULL)
        return;
    bb_file_memory_destroy(session->store.memory);
    session->store.memory = session->image;
    session->store.options.file_system = bb_file_memory_system(session->image);
    session->known = session->image_known;
}

static void play_session(struct session *session)
{
    draw_session(session);
    uint64_t actions = bb_rng_below(session->rng, ACTIONS_MAX + 1);
    bb_file_memory_set_hook(session->store.memory, on_call, session);
    open_session(session);
    for (uint64_t i = 0; i < actions; i++)
        act(session);
    close_session(session);
    go_on_with_image(session);
}

/* Opened and closed without other work, no unreferenced file remains; the first opening does not
 * remove files if the manifest was truncated (R9). */
static void end_store(struct session *session)
{
    struct store *store = &session->store;
    store->options = store_options(store->memory);
    store_open(store);
    look(session);
    store_reopen(store);
    store_close(store);
    assert_int_equal(store_verify(store).orphans, 0);
    store_deinit(store);
}

static uint64_t session_count(void)
{
    const char *text = getenv("BB_TEST_CRASH_SESSIONS");
    return text == NULL ? 600 : strtoull(text, NULL, 10);
}

static void sessions__one_after_the_other(void **state)
{
    struct bb_rng rng;
    static struct session session;
    (void)state;
    bb_rng_init(&rng, bb_rng_seed("sessions_test", 1));
    session = (struct session){.rng = &rng};
    store_init(&session.store);
    for (uint64_t i = session_count(); i > 0; i--) {
        play_session(&session);
        if (session.known.count < WRITES_MAX - ACTIONS_MAX * INGEST_COUNT &&
            !bb_rng_one_in(&rng, 30))
            continue;
        end_store(&session);
        session.known.count = 0;
        store_init(&session.store);
    }
    end_store(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions__one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
