/* Which engines this build has. CMake defines BENCH_WITH_<NAME> for each peer that it found. */
#include "bench/engine.h"

const struct bench_engine *const bench_engines[] = {
    &bench_engine_bloomblock,
    &bench_engine_bloomblock_mapped,
    &bench_engine_bloomblock_calls,
    &bench_engine_bloomblock_plain,
    &bench_engine_bloomblock_default,
    &bench_engine_bloomblock_leveled,
    &bench_engine_bloomblock_tiered,
    &bench_engine_bloomblock_lazy,
#ifdef BENCH_WITH_LEVELDB
    &bench_engine_leveldb,
#endif
#ifdef BENCH_WITH_ROCKSDB
    &bench_engine_rocksdb,
    &bench_engine_rocksdb_guide,
#endif
#ifdef BENCH_WITH_LMDB
    &bench_engine_lmdb,
#endif
#ifdef BENCH_WITH_SQLITE
    &bench_engine_sqlite,
#endif
#ifdef BENCH_WITH_WIREDTIGER
    &bench_engine_wiredtiger,
    &bench_engine_wiredtiger_btree,
#endif
#ifdef BENCH_WITH_WRONG
    &bench_engines_wrong[0],
    &bench_engines_wrong[1],
    &bench_engines_wrong[2],
    &bench_engines_wrong[3],
    &bench_engines_wrong[4],
    &bench_engines_wrong[5],
    &bench_engines_wrong[6],
    &bench_engines_wrong[7],
    &bench_engines_wrong[8],
#endif
};

const size_t bench_engine_count = sizeof(bench_engines) / sizeof(bench_engines[0]);

const char *const bench_engines_absent[] = {
#ifndef BENCH_WITH_LEVELDB
    "leveldb",
#endif
#ifndef BENCH_WITH_ROCKSDB
    "rocksdb",
#endif
#ifndef BENCH_WITH_LMDB
    "lmdb",
#endif
#ifndef BENCH_WITH_SQLITE
    "sqlite",
#endif
#ifndef BENCH_WITH_WIREDTIGER
    "wiredtiger",
#endif
    NULL,
};
