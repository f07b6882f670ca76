/* The calling thread's most recent failure, and the functions that write it.
 *
 * The record is a plain thread-local struct: writing it cannot fail, so running out of memory has a
 * message like any other failure. Every writer first formats into a local buffer, because an
 * argument may point into the record (bb_error_last()->message inside a longer sentence). Threads:
 * each has a separate record. */
#include "base/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

#define MESSAGE_SIZE sizeof(((struct bb_error *)NULL)->message)

/* Aligned as a cache line: mold 1.x places a thread segment of smaller alignment before the page
 * that is protected after relocation, and the program does not start. */
static _Thread_local _Alignas(64) struct bb_error latest;

static const char *const status_names[] = {
    [BB_OK] = "ok",
    [BB_NOT_FOUND] = "not found",
    [BB_CORRUPT] = "corrupt",
    [BB_IO] = "io",
    [BB_NO_SPACE] = "no space",
    [BB_NO_MEMORY] = "no memory",
    [BB_INVALID] = "invalid",
    [BB_TOO_LARGE] = "too large",
    [BB_BUSY] = "busy",
    [BB_UNSUPPORTED] = "unsupported",
    [BB_EXISTS] = "exists",
    [BB_READ_ONLY] = "read only",
    [BB_WOULD_WAIT] = "would wait",
};

const char *bb_status_name(enum bb_status status)
{
    size_t index = (size_t)status;
    return index < BB_ARRAY_LENGTH(status_names) ? status_names[index] : "unknown";
}

const struct bb_error *bb_error_last(void)
{
    return &latest;
}

static const char *file_name(const char *file)
{
    return file == NULL ? "(memory)" : file;
}

/* Puts three dots where a message had to be cut. */
static void mark_cut(char *message)
{
    memcpy(message + MESSAGE_SIZE - 4, "...", 4);
}

static void append_formatted(char *message, size_t used, const char *format, va_list arguments)
{
    int length = vsnprintf(message + used, MESSAGE_SIZE - used, format, arguments);
    if (length >= 0 && (size_t)length >= MESSAGE_SIZE - used)
        mark_cut(message);
}

static enum bb_status record(enum bb_status status, const char *message)
{
    BB_ASSERT(status != BB_OK);
    latest.status = status;
    memcpy(latest.message, message, MESSAGE_SIZE);
    return status;
}

enum bb_status bb_fail(enum bb_status status, const char *format, ...)
{
    char message[MESSAGE_SIZE] = "";
    va_list arguments;
    va_start(arguments, format);
    append_formatted(message, 0, format, arguments);
    va_end(arguments);
    return record(status, message);
}

enum bb_status bb_corrupt(struct bb_place place, uint64_t offset_in_bytes, const char *format, ...)
{
    char message[MESSAGE_SIZE] = "";
    int length = snprintf(message, sizeof(message), "%s: at offset %" PRIu64 ": ",
                          file_name(place.file), place.offset + offset_in_bytes);
    if (length < 0 || (size_t)length >= sizeof(message)) {
        mark_cut(message);
        return record(BB_CORRUPT, message);
    }

    va_list arguments;
    va_start(arguments, format);
    append_formatted(message, (size_t)length, format, arguments);
    va_end(arguments);
    return record(BB_CORRUPT, message);
}

static enum bb_status status_of_errno(int error_number)
{
    switch (error_number) {
    case ENOSPC:
    case EDQUOT:
        return BB_NO_SPACE;
    case ENOENT:
        return BB_NOT_FOUND;
    case EEXIST:
        return BB_EXISTS;
    case ENOMEM:
        return BB_NO_MEMORY;
    case EROFS:
        return BB_READ_ONLY;
    default:
        return BB_IO;
    }
}

/* GNU's strerror_r returns the text and may not use the buffer. The POSIX form, which musl has,
 * fills the buffer. */
static const char *errno_text(int error_number, char *buffer, size_t size)
{
#ifdef __GLIBC__
    return strerror_r(error_number, buffer, size);
#else
    return strerror_r(error_number, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

enum bb_status bb_fail_errno(int error_number, const char *operation, const char *file)
{
    char buffer[128];
    return bb_fail(status_of_errno(error_number), "%s: %s: %s", file_name(file), operation,
                   errno_text(error_number, buffer, sizeof(buffer)));
}

enum bb_status bb_error_restore(const struct bb_error *error)
{
    /* error may be the record itself. */
    memmove(&latest, error, sizeof(latest));
    return latest.status;
}

static void copy_used(struct bb_error *to, const struct bb_error *from)
{
    to->status = from->status;
    memcpy(to->message, from->message, strlen(from->message) + 1);
}

void bb_error_save(struct bb_error *ret_before)
{
    copy_used(ret_before, &latest);
}

enum bb_status bb_error_settle(enum bb_status status, const struct bb_error *before)
{
    if (status == BB_OK)
        copy_used(&latest, before);
    return status;
}

enum bb_status bb_fail_context(enum bb_status status, const char *format, ...)
{
    char context[MESSAGE_SIZE] = "";
    va_list arguments;
    va_start(arguments, format);
    append_formatted(context, 0, format, arguments);
    va_end(arguments);

    /* A status that was returned without a message must not be explained with an older failure's.
     */
    const char *reason = latest.status == status ? latest.message : bb_status_name(status);
    return bb_fail(status, "%s: %s", context, reason);
}

enum bb_status bb_error_set(enum bb_status status, const char *message)
{
    return bb_fail(status, "%s", message);
}
