/* Preloaded into a server together with AddressSanitizer: all memory is AddressSanitizer's, and no
 * thread is inside the allocator while the process forks.
 *
 * Redis 8 allocates memory for Lua with jemalloc's own functions and calls malloc_usable_size for
 * it, which AddressSanitizer replaces. So this library replaces jemalloc's functions.
 *
 * The C library's allocator and jemalloc take their locks before a fork and release them in the
 * child. That of AddressSanitizer does so from LLVM 17 on only: with an older one, a child inherits
 * a lock that another thread held, and never gets it. So every call takes one lock here, and a fork
 * holds it.
 *
 * Its handlers are registered first of all, so they run nearest to the fork: handlers of others may
 * allocate. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* jemalloc's, whose header may be missing. */
void *mallocx(size_t size, int flags);
void *rallocx(void *memory, size_t size, int flags);
void dallocx(void *memory, int flags);
size_t nallocx(size_t size, int flags);

/* AddressSanitizer's own. */
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *memory, size_t size);
void __interceptor_free(void *memory);

/* WHY no mutex: AddressSanitizer replaces its functions, and allocates before it has found them. */
static atomic_flag gate = ATOMIC_FLAG_INIT;

/* Calls of this thread that have entered: the first allocation starts AddressSanitizer, which
 * allocates. */
static _Thread_local __attribute__((tls_model("initial-exec"))) unsigned depth;

static void enter(void)
{
    if (depth++ > 0)
        return;
    while (atomic_flag_test_and_set_explicit(&gate, memory_order_acquire))
        (void)sched_yield();
}

static void leave(void)
{
    if (--depth == 0)
        atomic_flag_clear_explicit(&gate, memory_order_release);
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(enter, leave, leave);
}

void *malloc(size_t size)
{
    enter();
    void *memory = __interceptor_malloc(size);
    leave();
    return memory;
}

void *calloc(size_t count, size_t size)
{
    enter();
    void *memory = __interceptor_calloc(count, size);
    leave();
    return memory;
}

void *realloc(void *memory, size_t size)
{
    enter();
    void *moved = __interceptor_realloc(memory, size);
    leave();
    return moved;
}

void free(void *memory)
{
    enter();
    __interceptor_free(memory);
    leave();
}

/* ---- jemalloc's functions, of which the flags choose arenas and caches ---- */

#define MALLOCX_ZERO 0x40

void *mallocx(size_t size, int flags)
{
    return (flags & MALLOCX_ZERO) != 0 ? calloc(1, size) : malloc(size);
}

void *rallocx(void *memory, size_t size, int flags)
{
    (void)flags;
    return realloc(memory, size);
}

void dallocx(void *memory, int flags)
{
    (void)flags;
    free(memory);
}

/* The size that an allocation of `size` bytes has. */
size_t nallocx(size_t size, int flags)
{
    (void)flags;
    return size;
}
