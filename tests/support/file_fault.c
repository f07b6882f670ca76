/* A file system around another one, in which the n-th call fails. */
#include "tests/support/file_fault.h"

#include <errno.h>

#include "base/assert.h"
#include "base/file_forward.h"
#include "base/status.h"
#include "base/sync.h"
#include "tests/support/must_alloc.h"

struct bb_file_fault {
    struct bb_file_forward forward; /* the first member */
    struct bb_mutex mutex;          /* everything below */
    struct bb_file_fault_plan plan;
    bool is_armed;
    uint64_t counted; /* calls that the plan counts, since it was armed */
    uint64_t hits;
    uint64_t calls[BB_FILE_CALL_ANY];
    uint64_t writes_after_failure;
    size_t open_files;
    bool logs;
    struct bb_file_fault_record *log;
    size_t log_count;
    size_t log_capacity;
};

struct fault_file {
    struct bb_file base;
    struct bb_file_fault *fault;
    struct bb_file *inner;
    bool failed;
};

/* The fate of a call: normal when error_number is 0 and mode is ERROR. */
struct verdict {
    bool is_hit;
    enum bb_file_fault_mode mode;
    int error_number;
};

static struct bb_file_fault *fault_of(struct bb_file_system *fs)
{
    return (struct bb_file_fault *)fs; /* forward is the first member, and base its first */
}

static struct fault_file *fault_file_of(struct bb_file *file)
{
    return (struct fault_file *)file; /* base is the first member */
}

static bool plan_counts(const struct bb_file_fault_plan *plan, enum bb_file_call call,
                        const char *path)
{
    if (plan->path_part != NULL && strstr(path, plan->path_part) == NULL)
        return false;
    switch (plan->mode) {
    case BB_FILE_FAULT_SHORT_READ:
    case BB_FILE_FAULT_BIT_FLIP:
        return call == BB_FILE_CALL_READ_AT;
    case BB_FILE_FAULT_SHORT_WRITE:
        return call == BB_FILE_CALL_APPEND;
    case BB_FILE_FAULT_ERROR:
        break;
    }
    return plan->call == BB_FILE_CALL_ANY || plan->call == call;
}

static void add_record(struct bb_file_fault *fault, enum bb_file_call call, const char *path)
{
    fault->log =
        bb_must_grow(fault->log, fault->log_count, &fault->log_capacity, sizeof(*fault->log));
    fault->log[fault->log_count++] =
        (struct bb_file_fault_record){.call = call, .path = bb_must_strdup(path)};
}

/* Every call is checked here first. */
static struct verdict judge(struct bb_file_fault *fault, enum bb_file_call call, const char *path)
{
    struct verdict verdict = {0};
    bb_mutex_lock(&fault->mutex);
    const struct bb_file_fault_plan *plan = &fault->plan;
    fault->calls[call]++;
    if (fault->logs)
        add_record(fault, call, path);
    if (fault->is_armed && plan_counts(plan, call, path)) {
        fault->counted++;
        verdict.is_hit =
            fault->counted == plan->nth || (plan->lasting && fault->counted > plan->nth);
        verdict.mode = plan->mode;
        verdict.error_number = plan->error_number == 0 ? EIO : plan->error_number;
        fault->hits += verdict.is_hit;
    }
    bb_mutex_unlock(&fault->mutex);
    return verdict;
}

static enum bb_status fail_call(struct verdict verdict, enum bb_file_call call, const char *path)
{
    return bb_fail_errno(verdict.error_number, bb_file_call_name(call), path);
}

/* For the calls that have only one way to fail. */
static enum bb_status admit(struct bb_file_fault *fault, enum bb_file_call call, const char *path)
{
    struct verdict verdict = judge(fault, call, path);
    return verdict.is_hit ? fail_call(verdict, call, path) : BB_OK;
}

static void count_open_files(struct bb_file_fault *fault, bool opened)
{
    bb_mutex_lock(&fault->mutex);
    fault->open_files = opened ? fault->open_files + 1 : fault->open_files - 1;
    bb_mutex_unlock(&fault->mutex);
}

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    struct fault_file *file = fault_file_of(base);
    struct verdict verdict = judge(file->fault, BB_FILE_CALL_READ_AT, base->path);
    if (verdict.is_hit && verdict.mode == BB_FILE_FAULT_ERROR)
        return fail_call(verdict, BB_FILE_CALL_READ_AT, base->path);

    size_t got = 0;
    enum bb_status status = file->inner->ops->read_at(file->inner, offset, buffer, size, &got);
    if (status != BB_OK)
        return status;
    if (verdict.is_hit && verdict.mode == BB_FILE_FAULT_SHORT_READ)
        got /= 2;
    if (verdict.is_hit && verdict.mode == BB_FILE_FAULT_BIT_FLIP && got > 0)
        ((uint8_t *)buffer)[got / 2] ^= 0x10;
    *ret_size = got;
    return BB_OK;
}

