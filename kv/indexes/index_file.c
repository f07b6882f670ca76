/* See index_file.h. */
#include "kv/indexes/index_file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/manifest/filename.h"
#include "skip/file/skip_file.h"
#include "skip/member/spec.h"

struct index_file {
    struct bb_companion base; /* must be first */
    struct bb_db *db;         /* borrowed: a store outlives its tables */
    uint8_t table_id[16];
    struct bb_mutex mutex;
    struct bb_skip_file *file; /* guarded by mutex; NULL: not open */
    struct bb_error failure;   /* guarded by mutex; from the failed opening */
    _Atomic bool is_tried;     /* opening succeeded, or failed permanently: a hint */
    _Atomic bool is_announced;
    struct bb_known_rows *known; /* guarded by mutex; one reference; NULL: no count needed one */
};

/* The announced end of an index file. Footer, directory, granule table and heads are there, some
 * 20 KiB for a table of 1,000 granules. */
#define ANNOUNCED_SIZE (UINT64_C(64) * 1024)

static struct index_file *index_file_of(struct bb_companion *companion)
{
    return (struct index_file *)companion;
}

static void destroy(struct bb_companion *companion)
{
    struct index_file *index = index_file_of(companion);
    bb_skip_file_close(index->file);
    if (atomic_load(&companion->is_obsolete))
        bb_filename_remove(index->db->system, index->db->directory, BB_FILE_INDEX,
                           companion->number);
    bb_mutex_deinit(&index->mutex);
    bb_known_rows_unref(index->known);
    bb_free(index);
}

enum bb_status bb_index_file_create(struct bb_db *db, uint64_t number, const uint8_t table_id[16],
                                    struct bb_companion **ret_file)
{
    struct index_file *index = bb_alloc_zeroed(1, sizeof(*index));
    if (index == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an index file");
    bb_companion_init(&index->base, number, destroy);
    bb_mutex_init(&index->mutex);
    index->db = db;
    memcpy(index->table_id, table_id, sizeof(index->table_id));
    *ret_file = &index->base;
    return BB_OK;
}

static enum bb_status announce_end(const struct index_file *index)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_file *file = NULL;
    uint64_t size = 0;
    bb_filename_path(index->db->directory, BB_FILE_INDEX, index->base.number, path);
    enum bb_status status = bb_file_open(index->db->files, path, &file);
    if (status == BB_OK)
        status = bb_file_size(file, &size);
    if (status == BB_OK) {
        uint64_t end = size < ANNOUNCED_SIZE ? size : ANNOUNCED_SIZE;
        bb_file_will_need(file, size - end, end);
    }
    return bb_file_close_after(file, status);
}

bool bb_index_file_is_tried(struct bb_companion *companion)
{
    return atomic_load_explicit(&index_file_of(companion)->is_tried, memory_order_relaxed);
}

void bb_index_file_announce(struct bb_companion *companion)
{
    struct index_file *index = index_file_of(companion);
    bool is_done = bb_index_file_is_tried(companion) || atomic_exchange(&index->is_announced, true);
    if (!is_done)
        (void)announce_end(index); /* the opening that follows reports a failure */
}

enum bb_status bb_index_file_open_path(const char *path, const struct bb_skip_file_options *options,
                                       struct bb_skip_file **ret_file)
{
    enum bb_status status = bb_skip_file_open(path, options, ret_file);
    if (status != BB_INVALID)
        return status;
    struct bb_error failure = *bb_error_last();
    return bb_fail(BB_CORRUPT, "%s", failure.message);
}

static enum bb_status open_first(struct index_file *index)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_skip_file_options options = {.file_system = index->db->files, .id = index->table_id};
    bb_filename_path(index->db->directory, BB_FILE_INDEX, index->base.number, path);
    enum bb_status status = bb_index_file_open_path(path, &options, &index->file);
    if (status == BB_OK)
        bb_skip_file_map(index->file, index->db->files);
    if (bb_index_file_is_lost(status))
        index->failure = *bb_error_last();
    bool is_tried = index->file != NULL || index->failure.status != BB_OK;
    atomic_store_explicit(&index->is_tried, is_tried, memory_order_relaxed);
    return status;
}

