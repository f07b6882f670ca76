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

/* ---- the limit ---- */

static enum bb_status append(struct bb_file *base, const void *data, size_t size)
{
    const struct bb_file_forwarded *file = (struct bb_file_forwarded *)base;
    const struct side *side = (struct side *)file->fs; /* forward is its first member */
    wait_for_turn(side->limit, side->is_urgent, size);
    return bb_file_append(file->inner, bb_bytes_of(data, size));
}

static void init_side(struct bb_file_limit *limit, bool is_urgent, struct side *side)
{
    bb_file_forward_init(&side->forward, limit->inner);
    side->forward.ops.create = bb_file_forward_create;
    side->forward.file_ops.append = append;
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

void bb_file_limit_restore(struct bb_file_limit *limit)
{
    if (limit != NULL)
        atomic_store_explicit(&limit->is_lifted, false, memory_order_release);
}
