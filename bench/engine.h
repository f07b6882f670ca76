/* One storage engine as driven by the comparison.
 *
 * Each engine_<name>.c wraps an engine with these functions, and only in ways in which its users
 * would use it. Adapters end the process on any failure (die.h): a run with a failure is worthless,
 * and loops stay free of checks. Threads: one calls, and each
 * further thread that calls attaches itself first; the engine may have more.
 */
#ifndef BB_BENCH_ENGINE_H
#define BB_BENCH_ENGINE_H

#include "bb/base.h"

/* The number of puts that engines with pages and transactions (LMDB, SQLite) combine: a transaction
 * for each put would cost them two orders of magnitude. Engines with a log commit each put
 * separately. */
#define BENCH_TRANSACTION_PUTS 1000
/* The most keys of one get_many. */
#define BENCH_MANY_MAX 100

struct bench_settings {
    const char *directory; /* exists */
    uint64_t cache_bytes;
    uint64_t write_buffer_bytes;
    uint64_t data_bytes;   /* of all keys and values: for engines that must know an upper bound */
    uint64_t thread_count; /* that call at the same time */
};

/* Called for each entry of a scan; key and value are borrowed for the call. */
struct bench_visitor {
    void (*visit)(struct bench_visitor *visitor, struct bb_bytes key, struct bb_bytes value);
};

struct bench_engine {
    const char *name;
    const char *version;
    const char *options; /* the settings, for the report; the rest are the engine's defaults */

    /* Opens the store in the directory, or creates it. */
    void *(*open)(const struct bench_settings *settings);
    void (*close)(void *store);
    void (*put)(void *store, struct bb_bytes key, struct bb_bytes value);
    /* Deletes a key; an absent one is no error. */
    void (*remove)(void *store, struct bb_bytes key);
    /* Commits pending puts and deletions. NULL: each is a commit. */
    void (*commit)(void *store);
    /* *ret_value is valid until the next call into the store. */
    bool (*get)(void *store, struct bb_bytes key, struct bb_bytes *ret_value);
    /* A get of each key, at most BENCH_MANY_MAX. Values are valid until the next call; data is NULL
     * for an absent key. NULL: the engine has no such call. */
    void (*get_many)(void *store, const struct bb_bytes *keys, size_t count,
                     struct bb_bytes *ret_values);
    /* All entries in order. */
    void (*scan)(void *store, struct bench_visitor *visitor);
    /* A short range query as a user writes it: the iterator is made for it. The first count_max
     * entries from key on. */
    void (*seek)(void *store, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor);
    /* All entries from low, inclusive, to high, exclusive, by an iterator with bounds where the
     * engine has them; otherwise the keys are compared. */
    void (*range)(void *store, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor);
    /* All entries whose key has the prefix. NULL: a range to the prefix's successor does this. */
    void (*prefix)(void *store, struct bb_bytes prefix, struct bench_visitor *visitor);
    /* Makes a handle of the same store, for the calls above by the calling thread. */
    void *(*attach)(void *store);
    /* Releases it, in the same thread; nothing is pending. */
    void (*detach)(void *handle);
    /* Returns when the engine reports that no background work remains. NULL: it cannot report that,
     * or has no background work. */
    void (*wait_idle)(void *store);
    /* Brings everything into the engine's densest form: one sorted run, a rebuilt tree. */
    void (*compact)(void *store);
};

/* The order of keys in every engine. */
static inline bool bench_is_below(struct bb_bytes left, struct bb_bytes right)
{
    size_t size = left.size < right.size ? left.size : right.size;
    int order = size == 0 ? 0 : __builtin_memcmp(left.data, right.data, size);
    return order < 0 || (order == 0 && left.size < right.size);
}

/* The engines that were found when this was built, bloomblock first. */
extern const struct bench_engine *const bench_engines[];
extern const size_t bench_engine_count;
/* Names of the engines missing in this build; ends with NULL. */
extern const char *const bench_engines_absent[];

extern const struct bench_engine bench_engine_bloomblock;
extern const struct bench_engine bench_engine_bloomblock_mapped;
extern const struct bench_engine bench_engine_bloomblock_calls;
extern const struct bench_engine bench_engine_bloomblock_plain;
extern const struct bench_engine bench_engine_bloomblock_default;
extern const struct bench_engine bench_engine_bloomblock_leveled;
extern const struct bench_engine bench_engine_bloomblock_tiered;
extern const struct bench_engine bench_engine_bloomblock_lazy;
extern const struct bench_engine bench_engine_leveldb;
extern const struct bench_engine bench_engine_rocksdb;
extern const struct bench_engine bench_engine_rocksdb_guide;
extern const struct bench_engine bench_engine_lmdb;
extern const struct bench_engine bench_engine_sqlite;
extern const struct bench_engine bench_engine_wiredtiger;
extern const struct bench_engine bench_engine_wiredtiger_btree;

/* Engines with planted faults, only in the test's program. */
#define BENCH_WRONG_COUNT 9
extern const struct bench_engine bench_engines_wrong[BENCH_WRONG_COUNT];

#endif