enum bb_status bb_index_file_open(struct bb_companion *companion, struct bb_skip_file **ret_file)
{
    struct index_file *index = index_file_of(companion);
    enum bb_status status = BB_OK;
    bb_mutex_lock(&index->mutex);
    if (index->failure.status != BB_OK)
        status = bb_error_restore(&index->failure);
    else if (index->file == NULL)
        status = open_first(index);
    if (status == BB_OK)
        *ret_file = index->file;
    bb_mutex_unlock(&index->mutex);
    return status;
}

enum bb_status bb_index_file_check_place(struct bb_companion *companion)
{
    struct index_file *index = index_file_of(companion);
    struct bb_file_system *system = index->db->system;
    char path[BB_PATH_SIZE_MAX];
    bool is_directory = false;
    uint64_t size = 0;
    bb_filename_path(index->db->directory, BB_FILE_INDEX, companion->number, path);
    enum bb_status status = system->ops->status(system, path, &is_directory, &size);
    bb_mutex_lock(&index->mutex);
    BB_ASSERT(index->file != NULL);
    bool is_same = !is_directory && size == bb_skip_file_size(index->file);
    bb_mutex_unlock(&index->mutex);
    if (status != BB_OK || is_same)
        return status;
    return bb_fail(BB_CORRUPT, "%s: is not the index file that is open", path);
}

/* WHY is_tried: the thread that opens the file has the mutex until then. */
void bb_index_file_forget_pages(struct bb_companion *companion)
{
    struct index_file *index = index_file_of(companion);
    if (!bb_index_file_is_tried(companion))
        return;
    bb_mutex_lock(&index->mutex);
    if (index->file != NULL)
        bb_skip_file_forget_pages(index->file);
    bb_mutex_unlock(&index->mutex);
}

/* A new list of newer tables makes all earlier bits useless. The mutex is held. */
static enum bb_status renew_known(struct index_file *index, struct bb_bytes newer)
{
    struct bb_known_rows *rows = NULL;
    enum bb_status status = bb_known_rows_create(bb_skip_file_granule_count(index->file), newer,
                                                 &index->db->known_rows_bytes, &rows);
    if (status != BB_OK)
        return status;
    bb_known_rows_unref(index->known);
    index->known = rows;
    return BB_OK;
}

enum bb_status bb_index_file_known_rows(struct bb_companion *companion, struct bb_bytes newer,
                                        struct bb_known_rows **ret_rows)
{
    struct index_file *index = index_file_of(companion);
    enum bb_status status = BB_OK;
    bb_mutex_lock(&index->mutex);
    BB_ASSERT(index->file != NULL);
    if (index->known == NULL || !bb_bytes_equal(bb_buf_bytes(&index->known->newer), newer))
        status = renew_known(index, newer);
    if (status == BB_OK)
        *ret_rows = bb_known_rows_ref(index->known);
    bb_mutex_unlock(&index->mutex);
    return status;
}

void bb_index_file_forget_rows(struct bb_companion *companion)
{
    struct index_file *index = index_file_of(companion);
    bb_mutex_lock(&index->mutex);
    bb_known_rows_unref(index->known);
    index->known = NULL;
    bb_mutex_unlock(&index->mutex);
}

static bool is_of_spec(const struct bb_skip_index_info *info, const struct bb_catalog *catalog,
                       const struct bb_skip_spec *spec)
{
    const char *definition = bb_schema_definition(catalog->schema, spec->attribute);
    return strcmp(info->attribute_definition, definition) == 0 &&
           bb_spec_is_same(&info->spec, spec);
}

bool bb_index_file_is(const struct bb_skip_index_info *info, const struct bb_catalog *catalog,
                      const struct bb_skip_spec *spec)
{
    return info->is_known && is_of_spec(info, catalog, spec);
}

bool bb_index_file_has_other_words(const struct bb_skip_file *file,
                                   const struct bb_catalog *catalog,
                                   const struct bb_skip_spec *spec)
{
    struct bb_skip_index_info info;
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        bb_skip_file_index(file, i, &info);
        if (!info.is_known && info.words_made_with != NULL && is_of_spec(&info, catalog, spec))
            return true;
    }
    return false;
}

bool bb_index_file_has(const struct bb_skip_file *file, const struct bb_catalog *catalog,
                       const struct bb_skip_spec *spec, struct bb_skip_index_info *ret_info)
{
    for (size_t i = 0; i < bb_skip_file_index_count(file); i++) {
        bb_skip_file_index(file, i, ret_info);
        if (bb_index_file_is(ret_info, catalog, spec))
            return true;
    }
    return false;
}
