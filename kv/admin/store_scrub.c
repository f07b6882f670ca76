/* Verifies an open store on the caller's thread. */
#include "bb/db_files.h"

#include "base/status.h"
#include "kv/background/scrub.h"
#include "kv/store/call.h"
#include "kv/store/inherited.h"

/* A rest is divided into pieces; between them, closing the store is noticed. */
#define REST_NANOSECONDS_MAX UINT64_C(20000000)

struct scrub_call {
    struct bb_db *db;
    struct bb_db_scrub_options options;
};

static void rest(void *context, uint64_t nanoseconds)
{
    struct bb_file_system *system = ((struct scrub_call *)context)->db->system;
    system->ops->sleep(system,
                       nanoseconds < REST_NANOSECONDS_MAX ? nanoseconds : REST_NANOSECONDS_MAX);
}

static bool tell(void *context, const struct bb_db_scrub_report *so_far)
{
    const struct bb_db_scrub_options *options = &((struct scrub_call *)context)->options;
    return options->on_progress == NULL || options->on_progress(options->progress_context, so_far);
}

/* The reason for stopping has priority over the damage found. */
static enum bb_status result_of(const struct bb_scrub *scrub, enum bb_status status)
{
    if (status != BB_OK && !scrub->is_stopped)
        return status;
    return scrub->damage.status == BB_OK ? BB_OK : bb_error_restore(&scrub->damage);
}

static enum bb_status scrub_files(struct scrub_call *call, struct bb_db_scrub_report *ret_report)
{
    struct bb_scrub scrub;
    bool has_file = true;
    enum bb_status status = BB_OK;
    bb_scrub_init(&scrub, call->db, call->options.first_table, false);
    scrub.meter.bytes_per_second = call->options.bytes_per_second;
    scrub.rest = rest;
    scrub.tell = tell;
    scrub.context = call;
    while (status == BB_OK && has_file)
        status = bb_scrub_next(&scrub, &has_file);
    bb_scrub_end(&scrub);
    if (ret_report != NULL)
        *ret_report = scrub.report;
    return result_of(&scrub, status);
}

enum bb_status bb_db_scrub(struct bb_db *db, const struct bb_db_scrub_options *options,
                           struct bb_db_scrub_report *ret_report)
{
    struct scrub_call call = {.db = db};
    if (ret_report != NULL)
        *ret_report = (struct bb_db_scrub_report){0};
    if (options != NULL)
        call.options = *options;
    enum bb_status status = bb_inherited_check(db);
    if (status == BB_OK)
        status = bb_call_begin(db);
    if (status != BB_OK)
        return status;
    status = scrub_files(&call, ret_report);
    bb_call_end(db);
    return status;
}
