/* See write_options.h. */
#include "leveldb/write_options.h"

#include "leveldb/memory.h"

struct leveldb_writeoptions_t {
    bool sync;
};

leveldb_writeoptions_t *leveldb_writeoptions_create(void)
{
    return bb_leveldb_alloc(sizeof(leveldb_writeoptions_t));
}

void leveldb_writeoptions_destroy(leveldb_writeoptions_t *options)
{
    bb_leveldb_release(options);
}

void leveldb_writeoptions_set_sync(leveldb_writeoptions_t *options, uint8_t value)
{
    options->sync = value != 0;
}

struct bb_write_options bb_leveldb_write_options_resolve(const leveldb_writeoptions_t *options)
{
    return (struct bb_write_options){.sync = options != NULL && options->sync};
}
