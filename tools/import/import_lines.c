/* See import_lines.h. */
#include "tools/import/import_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "tools/output/interrupt.h"

static const char *name_of(const struct import_lines *lines)
{
    return strcmp(lines->path, "-") == 0 ? "standard input" : lines->path;
}

enum bb_status import_lines_open(struct import_lines *lines, const char *path)
{
    *lines = (struct import_lines){.path = path};
    lines->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    return lines->file != NULL ? BB_OK : bb_fail_errno(errno, "open", path);
}

void import_lines_close(struct import_lines *lines)
{
    if (lines->file != NULL && lines->file != stdin)
        (void)fclose(lines->file);
    free(lines->text);
    *lines = (struct import_lines){0};
}

enum bb_status import_lines_next(struct import_lines *lines, bool *ret_has)
{
    errno = 0;
    ssize_t size = getline(&lines->text, &lines->capacity, lines->file);
    *ret_has = size >= 0;
    if (interrupt_is_wanted())
        return bb_fail(BB_BUSY, "interrupted");
    if (size < 0 && errno == EISDIR)
        return bb_fail(BB_INVALID, "%s: is a directory, expected a file of lines", name_of(lines));
    if (size < 0)
        return feof(lines->file) ? BB_OK : bb_fail_errno(errno, "read", name_of(lines));
    lines->has_newline = size > 0 && lines->text[size - 1] == '\n';
    lines->line = bb_bytes_of(lines->text, (size_t)size - lines->has_newline);
    lines->number++;
    return BB_OK;
}

enum bb_status import_lines_fail(const struct import_lines *lines, const char *what)
{
    if (lines->number == 0)
        return bb_fail(BB_INVALID, "%s: the file is empty", name_of(lines));
    return bb_fail(BB_INVALID, "%s: line %" PRIu64 ": %s", name_of(lines), lines->number, what);
}
