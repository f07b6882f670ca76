/* See file_meter.h. */
#include "base/file_meter.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"

#define SECOND 1e9

struct metered_file {
    struct bb_file base;
    struct bb_file *inner; /* owned */
    struct bb_file_meter *meter;
};

static struct metered_file *file_of(struct bb_file *file)
{
    return (struct metered_file *)file;
}

/* ---- slices ---- */

static uint64_t time_of(const struct bb_file_meter *meter, uint64_t bytes)
{
    return meter->bytes_per_second == 0
               ? 0
               : (uint64_t)((double)bytes * SECOND / (double)meter->bytes_per_second);
}

/* Idle time is not saved up. A clock that goes back does not extend a pause. */
static void charge(struct bb_file_meter *meter, uint64_t bytes)
{
    struct bb_file_system *fs = meter->forward.inner;
    uint64_t now = fs->ops->now(fs);
    uint64_t passed = now > meter->seen ? now - meter->seen : 0;
    meter->owed -= passed < meter->owed ? passed : meter->owed;
    meter->owed += time_of(meter, bytes);
    meter->seen = now;
    meter->read_bytes += bytes;
    meter->slice_bytes += bytes;
}

enum bb_status bb_file_meter_end_slice(struct bb_file_meter *meter)
{
    charge(meter, 0);
    meter->slice_bytes = 0;
    return meter->pause(meter->context, meter->owed);
}

static enum bb_status end_read(struct bb_file_meter *meter, uint64_t bytes)
{
    charge(meter, bytes);
    return meter->slice_bytes < BB_FILE_METER_SLICE ? BB_OK : bb_file_meter_end_slice(meter);
}

/* ---- files ---- */

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    struct metered_file *file = file_of(base);
    enum bb_status status = bb_file_read_at(file->inner, offset, buffer, size, ret_size);
    return status == BB_OK ? end_read(file->meter, *ret_size) : status;
}

static enum bb_status size_of_file(struct bb_file *base, uint64_t *ret_size)
{
    return bb_file_size(file_of(base)->inner, ret_size);
}

static enum bb_status close_file(struct bb_file *base)
{
    struct metered_file *file = file_of(base);
    enum bb_status status = bb_file_close(file->inner);
    bb_free(file);
    return status;
}

/* Files are only read. */
static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .size = size_of_file,
    .close = close_file,
};

static enum bb_status open_for_reading(struct bb_file_system *fs, const char *path,
                                       struct bb_file **ret_file)
{
    struct metered_file *file = bb_alloc_zeroed(1, sizeof(*file));
    if (file == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to open it", path);
    enum bb_status status = bb_file_open(bb_file_forward_inner(fs), path, &file->inner);
    if (status != BB_OK) {
        bb_free(file);
        return status;
    }
    file->meter = (struct bb_file_meter *)fs; /* forward is the first member, and base its first */
    file->base = (struct bb_file){.ops = &file_ops, .path = file->inner->path};
    *ret_file = &file->base;
    return BB_OK;
}

void bb_file_meter_init(struct bb_file_meter *meter, struct bb_file_system *fs,
                        enum bb_status (*pause)(void *context, uint64_t nanoseconds), void *context)
{
    *meter = (struct bb_file_meter){.pause = pause, .context = context};
    bb_file_forward_init(&meter->forward, fs);
    meter->forward.ops.open = open_for_reading;
}
