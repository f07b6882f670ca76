/* See file_limit.h. */
#include "base/file_limit.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/file_forward.h"
#include "base/status.h"
#include "base/sync.h"

#define SECOND UINT64_C(1000000000)
/* A wait is divided into pauses of this length; after each it is checked whether the limit was
 * lifted. */
#define PAUSE_NANOSECONDS UINT64_C(20000000)
/* Patient files get at least one part in this many, even if urgent files would use all of them. */
#define PATIENT_PART 4

struct side {
    struct bb_file_forward forward; /* the first member */
    struct bb_file_limit *limit;
    bool is_urgent;
};

struct bb_file_limit {
    struct side urgent;
    struct side patient;
    struct bb_file_system *inner;
    uint64_t bytes_per_second;
    _Atomic bool is_lifted;
    struct bb_mutex mutex;
    /* Times of the clock up to which appends are charged. */
    uint64_t urgent_until; /* urgent appends, and patient ones that did not wait their turn */
    uint64_t all_until;
    uint64_t patient_until; /* patient ones, each PATIENT_PART times */
    uint64_t seen;          /* the latest time that the clock gave */
};

struct limited_file {
    struct bb_file base;
    struct bb_file *inner; /* owned */
    struct side *side;
};

static struct side *side_of(struct bb_file_system *fs)
{
    return (struct side *)fs;
}

static struct limited_file *file_of(struct bb_file *file)
{
    return (struct limited_file *)file;
}

/* ---- waiting ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t cost_of(const struct bb_file_limit *limit, size_t size)
{
    return (uint64_t)((double)size * (double)SECOND / (double)limit->bytes_per_second);
}

/* The time, under the mutex. If the clock was set back, the charged time is set back with it;
 * otherwise all would wait until it has caught up. */
static uint64_t look_at_clock(struct bb_file_limit *limit)
{
    uint64_t now = limit->inner->ops->now(limit->inner);
    if (now < limit->seen) {
        uint64_t back = limit->seen - now;
        limit->urgent_until -= sooner(limit->urgent_until, back);
        limit->all_until -= sooner(limit->all_until, back);
        limit->patient_until -= sooner(limit->patient_until, back);
    }
    limit->seen = now;
    return now;
}

/* Urgent appends wait for bytes that were written before their turn, as for their own. */
static void charge(struct bb_file_limit *limit, bool is_urgent, uint64_t now, uint64_t cost)
{
    bool is_early = !is_urgent && limit->all_until > now;
    limit->all_until = later(limit->all_until, now) + cost;
    if (is_urgent)
        limit->urgent_until = now + cost;
    else
        limit->patient_until = now + PATIENT_PART * cost;
    if (is_early)
        limit->urgent_until = limit->all_until;
}

/* Charges an append if it is its turn; else tells how long that may take. */
static uint64_t try_charge(struct bb_file_limit *limit, bool is_urgent, size_t size)
{
    bb_mutex_lock(&limit->mutex);
    uint64_t now = look_at_clock(limit);
    uint64_t until =
        is_urgent ? limit->urgent_until : sooner(limit->all_until, limit->patient_until);
    if (until <= now)
        charge(limit, is_urgent, now, cost_of(limit, size));
    bb_mutex_unlock(&limit->mutex);
    return until <= now ? 0 : until - now;
}

static void wait_for_turn(struct bb_file_limit *limit, bool is_urgent, size_t size)
{
    uint64_t left = 1;
    while (left > 0 && !atomic_load_explicit(&limit->is_lifted, memory_order_acquire)) {
        left = try_charge(limit, is_urgent, size);
        if (left > 0)
            limit->inner->ops->sleep(limit->inner,
                                     left > PAUSE_NANOSECONDS ? PAUSE_NANOSECONDS : left);
    }
}

/* ---- files ---- */

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    return bb_file_read_at(file_of(base)->inner, offset, buffer, size, ret_size);
}

static bool read_now(struct bb_file *base, uint64_t offset, void *buffer, size_t size)
{
    return bb_file_read_now(file_of(base)->inner, offset, buffer, size);
}

static void will_need(struct bb_file *base, uint64_t offset, uint64_t size)
{
    bb_file_will_need(file_of(base)->inner, offset, size);
}

static enum bb_status append(struct bb_file *base, const void *data, size_t size)
{
    struct limited_file *file = file_of(base);
    wait_for_turn(file->side->limit, file->side->is_urgent, size);
    return bb_file_append(file->inner, bb_bytes_of(data, size));
}

static enum bb_status sync_file(struct bb_file *base)
{
    return bb_file_sync(file_of(base)->inner);
}

static enum bb_status size_of_file(struct bb_file *base, uint64_t *ret_size)
{
    return bb_file_size(file_of(base)->inner, ret_size);
}

static enum bb_status close_file(struct bb_file *base)
{
    struct limited_file *file = file_of(base);
    enum bb_status status = bb_file_close(file->inner);
    bb_free(file);
    return status;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .read_now = read_now,
    .will_need = will_need,
    .append = append,
    .sync = sync_file,
    .size = size_of_file,
    .close = close_file,
};

static enum bb_status create(struct bb_file_system *fs, const char *path, struct bb_file **ret_file)
{
    struct limited_file *file = bb_alloc_zeroed(1, sizeof(*file));
    if (file == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to create it", path);
    enum bb_status status = bb_file_create(bb_file_forward_inner(fs), path, &file->inner);
    if (status != BB_OK) {
        bb_free(file);
        return status;
    }
    file->side = side_of(fs);
    file->base = (struct bb_file){.ops = &file_ops, .path = file->inner->path};
    *ret_file = &file->base;
    return BB_OK;
}

/* ---- the limit ---- */

static void init_side(struct bb_file_limit *limit, bool is_urgent, struct side *side)
{
    bb_file_forward_init(&side->forward, limit->inner);
    side->forward.ops.create = create;
    side->limit = limit;
    side->is_urgent = is_urgent;
}

enum bb_status bb_file_limit_create(struct bb_file_system *fs, uint64_t bytes_per_second,
                                    struct bb_file_limit **ret_limit)
{
    if (bytes_per_second == 0)
        return bb_fail(BB_INVALID, "a limit of no bytes per second");
    struct bb_file_limit *limit = bb_alloc_zeroed(1, sizeof(*limit));
    if (limit == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a limit on writing");
    limit->inner = fs;
    init_side(limit, true, &limit->urgent);
    init_side(limit, false, &limit->patient);
    limit->bytes_per_second = bytes_per_second;
    bb_mutex_init(&limit->mutex);
    *ret_limit = limit;
    return BB_OK;
}

void bb_file_limit_destroy(struct bb_file_limit *limit)
{
    if (limit == NULL)
        return;
    bb_mutex_deinit(&limit->mutex);
    bb_free(limit);
}

struct bb_file_system *bb_file_limit_system(struct bb_file_limit *limit, bool is_urgent)
{
    return is_urgent ? &limit->urgent.forward.base : &limit->patient.forward.base;
}

void bb_file_limit_lift(struct bb_file_limit *limit)
{
    if (limit != NULL)
        atomic_store_explicit(&limit->is_lifted, true, memory_order_release);
}
