/* See key_reader.h. */
#include "tools/keys/key_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/output/escape.h"
#include "tools/output/interrupt.h"

#define READ_SIZE 65536

static char standard_input[] = "-";
static char *const standard_input_alone[] = {standard_input};

void key_reader_init(struct key_reader *reader, char *const *paths, size_t path_count)
{
    *reader = (struct key_reader){.paths = paths,
                                  .path_count = path_count,
                                  .value_size_max = BB_VALUE_SIZE_MAX,
                                  .terminator = '\n',
                                  .fd = -1};
    if (path_count == 0) {
        reader->paths = standard_input_alone;
        reader->path_count = 1;
    }
}

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

static void close_file(struct key_reader *reader)
{
    if (reader->fd > STDIN_FILENO)
        close(reader->fd);
    reader->fd = -1;
}

void key_reader_deinit(struct key_reader *reader)
{
    close_file(reader);
    bb_buf_deinit(&reader->buffer);
    bb_buf_deinit(&reader->decoded);
}

static const char *path_of(const struct key_reader *reader)
{
    const char *path = reader->paths[reader->path_index];
    return is_standard_input(path) ? "standard input" : path;
}

/* BB_NOT_FOUND is the end of the input, a missing file is not. */
static enum bb_status fail_open(const char *path)
{
    return errno == ENOENT ? bb_fail(BB_IO, "%s: no such file", path)
                           : bb_fail_errno(errno, "open", path);
}

static enum bb_status fail_directory(const char *path)
{
    return bb_fail(BB_INVALID, "%s: is a directory, expected a file of lines", path);
}

static enum bb_status open_file(struct key_reader *reader)
{
    const char *path = reader->paths[reader->path_index];
    reader->fd = is_standard_input(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0)
        return fail_open(path);
    reader->is_at_end = false;
    reader->line = 0;
    reader->offset = 0;
    reader->next_offset = 0;
    reader->start = 0;
    bb_buf_reset(&reader->buffer);
    return BB_OK;
}

/* False for a closed standard input too: main put a file there that cannot be read. */
static bool is_readable_input(void)
{
    int flags = fcntl(STDIN_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

static enum bb_status check_path(const char *path)
{
    struct stat file;
    bool is_input = is_standard_input(path);
    if ((is_input ? fstat(STDIN_FILENO, &file) : stat(path, &file)) != 0)
        return fail_open(path);
    if (S_ISDIR(file.st_mode))
        return fail_directory(is_input ? "standard input" : path);
    if (is_input)
        return is_readable_input()
                   ? BB_OK
                   : bb_fail(BB_IO, "standard input: is closed, or only for writing");
    return access(path, R_OK) == 0 ? BB_OK : fail_open(path);
}

enum bb_status key_reader_check(const struct key_reader *reader)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < reader->path_count && status == BB_OK; i++)
        status = check_path(reader->paths[i]);
    return status;
}

/* The longest line that can be valid: longer lines are refused before they are held in memory. */
static size_t line_size_max(const struct key_reader *reader)
{
    if (reader->is_value)
        return reader->value_size_max;
    size_t size = BB_KEY_SIZE_MAX + (reader->is_tsv ? (size_t)BB_VALUE_SIZE_MAX + 1 : 0);
    return reader->is_hex ? 2 * size : size;
}

static enum bb_status fail_too_long(const struct key_reader *reader, uint64_t line, uint64_t offset)
{
    return bb_fail(BB_TOO_LARGE,
                   "%s: line %" PRIu64 ", which begins at offset %" PRIu64
                   ", is longer than %zu bytes",
                   path_of(reader), line, offset, line_size_max(reader));
}

/* Appends more bytes to the buffer. */
static enum bb_status read_more(struct key_reader *reader)
{
    struct bb_buf *buffer = &reader->buffer;
    if (reader->start > 0) {
        memmove(buffer->data, buffer->data + reader->start, buffer->size - reader->start);
        buffer->size -= reader->start;
        reader->start = 0;
    }
    if (buffer->size > line_size_max(reader))
        return fail_too_long(reader, reader->line + 1, reader->next_offset);
    enum bb_status status = bb_buf_reserve(buffer, READ_SIZE);
    if (status != BB_OK)
        return status;
    ssize_t size = 0;
    do {
        size = read(reader->fd, buffer->data + buffer->size, READ_SIZE);
    } while (size < 0 && errno == EINTR && !interrupt_is_wanted());
    if (interrupt_is_wanted())
        return bb_fail(BB_BUSY, "interrupted");
    if (size < 0)
        return errno == EISDIR ? fail_directory(path_of(reader))
                               : bb_fail_errno(errno, "read", path_of(reader));
    buffer->size += (size_t)size;
    reader->is_at_end = size == 0;
    if (reader->progress != NULL)
        progress_add(reader->progress, (uint64_t)size);
    return BB_OK;
}

static bool is_too_long(const struct key_reader *reader, size_t size)
{
    return reader->is_line_cut || size > line_size_max(reader);
}

