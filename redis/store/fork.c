/* See fork.h. */
#include "redis/store/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bb/db_files.h"
#include "redis/store/saved.h"
#include "redis/store/thread.h"
#include "redis/store/unsynced.h"

/* One store in one save. */
struct entry {
    struct bb_redis_store *store; /* with a reference */
    struct bb_redis_id state;
    struct bb_checkpoint *checkpoint; /* NULL: the directory exists already */
    bool is_held;                     /* that directory: bb_redis_saved_hold */
    bool has_failed;                  /* set by the thread, read after it has ended */
};

/* Memory that parent and child share: the child's notes. */
struct notes {
    _Atomic bool writes_aof;
    _Atomic bool is_complete;
};

/* One save. */
struct save {
    struct bb_redis_job job; /* must be first */
    struct entry *entries;
    size_t count;
    size_t capacity;
    size_t reported; /* in the child: entries whose report has arrived */
    int read_end;
    int write_end;
    struct notes *notes;
    _Atomic bool is_written; /* by the thread */
    bool is_rdb_file;        /* if the child writes an RDB: not over a socket */
    bool has_child_ended;
    unsigned kind; /* of the complete file, or 0 */
    struct save *next;
};

/* The thread's message to the child about one entry. */
struct report {
    uint32_t index;
    uint32_t is_written;
};

static struct RedisModuleCtx *log_ctx;
static struct save *saves;   /* that are not over, newest first */
static struct save *forking; /* from before fork until the child's event; in the child: its own */
static bool is_child;
static int pipe_error; /* the latest failure to connect a child; 0: none */

/* Counters of the server. CONFIG RESETSTAT sets them to 0. */
struct counters {
    unsigned long long forks;
    unsigned long long rdb_saves; /* RDB files begun; a full sync over a socket is not counted */
};

static struct counters seen; /* when they were last read */

bool bb_redis_fork_is_child(void)
{
    return is_child;
}

/* ---- before fork ---- */

static bool is_unchanged(const struct bb_redis_store *store)
{
    return store->state_version == store->version && bb_redis_saved_is_kept(&store->state);
}

static struct entry *add_entry(struct save *save)
{
    if (save->count == save->capacity) {
        save->capacity = save->capacity * 2 + 8;
        save->entries =
            RedisModule_Realloc(save->entries, save->capacity * sizeof(save->entries[0]));
    }
    struct entry *entry = &save->entries[save->count++];
    memset(entry, 0, sizeof(*entry));
    return entry;
}

static void hold_store(void *context, struct bb_redis_store *store)
{
    if (store->db == NULL)
        return;
    struct entry *entry = add_entry(context);
    entry->store = bb_redis_store_ref(store);
    if (is_unchanged(store)) {
        entry->state = store->state;
        entry->is_held = true;
        bb_redis_saved_hold(&entry->state);
        return;
    }
    entry->has_failed = bb_redis_root_new_id(&entry->state) != BB_OK ||
                        bb_checkpoint_create(store->db, &entry->checkpoint) != BB_OK;
    if (entry->has_failed)
        return;
    store->state = entry->state;
    store->state_version = store->version;
    store->is_named_by_rdb = false;
}

/* A state whose directory does not exist, or will be removed, is forgotten. */
static void forget_states(const struct save *save)
{
    for (size_t i = 0; i < save->count; i++) {
        struct entry *entry = &save->entries[i];
        if ((entry->has_failed || !bb_redis_saved_is_kept(&entry->state)) &&
            bb_redis_id_equals(&entry->store->state, &entry->state))
            memset(&entry->store->state, 0, sizeof(entry->store->state));
    }
}

/* Releases the holds; then removes directories that no file and no child needs. */
static void let_go(const struct save *save)
{
    for (size_t i = 0; i < save->count; i++) {
        if (save->entries[i].is_held)
            bb_redis_saved_release(&save->entries[i].state);
    }
    bb_redis_saved_end();
    forget_states(save);
}

/* Releases the save and everything that it holds. */
static void release(struct save *save)
{
    let_go(save);
    for (size_t i = 0; i < save->count; i++) {
        bb_checkpoint_destroy(save->entries[i].checkpoint);
        bb_redis_store_unref(save->entries[i].store);
    }
    if (save->notes != NULL)
        (void)munmap(save->notes, sizeof(*save->notes));
    if (save->read_end >= 0)
        (void)close(save->read_end);
    if (save->write_end >= 0)
        (void)close(save->write_end);
    RedisModule_Free(save->entries);
    RedisModule_Free(save);
}

