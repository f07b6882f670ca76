/* The memory of base/alloc.h, and for each byte of it the threads that accessed it: two accesses,
 * one of them a write, need an order between them. Atomic operations count as accesses too, of
 * which only plain ones need an order. See explore.h.
 *
 * Each thread has its own part for allocations, so that addresses do not depend on the schedule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/explore/explore_private.h"

#define PART_SIZE  ((size_t)512 * 1024)
#define PART_COUNT (EXPLORE_THREADS_MAX + 1) /* the last: setup and finish */

enum access {
    ACCESS_PLAIN_READ,
    ACCESS_PLAIN_WRITE,
    ACCESS_ATOMIC_READ,
    ACCESS_ATOMIC_WRITE,
    ACCESS_COUNT,
};

struct cell {
    uint32_t execution; /* in others it has no access yet */
    uint16_t clock[ACCESS_COUNT][EXPLORE_THREADS_MAX];
    bool is_released;
    uint8_t accessed_by; /* bits of threads */
    uint16_t location;
    const void *place; /* of the last one */
};

/* Before each allocation. */
struct head {
    size_t size;
    uint64_t unused;
};

static _Alignas(4096) uint8_t memory[PART_COUNT][PART_SIZE];
static struct cell cells[PART_COUNT][PART_SIZE];
static size_t used[PART_COUNT];
static uint8_t *kept; /* the part of setup after it */
static size_t kept_size;
static uint32_t execution;

void explore_memory_forget(void)
{
    memset(used, 0, sizeof(used));
    free(kept);
    kept = NULL;
    kept_size = 0;
}

void explore_memory_keep(void)
{
    kept_size = used[EXPLORE_THREADS_MAX];
    kept = malloc(kept_size + 1);
    memcpy(kept, memory[EXPLORE_THREADS_MAX], kept_size);
}

void explore_memory_begin(void)
{
    memset(used, 0, sizeof(used));
    used[EXPLORE_THREADS_MAX] = kept_size;
    memcpy(memory[EXPLORE_THREADS_MAX], kept, kept_size);
    execution++;
}

/* ---- accesses ---- */

static struct cell *cell_of(const void *address)
{
    size_t at = (size_t)((const uint8_t *)address - &memory[0][0]);
    return at < sizeof(memory) ? &cells[0][at] : NULL;
}

static struct cell *fresh_cell(const void *address)
{
    struct cell *cell = cell_of(address);
    if (cell != NULL && cell->execution != execution) {
        *cell = (struct cell){.execution = execution, .location = cell->location};
    }
    return cell;
}

static void check_after(const struct cell *cell, enum access earlier, enum access now,
                        const void *place)
{
    static const char *const names[] = {"read", "write", "atomic read", "atomic write"};
    const uint32_t *known = explore_threads[explore_self].knowledge.clock;
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++) {
        if (i != explore_self && cell->clock[earlier][i] > known[i])
            explore_fail("no order between %s in %s and %s in %s", names[earlier],
                         explore_function(cell->place), names[now], explore_function(place));
    }
}

static void check(const struct cell *cell, enum access access, const void *place)
{
    bool is_write = access == ACCESS_PLAIN_WRITE || access == ACCESS_ATOMIC_WRITE;
    bool is_plain = access == ACCESS_PLAIN_READ || access == ACCESS_PLAIN_WRITE;
    if (cell->is_released)
        explore_fail("released memory is used in %s", explore_function(place));
    if ((cell->accessed_by & ~(1U << explore_self)) == 0)
        return;
    check_after(cell, ACCESS_PLAIN_WRITE, access, place);
    if (is_write)
        check_after(cell, ACCESS_PLAIN_READ, access, place);
    if (is_plain)
        check_after(cell, ACCESS_ATOMIC_WRITE, access, place);
    if (is_plain && is_write)
        check_after(cell, ACCESS_ATOMIC_READ, access, place);
}

static void access_bytes(const void *address, size_t size, enum access access, const void *place)
{
    for (size_t i = 0; i < size; i++) {
        struct cell *cell = fresh_cell((const uint8_t *)address + i);
        if (cell == NULL)
            return;
        check(cell, access, place);
        cell->accessed_by |= (uint8_t)(1U << explore_self);
        cell->place = place;
        cell->clock[access][explore_self] =
            (uint16_t)explore_threads[explore_self].knowledge.clock[explore_self];
        if (access == ACCESS_PLAIN_WRITE && cell->location != 0)
            explore_atomic_overwritten(cell->location);
    }
}

void explore_plain(const void *address, size_t size, bool is_write, const void *place)
{
    if (explore_is_running)
        access_bytes(address, size, is_write ? ACCESS_PLAIN_WRITE : ACCESS_PLAIN_READ, place);
}

void explore_atomic(const void *address, size_t size, bool is_write, const void *place)
{
    if (explore_is_running)
        access_bytes(address, size, is_write ? ACCESS_ATOMIC_WRITE : ACCESS_ATOMIC_READ, place);
}

void explore_mark_location(const void *address, size_t size, uint16_t location)
{
    for (size_t i = 0; i < size; i++) {
        struct cell *cell = cell_of((const uint8_t *)address + i);
        if (cell != NULL)
            cell->location = location;
    }
}

/* ---- allocation ---- */

void *explore_alloc(size_t alignment, size_t size)
{
    unsigned part = explore_is_running ? explore_self : EXPLORE_THREADS_MAX;
    size_t start = used[part] + sizeof(struct head);
    start = (start + alignment - 1) / alignment * alignment;
    if (size > PART_SIZE - start)
        abort();
    used[part] = (start + size + 15) / 16 * 16;
    uint8_t *bytes = &memory[part][start];
    ((struct head *)(void *)bytes)[-1].size = size;
    memset(bytes, 0xa5, size);
    return bytes;
}

size_t explore_size_of(const void *bytes)
{
    return ((const struct head *)bytes)[-1].size;
}

void explore_free(void *bytes, const void *place)
{
    if (!explore_is_running || bytes == NULL)
        return;
    size_t size = explore_size_of(bytes);
    explore_plain(bytes, size, true, place);
    for (size_t i = 0; i < size; i++)
        fresh_cell((uint8_t *)bytes + i)->is_released = true;
}
