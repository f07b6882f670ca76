/* See engine.h. */
#include "tests/damage/engine.h"

#include <string.h>

static const struct engine *const engines[] = {
    &engine_bloomblock, &engine_bloomblock_strict,
#ifdef DAMAGE_WITH_LEVELDB
    &engine_leveldb,    &engine_leveldb_paranoid,
#endif
#ifdef DAMAGE_WITH_ROCKSDB
    &engine_rocksdb,    &engine_rocksdb_absolute,
#endif
};

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    }
    return NULL;
}

const char *engine_names(void)
{
    return "bloomblock bloomblock-strict"
#ifdef DAMAGE_WITH_LEVELDB
           " leveldb leveldb-paranoid"
#endif
#ifdef DAMAGE_WITH_ROCKSDB
           " rocksdb rocksdb-absolute"
#endif
        ;
}

const char *store_end_name(enum store_end end)
{
    static const char *const names[] = {"closed", "killed, synced", "killed, unsynced",
                                        "half compacted"};
    return names[end];
}
