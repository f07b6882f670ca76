/* Every failure originates here: each function that fails calls one of these functions and returns
 * its result.
 *
 * docs/decisions/0001-errors.md explains why the message is per thread and not an extra parameter.
 * Threads: the record is thread-local. A failure that crosses threads is copied with its message
 * (struct bb_error) into an object that outlives the thread, and restored with bb_error_restore. */
#ifndef BB_BASE_STATUS_H
#define BB_BASE_STATUS_H

#include "bb/base.h"

/* The origin of bytes, for messages: passed to a decoder with the bytes. file may be NULL
 * (memory). */
struct bb_place {
    const char *file;
    uint64_t offset;
};

/* Records the message and returns status. status must not be BB_OK. */
enum bb_status bb_fail(enum bb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Every corruption originates here: "FILE: at offset N: WHAT". The offset is place.offset +
 * offset_in_bytes. */
enum bb_status bb_corrupt(struct bb_place place, uint64_t offset_in_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* A failed system call: maps errno (ENOSPC and EDQUOT to BB_NO_SPACE, ENOENT to BB_NOT_FOUND,
 * EEXIST to BB_EXISTS, ENOMEM to BB_NO_MEMORY, EROFS to BB_READ_ONLY, the rest to BB_IO); message
 * "FILE: OPERATION: errno text". */
enum bb_status bb_fail_errno(int error_number, const char *operation, const char *file)
    __attribute__((cold));

/* Makes a saved failure the calling thread's latest one and returns its status. */
enum bb_status bb_error_restore(const struct bb_error *error);

/* Copies the record for bb_error_settle, up to the end of its message. So the copy is cheap while
 * the thread has had no failure. */
void bb_error_save(struct bb_error *ret_before);
/* Ends a public call in which expected failures may occur, such as a file that does not exist yet.
 * If status is BB_OK, restores the record from `before`, the copy made at the start of the call.
 * Returns status. */
enum bb_status bb_error_settle(enum bb_status status, const struct bb_error *before);

/* Puts "CONTEXT: " before the latest message; for callers that know more. Returns status. */
enum bb_status bb_fail_context(enum bb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
