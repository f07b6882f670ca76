/* Filter files on disk (bb/filter.h): saved and loaded as a whole. */
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "bb/filter.h"

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

static enum bb_status read_and_decode(struct bb_file_system *fs, const char *path,
                                      struct bb_buf *contents, struct bb_filter_file *ret_file)
{
    enum bb_status status = bb_file_read_whole(fs, path, CONTENTS_SIZE_MAX, contents);
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
