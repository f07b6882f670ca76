/* See map_watch.h. The slots are a list of chunks that only grows, because a handler may take no
 * lock. */
#include "base/map_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/sync.h"

#define CHUNK_SLOTS 256

struct bb_map_watch {
    _Atomic bool is_taken;
    _Atomic uintptr_t begin; /* 0: no map */
    _Atomic uintptr_t end;
    _Atomic bool is_unsound;
    _Atomic bool is_writable;
};

struct chunk {
    struct bb_map_watch slots[CHUNK_SLOTS];
    struct chunk *_Atomic next;
};

static struct chunk first_chunk;
static struct sigaction action_before;
static bool is_installed;

/* ---- the handler: takes no lock, allocates nothing ---- */

/* Reads begin a second time, because another map may have taken the slot between the first two
 * reads. */
static bool has_address(const struct bb_map_watch *slot, uintptr_t address)
{
    uintptr_t begin = atomic_load_explicit(&slot->begin, memory_order_acquire);
    uintptr_t end = atomic_load_explicit(&slot->end, memory_order_acquire);
    return begin != 0 && address >= begin && address < end &&
           atomic_load_explicit(&slot->begin, memory_order_acquire) == begin;
}

static struct bb_map_watch *slot_of(uintptr_t address)
{
    struct chunk *chunk = &first_chunk;
    while (chunk != NULL) {
        for (size_t i = 0; i < CHUNK_SLOTS; i++)
            if (has_address(&chunk->slots[i], address))
                return &chunk->slots[i];
        chunk = atomic_load_explicit(&chunk->next, memory_order_acquire);
    }
    return NULL;
}

/* Puts a page of zeros at an address. WHY mremap: ThreadSanitizer treats an mmap at the address as
 * a write to it, and would report a race with threads that read it. */
static bool put_zeros(uintptr_t address, size_t page_size, int protection)
{
    void *zeros = mmap(NULL, page_size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return zeros != MAP_FAILED && mremap(zeros, page_size, page_size, MREMAP_MAYMOVE | MREMAP_FIXED,
                                         (void *)address) != MAP_FAILED;
}

/* False: the address is in no map, or there is no memory for a page. */
static bool replace_page(uintptr_t address)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    struct bb_map_watch *slot = slot_of(address);
    if (slot == NULL)
        return false;
    atomic_store_explicit(&slot->is_unsound, true, memory_order_seq_cst);
    bool is_writable = atomic_load_explicit(&slot->is_writable, memory_order_relaxed);
    return put_zeros(address & ~(page_size - 1), page_size,
                     is_writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* True when an instruction raised the signal, and would raise it again. A process may have sent it,
 * or the kernel reports a memory error that no instruction has touched yet. */
static bool is_of_access(const siginfo_t *information)
{
    return information->si_code > 0 && information->si_code != BUS_MCEERR_AO;
}

/* Does what the kernel does without a handler. It ignores no SIGBUS of an access. After the return
 * the access raises the signal again; the one sent here waits for the return. */
static void act_without_handler(int number, const siginfo_t *information)
{
    if (action_before.sa_handler == SIG_IGN && !is_of_access(information))
        return;
    (void)signal(number, SIG_DFL);
    if (!is_of_access(information))
        (void)kill(getpid(), number);
}

static void pass_on(int number, siginfo_t *information, void *context)
{
    if ((action_before.sa_flags & SA_SIGINFO) != 0)
        action_before.sa_sigaction(number, information, context);
    else if (action_before.sa_handler == SIG_DFL || action_before.sa_handler == SIG_IGN)
        act_without_handler(number, information);
    else
        action_before.sa_handler(number);
}

static void on_signal(int number, siginfo_t *information, void *context)
{
    int error_number = errno;
    bool names_address = information->si_code > 0; /* otherwise a process sent it */
    if (!names_address || !replace_page((uintptr_t)information->si_addr))
        pass_on(number, information, context);
    errno = error_number;
}

/* ---- slots: no locks, since a child made by fork would inherit them ---- */

static struct bb_once installing = BB_ONCE_STATIC;

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask);
    is_installed = sigaction(SIGBUS, &action, &action_before) == 0;
}

static struct bb_map_watch *take_free(struct chunk *chunk)
{
    for (size_t i = 0; i < CHUNK_SLOTS; i++) {
        bool expected = false;
        if (atomic_compare_exchange_strong_explicit(&chunk->slots[i].is_taken, &expected, true,
                                                    memory_order_acquire, memory_order_relaxed))
            return &chunk->slots[i];
    }
    return NULL;
}

/* The next chunk. Creates it if the list ends here. NULL: there is no memory. */
static struct chunk *chunk_after(struct chunk *chunk)
{
    struct chunk *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
    if (next != NULL)
        return next;
    struct chunk *created = bb_alloc_zeroed(1, sizeof(*created));
    if (created == NULL)
        return NULL;
    if (atomic_compare_exchange_strong_explicit(&chunk->next, &next, created, memory_order_acq_rel,
                                                memory_order_acquire))
        return created;
    bb_free(created); /* another thread was first */
    return next;
}

static struct bb_map_watch *take_slot(uintptr_t begin, uint64_t size, bool is_writable)
{
    struct bb_map_watch *slot = NULL;
    for (struct chunk *chunk = &first_chunk; slot == NULL && chunk != NULL;) {
        slot = take_free(chunk);
        if (slot == NULL)
            chunk = chunk_after(chunk);
    }
    if (slot == NULL)
        return NULL;
    atomic_store_explicit(&slot->is_unsound, false, memory_order_relaxed);
    atomic_store_explicit(&slot->is_writable, is_writable, memory_order_relaxed);
    atomic_store_explicit(&slot->end, begin + (uintptr_t)size, memory_order_release);
    atomic_store_explicit(&slot->begin, begin, memory_order_release);
    return slot;
}

/* ---- watches ---- */

enum bb_status bb_map_watch_begin(const void *bytes, uint64_t size, bool is_writable,
                                  const char *path, struct bb_map_watch **ret_watch)
{
    bb_once_run(&installing, install);
    if (!is_installed)
        return bb_fail(BB_UNSUPPORTED, "%s: not mapped: SIGBUS cannot be handled", path);
    struct bb_map_watch *watch = take_slot((uintptr_t)bytes, size, is_writable);
    if (watch == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to map it", path);
    *ret_watch = watch;
    return BB_OK;
}

void bb_map_watch_end(struct bb_map_watch *watch)
{
    atomic_store_explicit(&watch->begin, 0, memory_order_release);
    atomic_store_explicit(&watch->is_taken, false, memory_order_release);
}

/* The fence keeps this load after the accesses. */
bool bb_map_watch_is_sound(const struct bb_map_watch *watch)
{
    atomic_thread_fence(memory_order_acquire);
    return !atomic_load_explicit(&watch->is_unsound, memory_order_relaxed);
}
