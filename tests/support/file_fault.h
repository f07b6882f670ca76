/* A file system around another one, in which the n-th call fails.
 *
 * It also keeps books: how often each call was made and for which paths, and whether a file was
 * written again after one of its appends or syncs had failed, which the engine must never do.
 * Threads: calls may come from any thread; a plan is armed and disarmed from one.
 */
#ifndef BB_TESTS_SUPPORT_FILE_FAULT_H
#define BB_TESTS_SUPPORT_FILE_FAULT_H

#include "tests/support/file_call.h"

enum bb_file_fault_mode {
    BB_FILE_FAULT_ERROR, /* the call does nothing and fails; close and unlock release, and fail */
    BB_FILE_FAULT_SHORT_READ,  /* read_at returns half of the data, as if the file ended there */
    BB_FILE_FAULT_SHORT_WRITE, /* append writes half of the bytes and fails */
    BB_FILE_FAULT_BIT_FLIP,    /* read_at gives one wrong bit; the file is sound */
};

struct bb_file_fault_plan {
    enum bb_file_fault_mode mode;
    enum bb_file_call call; /* the calls that are counted; ANY for all. The last three modes count
                               only their own */
    const char
        *path_part; /* only calls whose path contains this; NULL for all. Borrowed until disarmed */
    uint64_t nth;   /* which of the counted calls fails: 1 is the next */
    bool lasting;   /* all later ones fail too */
    int error_number; /* errno of the failure, such as EIO or ENOSPC; 0 means EIO */
};

struct bb_file_fault;

/* inner is borrowed. */
struct bb_file_fault *bb_file_fault_create(struct bb_file_system *inner);
/* After all files and locks are released; ends the process when one is not. */
void bb_file_fault_destroy(struct bb_file_fault *fault);
/* Borrowed. */
struct bb_file_system *bb_file_fault_system(struct bb_file_fault *fault);

/* Replaces the plan and starts counting. */
void bb_file_fault_arm(struct bb_file_fault *fault, const struct bb_file_fault_plan *plan);
void bb_file_fault_disarm(struct bb_file_fault *fault);
/* How many calls the plan has hit since bb_file_fault_arm. */
uint64_t bb_file_fault_hits(struct bb_file_fault *fault);

/* Calls since the creation, hit or not. */
uint64_t bb_file_fault_calls(struct bb_file_fault *fault, enum bb_file_call call);
/* Appends and syncs of files of which an earlier append or sync had failed. */
uint64_t bb_file_fault_writes_after_failure(struct bb_file_fault *fault);

struct bb_file_fault_record {
    enum bb_file_call call;
    const char *path;
};
/* Every call since the last clear, in order. Borrowed until the next call or clear. */
const struct bb_file_fault_record *bb_file_fault_log(struct bb_file_fault *fault,
                                                     size_t *ret_count);
void bb_file_fault_log_clear(struct bb_file_fault *fault);
/* Logging is off at first: it costs memory. */
void bb_file_fault_log_enable(struct bb_file_fault *fault, bool enabled);

#endif
