/* See scrubber.h. */
#include "kv/background/scrubber.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "kv/background/scrub.h"
#include "kv/store/call.h"
#include "kv/store/current_view.h"

#define SECOND UINT64_C(1000000000)
/* How often the thread checks the file system's clock, which may differ from the clock of the
 * wait. */
#define REST_NANOSECONDS_MAX SECOND

struct bb_scrubber {
    struct bb_db *db;
    struct bb_thread thread;
    struct bb_condvar wake; /* with the store's mutex: signalled when it is being closed */
    /* Guarded by the mutex: the thread may use parts of the store. */
    bool is_busy;
};

uint64_t bb_scrubber_rate(uint64_t bytes, uint64_t nanoseconds)
{
    double seconds = 0.75 * (double)nanoseconds / (double)SECOND;
    double rate = seconds > 0 ? (double)bytes / seconds : 0;
    if (seconds <= 0 || rate >= 1e18)
        return 0;
    return rate < (double)BB_SCRUB_RATE_MIN ? BB_SCRUB_RATE_MIN : (uint64_t)rate;
}

/* ---- waiting ---- */

static void rest(void *context, uint64_t nanoseconds)
{
    struct bb_scrubber *scrubber = context;
    struct bb_db *db = scrubber->db;
    uint64_t pause = nanoseconds < REST_NANOSECONDS_MAX ? nanoseconds : REST_NANOSECONDS_MAX;
    bb_mutex_lock(&db->mutex);
    if (!db->is_closing)
        (void)bb_condvar_wait_for(&scrubber->wake, &db->mutex, pause);
    bb_mutex_unlock(&db->mutex);
}

static void set_busy(struct bb_scrubber *scrubber, bool is_busy)
{
    bb_mutex_lock(&scrubber->db->mutex);
    scrubber->is_busy = is_busy;
    bb_mutex_unlock(&scrubber->db->mutex);
}

/* ---- an interval ---- */

/* Damage was reported before. Other failures may be temporary; this file waits for the next
 * interval. */
static void report_failure(struct bb_db *db)
{
    struct bb_error failure = *bb_error_last();
    struct bb_event event = {.kind = BB_EVENT_ERROR, .level = -1, .message = failure.message};
    bb_store_event(db, &event);
}

static bool check_one(struct bb_scrubber *scrubber, struct bb_scrub *scrub, uint64_t left)
{
    bool has_file = false;
    scrub->meter.bytes_per_second = bb_scrubber_rate(bb_scrub_work_left(scrub), left);
    set_busy(scrubber, true);
    enum bb_status status = bb_scrub_next(scrub, &has_file);
    set_busy(scrubber, false);
    if (status == BB_OK)
        return has_file;
    if (bb_call_check_open(scrubber->db) != BB_OK)
        return false;
    report_failure(scrubber->db);
    bb_scrub_skip(scrub);
    return true;
}

/* Draws the number of the first table to check; every table has the same chance. */
static uint64_t draw_first(struct bb_db *db)
{
    uint64_t drawn = 0;
    uint64_t count = 0;
    uint64_t first = 0;
    if (db->system->ops->random(db->system, &drawn, sizeof(drawn)) != BB_OK)
        return 0;
    struct bb_levels *levels = bb_current_view_ref_levels(db);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += bb_levels_table_count(levels, level);
    drawn = count == 0 ? 0 : drawn % count;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        uint64_t of_level = bb_levels_table_count(levels, level);
        if (drawn < of_level) {
            first = bb_levels_table(levels, level, drawn)->number;
            break;
        }
        drawn -= of_level;
    }
    bb_levels_unref(levels);
    return first;
}

/* False when the store is being closed. */
static bool scrub_all(struct bb_scrubber *scrubber, uint64_t first)
{
    struct bb_db *db = scrubber->db;
    struct bb_scrub scrub;
    uint64_t interval = db->options.scrub_interval_seconds * SECOND;
    uint64_t begin = db->system->ops->now(db->system);
    uint64_t taken = 0;
    bb_scrub_init(&scrub, db, first, true);
    scrub.rest = rest;
    scrub.context = scrubber;
    while (check_one(scrubber, &scrub, interval - taken)) {
        uint64_t now = bb_file_elapsed(db->system, begin);
        taken = now < interval ? now : interval;
    }
    bb_scrub_end(&scrub);
    taken = bb_file_elapsed(db->system, begin);
    return bb_scrub_rest(&scrub, taken < interval ? interval - taken : 1) == BB_OK;
}

static void run(void *argument)
{
    struct bb_scrubber *scrubber = argument;
    uint64_t first = draw_first(scrubber->db);
    while (scrub_all(scrubber, first))
        first = 0;
}

/* ---- starting and stopping ---- */

static void destroy(struct bb_scrubber *scrubber)
{
    bb_condvar_deinit(&scrubber->wake);
    bb_free(scrubber);
}

enum bb_status bb_scrubber_start(struct bb_db *db)
{
    if (db->options.scrub_interval_seconds == 0 || db->scrubber != NULL)
        return BB_OK;
    struct bb_scrubber *scrubber = bb_alloc_zeroed(1, sizeof(*scrubber));
    if (scrubber == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to check tables on a schedule");
    scrubber->db = db;
    bb_condvar_init(&scrubber->wake);
    enum bb_status status = bb_thread_create(&scrubber->thread, run, scrubber);
    if (status != BB_OK) {
        destroy(scrubber);
        return status;
    }
    db->scrubber = scrubber;
    return BB_OK;
}

void bb_scrubber_leave(struct bb_db *db)
{
    if (db->scrubber != NULL)
        destroy(db->scrubber);
    db->scrubber = NULL;
}

void bb_scrubber_stop(struct bb_db *db)
{
    if (db->scrubber == NULL)
        return;
    bb_mutex_lock(&db->mutex);
    BB_DEBUG_ASSERT(db->is_closing);
    bb_condvar_broadcast(&db->scrubber->wake);
    bb_mutex_unlock(&db->mutex);
    bb_thread_join(&db->scrubber->thread);
    bb_scrubber_leave(db);
}

bool bb_scrubber_is_idle(const struct bb_db *db)
{
    return db->scrubber == NULL || !db->scrubber->is_busy;
}
