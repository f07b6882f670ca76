/* See read_options.h. */
#include "leveldb/read_options.h"

#include "leveldb/error.h"
#include "leveldb/memory.h"
#include "leveldb/snapshot.h"

struct leveldb_readoptions_t {
    const leveldb_snapshot_t *snapshot; /* NULL: the newest state */
    bool spares_cache;
};

leveldb_readoptions_t *leveldb_readoptions_create(void)
{
    return bb_leveldb_alloc(sizeof(leveldb_readoptions_t));
}

void leveldb_readoptions_destroy(leveldb_readoptions_t *options)
{
    bb_leveldb_release(options);
}

void leveldb_readoptions_set_verify_checksums(leveldb_readoptions_t *options, uint8_t value)
{
    /* All data from files is always verified. */
    (void)options;
    (void)value;
}

void leveldb_readoptions_set_fill_cache(leveldb_readoptions_t *options, uint8_t value)
{
    options->spares_cache = value == 0;
}

void leveldb_readoptions_set_snapshot(leveldb_readoptions_t *options,
                                      const leveldb_snapshot_t *snapshot)
{
    options->snapshot = snapshot;
}

bool bb_leveldb_read_options_resolve(const leveldb_readoptions_t *options,
                                     struct bb_get_options *ret_options)
{
    *ret_options = (struct bb_get_options){0};
    if (options == NULL)
        return true;
    ret_options->bypass_fill = options->spares_cache;
    if (options->snapshot == NULL)
        return true;
    ret_options->snapshot = options->snapshot->snapshot;
    return ret_options->snapshot != NULL;
}

struct bb_error bb_leveldb_read_options_failure(void)
{
    return bb_leveldb_error_make(
        BB_INVALID,
        "the snapshot could not be taken: there was no memory, or its store was closed");
}
