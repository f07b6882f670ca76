/* A file system in memory that loses the same data as a real one in a power failure.
 *
 * The model
 *   - A file is its bytes, the length of their durable prefix, and the ends of later
 *     appends. sync makes all of them durable.
 *   - A directory is its names, its durable names, and the changes between the two in
 *     order: create (or link), rename, remove. sync_directory makes all of them durable.
 *     Neither implies the other, nor anything about the parent.
 *   - A crash makes a new file system, in which each file has its durable bytes and a
 *     random part of the others, and each directory its durable names and a random part
 *     of the changes. Bytes and names are drawn independently: a new file whose name
 *     survived may be empty, and a synced file may have lost its name.
 *   - Of two changes to the same name the later one survives only with the earlier one,
 *     because a name has one history; a rename changes two names atomically. Everything
 *     else is independent: of "create A, remove B" either may be lost.
 *   - If a file has several names, each name survives separately; unsynced bytes are
 *     drawn for each name, as if the names were files: link only synced files.
 *   - Durable bytes are never damaged: a written sector stays.
 *   - A window (base/file_window.h) is a file whose bytes the program changes without a call. The
 *     disk has an earlier state of each page: write_back makes that the present one for some pages.
 *     A crash gives each page in one of the two states, or some sectors of each.
 * Messages and statuses are the operating system's; "unit_base_file_test" checks that for both.
 *
 * Paths are absolute or not, which makes no difference: there is no current directory. ".." is
 * refused. Threads: calls may come from any thread. The hook runs on the thread of the call,
 * without locks.
 */
#ifndef BB_TESTS_SUPPORT_FILE_MEMORY_H
#define BB_TESTS_SUPPORT_FILE_MEMORY_H

#include "tests/support/file_call.h"

struct bb_file_memory;

/* An empty root directory. The seed determines random numbers and the clock, which advances with
 * every call. */
struct bb_file_memory *bb_file_memory_create(uint64_t seed);
/* All files and locks must be released: the process ends when one is not, because it is a leak of
 * the product. */
void bb_file_memory_destroy(struct bb_file_memory *memory);
/* Borrowed. */
struct bb_file_system *bb_file_memory_system(struct bb_file_memory *memory);

/* Called before every call that changes something (create, append, sync, rename, link, remove,
 * make_directory, remove_directory, sync_directory, lock), with its number, counted from 1. May
 * clone, crash or examine the memory. A status other than BB_OK is returned from the call, without
 * any change: a power cut is a hook that refuses everything from then on. The hook must set a
 * message (bb_fail). */
typedef enum bb_status bb_file_memory_hook(void *context, struct bb_file_memory *memory,
                                           uint64_t number, enum bb_file_call call,
                                           const char *path);
/* NULL for none. */
void bb_file_memory_set_hook(struct bb_file_memory *memory, bb_file_memory_hook *hook,
                             void *context);
/* How many changing calls there were; a clone starts with the count of its original. */
uint64_t bb_file_memory_calls(struct bb_file_memory *memory);

/* Space for the bytes of all files, 0 for no limit. An append that does not fit writes as much as
 * fits and fails with BB_NO_SPACE. */
void bb_file_memory_set_space(struct bb_file_memory *memory, uint64_t bytes);

/* True while a removed file is open: its bytes take space. */
bool bb_file_memory_has_removed(struct bb_file_memory *memory);

/* Without links, link fails with BB_UNSUPPORTED; a new file system has them. */
void bb_file_memory_set_links(struct bb_file_memory *memory, bool has_links);

/* With windows, a log gets one as on the operating system. The default is no windows; a clone and a
 * crash are like their original. */
void bb_file_memory_set_windows(struct bb_file_memory *memory, bool has_windows);
/* The disk gets the present bytes of some pages of each window. Call it on the thread that writes
 * the windows; the same holds for clone and crash while there is a window. */
void bb_file_memory_write_back(struct bb_file_memory *memory);

/* One in this many calls of read_now would have to wait; 0, the default: never. */
void bb_file_memory_set_cold(struct bb_file_memory *memory, uint32_t one_in);

