/* A store on a file system in memory that fails before every call.
 *
 * A workload calls the functions below. Before every call that changes a file or a directory, and
 * at its end, images of possible disk contents are made: no unsynced data, names without bytes,
 * bytes without names, everything, and random mixtures. A store is opened on each; the first
 * violation of a guarantee of docs/durability.md ends the process with a message. In other images
 * only the process crashes: the data that the next one finds is not durable yet, and its synced
 * writes survive the power failure.
 *
 * Threads: the workload's thread and the worker of its store. While one of them makes images the
 * other one waits, at the gate or in a call of the store.
 */
#ifndef BB_TESTS_CRASH_CRASH_RUN_H
#define BB_TESTS_CRASH_CRASH_RUN_H

#include "base/sync.h"
#include "tests/crash/history.h"
#include "tests/support/file_memory.h"

#define CRASH_DIRECTORY "/data/store"

/* What happens to the worker's calls. */
enum crash_gate {
    CRASH_GATE_OPEN,
    CRASH_GATE_HELD,    /* they wait */
    CRASH_GATE_REFUSED, /* they fail, and change nothing */
};

struct crash_run {
    const char *workload;
    uint64_t seed;
    uint64_t mixtures;  /* drawn images for each call */
    uint64_t stride;    /* one in this many calls has images; the seed selects which */
    bool is_paused;     /* no call has images now */
    bool has_each_tail; /* an image for each fate of unsynced bytes, in addition */
    bool is_quiet;      /* deinit prints nothing */
    bool has_windows;
    char replay[160]; /* the command that repeats this run; printed with a failure */
    /* One in this many images fails a second time, before each call of its recovery. */
    uint64_t nested_interval;
    bool keeps_process_death; /* acknowledged writes survive the process: the options allow it */
    struct bb_db_options options; /* for the next opening */
    struct bb_file_memory *memory;
    struct bb_db *db;
    struct history history;

    uint64_t calls; /* for which images were made */
    uint64_t logs;  /* created by the workload's thread */
    uint64_t images;
    uint64_t nested_images;
    uint64_t deaths; /* of only the process, and the power fails later */

    /* One call of the workload's thread that is to fail. */
    enum bb_file_call refused_call;
    const char *refused_path; /* part of a path; NULL: no call is refused */

    pthread_t thread; /* the workload's */
    struct bb_mutex mutex;
    struct bb_condvar gate_changed;
    enum crash_gate gate; /* guarded by mutex */
};

struct crash_workload {
    const char *name;
    void (*run)(struct crash_run *run);
};

/* Runs each workload in a new run, and prints the number of states. The seed is BB_TEST_SEED's or
 * 1, the mixtures BB_TEST_CRASH_SEEDS's or 3. prepare changes a run before its workload; NULL:
 * nothing to change. */
void crash_run_workloads(const char *program, const struct crash_workload *workloads, size_t count,
                         void (*prepare)(struct crash_run *run));

void crash_run_init(struct crash_run *run, const char *workload, uint64_t seed, uint64_t mixtures);
/* Images of the end, and a line with the counts, unless is_quiet. The store must be closed. */
void crash_run_deinit(struct crash_run *run);

/* Images of all kinds. */
uint64_t crash_run_states(const struct crash_run *run);

void crash_open(struct crash_run *run);
void crash_close(struct crash_run *run);
/* The process crashes: data given to the system stays. */
void crash_kill(struct crash_run *run);
void crash_put(struct crash_run *run, uint32_t key, uint32_t value_size, bool sync);
void crash_delete(struct crash_run *run, uint32_t key, bool sync);
/* REQUIRES: low is below high, high is at most HISTORY_KEYS. */
void crash_delete_range(struct crash_run *run, uint32_t low, uint32_t high, bool sync);
/* At most 8 operations: puts of 900 bytes; the third deletes a range of three keys, starting with
 * its key, and the sixth deletes a key. */
void crash_batch(struct crash_run *run, uint32_t first_key, size_t count, bool sync);
/* Puts, none synced, until the write buffer was frozen and another log is in use. */
void crash_fill_log(struct crash_run *run, uint32_t value_size);
void crash_flush(struct crash_run *run);
void crash_compact(struct crash_run *run);
void crash_wait_idle(struct crash_run *run);
/* Opens and closes twice. The second time must change nothing: the store was cleanly closed. */
void crash_rest(struct crash_run *run);

/* Logs get windows from here on. A put into a window makes no call: images are also made after each
 * write, for the thread of the workload and with deterministic stores. */
void crash_use_windows(struct crash_run *run);
/* Puts without images, until the log has a window. */
void crash_warm_up(struct crash_run *run);

/* The next call of the kind on a path with this part fails and changes nothing. */
void crash_refuse(struct crash_run *run, enum bb_file_call call, const char *path_part);
/* Each of these runs into the refused call. */
void crash_put_failing(struct crash_run *run, uint32_t key, uint32_t value_size, bool sync);
void crash_flush_failing(struct crash_run *run);

void crash_set_gate(struct crash_run *run, enum crash_gate gate);

#endif
