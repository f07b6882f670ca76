/* Maps of files, and the signal of a page that cannot be read.
 *
 * A load from a mapped page raises SIGBUS if the file was truncated before it, or if the device
 * fails. By default that ends the process. With the first map this file installs a handler, which
 * puts a page of zeros there, marks the map as unsound, and lets the load continue:
 *
 *     load -> SIGBUS -> handler: is the address in a slot?
 *                         yes: is_unsound = true, zeros at that page, return: the load is repeated
 *                         no:  the handler that was installed before
 *
 * The slots are a list of chunks that only grows, because a handler may take no lock. A handler
 * that the program installs later replaces this one; it must call the one before, or a truncated
 * file ends the process.
 * Threads: any. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file_posix.h"
#include "base/status.h"

#define CHUNK_SLOTS 256

struct slot {
    _Atomic bool is_taken;
    _Atomic uintptr_t begin; /* 0: no map */
    _Atomic uintptr_t end;
    _Atomic bool is_unsound;
};

struct chunk {
    struct slot slots[CHUNK_SLOTS];
    struct chunk *_Atomic next;
};

struct posix_map {
    struct bb_file_map base;
    struct slot *slot;
};

static struct chunk first_chunk;
static struct sigaction action_before;
static bool is_installed;

/* ---- the handler: takes no lock, allocates nothing ---- */

/* begin is read twice: in between the slot may have been freed and taken for another map. */
static bool has_address(const struct slot *slot, uintptr_t address)
{
    uintptr_t begin = atomic_load_explicit(&slot->begin, memory_order_acquire);
    uintptr_t end = atomic_load_explicit(&slot->end, memory_order_acquire);
    return begin != 0 && address >= begin && address < end &&
           atomic_load_explicit(&slot->begin, memory_order_acquire) == begin;
}

static struct slot *slot_of(uintptr_t address)
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

/* Puts a page of zeros at an address. WHY it is moved there: ThreadSanitizer takes a map at the
 * address for a write to it, which other threads read. */
static bool put_zeros(uintptr_t address, size_t page_size)
{
    void *zeros = mmap(NULL, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return zeros != MAP_FAILED && mremap(zeros, page_size, page_size, MREMAP_MAYMOVE | MREMAP_FIXED,
                                         (void *)address) != MAP_FAILED;
}

/* False: the address is in no map, or there is no memory for a page. */
static bool replace_page(uintptr_t address)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    struct slot *slot = slot_of(address);
    if (slot == NULL)
        return false;
    atomic_store_explicit(&slot->is_unsound, true, memory_order_seq_cst);
    return put_zeros(address & ~(page_size - 1), page_size);
}

static void pass_on(int number, siginfo_t *information, void *context)
{
    if ((action_before.sa_flags & SA_SIGINFO) != 0) {
        action_before.sa_sigaction(number, information, context);
    } else if (action_before.sa_handler == SIG_DFL || action_before.sa_handler == SIG_IGN) {
        (void)signal(number, SIG_DFL); /* the kernel does not let a load ignore it either */
        (void)kill(getpid(), number);
    } else {
        action_before.sa_handler(number);
    }
}

static void on_signal(int number, siginfo_t *information, void *context)
{
    int error_number = errno;
    bool is_of_load = information->si_code > 0; /* not sent by a process */
    if (!is_of_load || !replace_page((uintptr_t)information->si_addr))
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

static struct slot *take_free(struct chunk *chunk)
{
    for (size_t i = 0; i < CHUNK_SLOTS; i++) {
        bool expected = false;
        if (atomic_compare_exchange_strong_explicit(&chunk->slots[i].is_taken, &expected, true,
                                                    memory_order_acquire, memory_order_relaxed))
            return &chunk->slots[i];
    }
    return NULL;
}

/* The chunk after this one, made if there is none. NULL: out of memory. */
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

static struct slot *take_slot(uintptr_t begin, uint64_t size)
{
    struct slot *slot = NULL;
    for (struct chunk *chunk = &first_chunk; slot == NULL && chunk != NULL;) {
        slot = take_free(chunk);
        if (slot == NULL)
            chunk = chunk_after(chunk);
    }
    if (slot == NULL)
        return NULL;
    atomic_store_explicit(&slot->is_unsound, false, memory_order_relaxed);
    atomic_store_explicit(&slot->end, begin + (uintptr_t)size, memory_order_release);
    atomic_store_explicit(&slot->begin, begin, memory_order_release);
    return slot;
}

static void free_slot(struct slot *slot)
{
    atomic_store_explicit(&slot->begin, 0, memory_order_release);
    atomic_store_explicit(&slot->is_taken, false, memory_order_release);
}

/* ---- maps ---- */

/* The bytes were read before: the fence keeps this load after them. */
static bool is_sound(const struct bb_file_map *base)
{
    const struct posix_map *map = (const struct posix_map *)base; /* base is the first member */
    atomic_thread_fence(memory_order_acquire);
    return !atomic_load_explicit(&map->slot->is_unsound, memory_order_relaxed);
}

/* The slot is freed first: the address may belong to another map as soon as it is unmapped. */
static void destroy(struct bb_file_map *base)
{
    struct posix_map *map = (struct posix_map *)base;
    free_slot(map->slot);
    (void)munmap((void *)(uintptr_t)base->bytes, (size_t)base->size);
    bb_free(map);
}

static const struct bb_file_map_ops map_ops = {.is_sound = is_sound, .destroy = destroy};

/* WHY random: a fault of normal advice reads 128 KiB from the device for a block of 4. */
static enum bb_status map_bytes(int fd, const char *path, uint64_t size, struct posix_map *map)
{
    bb_once_run(&installing, install);
    if (!is_installed)
        return bb_fail(BB_UNSUPPORTED, "%s: not mapped: SIGBUS cannot be handled", path);
    void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return bb_fail_errno(errno, "mmap", path);
    (void)posix_madvise(bytes, (size_t)size, POSIX_MADV_RANDOM);
    map->slot = take_slot((uintptr_t)bytes, size);
    if (map->slot == NULL) {
        (void)munmap(bytes, (size_t)size);
        return bb_fail(BB_NO_MEMORY, "%s: no memory to map it", path);
    }
    map->base = (struct bb_file_map){.ops = &map_ops, .bytes = bytes, .size = size};
    return BB_OK;
}

enum bb_status bb_posix_map(int fd, const char *path, uint64_t size, struct bb_file_map **ret_map)
{
    struct posix_map *map = bb_alloc_zeroed(1, sizeof(*map));
    if (map == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to map it", path);
    enum bb_status status = map_bytes(fd, path, size, map);
    if (status == BB_OK)
        *ret_map = &map->base;
    else
        bb_free(map);
    return status;
}
