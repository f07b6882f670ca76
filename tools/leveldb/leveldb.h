/* Reads a LevelDB store: the present keys in order, each with its newest value.
 *
 * Tables and logs are merged by key and sequence. So the newest version of a key wins in any
 * file, and deleted keys are skipped. All bytes that are read are verified. The store is not
 * changed. It is locked, so no other process opens it. Memory: a block of each run, and the logs.
 * Threads: one.
 *
 *     struct leveldb leveldb;
 *     status = leveldb_open(&leveldb, directory);
 *     while (status == BB_OK && (status = leveldb_next(&leveldb, &has)) == BB_OK && has)
 *         ... leveldb.entry.key, leveldb.entry.value ...
 *     leveldb_close(&leveldb);
 */
#ifndef BB_TOOLS_LEVELDB_LEVELDB_H
#define BB_TOOLS_LEVELDB_LEVELDB_H

#include "tools/leveldb/manifest.h"
#include "tools/leveldb/table.h"
#include "tools/leveldb/wal.h"

/* A sorted stream: disjoint tables, one after the other, or the entries of the logs. */
struct leveldb_run {
    const struct manifest_table *tables; /* NULL: the logs */
    size_t count;
    size_t next; /* the next table, or the next entry of the logs */
    struct table table;
    struct entry entry; /* current */
};

struct leveldb {
    const char *directory; /* borrowed */
    int lock;
    struct bb_file_system *fs; /* owned */
    struct crc32c crc;
    struct manifest manifest;
    struct wal wal;
    struct leveldb_run *runs; /* owned */
    size_t run_count;
    struct leveldb_run **heap; /* runs that have an entry, the smallest first; owned */
    size_t heap_size;
    struct bb_buf last_key; /* the key whose older versions are skipped */
    bool has_last_key;
    struct entry entry; /* current; borrowed until the next call */
    /* Counts. */
    uint64_t table_bytes; /* of all tables */
    uint64_t log_count;
    uint64_t entries_read;
    uint64_t deletions;  /* keys whose newest version is a deletion */
    uint64_t superseded; /* older versions */
};

/* BB_NOT_FOUND: there is no LevelDB store. BB_BUSY: another process has it open. BB_UNSUPPORTED: it
 * is a RocksDB store, or has another comparator. BB_CORRUPT. Owned: leveldb_close, also on
 * failure. */
BB_MUST_CHECK enum bb_status leveldb_open(struct leveldb *leveldb, const char *directory);
void leveldb_close(struct leveldb *leveldb);
/* Moves to the next present key; *ret_has is false after the last. */
BB_MUST_CHECK enum bb_status leveldb_next(struct leveldb *leveldb, bool *ret_has);

#endif
