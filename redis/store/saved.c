/* See saved.h. */
#include "redis/store/saved.h"

#include <stddef.h>

#include "redis/server/redis_module.h"

struct saved {
    struct bb_redis_id state;
    unsigned kinds;
    unsigned holds;
    struct saved *next;
};

static struct saved *all;

static struct saved *find(const struct bb_redis_id *state)
{
    for (struct saved *saved = all; saved != NULL; saved = saved->next) {
        if (bb_redis_id_equals(&saved->state, state))
            return saved;
    }
    return NULL;
}

bool bb_redis_saved_is_kept(const struct bb_redis_id *state)
{
    return find(state) != NULL;
}

bool bb_redis_saved_is_any(void)
{
    return all != NULL;
}

void bb_redis_saved_hold(const struct bb_redis_id *state)
{
    find(state)->holds++;
}

void bb_redis_saved_release(const struct bb_redis_id *state)
{
    find(state)->holds--;
}

void bb_redis_saved_keep(const struct bb_redis_id *state, unsigned kinds)
{
    struct saved *saved = find(state);
    if (saved == NULL) {
        saved = RedisModule_Alloc(sizeof(*saved));
        *saved = (struct saved){.state = *state, .next = all};
        all = saved;
    }
    saved->kinds |= kinds;
}

void bb_redis_saved_begin(enum bb_redis_saved_kind kind)
{
    for (struct saved *saved = all; saved != NULL; saved = saved->next)
        saved->kinds &= ~(unsigned)kind;
}

void bb_redis_saved_end(void)
{
    struct saved **link = &all;
    while (*link != NULL) {
        struct saved *saved = *link;
        if (saved->kinds != 0 || saved->holds != 0) {
            link = &saved->next;
            continue;
        }
        *link = saved->next;
        struct bb_redis_path path = bb_redis_root_saved(&saved->state);
        bb_redis_root_remove(&path);
        RedisModule_Free(saved);
    }
}