/* Never: every read can then fail, and must be counted. */
static bool read_now(struct bb_file *base, uint64_t offset, void *buffer, size_t size)
{
    (void)base;
    (void)offset;
    (void)buffer;
    (void)size;
    return false;
}

static void will_need(struct bb_file *base, uint64_t offset, uint64_t size)
{
    bb_file_will_need(fault_file_of(base)->inner, offset, size);
}

static void forget(struct bb_file *base)
{
    bb_file_forget(fault_file_of(base)->inner);
}

static enum bb_status map_file(struct bb_file *base, uint64_t size, struct bb_file_map **ret_map)
{
    struct fault_file *file = fault_file_of(base);
    enum bb_status status = admit(file->fault, BB_FILE_CALL_MAP, base->path);
    return status == BB_OK ? bb_file_map_create(file->inner, size, ret_map) : status;
}

/* A file whose write failed is in an unknown state. The call is executed: the records
 * show the calls of the engine. */
static void note_write(struct fault_file *file)
{
    if (!file->failed)
        return;
    bb_mutex_lock(&file->fault->mutex);
    file->fault->writes_after_failure++;
    bb_mutex_unlock(&file->fault->mutex);
}

static enum bb_status append(struct bb_file *base, const void *data, size_t size)
{
    struct fault_file *file = fault_file_of(base);
    note_write(file);
    struct verdict verdict = judge(file->fault, BB_FILE_CALL_APPEND, base->path);
    enum bb_status status = BB_OK;
    if (!verdict.is_hit || verdict.mode == BB_FILE_FAULT_SHORT_WRITE)
        status = file->inner->ops->append(file->inner, data, verdict.is_hit ? size / 2 : size);
    if (verdict.is_hit && status == BB_OK)
        status = fail_call(verdict, BB_FILE_CALL_APPEND, base->path);
    file->failed = file->failed || status != BB_OK;
    return status;
}

static void write_back(struct bb_file *base)
{
    bb_file_write_back(fault_file_of(base)->inner);
}

static enum bb_status sync_file(struct bb_file *base)
{
    struct fault_file *file = fault_file_of(base);
    note_write(file);
    enum bb_status status = admit(file->fault, BB_FILE_CALL_SYNC, base->path);
    if (status == BB_OK)
        status = file->inner->ops->sync(file->inner);
    file->failed = file->failed || status != BB_OK;
    return status;
}

static enum bb_status size_of_file(struct bb_file *base, uint64_t *ret_size)
{
    struct fault_file *file = fault_file_of(base);
    enum bb_status status = admit(file->fault, BB_FILE_CALL_SIZE, base->path);
    return status == BB_OK ? file->inner->ops->size(file->inner, ret_size) : status;
}

static void file_destroy(struct fault_file *file)
{
    count_open_files(file->fault, false);
    free((char *)(uintptr_t)file->base.path);
    free(file);
}

static enum bb_status close_file(struct bb_file *base)
{
    struct fault_file *file = fault_file_of(base);
    struct verdict verdict = judge(file->fault, BB_FILE_CALL_CLOSE, base->path);
    enum bb_status status = file->inner->ops->close(file->inner);
    if (verdict.is_hit && status == BB_OK)
        status = fail_call(verdict, BB_FILE_CALL_CLOSE, base->path);
    file_destroy(file);
    return status;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .read_now = read_now,
    .will_need = will_need,
    .forget = forget,
    .map = map_file,
    .append = append,
    .write_back = write_back,
    .sync = sync_file,
    .size = size_of_file,
    .close = close_file,
};

static struct bb_file *wrap(struct bb_file_fault *fault, struct bb_file *inner)
{
    struct fault_file *file = bb_must_alloc_zeroed(sizeof(*file));
    file->base.ops = &file_ops;
    file->base.path = bb_must_strdup(inner->path);
    file->fault = fault;
    file->inner = inner;
    count_open_files(fault, true);
    return &file->base;
}