/* Counted over all maps, the n-th check of a map's soundness succeeds, and the map loses its bytes
 * right after it; 0, the default: never. */
void bb_file_memory_lose_map(struct bb_file_memory *memory, uint64_t nth);

/* The number of times that a map was told to forget its pages. */
uint64_t bb_file_memory_maps_forgotten(struct bb_file_memory *memory);

/* The number of times that the bytes of a file were to be written before a sync. */
uint64_t bb_file_memory_write_backs(struct bb_file_memory *memory);

/* Files and locks that are open. */
size_t bb_file_memory_open_files(struct bb_file_memory *memory);

/* Advances the clock by this much. */
void bb_file_memory_advance(struct bb_file_memory *memory, uint64_t nanoseconds);

/* Replaces or makes a file, with durable bytes and name, and all names of its directory, which must
 * exist. For tests that prepare or damage files. */
void bb_file_memory_put(struct bb_file_memory *memory, const char *path, struct bb_bytes bytes);
/* The bytes of a file, to look at or to damage in place; valid until the file is next changed. NULL
 * when there is no such file. */
uint8_t *bb_file_memory_bytes(struct bb_file_memory *memory, const char *path, size_t *ret_size);

/* The same state, with unsynced data still at risk, in a separate file system; without open files,
 * locks and hook. */
struct bb_file_memory *bb_file_memory_clone(struct bb_file_memory *memory);

/* The fate of a file's bytes after its durable prefix. */
enum bb_crash_bytes {
    BB_CRASH_BYTES_NONE,        /* nothing */
    BB_CRASH_BYTES_ALL,         /* everything */
    BB_CRASH_BYTES_PREFIX,      /* some whole appends, from the first on */
    BB_CRASH_BYTES_TORN_SECTOR, /* up to a multiple of 512 bytes */
    BB_CRASH_BYTES_TORN_BYTE,   /* up to any byte */
    BB_CRASH_BYTES_ZEROED, /* up to any byte, then zeros: the length was written before the bytes */
    BB_CRASH_BYTES_GARBAGE, /* up to any byte, then random bytes: the disk's previous contents */
    /* Up to any byte after the first 48, then bytes of another file, from the same place: a disk
     * block that belonged to a file of the store before. */
    BB_CRASH_BYTES_STALE,
    BB_CRASH_BYTES_HOLES, /* the whole length, but some sectors of 512 bytes are zeros: no order of
                             writing */
    BB_CRASH_BYTES_ANY,   /* each file draws one of the above */
};

/* The fate of changes to names that were not synced. */
enum bb_crash_names {
    BB_CRASH_NAMES_NONE,   /* nothing */
    BB_CRASH_NAMES_ALL,    /* everything */
    BB_CRASH_NAMES_PREFIX, /* everything up to a moment: a journal over all directories */
    BB_CRASH_NAMES_SUBSET, /* each change may be lost on its own */
    /* Change i of the pending ones survives if bit i of names_mask is set (with its
     * requirements). */
    BB_CRASH_NAMES_MASK,
    BB_CRASH_NAMES_ANY, /* NONE, ALL, PREFIX or SUBSET is drawn */
};

/* A zeroed struct is the strict crash: all unsynced data is lost. */
struct bb_crash {
    enum bb_crash_bytes bytes;
    enum bb_crash_names names;
    uint64_t names_mask;
    uint64_t seed;
};

/* The file system after a power failure at this moment: everything in it is durable, nothing open
 * or locked. The same state and the same crash give the same result. memory itself is not changed.
 */
struct bb_file_memory *bb_file_memory_crash(struct bb_file_memory *memory,
                                            const struct bb_crash *crash);

/* Changes to names that would be lost by a strict crash; with k of them, the masks 0 ... 2^k - 1
 * are all outcomes. */
size_t bb_file_memory_pending_names(struct bb_file_memory *memory);
/* Bytes that would be lost. */
uint64_t bb_file_memory_pending_bytes(struct bb_file_memory *memory);

#endif
