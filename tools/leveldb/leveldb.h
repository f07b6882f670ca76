/* Reading a LevelDB store: the present keys, in order, each with its newest value.
 *
 * Tables and logs are merged by key and sequence, so that the newest version wins in any file, and
 * deleted keys are skipped. Everything that is read is verified. The store is unchanged, and locked
 * so that no other process opens it. Memory: a block of each run, and the logs. Threads: one.
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

/* A sorted stream: tables one after the other, or the logs. */
struct leveldb_run {
    const struct manifest_table *tables; /* NULL: the logs */
    size_t count;
    size_t next; /* table, or entry of the logs */
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
    struct bb_buf last_key; /* its older versions are skipped */
    bool has_last_key;
    struct entry entry; /* current; borrowed until the next call */
    /* Counts. */
    uint64_t table_bytes; /* of all tables */
    uint64_t log_count;
    uint64_t entries_read;
    uint64_t deletions;  /* keys whose newest version is one */
    uint64_t superseded; /* older versions */
};

/* BB_NOT_FOUND: no LevelDB; BB_BUSY: it is open; BB_UNSUPPORTED: RocksDB's, or of another order;
 * BB_CORRUPT. Owned: leveldb_close, also on failure. */
BB_MUST_CHECK enum bb_status leveldb_open(struct leveldb *leveldb, const char *directory);
void leveldb_close(struct leveldb *leveldb);
/* Moves to the next present key; *ret_has is false after the last. */
BB_MUST_CHECK enum bb_status leveldb_next(struct leveldb *leveldb, bool *ret_has);

#endif
