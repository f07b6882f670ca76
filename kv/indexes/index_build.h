/* Builds index files while tables are written, by flushes, compactions, recoveries and ingests, or
 * for an existing table.
 *
 *     table      | block 0 | block 1 | ... | block 17 | block 18 | ...
 *     granule    |  0: blocks 0 ... 17, about 64 KiB  |  1: ...
 *
 * A granule is a series of whole blocks; its place is the number of the first. Its records are the
 * values of puts. Deletions are not records, so a granule may have fewer records than entries.
 *
 * Call order: init, per table (begin add* finish), describe, optionally commit, deinit. Threads:
 * one.
 */
#ifndef BB_KV_INDEXES_INDEX_BUILD_H
#define BB_KV_INDEXES_INDEX_BUILD_H

#include "compaction/merge/compaction.h"
#include "kv/indexes/catalog.h"
#include "kv/manifest/edit.h"
#include "kv/store/store.h"

/* An index file, finished or open. */
struct bb_built_index {
    uint64_t number;
    uint8_t table_id[16];
};

struct bb_index_build {
    struct bb_db *db;                /* borrowed */
    struct bb_file_system *files;    /* borrowed: file system for the files */
    struct bb_catalog *catalog;      /* one reference; NULL: there are no indexes */
    uint64_t creation_count;         /* of the catalog */
    bool yields;                     /* a step of the compacting worker: ends for a flush */
    struct bb_skip_builder *builder; /* of the open file, or NULL */
    struct bb_built_index open;      /* the open file */
    uint64_t granule_begin;          /* block */
    uint64_t granule_bytes;          /* of its values so far */
    uint64_t block_bytes;            /* of the values of the current block */
    uint64_t last_block;             /* of the previous entry */
    struct bb_built_index *built;    /* owned */
    size_t built_count;
    size_t built_capacity;
};

/* With the store's present catalog. files: the file system for the files, borrowed. */
void bb_index_build_init(struct bb_index_build *build, struct bb_db *db,
                         struct bb_file_system *files);
/* With the caller's catalog; takes a reference to it. */
void bb_index_build_init_with(struct bb_index_build *build, struct bb_db *db,
                              struct bb_file_system *files, struct bb_catalog *catalog);
/* True when an index was created since init: its files lack that index. */
bool bb_index_build_is_outdated(const struct bb_index_build *build);
/* Builds no files, as without indexes. REQUIRES: begin was not called. */
void bb_index_build_defer(struct bb_index_build *build);
/* Removes uncommitted files. A zeroed build is allowed. */
void bb_index_build_deinit(struct bb_index_build *build);

/* The hooks of a compaction. The build must outlive it. */
struct bb_output_hooks bb_index_build_hooks(struct bb_index_build *build);

/* The same in single steps: the index file of the table with this id. */
BB_MUST_CHECK enum bb_status bb_index_build_begin(struct bb_index_build *build,
                                                  struct bb_bytes table_id);
BB_MUST_CHECK enum bb_status bb_index_build_add(struct bb_index_build *build,
                                                const struct bb_entry *entry,
                                                uint64_t block_number);
BB_MUST_CHECK enum bb_status bb_index_build_finish(struct bb_index_build *build);

/* Called before each block by builds that read existing tables. Errors: BB_BUSY when the store is
 * being closed, which waits for the build, or when it yields and a flush needs the space. Looks
 * once in BB_INDEX_BUILD_CHECK_BLOCKS blocks, since that takes the store's mutex. */
#define BB_INDEX_BUILD_CHECK_BLOCKS 64
BB_MUST_CHECK enum bb_status bb_index_build_check(const struct bb_index_build *build,
                                                  uint64_t block_number);

/* For samples, which skip blocks: true when the current granule ends before the next block. */
bool bb_index_build_is_full(const struct bb_index_build *build);
/* Ends the granule at any size. The next block has the next number. */
BB_MUST_CHECK enum bb_status bb_index_build_end_granule(struct bb_index_build *build);

/* Names the index files in an edit, with the tables that it adds. */
void bb_index_build_describe(const struct bb_index_build *build, struct bb_edit *edit);
/* The manifest owns the files now, or they are in doubt like the tables (kv/manifest/orphans.h):
 * deinit keeps them. */
void bb_index_build_commit(struct bb_index_build *build);

#endif
