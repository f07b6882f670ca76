/* See wal_window.h. */
#include "kv/wal/wal_window.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/file_window.h"
#include "base/status.h"
#include "kv/wal/wal_fragment.h"

#define BASE_AT  BB_WAL_HEADER_SIZE
#define CHECK_AT (BASE_AT + 8)

/* A window this far after the end of the log's file is ignored: a reader searches the zeros between
 * them byte by byte. */
#define GAP_MAX (UINT64_C(64) << 20)

/* ---- names ---- */

bool bb_wal_window_path(const char *log_path, char ret_path[BB_PATH_SIZE_MAX])
{
    static const char of_log[] = ".wal";
    size_t size = strlen(log_path);
    size_t suffix = sizeof(of_log) - 1;
    if (size < suffix || strcmp(log_path + size - suffix, of_log) != 0)
        return false;
    int needed =
        snprintf(ret_path, BB_PATH_SIZE_MAX, "%.*s.window", (int)(size - suffix), log_path);
    return needed > 0 && needed < BB_PATH_SIZE_MAX;
}

/* ---- the head ---- */

/* The check of the head. It mixes twice and the check of a fragment three times (wal_format.c), so
 * that neither passes as the other. */
static uint64_t check_of_base(uint64_t seed, uint64_t base)
{
    return bb_hash_mix(bb_hash_mix(seed) ^ base);
}

static void encode_head(uint64_t seed, uint64_t base, uint8_t *file)
{
    bb_store64(file + BASE_AT, base);
    bb_store64(file + CHECK_AT, check_of_base(seed, base));
}

/* False: the head is new or damaged, or a kill interrupted its change. */
static bool decode_head(uint64_t seed, const uint8_t *file, uint64_t *ret_base)
{
    *ret_base = bb_load64(file + BASE_AT);
    return bb_load64(file + CHECK_AT) == check_of_base(seed, *ret_base);
}

/* ---- the writer ---- */

struct bb_wal_window {
    struct bb_file_window *file;
    uint64_t seed;   /* of the log's checks */
    uint64_t base;   /* of the bytes in the window; 0: there are none */
    size_t size;     /* of these bytes */
    bool is_unsound; /* the file is not what was stored */
    char path[BB_PATH_SIZE_MAX];
};

static void encode_header(const struct bb_wal_identity *identity, uint8_t *header)
{
    bb_wal_format_encode_header(identity, header);
    memcpy(header, BB_WAL_WINDOW_MAGIC, BB_WAL_MAGIC_SIZE);
    bb_store64(header + 40, bb_wal_format_check_header(header));
}

