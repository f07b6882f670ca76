/* The memory model: every location has its stores in order, and a load reads one of them that is
 * not older than its thread's knowledge. See explore.h.
 *
 * A location is tracked once two threads have accessed it and one of them has changed it. That is
 * known only after some executions; until then its operations act only on the memory. When a
 * location becomes tracked, the search begins again, so that the last search has treated it as
 * shared from the start. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/explore/explore_private.h"

#define LOCATIONS_MAX 4096
#define STORES_MAX    16384 /* of one execution */

struct store {
    uint64_t value;
    uint64_t identity;
    uint32_t next; /* of the location; 0: the newest */
    uint16_t index;
    struct knowledge message; /* a load that acquires it learns this */
};

struct location {
    /* Kept over executions. */
    uintptr_t address;
    uint8_t size;
    bool is_mutex;
    bool is_changed;
    uint8_t accessed_by; /* bits of threads */
    uint16_t tracked;    /* 0: not tracked; otherwise its number, from 1 on */
    /* Of the execution. */
    bool has_begun;
    bool is_overwritten;
    uint16_t newest_index;
    uint16_t oldest_index;   /* since a plain write */
    uint16_t newest_seq_cst; /* index of a sequentially consistent store */
    uint32_t oldest_store;   /* at oldest_index */
    uint32_t newest_store;
    uint64_t order;           /* a hash of its stores */
    void *holder;             /* of a mutex */
    struct knowledge message; /* of its last unlock */
};

static struct location locations[LOCATIONS_MAX];
static uint16_t location_count;
static struct location *tracked[TRACKED_MAX]; /* by number */
static uint16_t tracked_count;
static struct store stores[STORES_MAX];
static uint32_t store_count;

static struct explored_thread *self(void)
{
    return &explore_threads[explore_self];
}

void explore_atomics_forget(void)
{
    for (unsigned i = 0; i < location_count; i++)
        explore_mark_location((const void *)locations[i].address, locations[i].size, 0);
    memset(locations, 0, sizeof(locations));
    location_count = 0;
    tracked_count = 0;
}

uint64_t explore_atomics_tracked(void)
{
    return tracked_count;
}

void explore_atomics_begin(void)
{
    store_count = 0;
    for (unsigned i = 1; i <= tracked_count; i++) {
        tracked[i]->has_begun = false;
        tracked[i]->is_overwritten = false;
        tracked[i]->holder = NULL;
        tracked[i]->order = 0;
        memset(&tracked[i]->message, 0, sizeof(tracked[i]->message));
    }
}

uint64_t explore_atomics_hash(void)
{
    uint64_t sum = 0;
    for (unsigned i = 1; i <= tracked_count; i++)
        sum += explore_mix(tracked[i]->order, i);
    return sum;
}

/* ---- locations ---- */

static struct location *find(const void *address, size_t size)
{
    static uint16_t places[LOCATIONS_MAX * 2]; /* by hash: number + 1 of a location */
    static uint16_t filled;
    uint64_t at = explore_mix((uintptr_t)address, 0) % (LOCATIONS_MAX * 2);
    if (filled > location_count) {
        memset(places, 0, sizeof(places));
        filled = 0;
    }
    for (; places[at] != 0; at = (at + 1) % (LOCATIONS_MAX * 2)) {
        struct location *found = &locations[places[at] - 1];
        if (found->address == (uintptr_t)address && found->size == size)
            return found;
        if (found->address == (uintptr_t)address)
            abort(); /* the model has no atomics that overlap */
    }
    if (location_count == LOCATIONS_MAX)
        abort();
    locations[location_count] =
        (struct location){.address = (uintptr_t)address, .size = (uint8_t)size};
    places[at] = ++location_count;
    filled = location_count;
    return &locations[location_count - 1];
}

static void track(struct location *location)
{
    if (tracked_count + 1 >= TRACKED_MAX)
        abort();
    location->tracked = ++tracked_count;
    tracked[tracked_count] = location;
    explore_mark_location((const void *)location->address, location->size,
                          (uint16_t)(location - locations + 1));
    explore_restart();
}