/* The bytes of a skipped line need no memory. */
static void cut_line(struct key_reader *reader)
{
    if (!reader->is_skipping || !is_too_long(reader, reader->buffer.size - reader->start))
        return;
    reader->is_line_cut = true;
    reader->start = reader->buffer.size;
}

/* The next line without its end, or the rest of a line that was cut; BB_NOT_FOUND at the end of the
 * file. */
static enum bb_status find_line(struct key_reader *reader, struct bb_bytes *ret_line)
{
    size_t searched = 0;
    for (;;) {
        size_t size = reader->buffer.size - reader->start;
        const uint8_t *data = size == 0 ? NULL : reader->buffer.data + reader->start;
        const uint8_t *end =
            size == searched ? NULL : memchr(data + searched, reader->terminator, size - searched);
        if (end == NULL && !reader->is_at_end) {
            cut_line(reader);
            searched = reader->buffer.size - reader->start;
            enum bb_status status = read_more(reader);
            if (status != BB_OK)
                return status;
            continue;
        }
        if (end == NULL && size == 0 && !reader->is_line_cut)
            return BB_NOT_FOUND;
        *ret_line = bb_bytes_of(data, end == NULL ? size : (size_t)(end - data));
        reader->start += ret_line->size + (end == NULL ? 0 : 1);
        reader->line++;
        reader->offset = reader->next_offset;
        reader->next_offset += ret_line->size + (end == NULL ? 0 : 1);
        return BB_OK;
    }
}

static enum bb_status next_line(struct key_reader *reader, struct bb_bytes *ret_line)
{
    for (;;) {
        reader->is_line_cut = false;
        enum bb_status status = find_line(reader, ret_line);
        if (status != BB_OK || !reader->is_skipping || !is_too_long(reader, ret_line->size))
            return status;
        reader->skipped_count++;
    }
}

/* Replaces the digits of key and value by their bytes. */
static enum bb_status decode_hex(struct key_reader *reader, struct key_record *record)
{
    bb_buf_reset(&reader->decoded);
    enum bb_status status = hex_decode(record->key, &reader->decoded);
    size_t key_size = reader->decoded.size;
    if (status == BB_OK)
        status = hex_decode(record->value, &reader->decoded);
    if (status != BB_OK)
        return bb_fail_context(status, "%s: line %" PRIu64, path_of(reader), reader->line);
    record->key = bb_bytes_of(reader->decoded.data, key_size);
    size_t value_size = reader->decoded.size - key_size;
    record->value =
        bb_bytes_of(value_size == 0 ? NULL : reader->decoded.data + key_size, value_size);
    return BB_OK;
}

static enum bb_status split(struct key_reader *reader, struct bb_bytes line,
                            struct key_record *record)
{
    *record = (struct key_record){.key = line, .path = path_of(reader), .line = reader->line};
    record->offset = reader->offset;
    if (reader->is_value) {
        record->key = (struct bb_bytes){0};
        record->value = line;
        return line.size <= reader->value_size_max
                   ? BB_OK
                   : fail_too_long(reader, record->line, record->offset);
    }
    const uint8_t *tab =
        reader->is_tsv && line.size > 0 ? memchr(line.data, '\t', line.size) : NULL;
    if (reader->is_tsv && tab == NULL)
        return bb_fail(BB_INVALID,
                       "%s: line %" PRIu64 ": no tab splits key and value; a tab at the end gives "
                       "the key an empty value",
                       path_of(reader), reader->line);
    if (tab != NULL) {
        record->key.size = (size_t)(tab - line.data);
        record->value = bb_bytes_of(tab + 1, line.size - record->key.size - 1);
    }
    enum bb_status status = reader->is_hex ? decode_hex(reader, record) : BB_OK;
    if (status == BB_OK && record->key.size > BB_KEY_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "%s: line %" PRIu64 ": the key has %zu bytes, the limit is %d",
                       path_of(reader), reader->line, record->key.size, BB_KEY_SIZE_MAX);
    return status;
}

enum bb_status key_reader_next(struct key_reader *reader, struct key_record *ret_record)
{
    while (reader->path_index < reader->path_count) {
        enum bb_status status = reader->fd < 0 ? open_file(reader) : BB_OK;
        struct bb_bytes line = {0};
        if (status == BB_OK)
            status = next_line(reader, &line);
        if (status == BB_OK)
            return split(reader, line, ret_record);
        if (status != BB_NOT_FOUND)
            return status;
        close_file(reader);
        reader->path_index++;
    }
    return BB_NOT_FOUND;
}

uint64_t key_reader_size_bytes(char *const *paths, size_t path_count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < path_count; i++) {
        struct stat status;
        if (is_standard_input(paths[i]) || stat(paths[i], &status) != 0 || !S_ISREG(status.st_mode))
            return 0;
        sum += (uint64_t)status.st_size;
    }
    return sum;
}
