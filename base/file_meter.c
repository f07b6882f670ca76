/* See file_meter.h. */
#include "base/file_meter.h"

#define SECOND 1e9

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

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    const struct bb_file_forwarded *file = (struct bb_file_forwarded *)base;
    enum bb_status status = bb_file_read_at(file->inner, offset, buffer, size, ret_size);
    /* forward is the meter's first member, and base its first */
    return status == BB_OK ? end_read((struct bb_file_meter *)file->fs, *ret_size) : status;
}

void bb_file_meter_wrap(struct bb_file_meter *meter, struct bb_file_system *fs)
{
    bb_file_forward_init(&meter->forward, fs);
    meter->forward.ops.open = bb_file_forward_open;
    meter->forward.file_ops.read_at = read_at;
    /* Every read is counted. */
    meter->forward.file_ops.read_now = NULL;
    meter->forward.file_ops.will_need = NULL;
}

void bb_file_meter_init(struct bb_file_meter *meter, struct bb_file_system *fs,
                        enum bb_status (*pause)(void *context, uint64_t nanoseconds), void *context)
{
    *meter = (struct bb_file_meter){.pause = pause, .context = context};
    bb_file_meter_wrap(meter, fs);
}
