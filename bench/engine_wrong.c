/* bloomblock with planted faults, for compare_test.py: the comparison must find each of them. Only
 * compare_wrong has these engines. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bench/die.h"
#include "bench/engine.h"

/* The fault is in each PERIOD-th call. */
#define PERIOD 7

#define INNER bench_engine_bloomblock

static bool is_due(void)
{
    static atomic_uint count;
    return atomic_fetch_add(&count, 1) % PERIOD == PERIOD - 1;
}

static bool get_wrong_value(void *store, struct bb_bytes key, struct bb_bytes *ret_value)
{
    bool is_found = INNER.get(store, key, ret_value);
    if (is_found && is_due()) /* the memory is the handle's */
        ((uint8_t *)(uintptr_t)ret_value->data)[ret_value->size - 1] ^= 1;
    return is_found;
}

static bool get_nothing(void *store, struct bb_bytes key, struct bb_bytes *ret_value)
{
    return INNER.get(store, key, ret_value) && !is_due();
}

static bool get_absent(void *store, struct bb_bytes key, struct bb_bytes *ret_value)
{
    bool is_found = INNER.get(store, key, ret_value);
    if (!is_found && is_due()) {
        *ret_value = key;
        return true;
    }
    return is_found;
}

/* Loses only overwrites. */
static void put_nothing(void *store, struct bb_bytes key, struct bb_bytes value)
{
    struct bb_bytes old = {0};
    if (!INNER.get(store, key, &old) || !is_due())
        INNER.put(store, key, value);
}

static void remove_nothing(void *store, struct bb_bytes key)
{
    if (!is_due())
        INNER.remove(store, key);
}

static void get_many_twice(void *store, const struct bb_bytes *keys, size_t count,
                           struct bb_bytes *ret_values)
{
    INNER.get_many(store, keys, count, ret_values);
    if (is_due())
        ret_values[count - 1] = ret_values[0];
}

/* Omits entries. */
struct omission {
    struct bench_visitor visitor; /* first */
    struct bench_visitor *wrapped;
};

static void visit_some(struct bench_visitor *visitor, struct bb_bytes key, struct bb_bytes value)
{
    struct bench_visitor *wrapped = ((struct omission *)visitor)->wrapped;
    if (!is_due())
        wrapped->visit(wrapped, key, value);
}

static void seek_some(void *store, struct bb_bytes key, uint64_t count_max,
                      struct bench_visitor *visitor)
{
    struct omission omission = {.visitor.visit = visit_some, .wrapped = visitor};
    INNER.seek(store, key, count_max, &omission.visitor);
}

static void prefix_some(void *store, struct bb_bytes prefix, struct bench_visitor *visitor)
{
    struct omission omission = {.visitor.visit = visit_some, .wrapped = visitor};
    INNER.prefix(store, prefix, &omission.visitor);
}

/* A little more than the range. */
static void range_more(void *store, struct bb_bytes low, struct bb_bytes high,
                       struct bench_visitor *visitor)
{
    INNER.range(store, low, high, visitor);
    INNER.seek(store, high, 1, visitor);
}

#define WRONG(name_, put_, remove_, get_, get_many_, seek_, range_, prefix_)                       \
    {                                                                                              \
        .name = name_, .version = "0", .options = "faults", .open = open_store,                    \
        .close = close_store, .put = put_, .remove = remove_, .get = get_, .get_many = get_many_,  \
        .scan = scan, .seek = seek_, .range = range_, .prefix = prefix_, .attach = attach,         \
        .detach = detach, .wait_idle = wait_idle, .compact = compact,                              \
    }

static void *open_store(const struct bench_settings *settings)
{
    return INNER.open(settings);
}

static void close_store(void *store)
{
    INNER.close(store);
}

static void put(void *store, struct bb_bytes key, struct bb_bytes value)
{
    INNER.put(store, key, value);
}

static void remove_key(void *store, struct bb_bytes key)
{
    INNER.remove(store, key);
}

static bool get(void *store, struct bb_bytes key, struct bb_bytes *ret_value)
{
    return INNER.get(store, key, ret_value);
}

static void get_many(void *store, const struct bb_bytes *keys, size_t count,
                     struct bb_bytes *ret_values)
{
    INNER.get_many(store, keys, count, ret_values);
}

static void scan(void *store, struct bench_visitor *visitor)
{
    INNER.scan(store, visitor);
}

static void seek(void *store, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor)
{
    INNER.seek(store, key, count_max, visitor);
}

static void range(void *store, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor)
{
    INNER.range(store, low, high, visitor);
}

static void prefix(void *store, struct bb_bytes bytes, struct bench_visitor *visitor)
{
    INNER.prefix(store, bytes, visitor);
}

static void *attach(void *store)
{
    return INNER.attach(store);
}

static void detach(void *handle)
{
    INNER.detach(handle);
}

static void wait_idle(void *store)
{
    INNER.wait_idle(store);
}

static void compact(void *store)
{
    INNER.compact(store);
}

const struct bench_engine bench_engines_wrong[BENCH_WRONG_COUNT] = {
    WRONG("wrong-value", put, remove_key, get_wrong_value, get_many, seek, range, prefix),
    WRONG("wrong-get", put, remove_key, get_nothing, get_many, seek, range, prefix),
    WRONG("wrong-absent", put, remove_key, get_absent, get_many, seek, range, prefix),
    WRONG("wrong-put", put_nothing, remove_key, get, get_many, seek, range, prefix),
    WRONG("wrong-delete", put, remove_nothing, get, get_many, seek, range, prefix),
    WRONG("wrong-many", put, remove_key, get, get_many_twice, seek, range, prefix),
    WRONG("wrong-seek", put, remove_key, get, get_many, seek_some, range, prefix),
    WRONG("wrong-range", put, remove_key, get, get_many, seek, range_more, prefix),
    WRONG("wrong-prefix", put, remove_key, get, get_many, seek, range, prefix_some),
};
