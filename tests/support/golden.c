/* See golden.h. */
#include "tests/support/golden.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/assert_status.h"

#define SHOWN 16 /* bytes of each side, from the first difference on */

static void give_up(const char *path, const char *operation)
{
    fprintf(stderr, "%s: %s: %s\n", path, operation, strerror(errno));
    exit(1);
}

/* Appends the contents; false when there is no such file. */
static bool read_golden(const char *path, struct bb_buf *contents)
{
    uint8_t part[4096];
    size_t size = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    while ((size = fread(part, 1, sizeof(part), file)) > 0)
        assert_ok(bb_buf_append(contents, part, size));
    if (ferror(file))
        give_up(path, "read");
    fclose(file);
    return true;
}

void bb_golden_read(const char *path, struct bb_buf *contents)
{
    if (!read_golden(path, contents))
        give_up(path, "open");
}

static void write_golden(const char *path, struct bb_bytes bytes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes.data, 1, bytes.size, file) != bytes.size || fclose(file) != 0)
        give_up(path, "write");
    printf("%s: %zu bytes written\n", path, bytes.size);
}

static void show(const char *name, const uint8_t *data, size_t size, size_t offset)
{
    print_error("    %-8s %zu bytes, from %zu on:", name, size, offset);
    for (size_t i = offset; i < size && i < offset + SHOWN; i++)
        print_error(" %02x", data[i]);
    print_error("\n");
}

void bb_golden_assert(const char *path, struct bb_bytes found, const char *file, int line)
{
    const char *update = getenv("BB_UPDATE_GOLDENS");
    if (update != NULL && strcmp(update, "1") == 0) {
        write_golden(path, found);
        return;
    }
    struct bb_buf golden = {0};
    if (!read_golden(path, &golden)) {
        print_error("%s: %s\n", path, strerror(errno));
        _fail(file, line);
        return;
    }
    size_t same = 0;
    while (same < golden.size && same < found.size && golden.data[same] == found.data[same])
        same++;
    bool equal = same == golden.size && same == found.size;
    if (!equal) {
        print_error("%s differs at offset %zu\n", path, same);
        show("golden", golden.data, golden.size, same);
        show("found", found.data, found.size, same);
    }
    bb_buf_deinit(&golden);
    if (!equal)
        _fail(file, line);
}