static void note_access(struct location *location, bool is_change)
{
    location->accessed_by |= (uint8_t)(1U << explore_self);
    location->is_changed |= is_change;
    bool is_shared = (location->accessed_by & (location->accessed_by - 1)) != 0;
    if (location->tracked == 0 && is_shared && location->is_changed)
        track(location);
}

/* ---- knowledge ---- */

static void join(struct knowledge *to, const struct knowledge *from)
{
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++)
        to->clock[i] = from->clock[i] > to->clock[i] ? from->clock[i] : to->clock[i];
    for (unsigned i = 0; i <= tracked_count; i++)
        to->oldest[i] = from->oldest[i] > to->oldest[i] ? from->oldest[i] : to->oldest[i];
}

void explore_learn_newest(struct explored_thread *thread)
{
    for (unsigned i = 1; i <= tracked_count; i++) {
        if (tracked[i]->has_begun)
            thread->knowledge.oldest[i] = tracked[i]->newest_index;
    }
    thread->history = explore_mix(thread->history, explore_atomics_hash());
}

/* ---- stores ---- */

/* WHY byte by byte: memcpy is a plain access of the program. */
static uint64_t read_memory(const void *address, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        ((volatile uint8_t *)&value)[i] = ((const uint8_t *)address)[i];
    return value;
}

static void write_memory(void *address, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        ((volatile uint8_t *)address)[i] = ((const uint8_t *)&value)[i];
}

static struct store *append(struct location *location, uint64_t value, uint64_t identity)
{
    if (++store_count == STORES_MAX)
        abort();
    struct store *store = &stores[store_count];
    if (location->has_begun) {
        stores[location->newest_store].next = store_count;
        location->newest_index++;
    } else {
        location->newest_index = 1;
        location->oldest_index = 1;
        location->oldest_store = store_count;
        location->newest_seq_cst = 0;
        location->has_begun = true;
    }
    location->newest_store = store_count;
    location->order = explore_mix(location->order, identity);
    store->value = value;
    store->identity = identity;
    store->next = 0;
    store->index = location->newest_index;
    memset(&store->message, 0, sizeof(store->message));
    return store;
}

/* The bytes that plain writes left are the location's only store. */
static void begin_location(struct location *location)
{
    if (location->has_begun && !location->is_overwritten)
        return;
    append(location, read_memory((const void *)location->address, location->size), 1);
    location->oldest_index = location->newest_index;
    location->oldest_store = location->newest_store;
    location->is_overwritten = false;
}

void explore_atomic_overwritten(uint16_t location)
{
    locations[location - 1].is_overwritten = true;
}

static bool acquires(int order)
{
    return order != memory_order_relaxed && order != memory_order_release;
}

static bool releases(int order)
{
    return order == memory_order_release || order == memory_order_acq_rel ||
           order == memory_order_seq_cst;
}

/* The thread reads this store. */
static void take(struct location *location, const struct store *store, int order)
{
    struct explored_thread *thread = self();
    thread->knowledge.oldest[location->tracked] = store->index;
    if (acquires(order))
        join(&thread->knowledge, &store->message);
    thread->history = explore_mix(thread->history, store->identity);
}

/* read: the store that a read-modify-write replaces; NULL for a plain store. */
static void give(struct location *location, uint64_t value, int order, const struct store *read)
{
    struct explored_thread *thread = self();
    thread->history = explore_mix(thread->history, 2);
    struct store *store = append(location, value, explore_mix(thread->history, explore_self + 10));
    if (read != NULL)
        store->message = read->message; /* the release sequence continues */
    thread->knowledge.oldest[location->tracked] = store->index;
    if (releases(order)) {
        join(&store->message, &thread->knowledge);
        thread->knowledge.clock[explore_self]++;
    }
    store->message.oldest[location->tracked] = store->index;
    if (order == memory_order_seq_cst)
        location->newest_seq_cst = store->index;
    write_memory((void *)location->address, location->size, value);
}

