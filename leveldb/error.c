/* See error.h. */
#include "leveldb/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "leveldb/memory.h"

/* The words are LevelDB's: programs look for them at the start of the text. */
static const char *kind_of(enum bb_status status)
{
    switch (status) {
    case BB_NOT_FOUND:
        return "NotFound";
    case BB_CORRUPT:
        return "Corruption";
    case BB_UNSUPPORTED:
        return "Not implemented";
    case BB_INVALID:
    case BB_TOO_LARGE:
    case BB_EXISTS:
        return "Invalid argument";
    default:
        return "IO error";
    }
}

void bb_leveldb_error_set(char **errptr, const struct bb_error *error)
{
    char text[sizeof(error->message) + 32];
    if (errptr == NULL)
        return;
    snprintf(text, sizeof(text), "%s: %s", kind_of(error->status), error->message);
    char *copy = bb_leveldb_copy_text(text);
    /* Without memory an earlier text is kept: it reports a failure too. */
    if (copy == NULL)
        return;
    bb_leveldb_release(*errptr);
    *errptr = copy;
}

bool bb_leveldb_error_save(char **errptr, enum bb_status status)
{
    if (status == BB_OK)
        return false;
    bb_leveldb_error_set(errptr, bb_error_last());
    return true;
}

struct bb_error bb_leveldb_error_held(const char *directory)
{
    return bb_leveldb_error_make(BB_BUSY, "lock %s/LOCK: already held: %s", directory,
                                 bb_error_last()->message);
}

struct bb_error bb_leveldb_error_make(enum bb_status status, const char *format, ...)
{
    struct bb_error error = {.status = status};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof(error.message), format, arguments);
    va_end(arguments);
    return error;
}