static enum bb_status open_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_file)
{
    struct bb_file_fault *fault = fault_of(fs);
    struct bb_file *inner = NULL;
    enum bb_status status = admit(fault, BB_FILE_CALL_OPEN, path);
    if (status == BB_OK)
        status = fault->forward.inner->ops->open(fault->forward.inner, path, &inner);
    if (status == BB_OK)
        *ret_file = wrap(fault, inner);
    return status;
}

static enum bb_status create_file(struct bb_file_system *fs, const char *path,
                                  struct bb_file **ret_file)
{
    struct bb_file_fault *fault = fault_of(fs);
    struct bb_file *inner = NULL;
    enum bb_status status = admit(fault, BB_FILE_CALL_CREATE, path);
    if (status == BB_OK)
        status = fault->forward.inner->ops->create(fault->forward.inner, path, &inner);
    if (status == BB_OK)
        *ret_file = wrap(fault, inner);
    return status;
}

static enum bb_status rename_file(struct bb_file_system *fs, const char *from, const char *to)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_RENAME, from);
    return status == BB_OK ? fault->forward.inner->ops->rename(fault->forward.inner, from, to)
                           : status;
}

static enum bb_status link_file(struct bb_file_system *fs, const char *from, const char *to)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_LINK, to);
    return status == BB_OK ? fault->forward.inner->ops->link(fault->forward.inner, from, to)
                           : status;
}

static enum bb_status remove_file(struct bb_file_system *fs, const char *path)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_REMOVE, path);
    return status == BB_OK ? fault->forward.inner->ops->remove(fault->forward.inner, path) : status;
}

static enum bb_status list_directory(struct bb_file_system *fs, const char *directory,
                                     struct bb_file_names *ret_list)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_LIST, directory);
    return status == BB_OK
               ? fault->forward.inner->ops->list(fault->forward.inner, directory, ret_list)
               : status;
}

static enum bb_status make_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_MAKE_DIRECTORY, path);
    return status == BB_OK ? fault->forward.inner->ops->make_directory(fault->forward.inner, path)
                           : status;
}

static enum bb_status remove_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_REMOVE_DIRECTORY, path);
    return status == BB_OK ? fault->forward.inner->ops->remove_directory(fault->forward.inner, path)
                           : status;
}

static enum bb_status sync_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_SYNC_DIRECTORY, path);
    return status == BB_OK ? fault->forward.inner->ops->sync_directory(fault->forward.inner, path)
                           : status;
}

static enum bb_status status_of(struct bb_file_system *fs, const char *path, bool *ret_is_directory,
                                uint64_t *ret_size)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_STATUS, path);
    return status == BB_OK ? fault->forward.inner->ops->status(fault->forward.inner, path,
                                                               ret_is_directory, ret_size)
                           : status;
}

static enum bb_status lock_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_lock)
{
    struct bb_file_fault *fault = fault_of(fs);
    struct bb_file *inner = NULL;
    enum bb_status status = admit(fault, BB_FILE_CALL_LOCK, path);
    if (status == BB_OK)
        status = fault->forward.inner->ops->lock(fault->forward.inner, path, &inner);
    if (status == BB_OK)
        *ret_lock = wrap(fault, inner);
    return status;
}

static enum bb_status lock_file_shared(struct bb_file_system *fs, const char *path,
                                       struct bb_file **ret_lock)
{
    struct bb_file_fault *fault = fault_of(fs);
    struct bb_file *inner = NULL;
    enum bb_status status = admit(fault, BB_FILE_CALL_LOCK_SHARED, path);
    if (status == BB_OK)
        status = fault->forward.inner->ops->lock_shared(fault->forward.inner, path, &inner);
    if (status == BB_OK)
        *ret_lock = wrap(fault, inner);
    return status;
}

static enum bb_status unlock_file(struct bb_file_system *fs, struct bb_file *lock)
{
    struct bb_file_fault *fault = fault_of(fs);
    struct fault_file *file = fault_file_of(lock);
    struct verdict verdict = judge(fault, BB_FILE_CALL_UNLOCK, lock->path);
    enum bb_status status = fault->forward.inner->ops->unlock(fault->forward.inner, file->inner);
    if (verdict.is_hit && status == BB_OK)
        status = fail_call(verdict, BB_FILE_CALL_UNLOCK, lock->path);
    file_destroy(file);
    return status;
}