/* One of the stores that the thread may read, by a choice; the newest is the first choice. */
static const struct store *choose_store(const struct location *location, int order)
{
    unsigned oldest = self()->knowledge.oldest[location->tracked];
    if (oldest < location->oldest_index)
        oldest = location->oldest_index;
    if (order == memory_order_seq_cst && oldest < location->newest_seq_cst)
        oldest = location->newest_seq_cst;
    unsigned back = explore_choose(location->newest_index - oldest + 1);
    uint32_t store = location->oldest_store;
    for (unsigned i = location->oldest_index; i < location->newest_index - back; i++)
        store = stores[store].next;
    return &stores[store];
}

/* ---- operations ---- */

/* The location, after a point where other threads may continue; NULL if it is not tracked. */
static struct location *enter(struct access_to access, bool is_change)
{
    if (!explore_is_running)
        return NULL;
    struct location *location = find(access.address, access.size);
    note_access(location, is_change);
    if (location->tracked != 0)
        explore_point();
    explore_atomic(access.address, access.size, is_change, access.place);
    if (location->tracked == 0)
        return NULL;
    begin_location(location);
    return location;
}

uint64_t explore_load(struct access_to access)
{
    struct location *location = enter(access, false);
    if (location == NULL)
        return read_memory(access.address, access.size);
    const struct store *store = choose_store(location, access.order);
    take(location, store, access.order);
    return store->value;
}

void explore_store(struct access_to access, uint64_t value)
{
    struct location *location = enter(access, true);
    if (location == NULL)
        write_memory(access.address, access.size, value);
    else
        give(location, value, access.order, NULL);
}

uint64_t explore_change(struct access_to access, uint64_t (*change)(uint64_t old, uint64_t operand),
                        uint64_t operand)
{
    struct location *location = enter(access, true);
    uint64_t old = read_memory(access.address, access.size);
    uint64_t changed = change(old, operand);
    if (location == NULL) {
        write_memory(access.address, access.size, changed);
        return old;
    }
    const struct store *newest = &stores[location->newest_store];
    take(location, newest, access.order);
    give(location, changed, access.order, newest);
    return old;
}

bool explore_exchange(struct access_to access, int failure_order, uint64_t *expected,
                      uint64_t desired)
{
    struct location *location = enter(access, true);
    uint64_t old = read_memory(access.address, access.size);
    bool is_equal = old == *expected;
    *expected = old;
    if (location == NULL) {
        if (is_equal)
            write_memory(access.address, access.size, desired);
        return is_equal;
    }
    const struct store *newest = &stores[location->newest_store];
    take(location, newest, is_equal ? access.order : failure_order);
    if (is_equal)
        give(location, desired, access.order, newest);
    return is_equal;
}

/* ---- mutexes ---- */

/* WHY unlock is no point: it only lets others continue, and no thread can see its effect
 * without taking the mutex. */
static void hold(struct location *location)
{
    struct explored_thread *thread = self();
    location->holder = thread;
    join(&thread->knowledge, &location->message);
    thread->history = explore_mix(thread->history, location->order);
    location->order = explore_mix(location->order, thread->history);
}

static struct location *find_mutex(void *mutex)
{
    struct location *location = find(mutex, 1);
    location->is_mutex = true;
    note_access(location, true);
    if (location->tracked == 0)
        track(location);
    return location;
}

void explore_lock(void *mutex)
{
    if (!explore_is_running)
        return;
    struct location *location = find_mutex(mutex);
    explore_wait(&location->holder);
    hold(location);
}

void explore_unlock(void *mutex)
{
    if (!explore_is_running)
        return;
    struct location *location = find_mutex(mutex);
    struct explored_thread *thread = self();
    if (location->holder != thread)
        explore_fail("a mutex is unlocked that the thread does not hold");
    location->holder = NULL;
    location->message = thread->knowledge;
    location->order = explore_mix(location->order, 3);
    thread->knowledge.clock[explore_self]++;
}

/* Without a program, every mutex counts as held. */
bool explore_holds(const void *mutex)
{
    return !explore_is_running || find(mutex, 1)->holder == self();
}
