/* The calls that -fsanitize=thread inserts, the C library's copies, and the seams base/sync.h and
 * base/alloc.h, as the explorer has them. See explore.h. */
#define BB_ALLOC_IMPLEMENTATION
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/region.h"
#include "base/sync.h"
#include "tests/explore/explore_private.h"

#define PLACE __builtin_return_address(0)

/* ---- plain accesses ---- */

void __tsan_init(void);
void __tsan_func_entry(void *place);
void __tsan_func_exit(void);
void __tsan_read_range(const void *address, size_t size);
void __tsan_write_range(const void *address, size_t size);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *place)
{
    (void)place;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(const void *address, size_t size)
{
    explore_plain(address, size, false, PLACE);
}

void __tsan_write_range(const void *address, size_t size)
{
    explore_plain(address, size, true, PLACE);
}

#define PLAIN(name, size, is_write)                                                                \
    void name(const void *address);                                                                \
    void name(const void *address)                                                                 \
    {                                                                                              \
        explore_plain(address, size, is_write, PLACE);                                             \
    }
#define PLAINS(size)                                                                               \
    PLAIN(__tsan_read##size, size, false)                                                          \
    PLAIN(__tsan_write##size, size, true)                                                          \
    PLAIN(__tsan_unaligned_read##size, size, false)                                                \
    PLAIN(__tsan_unaligned_write##size, size, true)
PLAINS(1)
PLAINS(2)
PLAINS(4)
PLAINS(8)
PLAINS(16)

/* ---- atomic operations ---- */

static uint64_t replace(uint64_t old, uint64_t operand)
{
    (void)old;
    return operand;
}

static uint64_t add(uint64_t old, uint64_t operand)
{
    return old + operand;
}

static uint64_t subtract(uint64_t old, uint64_t operand)
{
    return old - operand;
}

static uint64_t and_bits(uint64_t old, uint64_t operand)
{
    return old & operand;
}

static uint64_t or_bits(uint64_t old, uint64_t operand)
{
    return old | operand;
}

/* The order, or a weaker variant of it. */
#define ACCESS(operation, type)                                                                    \
    ((struct access_to){(void *)address, sizeof(type),                                             \
                        explore_site(PLACE, operation, order, false), PLACE})

#define CHANGE(bits, type, verb, function)                                                         \
    type __tsan_atomic##bits##_##verb(type *address, type operand, int order);                     \
    type __tsan_atomic##bits##_##verb(type *address, type operand, int order)                      \
    {                                                                                              \
        return (type)explore_change(ACCESS(OPERATION_CHANGE, type), function, operand);            \
    }

#define EXCHANGE(bits, type, strength)                                                             \
    int __tsan_atomic##bits##_compare_exchange_##strength(type *address, type *expected,           \
                                                          type desired, int order, int failure);   \
    int __tsan_atomic##bits##_compare_exchange_##strength(type *address, type *expected,           \
                                                          type desired, int order, int failure)    \
    {                                                                                              \
        uint64_t value = *expected;                                                                \
        failure = explore_site(PLACE, OPERATION_EXCHANGE, failure, true);                          \
        bool is_done =                                                                             \
            explore_exchange(ACCESS(OPERATION_EXCHANGE, type), failure, &value, desired);          \
        *expected = (type)value;                                                                   \
        return is_done;                                                                            \
    }

#define ATOMICS(bits, type)                                                                        \
    type __tsan_atomic##bits##_load(const type *address, int order);                               \
    type __tsan_atomic##bits##_load(const type *address, int order)                                \
    {                                                                                              \
        return (type)explore_load(ACCESS(OPERATION_LOAD, type));                                   \
    }                                                                                              \
    void __tsan_atomic##bits##_store(type *address, type value, int order);                        \
    void __tsan_atomic##bits##_store(type *address, type value, int order)                         \
    {                                                                                              \
        explore_store(ACCESS(OPERATION_STORE, type), value);                                       \
    }                                                                                              \
    CHANGE(bits, type, exchange, replace)                                                          \
    CHANGE(bits, type, fetch_add, add)                                                             \
    CHANGE(bits, type, fetch_sub, subtract)                                                        \
    CHANGE(bits, type, fetch_and, and_bits)                                                        \
    CHANGE(bits, type, fetch_or, or_bits)                                                          \
    EXCHANGE(bits, type, strong)                                                                   \
    EXCHANGE(bits, type, weak)

ATOMICS(8, uint8_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* ---- the C library: --wrap of the linker ---- */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
void *__wrap_memset(void *to, int byte, size_t size);
int __real_memcmp(const void *a, const void *b, size_t size);
int __wrap_memcmp(const void *a, const void *b, size_t size);

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    explore_plain(from, size, false, PLACE);
    explore_plain(to, size, true, PLACE);
    return __real_memcpy(to, from, size);
}

void *__wrap_memmove(void *to, const void *from, size_t size)
{
    explore_plain(from, size, false, PLACE);
    explore_plain(to, size, true, PLACE);
    return __real_memmove(to, from, size);
}

void *__wrap_memset(void *to, int byte, size_t size)
{
    explore_plain(to, size, true, PLACE);
    return __real_memset(to, byte, size);
}

int __wrap_memcmp(const void *a, const void *b, size_t size)
{
    explore_plain(a, size, false, PLACE);
    explore_plain(b, size, false, PLACE);
    return __real_memcmp(a, b, size);
}

/* ---- base/alloc.h ---- */

void *bb_alloc(size_t size)
{
    return explore_alloc(16, size);
}

void *bb_alloc_aligned(size_t alignment, size_t size)
{
    return explore_alloc(alignment < 16 ? 16 : alignment, size);
}

void *bb_alloc_zeroed(size_t count, size_t size)
{
    void *memory = bb_alloc(count * size);
    return __real_memset(memory, 0, count * size);
}

void *bb_realloc(void *memory, size_t size)
{
    void *grown = bb_alloc(size);
    size_t old_size = memory == NULL ? 0 : explore_size_of(memory);
    __wrap_memcpy(grown, memory, old_size < size ? old_size : size);
    explore_free(memory, PLACE);
    return grown;
}

void bb_free(void *memory)
{
    explore_free(memory, PLACE);
}

void bb_free_aligned(void *memory)
{
    explore_free(memory, PLACE);
}

char *bb_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return __wrap_memcpy(bb_alloc(size), text, size);
}

/* ---- base/region.h: pieces come from the allocator ---- */

void *bb_region_map(size_t size)
{
    (void)size;
    return NULL;
}

void bb_region_unmap(void *memory, size_t size)
{
    (void)memory;
    (void)size;
    abort();
}

void bb_region_enlarge(void *memory, size_t size)
{
    (void)memory;
    (void)size;
    abort();
}

void bb_region_begin_large(void *memory, size_t size)
{
    (void)memory;
    (void)size;
    abort();
}

void bb_region_reduce(void *memory, size_t size)
{
    (void)memory;
    (void)size;
    abort();
}

void bb_region_discard(void *memory, size_t size)
{
    (void)memory;
    (void)size;
    abort();
}

/* ---- base/sync.h ---- */

void bb_mutex_init(struct bb_mutex *mutex)
{
    mutex->process = 0;
}

void bb_mutex_deinit(struct bb_mutex *mutex)
{
    (void)mutex;
}

void bb_mutex_lock(struct bb_mutex *mutex)
{
    explore_lock(mutex);
}

bool bb_mutex_enter(struct bb_mutex *mutex)
{
    explore_lock(mutex);
    return true;
}

void bb_mutex_unlock(struct bb_mutex *mutex)
{
    explore_unlock(mutex);
}

bool bb_mutex_is_held(const struct bb_mutex *mutex)
{
    return explore_holds(mutex);
}

bool bb_mutex_is_inherited(const struct bb_mutex *mutex)
{
    (void)mutex;
    return false;
}

bool bb_mutex_is_free(struct bb_mutex *mutex)
{
    (void)mutex;
    return true;
}

/* Without stops in between: no explored part uses it from two threads. */
void bb_once_run(struct bb_once *once, void (*run)(void))
{
    (void)pthread_once(&once->handle, run);
}

void bb_thread_yield(void)
{
    explore_yield();
}

void bb_thread_nap(void)
{
    explore_yield();
}

void bb_condvar_init(struct bb_condvar *condition)
{
    condition->process = 0;
}

void bb_condvar_deinit(struct bb_condvar *condition)
{
    (void)condition;
}

void bb_condvar_wait(struct bb_condvar *condition, struct bb_mutex *mutex)
{
    explore_condition_wait(condition, mutex);
}

void bb_condvar_broadcast(struct bb_condvar *condition)
{
    explore_condition_broadcast(condition);
}

/* In the explored parts at most one thread waits for a condition that is signalled. */
void bb_condvar_signal(struct bb_condvar *condition)
{
    explore_condition_broadcast(condition);
}

/* No program forks. */
enum bb_status bb_fork_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return BB_OK;
}