static enum bb_status free_space(struct bb_file_system *fs, const char *path, uint64_t *ret_bytes)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_FREE_SPACE, path);
    return status == BB_OK
               ? fault->forward.inner->ops->free_space(fault->forward.inner, path, ret_bytes)
               : status;
}

static enum bb_status random_bytes(struct bb_file_system *fs, void *buffer, size_t size)
{
    struct bb_file_fault *fault = fault_of(fs);
    enum bb_status status = admit(fault, BB_FILE_CALL_RANDOM, "random");
    return status == BB_OK ? fault->forward.inner->ops->random(fault->forward.inner, buffer, size)
                           : status;
}

/* The clock and the counters do not fail. */
static void set_calls(struct bb_file_system_ops *ops)
{
    ops->open = open_file;
    ops->create = create_file;
    ops->rename = rename_file;
    ops->link = link_file;
    ops->remove = remove_file;
    ops->list = list_directory;
    ops->make_directory = make_directory;
    ops->remove_directory = remove_directory;
    ops->sync_directory = sync_directory;
    ops->status = status_of;
    ops->lock = lock_file;
    ops->lock_shared = lock_file_shared;
    ops->unlock = unlock_file;
    ops->free_space = free_space;
    ops->random = random_bytes;
}

struct bb_file_fault *bb_file_fault_create(struct bb_file_system *inner)
{
    struct bb_file_fault *fault = bb_must_alloc_zeroed(sizeof(*fault));
    bb_file_forward_init(&fault->forward, inner);
    set_calls(&fault->forward.ops);
    bb_mutex_init(&fault->mutex);
    return fault;
}

void bb_file_fault_destroy(struct bb_file_fault *fault)
{
    BB_ASSERT(fault->open_files == 0);
    bb_file_fault_log_clear(fault);
    free(fault->log);
    bb_mutex_deinit(&fault->mutex);
    free(fault);
}

struct bb_file_system *bb_file_fault_system(struct bb_file_fault *fault)
{
    return &fault->forward.base;
}

void bb_file_fault_arm(struct bb_file_fault *fault, const struct bb_file_fault_plan *plan)
{
    bb_mutex_lock(&fault->mutex);
    fault->plan = *plan;
    fault->is_armed = true;
    fault->counted = 0;
    fault->hits = 0;
    bb_mutex_unlock(&fault->mutex);
}

void bb_file_fault_disarm(struct bb_file_fault *fault)
{
    bb_mutex_lock(&fault->mutex);
    fault->is_armed = false;
    bb_mutex_unlock(&fault->mutex);
}

uint64_t bb_file_fault_hits(struct bb_file_fault *fault)
{
    bb_mutex_lock(&fault->mutex);
    uint64_t hits = fault->hits;
    bb_mutex_unlock(&fault->mutex);
    return hits;
}

uint64_t bb_file_fault_calls(struct bb_file_fault *fault, enum bb_file_call call)
{
    uint64_t calls = 0;
    bb_mutex_lock(&fault->mutex);
    for (size_t i = 0; i < BB_FILE_CALL_ANY; i++) {
        if (call == BB_FILE_CALL_ANY || (size_t)call == i)
            calls += fault->calls[i];
    }
    bb_mutex_unlock(&fault->mutex);
    return calls;
}

uint64_t bb_file_fault_writes_after_failure(struct bb_file_fault *fault)
{
    bb_mutex_lock(&fault->mutex);
    uint64_t writes = fault->writes_after_failure;
    bb_mutex_unlock(&fault->mutex);
    return writes;
}

const struct bb_file_fault_record *bb_file_fault_log(struct bb_file_fault *fault, size_t *ret_count)
{
    bb_mutex_lock(&fault->mutex);
    *ret_count = fault->log_count;
    const struct bb_file_fault_record *log = fault->log;
    bb_mutex_unlock(&fault->mutex);
    return log;
}

void bb_file_fault_log_clear(struct bb_file_fault *fault)
{
    bb_mutex_lock(&fault->mutex);
    for (size_t i = 0; i < fault->log_count; i++)
        free((char *)(uintptr_t)fault->log[i].path);
    fault->log_count = 0;
    bb_mutex_unlock(&fault->mutex);
}

void bb_file_fault_log_enable(struct bb_file_fault *fault, bool enabled)
{
    bb_mutex_lock(&fault->mutex);
    fault->logs = enabled;
    bb_mutex_unlock(&fault->mutex);
}
