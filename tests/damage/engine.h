/* An engine under damage: builds a store, and opens and reads it after its files were damaged.
 *
 * Threads: one. A process that has opened a store of LevelDB or RocksDB must not build another in a
 * child, because their background threads do not exist there: all images are built first.
 */
#ifndef BB_TESTS_DAMAGE_ENGINE_H
#define BB_TESTS_DAMAGE_ENGINE_H

#include "tests/damage/scan.h"
#include "tests/damage/store_image.h"
#include "tests/damage/writes.h"

/* How the process that wrote the store ended. */
enum store_end {
    STORE_CLOSED,
    STORE_KILLED_SYNCED,   /* SIGKILL; every write was synced */
    STORE_KILLED_UNSYNCED, /* SIGKILL; no write since the last opening was synced */
    STORE_HALF_COMPACTED,  /* SIGKILL in a compaction of everything; every write was synced */
};
#define STORE_ENDS 4

struct engine {
    const char *name;
    /* The files of a store with all writes of writes.h that ended in this way. directory: an empty
     * place of the operating system. */
    void (*build)(enum store_end end, const char *directory, struct store_image *ret_image);
    /* A directory with these files; the engine may need it until the next call. */
    void (*load)(const struct store_image *image, const char *directory);
    /* Opens it; NULL if the engine refuses. */
    void *(*open)(const char *directory);
    void (*close)(void *store);
    /* The number of the write that a key shows, or WRITES_UNKNOWN if the read failed. */
    uint32_t (*get)(void *store, uint32_t key);
    /* Adds every entry of a forward iterator, and returns whether it came to the end without an
     * error. */
    bool (*scan)(void *store, struct scan *scan);
    /* Did an event, a report or the engine's notes state that data is missing? */
    bool (*has_reported)(void *store, const char *directory);
    /* Does a verification of the loaded, closed store report damage? NULL: the engine cannot
     * verify. */
    bool (*verify)(const char *directory);
    /* In this mode the engine guarantees that no change of a byte is silent, also of data that was
     * never synced. */
    bool is_strict;
    bool is_ours; /* silent outcomes beyond the guarantees fail the run */
};

/* NULL if no engine has the name. */
const struct engine *engine_find(const char *name);
/* All names, separated by spaces. */
const char *engine_names(void);

/* Of the names engines have: see engine_<name>.c. */
extern const struct engine engine_bloomblock;
extern const struct engine engine_bloomblock_strict;
extern const struct engine engine_leveldb;
extern const struct engine engine_leveldb_paranoid;
extern const struct engine engine_rocksdb;
extern const struct engine engine_rocksdb_absolute;

const char *store_end_name(enum store_end end);

#endif