/* A failure is reported by the child. */
static bool connect_child(struct save *save)
{
    int ends[2];
    void *notes =
        mmap(NULL, sizeof(struct notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool is_mapped = notes != MAP_FAILED;
    if (is_mapped)
        save->notes = notes;
    if (!is_mapped || pipe2(ends, O_CLOEXEC) != 0) {
        pipe_error = errno;
        return false;
    }
    save->read_end = ends[0];
    save->write_end = ends[1];
    return true;
}

/* Releases a save without a child: the fork failed, or the child is not one of the server's. */
static void forget_fork(void)
{
    if (forking != NULL)
        release(forking);
    forking = NULL;
}

/* A child of another thread saves nothing. */
static void before_fork(void)
{
    if (is_child || !bb_redis_thread_is_server())
        return;
    forget_fork();
    struct save *save = RedisModule_Alloc(sizeof(*save));
    memset(save, 0, sizeof(*save));
    save->read_end = -1;
    save->write_end = -1;
    bb_redis_stores_visit(hold_store, save);
    /* A save without stores ends the use of earlier directories. */
    bool is_needed = save->count > 0 || bb_redis_saved_is_any();
    if (is_needed && connect_child(save))
        forking = save;
    else
        release(save);
}

/* ---- the parent ---- */

static bool send_all(int end, const void *data, size_t size)
{
    const uint8_t *position = data;
    while (size > 0) {
        ssize_t put = write(end, position, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        position += put;
        size -= (size_t)put;
    }
    return true;
}

static void tell_child(const struct save *save, size_t index)
{
    const struct report report = {(uint32_t)index, !save->entries[index].has_failed};
    /* A child that has ended reads nothing; SIGPIPE is ignored by the server. */
    (void)send_all(save->write_end, &report, sizeof(report));
}

static void write_entry(struct entry *entry)
{
    struct bb_redis_path path = bb_redis_root_saved(&entry->state);
    if (entry->checkpoint == NULL)
        return;
    enum bb_status status = bb_checkpoint_write(entry->checkpoint, path.text);
    if (status == BB_OK)
        status = bb_redis_unsynced_settle(path.text);
    entry->has_failed = status != BB_OK;
    if (entry->has_failed)
        RedisModule_Log(NULL, "warning", "bloomblock: a store cannot be saved: %s",
                        bb_error_last()->message);
    bb_checkpoint_destroy(entry->checkpoint);
    entry->checkpoint = NULL;
}

static void collect(void *context);

static void write_entries(struct bb_redis_job *job)
{
    struct save *save = (struct save *)job;
    for (size_t i = 0; i < save->count; i++) {
        write_entry(&save->entries[i]);
        tell_child(save, i);
    }
    (void)close(save->write_end);
    save->write_end = -1;
    atomic_store(&save->is_written, true);
    (void)RedisModule_EventLoopAddOneShot(collect, NULL);
}

static unsigned long long read_counter(const char *section, const char *name)
{
    int failed = 0;
    struct RedisModuleServerInfoData *info = RedisModule_GetServerInfo(NULL, section);
    unsigned long long count = RedisModule_ServerInfoGetFieldUnsigned(info, name, &failed);
    RedisModule_FreeServerInfo(NULL, info);
    return failed ? 0 : count;
}

static struct counters read_counters(void)
{
    struct counters counters = {read_counter("stats", "total_forks"),
                                read_counter("persistence", "rdb_saves")};
    return counters;
}

void bb_redis_fork_note_save(void)
{
    seen = read_counters();
}

/* Runs after the fork. If it made a child, the child's event came before this, and has reset
 * `forking`. */
static void settle(void *context)
{
    (void)context;
    forget_fork();
    seen = read_counters();
}

static void after_fork_in_parent(void)
{
    if (!bb_redis_thread_is_server())
        return;
    if (forking != NULL) {
        (void)close(forking->read_end);
        forking->read_end = -1;
    }
    (void)RedisModule_EventLoopAddOneShot(settle, NULL);
}

/* The server counts an RDB file before it forks, so the counter shows whether the child writes one.
 * The counters were read after every earlier fork, so other than one more fork means that they
 * began again at 0. */
static bool begins_rdb_file(void)
{
    struct counters now = read_counters();
    bool were_reset = now.forks != seen.forks + 1 || now.rdb_saves < seen.rdb_saves;
    bool is_rdb_file = now.rdb_saves > (were_reset ? 0 : seen.rdb_saves);
    seen = now;
    return is_rdb_file;
}

static void begin_save(struct RedisModuleCtx *ctx)
{
    bool is_rdb_file = begins_rdb_file();
    /* Without this flag it is the child of a debugger, and there will be no event of its end. */
    if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_ACTIVE_CHILD) == 0)
        forget_fork();
    if (forking == NULL)
        return;
    forking->is_rdb_file = is_rdb_file;
    forking->job.run = write_entries;
    forking->next = saves;
    saves = forking;
    forking = NULL;
    bb_redis_pool_add_apart(&saves->job);
}

static void keep(const struct save *save)
{
    for (size_t i = 0; i < save->count; i++) {
        if (!save->entries[i].has_failed)
            bb_redis_saved_keep(&save->entries[i].state, save->kind);
    }
}

static void end_save(struct save *save)
{
    if (save->kind != 0)
        bb_redis_saved_begin(save->kind);
    keep(save);
    release(save);
}

/* Ends the saves whose child and thread have ended. */
static void collect(void *context)
{
    (void)context;
    struct save **link = &saves;
    while (*link != NULL) {
        struct save *save = *link;
        if (!save->has_child_ended || !atomic_load(&save->is_written)) {
            link = &save->next;
            continue;
        }
        *link = save->next;
        end_save(save);
    }
}

/* ---- the child ---- */

static void after_fork_in_child(void)
{
    is_child = true;
    if (!bb_redis_thread_is_server())
        forking = NULL;
    if (forking == NULL)
        return;
    (void)close(forking->write_end);
    forking->write_end = -1;
    forking->reported = 0;
}

void bb_redis_fork_fail(const char *message)
{
    RedisModule_Log(log_ctx, "warning", "bloomblock: the save fails: %s", message);
    _exit(1);
}

/* False at the end of the pipe too. */
static bool receive_all(int end, void *buffer, size_t size)
{
    uint8_t *position = buffer;
    while (size > 0) {
        ssize_t got = read(end, position, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        position += got;
        size -= (size_t)got;
    }
    return true;
}

/* Reads reports until the entry's has arrived. The thread sends them in order, so that all earlier
 * entries have been written too. */
static void await_report(struct save *save, size_t index)
{
    struct report report = {0};
    while (!save->entries[index].has_failed && save->reported <= index) {
        if (!receive_all(save->read_end, &report, sizeof(report)))
            bb_redis_fork_fail("the server has ended");
        save->entries[report.index].has_failed = !report.is_written;
        save->reported = (size_t)report.index + 1;
    }
}

static void fail_without_pipe(void)
{
    char message[128];
    snprintf(message, sizeof(message), "there is no pipe to the server: %s", strerror(pipe_error));
    bb_redis_fork_fail(message);
}

struct bb_redis_path bb_redis_fork_await(const struct bb_redis_store *store,
                                         struct bb_redis_id *ret_state)
{
    size_t i = 0;
    struct save *save = forking;
    while (save != NULL && i < save->count && save->entries[i].store != store)
        i++;
    if (save == NULL && pipe_error != 0)
        fail_without_pipe();
    if (save == NULL || i == save->count)
        bb_redis_fork_fail("a store was not announced before the fork");
    await_report(save, i);
    if (save->entries[i].has_failed)
        bb_redis_fork_fail("a store has no directory; the server's log has the reason");
    *ret_state = save->entries[i].state;
    return bb_redis_root_saved(&save->entries[i].state);
}

void bb_redis_fork_note(uint64_t part)
{
    if (forking == NULL)
        return;
    if (part == REDISMODULE_SUBEVENT_PERSISTENCE_AOF_START)
        atomic_store(&forking->notes->writes_aof, true);
    if (part == REDISMODULE_SUBEVENT_PERSISTENCE_ENDED)
        atomic_store(&forking->notes->is_complete, true);
}

/* ---- the child's end ---- */

/* The kind of the file that the child has completed; 0: none. */
static unsigned kind_of(const struct save *save)
{
    if (!atomic_load(&save->notes->is_complete))
        return 0;
    if (atomic_load(&save->notes->writes_aof))
        return BB_REDIS_SAVED_BY_AOF;
    return save->is_rdb_file ? BB_REDIS_SAVED_BY_RDB : 0;
}

/* Ends all saves: the server has at most one such child at a time, so the child of each has
 * ended. */
static void end_child(void)
{
    for (struct save *save = saves; save != NULL; save = save->next) {
        if (save->has_child_ended)
            continue;
        save->has_child_ended = true;
        save->kind = kind_of(save);
    }
    collect(NULL);
}

static void on_child(struct RedisModuleCtx *ctx, struct RedisModuleEvent event, uint64_t part,
                     void *data)
{
    (void)event;
    (void)data;
    if (part == REDISMODULE_SUBEVENT_FORK_CHILD_BORN)
        begin_save(ctx);
    if (part == REDISMODULE_SUBEVENT_FORK_CHILD_DIED)
        end_child();
}

bool bb_redis_fork_init(struct RedisModuleCtx *ctx)
{
    const struct RedisModuleEvent child = {REDISMODULE_EVENT_FORK_CHILD, 1};
    bb_redis_thread_note_server();
    log_ctx = RedisModule_GetDetachedThreadSafeContext(ctx);
    return pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0 &&
           RedisModule_SubscribeToServerEvent(ctx, child, on_child) == REDISMODULE_OK;
}
