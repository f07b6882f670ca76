/* A file system in memory that forgets what a real one may forget when the power goes.
 *
 * The model
 *   - A file is its bytes, the length of their durable front, and the ends of the appends behind
 * it. sync makes all of them durable.
 *   - A directory is its names, its durable names, and the changes between the two in order:
 * create (or link), rename, remove. sync_directory makes all of them durable. Neither implies the
 * other, nor anything about the parent.
 *   - A crash gives a new file system, in which each file has its durable bytes and a drawn part of
 * the others, each directory its durable names and a drawn part of the changes. Bytes and names are
 * drawn independently: a new file whose name survived may be empty, and a synced file may have lost
 * its name.
 *   - Of two changes to the same name the later one survives only with the earlier one, because a
 * name has one history; a rename changes two names at once. Everything else is independent: of
 * "create A, remove B" either may be lost alone.
 *   - Of a file with several names each name survives on its own; unsynced bytes are drawn for each
 * name, as if the names were files: link what is synced.
 *   - Durable bytes are never harmed: a sector that was written is written.
 * Messages and statuses are those of the operating system's files; "unit_base_file_test" holds both
 * to that.
 *
 * Paths are absolute or not, which makes no difference: there is no current directory. ".." is
 * refused. Threads: calls may come from any thread. The hook runs on the thread of the call, with
 * nothing locked.
 */
#ifndef BB_TESTS_SUPPORT_FILE_MEMORY_H
#define BB_TESTS_SUPPORT_FILE_MEMORY_H

#include "tests/support/file_call.h"

struct bb_file_memory;

/* An empty root directory. The seed fixes random and the clock, which advances by itself with every
 * question. */
struct bb_file_memory *bb_file_memory_create(uint64_t seed);
/* All files and locks must be released: the process ends when one is not, because it is a leak of
 * the product. */
void bb_file_memory_destroy(struct bb_file_memory *memory);
/* Borrowed. */
struct bb_file_system *bb_file_memory_system(struct bb_file_memory *memory);

/* Called before every call that changes something (create, append, sync, rename, link, remove,
 * make_directory, remove_directory, sync_directory, lock), with its number, counted from 1. May
 * clone, crash or look at the memory. A status other than BB_OK is returned from the call, and
 * nothing is changed: a power cut is a hook that refuses everything from then on. The hook has to
 * leave a message (bb_fail). */
typedef enum bb_status bb_file_memory_hook(void *context, struct bb_file_memory *memory,
                                           uint64_t number, enum bb_file_call call,
                                           const char *path);
/* NULL for none. */
void bb_file_memory_set_hook(struct bb_file_memory *memory, bb_file_memory_hook *hook,
                             void *context);
/* How many changing calls there were; a clone starts with the count of its original. */
uint64_t bb_file_memory_calls(struct bb_file_memory *memory);

/* Space for the bytes of all files, 0 for no limit. An append that does not fit writes what fits
 * and fails with BB_NO_SPACE. */
void bb_file_memory_set_space(struct bb_file_memory *memory, uint64_t bytes);

/* Without links, link fails with BB_UNSUPPORTED; a new file system has them. */
void bb_file_memory_set_links(struct bb_file_memory *memory, bool has_links);

/* One in so many calls of read_now says that it would have to wait; 0, as at first, none. */
void bb_file_memory_set_cold(struct bb_file_memory *memory, uint32_t one_in);

/* Files and locks that are open. */
size_t bb_file_memory_open_files(struct bb_file_memory *memory);

/* The clock goes forward by so much. */
void bb_file_memory_advance(struct bb_file_memory *memory, uint64_t nanoseconds);

/* Replaces or makes a file, durable in bytes and name at once, and with it all names of its
 * directory, which must exist. For tests that prepare or damage files. */
void bb_file_memory_put(struct bb_file_memory *memory, const char *path, struct bb_bytes bytes);
/* The bytes of a file, to look at or to damage in place; valid until the file is next changed. NULL
 * when there is no such file. */
uint8_t *bb_file_memory_bytes(struct bb_file_memory *memory, const char *path, size_t *ret_size);

/* The same state, lost things still at risk, in a file system of its own; without open files, locks
 * and hook. */
struct bb_file_memory *bb_file_memory_clone(struct bb_file_memory *memory);

/* What is left of the bytes behind a file's durable front. */
enum bb_crash_bytes {
    BB_CRASH_BYTES_NONE,        /* nothing */
    BB_CRASH_BYTES_ALL,         /* everything */
    BB_CRASH_BYTES_PREFIX,      /* some whole appends, from the first on */
    BB_CRASH_BYTES_TORN_SECTOR, /* up to a multiple of 512 bytes */
    BB_CRASH_BYTES_TORN_BYTE,   /* up to any byte */
    BB_CRASH_BYTES_ZEROED, /* up to any byte, then zeros: the length was written before the bytes */
    BB_CRASH_BYTES_GARBAGE, /* up to any byte, then random bytes: what the disk had there before */
    BB_CRASH_BYTES_HOLES, /* the whole length, but some sectors of 512 bytes are zeros: no order of
                             writing */
    BB_CRASH_BYTES_ANY,   /* each file draws one of the above */
};

/* What is left of the changes to names that were not synced. */
enum bb_crash_names {
    BB_CRASH_NAMES_NONE,   /* nothing */
    BB_CRASH_NAMES_ALL,    /* everything */
    BB_CRASH_NAMES_PREFIX, /* everything up to a moment: a journal over all directories */
    BB_CRASH_NAMES_SUBSET, /* each change may be lost on its own */
    BB_CRASH_NAMES_MASK, /* change i of the pending ones survives if bit i of names_mask is set (and
                            what it needs) */
    BB_CRASH_NAMES_ANY,  /* NONE, ALL, PREFIX or SUBSET is drawn */
};

/* A zeroed struct is the strict crash: whatever was not synced is lost. */
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
