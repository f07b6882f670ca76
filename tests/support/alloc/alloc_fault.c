/* The allocation seam with failures. */
#include "tests/support/alloc/alloc_fault.h"

#define BB_ALLOC_IMPLEMENTATION
#include "base/alloc.h"
#include "base/region.h"

#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

#define NEVER UINT64_MAX

static _Atomic uint64_t requests;
static _Atomic uint64_t live;
static _Atomic uint64_t bytes;
static _Atomic uint64_t peak;
static _Atomic uint64_t failures;
static _Atomic uint64_t first_failing = NEVER; /* number of the request */
static _Atomic uint64_t last_failing = 0;

void bb_alloc_fault_arm(uint64_t n, bool lasting)
{
    uint64_t number = requests + n;
    failures = 0;
    last_failing = lasting ? NEVER : number;
    first_failing = number;
}

void bb_alloc_fault_disarm(void)
{
    first_failing = NEVER;
}

uint64_t bb_alloc_fault_failures(void)
{
    return failures;
}

uint64_t bb_alloc_fault_requests(void)
{
    return requests;
}

uint64_t bb_alloc_fault_live(void)
{
    return live;
}

/* Counts a request; true when it has to fail. */
static bool fails(size_t size)
{
    uint64_t number = atomic_fetch_add(&requests, 1) + 1;
    if (number >= first_failing && number <= last_failing) {
        failures++;
        return true;
    }
    return size > PTRDIFF_MAX;
}

uint64_t bb_alloc_fault_bytes(void)
{
    return bytes;
}

void bb_alloc_fault_peak_reset(void)
{
    peak = bytes;
}

uint64_t bb_alloc_fault_peak(void)
{
    return peak;
}

static void add_bytes(const void *memory)
{
    uint64_t size = malloc_usable_size((void *)(uintptr_t)memory);
    uint64_t now = atomic_fetch_add(&bytes, size) + size;
    uint64_t most = peak;
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        continue;
}

static void *counted(void *memory)
{
    if (memory == NULL)
        return NULL;
    live++;
    add_bytes(memory);
    return memory;
}

void *bb_alloc(size_t size)
{
    return fails(size) ? NULL : counted(malloc(size == 0 ? 1 : size));
}

void *bb_alloc_zeroed(size_t count, size_t size)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX;
    return fails(total) ? NULL : counted(calloc(1, total == 0 ? 1 : total));
}

void *bb_realloc(void *memory, size_t size)
{
    if (memory == NULL)
        return bb_alloc(size);
    if (fails(size))
        return NULL;
    size_t size_before = malloc_usable_size(memory);
    void *grown = realloc(memory, size == 0 ? 1 : size);
    if (grown == NULL)
        return NULL;
    bytes -= size_before;
    add_bytes(grown);
    return grown;
}

/* | address of the block, at the end of `alignment` bytes | piece |. So a piece that is freed with
 * bb_free, or realloc'ed, is an error that the C library or a sanitizer finds. */
void *bb_alloc_aligned(size_t alignment, size_t size)
{
    void *memory = NULL;
    if (fails(size) || posix_memalign(&memory, alignment, alignment + size) != 0)
        return NULL;
    uint8_t *piece = (uint8_t *)counted(memory) + alignment;
    memcpy(piece - sizeof(memory), &memory, sizeof(memory));
    return piece;
}

/* No region is ever there: so each piece of a region's is a request that can fail. */
void *bb_region_map(size_t size)
{
    (void)size;
    return NULL;
}

void bb_region_unmap(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_enlarge(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_begin_large(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_reduce(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_region_discard(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void bb_free(void *memory)
{
    if (memory != NULL) {
        live--;
        bytes -= malloc_usable_size(memory);
    }
    free(memory);
}

void bb_free_aligned(void *piece)
{
    void *memory = NULL;
    if (piece != NULL)
        memcpy(&memory, (uint8_t *)piece - sizeof(memory), sizeof(memory));
    bb_free(memory);
}

static void check_run(enum bb_status status, uint64_t n, bool lasting, bool may_succeed)
{
    const char *text = lasting ? " and all later ones" : "";
    if (failures == 0 && status != BB_OK)
        fail_msg("without a failed allocation: %s: %s", bb_status_name(status),
                 bb_error_last()->message);
    if (failures == 0 || (status == BB_OK && may_succeed))
        return;
    if (status != BB_NO_MEMORY)
        fail_msg("allocation %" PRIu64 "%s failed, and the status is %s: %s", n, text,
                 bb_status_name(status), bb_error_last()->message);
    if (bb_error_last()->status != BB_NO_MEMORY || bb_error_last()->message[0] == '\0')
        fail_msg("allocation %" PRIu64 "%s failed, and there is no message for it", n, text);
}

/* False when the scenario made fewer than n allocations. */
static bool run_failing(enum bb_status (*scenario)(void *), void *context, uint64_t n, bool lasting,
                        bool may_succeed)
{
    uint64_t live_before = live;
    bb_alloc_fault_arm(n, lasting);
    enum bb_status status = scenario(context);
    bb_alloc_fault_disarm();
    check_run(status, n, lasting, may_succeed);
    if (live != live_before)
        fail_msg("allocation %" PRIu64 "%s failed: %" PRId64 " blocks were not released", n,
                 lasting ? " and all later ones" : "", (int64_t)(live - live_before));
    return failures > 0;
}

uint64_t bb_alloc_fault_sweep(enum bb_status (*scenario)(void *context), void *context,
                              bool may_succeed)
{
    uint64_t n = 0;
    bool fired = true;
    while (fired) {
        n++;
        fired = run_failing(scenario, context, n, false, may_succeed);
        if (fired)
            (void)run_failing(scenario, context, n, true, may_succeed);
    }
    return n - 1;
}