enum bb_status bb_wal_window_create(struct bb_file_system *fs, const char *log_path,
                                    const struct bb_wal_identity *identity,
                                    struct bb_wal_window **ret_window)
{
    struct bb_wal_window *window = bb_alloc_zeroed(1, sizeof(*window));
    if (window == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the window of %s", log_path);
    enum bb_status status =
        bb_wal_window_path(log_path, window->path)
            ? bb_file_window_create(fs, window->path, BB_WAL_WINDOW_FILE_SIZE, &window->file)
            : bb_fail(BB_UNSUPPORTED, "%s: not the name of a log, so there is no window", log_path);
    if (status != BB_OK) {
        bb_free(window);
        return status;
    }
    window->seed = bb_wal_format_seed(identity);
    encode_header(identity, bb_file_window_bytes(window->file));
    *ret_window = window;
    return BB_OK;
}

bool bb_wal_window_put(struct bb_wal_window *window, uint64_t base, struct bb_bytes frames)
{
    BB_DEBUG_ASSERT(base >= BB_WAL_HEADER_SIZE);
    if (window->is_unsound || frames.size > BB_WAL_WINDOW_BYTES_SIZE)
        return false;
    uint8_t *bytes = bb_file_window_bytes(window->file);
    window->is_unsound = bytes == NULL;
    if (window->is_unsound)
        return false;
    if (window->base != base) {
        encode_head(window->seed, base, bytes);
        window->base = base;
        window->size = 0;
    }
    BB_DEBUG_ASSERT(window->size <= frames.size);
    memcpy(bytes + BB_WAL_WINDOW_BYTES + window->size, frames.data + window->size,
           frames.size - window->size);
    window->size = frames.size;
    window->is_unsound = !bb_file_window_is_sound(window->file);
    return !window->is_unsound;
}

void bb_wal_window_remove(struct bb_wal_window *window, struct bb_file_system *fs)
{
    struct bb_error before;
    if (window == NULL)
        return;
    bb_error_save(&before);
    /* A file that remains does no harm: it only repeats bytes of the log. */
    (void)!fs->ops->remove(fs, window->path);
    (void)bb_error_settle(BB_OK, &before);
    bb_wal_window_destroy(window);
}

void bb_wal_window_destroy(struct bb_wal_window *window)
{
    if (window == NULL)
        return;
    bb_file_window_destroy(window->file);
    bb_free(window);
}

/* ---- readers ---- */

/* The end of the whole fragment at `position` of bytes, which begin at `base` in the log. 0: no
 * fragment begins there. */
static size_t fragment_end(uint64_t seed, uint64_t base, struct bb_bytes bytes, size_t position)
{
    struct bb_wal_fragment fragment;
    size_t left = bb_wal_block_left(base + position);
    size_t rest = bytes.size - position < left ? bytes.size - position : left;
    if (left < BB_WAL_FRAGMENT_SIZE_MIN ||
        bb_wal_fragment_decode(seed, base + position, bb_bytes_of(bytes.data + position, rest),
                               &fragment) != NULL)
        return 0;
    return position + BB_WAL_FRAGMENT_HEADER + fragment.body.size;
}

/* The bytes of a window. */
struct content {
    uint64_t seed;
    uint64_t base;
    uint8_t *data;
    size_t size;
};

/* The next place to try, after one without a fragment. Skips places where a whole header is zeros,
 * which no fragment has: most of a window may be unused. */
static size_t next_place(const struct content *content, size_t position)
{
    enum { LOOKED_AT = 16, SKIPPED = LOOKED_AT - BB_WAL_FRAGMENT_HEADER + 1 };
    position++;
    while (content->size - position >= LOOKED_AT &&
           (bb_load64(content->data + position) | bb_load64(content->data + position + 8)) == 0)
        position += SKIPPED;
    return position;
}

/* Keeps the whole fragments that end after file_size, and sets the bytes between them to zero.
 * *ret_begin and *ret_end: where these fragments are; equal without such a fragment.
 *
 * WHY the search continues after a defect: if a fragment follows, the defect is damage, which the
 * reader of the log reports. WHY zeros: fragments of an earlier filling would look like writes of
 * another process. */
static void keep_fragments(const struct content *content, uint64_t file_size, size_t *ret_begin,
                           size_t *ret_end)
{
    size_t begin = content->size;
    size_t last = content->size;
    struct bb_bytes bytes = bb_bytes_of(content->data, content->size);
    for (size_t position = 0; position < content->size;) {
        size_t end = fragment_end(content->seed, content->base, bytes, position);
        if (end > 0 && content->base + end > file_size) {
            begin = begin < position ? begin : position;
            last = end;
        } else if (end == 0) {
            content->data[position] = 0;
        }
        position = end > 0 ? end : next_place(content, position);
    }
    *ret_begin = begin;
    *ret_end = last;
}

/* A header with a wrong check is incomplete or damaged. In both cases the checks of the fragments
 * decide. */
static enum bb_status check_version(const uint8_t *header, const char *path)
{
    bool is_sound = memcmp(header, BB_WAL_WINDOW_MAGIC, BB_WAL_MAGIC_SIZE) == 0 &&
                    bb_load64(header + 40) == bb_wal_format_check_header(header);
    uint32_t version = bb_load32(header + 8);
    if (!is_sound || version == BB_WAL_VERSION)
        return BB_OK;
    return bb_fail(BB_UNSUPPORTED,
                   "%s: a window of a log of format version %u, this version reads %d", path,
                   version, BB_WAL_VERSION);
}

static enum bb_status read_file(struct bb_file *file, struct bb_buf *buf)
{
    size_t size = 0;
    enum bb_status status = bb_buf_reserve(buf, BB_WAL_WINDOW_FILE_SIZE);
    if (status == BB_OK)
        status = bb_file_read_at(file, 0, buf->data, BB_WAL_WINDOW_FILE_SIZE, &size);
    buf->size = size;
    return status;
}

enum bb_status bb_wal_window_read(struct bb_file_system *fs, const char *log_path,
                                  struct bb_buf *contents)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *file = NULL;
    struct bb_error before;
    bb_buf_reset(contents);
    if (!bb_wal_window_path(log_path, path))
        return BB_OK;
    bb_error_save(&before);
    enum bb_status status = bb_file_open(fs, path, &file);
    if (status == BB_NOT_FOUND)
        return bb_error_settle(BB_OK, &before);
    if (status != BB_OK)
        return status;
    status = read_file(file, contents);
    if (status == BB_OK && contents->size >= BB_WAL_WINDOW_BYTES)
        status = check_version(contents->data, path);
    return bb_file_close_after(file, status);
}

/* The base that follows from the first fragment that the log's file does not have. 0: the window
 * has no such fragment. */
static uint64_t find_base(const struct content *content, uint64_t file_size)
{
    for (size_t position = 0; position < content->size;) {
        struct bb_wal_fragment fragment;
        uint64_t place = 0;
        struct bb_bytes rest = bb_bytes_of(content->data + position, content->size - position);
        bool is_found =
            bb_wal_fragment_find(content->seed, file_size + GAP_MAX, rest, &fragment, &place);
        size_t size = is_found ? BB_WAL_FRAGMENT_HEADER + fragment.body.size : 1;
        if (is_found && place + size > file_size && place >= position)
            return place - position;
        position += size;
    }
    return 0;
}

uint64_t bb_wal_window_take(struct bb_buf *contents, uint64_t seed, uint64_t file_size)
{
    size_t begin = 0;
    size_t end = 0;
    if (contents->size < BB_WAL_WINDOW_BYTES) {
        bb_buf_reset(contents);
        return 0;
    }
    struct content content = {.seed = seed,
                              .data = contents->data + BB_WAL_WINDOW_BYTES,
                              .size = contents->size - BB_WAL_WINDOW_BYTES};
    if (!decode_head(seed, contents->data, &content.base))
        content.base = find_base(&content, file_size);
    if (content.base >= BB_WAL_HEADER_SIZE && content.base <= file_size + GAP_MAX)
        keep_fragments(&content, file_size, &begin, &end);
    contents->size = end - begin;
    memmove(contents->data, content.data + begin, contents->size);
    return content.base + begin;
}
