/* See root.h. */
#include "redis/store/root.h"

#include <stdio.h>
#include <string.h>

#include "bb/db_files.h"
#include "bb/file.h"
#include "redis/server/redis_module.h"
#include "redis/store/pool.h"

#define MARK   "BLOOMBLOCK"
#define LOCK   "LOCK"
#define SAVED  ".saved"
#define DIGITS (BB_REDIS_ID_SIZE * 2)
/* Of the name of the directory, with all that is appended to it. */
#define ROOT_MAX (BB_REDIS_PATH_SIZE_MAX - 256)

static char directory[ROOT_MAX];
static struct bb_file_system *system_files;
static struct bb_file *lock_file;
static struct bb_file_names earlier; /* found by the opening */

bool bb_redis_root_init(const char *working, const char *given)
{
    const char *parent = given == NULL ? "" : given;
    bool is_absolute = parent[0] == '/';
    const char *slash = is_absolute || given == NULL ? "" : "/";
    int size = snprintf(directory, sizeof(directory), "%s%s%s/bb", is_absolute ? "" : working,
                        slash, parent);
    return size > 0 && (size_t)size < sizeof(directory) &&
           bb_file_system_posix_create(&system_files) == BB_OK;
}

struct bb_redis_path bb_redis_root_join(const char *parent, const char *name)
{
    struct bb_redis_path path;
    snprintf(path.text, sizeof(path.text), "%.*s/%.250s", ROOT_MAX, parent, name);
    return path;
}

static struct bb_redis_path path_of(const char *name)
{
    return bb_redis_root_join(directory, name);
}

enum bb_status bb_redis_root_list(const char *path, struct bb_file_names *ret_names)
{
    return system_files->ops->list(system_files, path, ret_names);
}

/* ---- ids ---- */

bool bb_redis_id_is_none(const struct bb_redis_id *id)
{
    static const struct bb_redis_id none;
    return bb_redis_id_equals(id, &none);
}

bool bb_redis_id_equals(const struct bb_redis_id *a, const struct bb_redis_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

enum bb_status bb_redis_root_new_id(struct bb_redis_id *ret_id)
{
    return system_files->ops->random(system_files, ret_id->bytes, sizeof(ret_id->bytes));
}

struct name {
    char text[DIGITS + sizeof(SAVED)];
};

static struct name name_of(const struct bb_redis_id *id, const char *end)
{
    struct name name;
    for (size_t i = 0; i < sizeof(id->bytes); i++)
        snprintf(name.text + 2 * i, 3, "%02x", id->bytes[i]);
    snprintf(name.text + DIGITS, sizeof(name.text) - DIGITS, "%s", end);
    return name;
}

/* True if the name is 32 hexadecimal digits, perhaps followed by ".saved". */
static bool parse_name(const char *text, struct bb_redis_id *ret_id)
{
    if (strspn(text, "0123456789abcdef") != DIGITS ||
        (text[DIGITS] != '\0' && strcmp(text + DIGITS, SAVED) != 0))
        return false;
    for (size_t i = 0; i < sizeof(ret_id->bytes); i++) {
        unsigned value = 0;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            return false;
        ret_id->bytes[i] = (uint8_t)value;
    }
    return true;
}

struct bb_redis_path bb_redis_root_store(const struct bb_redis_id *id)
{
    return path_of(name_of(id, "").text);
}

struct bb_redis_path bb_redis_root_saved(const struct bb_redis_id *state)
{
    return path_of(name_of(state, SAVED).text);
}

/* ---- opening ---- */

static enum bb_status create_mark(void)
{
    static const char text[] = "Stores of a Redis server with the bloomblock module.\n";
    struct bb_redis_path path = path_of(MARK);
    struct bb_file *file = NULL;
    enum bb_status status = system_files->ops->create(system_files, path.text, &file);
    if (status != BB_OK)
        return status;
    status = file->ops->append(file, text, sizeof(text) - 1);
    enum bb_status closed = file->ops->close(file);
    return status == BB_OK ? closed : status;
}

static bool has_mark(void)
{
    for (size_t i = 0; i < earlier.count; i++) {
        if (strcmp(earlier.names[i], MARK) == 0)
            return true;
    }
    return false;
}

static enum bb_status refuse_foreign(void)
{
    char message[ROOT_MAX + 128];
    snprintf(message, sizeof(message),
             "%.3800s holds files of another program and no file %s: give the module another "
             "directory (loadmodule ... DIR path)",
             directory, MARK);
    return bb_error_set(BB_INVALID, message);
}

/* Creates the directory, or checks that it is ours. */
static enum bb_status adopt(void)
{
    enum bb_status status = system_files->ops->make_directory(system_files, directory);
    if (status != BB_OK && status != BB_EXISTS)
        return status;
    bb_file_names_deinit(&earlier);
    earlier = (struct bb_file_names){0};
    status = system_files->ops->list(system_files, directory, &earlier);
    if (status != BB_OK || has_mark())
        return status;
    return earlier.count == 0 ? create_mark() : refuse_foreign();
}

enum bb_status bb_redis_root_open(void)
{
    if (lock_file != NULL)
        return BB_OK;
    enum bb_status status = adopt();
    struct bb_redis_path path = path_of(LOCK);
    if (status == BB_OK)
        status = system_files->ops->lock(system_files, path.text, &lock_file);
    return status;
}

void bb_redis_root_close(void)
{
    if (lock_file != NULL)
        (void)!system_files->ops->unlock(system_files, lock_file);
    lock_file = NULL;
}

/* ---- directories of stores ---- */

static bool find(const struct bb_redis_path *path, bool *ret_is_directory)
{
    uint64_t size = 0;
    return system_files->ops->status(system_files, path->text, ret_is_directory, &size) == BB_OK;
}

bool bb_redis_root_exists(const struct bb_redis_path *path)
{
    bool is_directory = false;
    return find(path, &is_directory) && is_directory;
}

enum bb_status bb_redis_root_rename(const struct bb_redis_path *from,
                                    const struct bb_redis_path *to)
{
    return system_files->ops->rename(system_files, from->text, to->text);
}

struct removal {
    struct bb_redis_job job; /* must be first */
    struct bb_redis_path path;
};

/* A directory that could not be removed stays until the next start of the server. */
static void remove_now(struct bb_redis_job *job)
{
    struct removal *removal = (struct removal *)job;
    (void)!bb_db_destroy(removal->path.text, NULL, NULL);
    RedisModule_Free(removal);
}

void bb_redis_root_remove(const struct bb_redis_path *path)
{
    struct removal *removal = RedisModule_Alloc(sizeof(*removal));
    *removal = (struct removal){.job.run = remove_now, .path = *path};
    bb_redis_pool_add(&removal->job);
}

enum bb_status bb_redis_root_clean(bool (*is_in_use)(const struct bb_redis_id *id))
{
    struct bb_redis_id id;
    const struct bb_redis_path mark = path_of(MARK);
    bool is_directory = false;
    enum bb_status status = find(&mark, &is_directory) ? bb_redis_root_open() : BB_OK;
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < earlier.count; i++) {
        if (!parse_name(earlier.names[i], &id) || is_in_use(&id))
            continue;
        struct bb_redis_path path = path_of(earlier.names[i]);
        bb_redis_root_remove(&path);
    }
    bb_file_names_deinit(&earlier);
    earlier = (struct bb_file_names){0};
    return BB_OK;
}
