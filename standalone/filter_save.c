/* Filter files on disk (bb/filter.h): saved and loaded as a whole. */
#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "bb/filter.h"
#include "standalone/filter_file.h"

/* The largest filter has 2^32 keys of about 35 bits, and counters of 4 times that; the header is
 * small. */
#define CONTENTS_SIZE_MAX (UINT64_C(1) << 38)

enum bb_status bb_filter_file_save(struct bb_file_system *file_system, const char *path,
                                   const struct bb_filter_file *file)
{
    struct bb_file_system *own = NULL, *fs = NULL;
    struct bb_buf contents = {0};
    enum bb_status status = bb_path_check_file(path, "a filter file");
    if (status == BB_OK)
        status = bb_filter_file_encode(file, &contents);
    if (status == BB_OK)
        status = bb_file_system_posix_default(file_system, &own, &fs);
    if (status == BB_OK)
        status = bb_file_replace(fs, path, bb_buf_bytes(&contents));
    bb_file_system_posix_destroy(own);
    bb_buf_deinit(&contents);
    return status;
}

/* The header shows whether the file has its size. So no memory is allocated for a file that damage
 * made longer. */
static enum bb_status check_beginning(struct bb_file *file)
{
    uint8_t data[BB_FILTER_FILE_HEADER_SIZE];
    uint64_t file_size = 0;
    enum bb_status status = bb_file_size(file, &file_size);
    size_t size = file_size < sizeof(data) ? (size_t)file_size : sizeof(data);
    if (status == BB_OK)
        status = bb_file_read_exactly(file, 0, data, size);
    if (status != BB_OK)
        return status;
    status = bb_filter_file_check_beginning(bb_bytes_of(data, size), file_size);
    return status == BB_OK ? BB_OK : bb_fail_context(status, "%s", file->path);
}

static enum bb_status read_and_decode(struct bb_file_system *fs, const char *path,
                                      struct bb_buf *contents, struct bb_filter_file *ret_file)
{
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_open(fs, path, &file);
    if (status == BB_OK)
        status = bb_file_close_after(file, check_beginning(file));
    if (status == BB_OK)
        status = bb_file_read_whole(fs, path, CONTENTS_SIZE_MAX, contents);
    if (status != BB_OK)
        return status;
    status = bb_filter_file_decode(bb_buf_bytes(contents), ret_file);
    return status == BB_OK ? BB_OK : bb_fail_context(status, "%s", path);
}

enum bb_status bb_filter_file_load(struct bb_file_system *file_system, const char *path,
                                   struct bb_buf *contents, struct bb_filter_file *ret_file)
{
    struct bb_file_system *own = NULL, *fs = NULL;
    struct bb_buf read = {0};
    enum bb_status status = bb_path_check_file(path, "a filter file");
    if (status == BB_OK)
        status = bb_file_system_posix_default(file_system, &own, &fs);
    if (status == BB_OK)
        status = read_and_decode(fs, path, &read, ret_file);
    bb_file_system_posix_destroy(own);
    if (status == BB_OK) {
        bb_buf_deinit(contents);
        *contents = read;
        read = (struct bb_buf){0};
    }
    bb_buf_deinit(&read);
    return status;
}
