/* See store_idle.h. The library's call has no end before the store is idle, but a store may be
 * closed during it. So a thread calls it, and this one watches for Ctrl-C. */
#include "tools/store/store_idle.h"

#include "base/status.h"
#include "base/sync.h"
#include "tools/output/interrupt.h"

#define WATCH_INTERVAL_NS (50 * 1000 * 1000)

struct idle_wait {
    struct bb_db *db;
    struct bb_error error; /* of the call; BB_OK if it succeeded */
    bool is_done;          /* under mutex */
    struct bb_mutex mutex;
    struct bb_condvar done;
};

static void run(void *argument)
{
    struct idle_wait *wait = argument;
    enum bb_status status = bb_db_wait_idle(wait->db);
    if (status != BB_OK)
        wait->error = *bb_error_last();
    bb_mutex_lock(&wait->mutex);
    wait->is_done = true;
    bb_condvar_signal(&wait->done);
    bb_mutex_unlock(&wait->mutex);
}

/* False after Ctrl-C. */
static bool watch(struct idle_wait *wait)
{
    bb_mutex_lock(&wait->mutex);
    while (!wait->is_done && !interrupt_is_wanted())
        (void)bb_condvar_wait_for(&wait->done, &wait->mutex, WATCH_INTERVAL_NS);
    bool is_done = wait->is_done;
    bb_mutex_unlock(&wait->mutex);
    return is_done;
}

static enum bb_status close_early(struct bb_db **db)
{
    enum bb_status status = bb_db_close(*db);
    *db = NULL;
    return status == BB_OK ? bb_fail(BB_BUSY, "interrupted while merging") : status;
}

enum bb_status store_idle_wait(struct bb_db **db)
{
    struct idle_wait wait = {.db = *db};
    struct bb_thread thread;
    bb_mutex_init(&wait.mutex);
    bb_condvar_init(&wait.done);
    enum bb_status status = bb_thread_create(&thread, run, &wait);
    if (status == BB_OK) {
        bool is_done = watch(&wait);
        if (!is_done)
            status = close_early(db);
        bb_thread_join(&thread);
        if (is_done && wait.error.status != BB_OK)
            status = bb_error_restore(&wait.error);
    }
    bb_condvar_deinit(&wait.done);
    bb_mutex_deinit(&wait.mutex);
    return status;
}
