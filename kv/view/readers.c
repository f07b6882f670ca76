/* See readers.h. */
#include "kv/view/readers.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/counter.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/sync.h"

/* Two lines each, because processors prefetch pairs of lines. */
_Static_assert(sizeof(struct bb_reader) % 128 == 0, "two slots share a cache line");

enum bb_status bb_readers_init(struct bb_readers *readers)
{
    size_t size = BB_READER_COUNT * sizeof(struct bb_reader);
    struct bb_reader *slots = bb_alloc_aligned(_Alignof(struct bb_reader), size);
    if (slots == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %d reader slots", BB_READER_COUNT);
    memset((void *)slots, 0, size);
    for (size_t i = 0; i < BB_READER_COUNT; i++) {
        atomic_init(&slots[i].view, NULL);
        atomic_init(&slots[i].pinned_values, 0);
    }
    readers->slots = slots;
    atomic_init(&readers->current, NULL);
    return BB_OK;
}

void bb_readers_deinit(struct bb_readers *readers)
{
    for (size_t i = 0; readers->slots != NULL && i < BB_READER_COUNT; i++)
        BB_DEBUG_ASSERT(atomic_load(&readers->slots[i].view) == NULL);
    bb_free_aligned(readers->slots);
    readers->slots = NULL;
}

/* Announces the view in the slot if the slot is free: one atomic operation claims and announces.
 *
 * WHY sequentially consistent: the announcement must be visible before the view is checked again.
 * Otherwise the store could see a free slot and free the view in between. */
static bool try_announce(struct bb_reader *slot, struct bb_view *view)
{
    struct bb_view *none = NULL;
    return atomic_load_explicit(&slot->view, memory_order_relaxed) == NULL &&
           atomic_compare_exchange_strong_explicit(&slot->view, &none, view, memory_order_seq_cst,
                                                   memory_order_relaxed);
}

/* Claims the first free slot from `start` on. */
static __attribute__((noinline)) struct bb_reader *search_free(struct bb_readers *readers,
                                                               size_t start, struct bb_view *view)
{
    for (;;) {
        for (size_t i = 0; i < BB_READER_COUNT; i++) {
            struct bb_reader *slot = &readers->slots[(start + i) % BB_READER_COUNT];
            if (try_announce(slot, view))
                return slot;
        }
        bb_thread_yield();
    }
}

/* A thread starts its search at a preferred slot, chosen by the address of a thread-local byte.
 * Threads with different slots share no cache line. */
static inline struct bb_reader *claim(struct bb_readers *readers, struct bb_view *view)
{
    static _Thread_local char identity;
    size_t start = bb_hash_mix((uint64_t)(uintptr_t)&identity) % BB_READER_COUNT;
    struct bb_reader *own = &readers->slots[start];
    return try_announce(own, view) ? own : search_free(readers, start, view);
}

struct bb_reader *bb_readers_enter(struct bb_readers *readers, struct bb_view **ret_view)
{
    struct bb_view *view = atomic_load_explicit(&readers->current, memory_order_acquire);
    BB_DEBUG_ASSERT(view != NULL);
    struct bb_reader *slot = claim(readers, view);
    for (;;) {
        struct bb_view *again = atomic_load(&readers->current);
        if (again == view)
            break;
        view = again;
        atomic_store(&slot->view, view); /* sequentially consistent, see try_announce */
    }
    *ret_view = view;
    return slot;
}

void bb_reader_leave(struct bb_reader *reader)
{
    BB_DEBUG_ASSERT(atomic_load_explicit(&reader->view, memory_order_relaxed) != NULL);
    atomic_store_explicit(&reader->view, NULL, memory_order_release);
}

void bb_readers_publish(struct bb_readers *readers, struct bb_view *view)
{
    BB_DEBUG_ASSERT(view != NULL);
    atomic_store(&readers->current, view);
}

bool bb_readers_is_used(const struct bb_readers *readers, const struct bb_view *view)
{
    for (size_t i = 0; i < BB_READER_COUNT; i++) {
        if (atomic_load(&readers->slots[i].view) == view)
            return true;
    }
    return false;
}

bool bb_readers_are_gone(const struct bb_readers *readers)
{
    bool are_gone = true;
    for (size_t i = 0; i < BB_READER_COUNT && are_gone; i++)
        are_gone = atomic_load(&readers->slots[i].view) == NULL;
    return are_gone;
}

int64_t bb_readers_pinned_values(const struct bb_readers *readers)
{
    int64_t sum = 0;
    for (size_t i = 0; i < BB_READER_COUNT; i++)
        sum += atomic_load_explicit(&readers->slots[i].pinned_values, memory_order_acquire);
    return sum;
}

_Static_assert(sizeof(struct bb_read_stats) % sizeof(uint64_t) == 0 &&
                   sizeof(struct bb_reader_counts) % sizeof(uint64_t) == 0,
               "a field is not a 64-bit counter");

/* All fields are 64-bit counters, so the structs can be treated as arrays. */
static void add_counters(void *sum, const void *part, size_t size)
{
    uint64_t *to = sum;
    const uint64_t *from = part;
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        uint64_t amount = bb_counter_get(&from[i]);
        if (amount != 0)
            bb_counter_add(&to[i], amount);
    }
}

void bb_readers_add_stats(struct bb_read_stats *sum, const struct bb_read_stats *part)
{
    add_counters(sum, part, sizeof(*sum));
}

void bb_readers_add_scan(struct bb_readers *readers, const struct bb_read_stats *stats)
{
    struct bb_view *view = NULL;
    struct bb_reader *slot = bb_readers_enter(readers, &view);
    bb_readers_add_stats(&slot->counts.scan_reads, stats);
    bb_reader_leave(slot);
}

void bb_reader_add_counts(struct bb_reader *reader, const struct bb_reader_counts *counts)
{
    BB_DEBUG_ASSERT(atomic_load_explicit(&reader->view, memory_order_relaxed) != NULL);
    add_counters(&reader->counts, counts, sizeof(*counts));
}

void bb_readers_sum(const struct bb_readers *readers, struct bb_reader_counts *ret_counts)
{
    memset(ret_counts, 0, sizeof(*ret_counts));
    for (size_t i = 0; i < BB_READER_COUNT; i++)
        add_counters(ret_counts, &readers->slots[i].counts, sizeof(*ret_counts));
}
