/* One immutable sorted table: a file of entries in order, divided into blocks, each block with a
 * filter.
 *
 * Write a table:  bb_table_builder_create, bb_table_builder_add in strictly ascending order,
 *                 bb_table_builder_finish.
 * Read a table:   bb_table_open, then bb_table_get, bb_table_iter_create; bb_table_verify reads
 *                 every byte.
 *
 * docs/format.md describes the format. Its version is 0: later versions of the library need not
 * read it.
 *
 * NULL: allowed for options, statistics, reports and objects to be destroyed. Otherwise the rules
 * of bb/base.h apply.
 *
 * Threads: a builder or an iterator is used by one thread at a time. Any number of threads may read
 * an open table. */
#ifndef BB_PUBLIC_TABLE_H
#define BB_PUBLIC_TABLE_H

#include "bb/base.h"
#include "bb/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, checked on write and on read. No table contains a longer key, so lookups, offsets and
 * seeks treat such a key as absent. (A store rejects it: bb/db.h.) */
#define BB_KEY_SIZE_MAX   (64 * 1024)
#define BB_VALUE_SIZE_MAX (1024 * 1024 * 1024)
#define BB_SEQUENCE_MAX   ((UINT64_C(1) << 56) - 1)

/* Number of levels of a store. Level 0 is the newest. This number never changes. */
#define BB_LEVEL_COUNT 7

/* How compaction merges the tables of a store: docs/options.md, "Compaction styles". */
enum bb_compaction_style {
    /* In options only. */
    BB_COMPACTION_DEFAULT = 0,
    /* Each level below level 0 is one run: fewest runs to search, most bytes rewritten. */
    BB_COMPACTION_LEVELED = 1,
    /* Levels of several runs, merged together: fewest bytes rewritten, most runs, most space. */
    BB_COMPACTION_TIERED = 2,
    /* The last level is one run; the levels above it are tiered. */
    BB_COMPACTION_LAZY_LEVELING = 3,
};

/* ON DISK: the values never change. */
enum bb_entry_kind {
    /* Tombstone: the key is deleted as of the sequence. The value is empty. */
    BB_ENTRY_DELETE = 0,
    BB_ENTRY_PUT = 1,
    /* In batches only: deletes all keys from key, inclusive, to value, exclusive. Tables store
     * range tombstones separately from their entries. */
    BB_ENTRY_DELETE_RANGE = 2,
};

/* One version of a key. Entries are ordered by key ascending, then by sequence descending: newest
 * first. No two entries of a store have the same key and sequence. */
struct bb_entry {
    struct bb_bytes key;
    uint64_t sequence; /* 0 ... BB_SEQUENCE_MAX */
    enum bb_entry_kind kind;
    struct bb_bytes value;
};

/* A sorted stream of entries. is_valid and entry are read-only; entry is borrowed until the
 * iterator moves. A new iterator is not valid until the first seek. If is_valid is false after a
 * move, status is BB_OK at the end of the stream, or the error. */
struct bb_iter {
    const struct bb_iter_ops *ops;
    bool is_valid;
    enum bb_status status;
    struct bb_entry entry;
};

struct bb_stored_entry; /* sstable/block/stored_entry.h */

struct bb_iter_ops {
    void (*destroy)(struct bb_iter *iter);
    void (*seek_first)(struct bb_iter *iter);
    void (*seek_last)(struct bb_iter *iter);
    /* Moves to the first entry at or after (key, sequence) in the order above. With sequence
     * BB_SEQUENCE_MAX this is the newest version of the first key >= key. key is borrowed for the
     * call. */
    void (*seek)(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence);
    /* REQUIRES: is_valid. */
    void (*next)(struct bb_iter *iter);
    void (*prev)(struct bb_iter *iter);
    /* For code that writes tables: the stored form of the block that contains only the current
     * entry, valid until the iterator moves. Returns false if it is not in memory. NULL: never. */
    bool (*stored)(struct bb_iter *iter, struct bb_stored_entry *ret_stored);
};

static inline void bb_iter_seek_first(struct bb_iter *iter)
{
    iter->ops->seek_first(iter);
}
static inline void bb_iter_seek_last(struct bb_iter *iter)
{
    iter->ops->seek_last(iter);
}
static inline void bb_iter_seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    iter->ops->seek(iter, key, sequence);
}
static inline void bb_iter_next(struct bb_iter *iter)
{
    iter->ops->next(iter);
}
static inline void bb_iter_prev(struct bb_iter *iter)
{
    iter->ops->prev(iter);
}
/* NULL is allowed. */
static inline void bb_iter_destroy(struct bb_iter *iter)
{
    if (iter != NULL)
        iter->ops->destroy(iter);
}

/* Keys from low, inclusive, to high, exclusive, in their order. NULL: no bound on that side. */
struct bb_key_range {
    const struct bb_bytes *low; /* borrowed */
    const struct bb_bytes *high;
};

/* ON DISK: the values never change. */
enum bb_compression {
    BB_COMPRESSION_DEFAULT = 0, /* in options only: LZ4 */
    BB_COMPRESSION_NONE = 1,
    BB_COMPRESSION_LZ4 = 2, /* a block for which LZ4 saves less than 1/8 is stored raw */
};

/* Where the index pages of an open table are kept. */
enum bb_index_residency {
    /* Read on first use, or with other pages of its group; kept while the table is open. */
    BB_INDEX_PINNED = 0,
    BB_INDEX_CACHED = 1, /* in the block cache, evicted like blocks (needs a cache) */
};

/* How data blocks of an open table are read. Except with BB_READ_MAPPED, the checksum of a block is
 * verified each time. */
enum bb_read_mode {
    /* With a pread the first time. When a block of up to 16 KiB is read again, it is copied from a
     * map of the file, while the system keeps the bytes in memory. If the file is truncated or its
     * device fails, the block is read with a pread, which reports it: the first map of the process
     * installs a handler of SIGBUS, which calls the previous handler for other faults, and stays. A
     * handler that the program installs later must call this one. The window of a log is such a map
     * in every mode (docs/options.md, "How blocks are read").
     *
     * bb_db_get_now, which may not wait, uses calls, and so do scans and compactions that read
     * ahead. Tables that the system cannot map are read with calls too, and all tables if the
     * address space of the process is limited. */
    BB_READ_COPIES = 0,
    /* From a map of the file, without a call. A lookup uses an uncompressed block in place. The
     * checksum of a block is verified only at its first use, unless it is copied: blocks of up to
     * 16 KiB in tables with LZ4 are read as above. If the system drops a page from memory and reads
     * it again later, verification and compaction find damage in it, but lookups do not. If the
     * file is truncated or its device fails, the reads fail with a status. Reads with bypass_fill
     * use no block in the map. */
    BB_READ_MAPPED = 1,
    BB_READ_CALLS = 2, /* one pread per block; no file is mapped for reading blocks */
};

/* A value of filter_granularity: all blocks of an index page share one filter. */
#define BB_GRANULARITY_PAGE UINT32_MAX

/* The table filter: one filter over all keys of the table, probed before the index is searched. Its
 * rate and the rate of the block filters multiply to filter_rate. Together they take as many bits
 * as one filter of this rate, however the bits are divided between them. table_filter_bits is the
 * number of bits per key in the table filter, or one of: */
#define BB_TABLE_FILTER_DEFAULT 0.0    /* a measured default; none for kinds other than ribbon */
#define BB_TABLE_FILTER_NONE    (-1.0) /* no table filter: all bits in the block filters */
#define BB_TABLE_FILTER_ALL     (-2.0) /* all bits in the table filter, no block filters */

struct bb_block_cache; /* see below */
struct bb_file_system; /* bb/file.h; NULL in options means the operating system's files */

/* Zero means the default in every field. */
struct bb_table_options {
    /* Borrowed until the builder is destroyed or the table is closed. */
    struct bb_file_system *file_system;
    /* Borrowed like file_system; NULL: bytewise. */
    const struct bb_comparator *comparator;

    /* For writing. */
    /* Raw size at which a block is closed, 64 ... 16 MiB; default 4096. */
    uint32_t block_size_bytes;
    /* Entries between full keys, 1 ... 1024; default 20. */
    uint32_t restart_interval;
    enum bb_compression compression;
    /* NONE, RIBBON (default), BLOCKED_BLOOM, BLOOM. */
    enum bb_filter_kind filter_kind;
    /* Target of the whole table, BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX; default 0.01; 1: no
     * filter. */
    double filter_rate;
    /* Consecutive blocks that share a filter, default 1; or BB_GRANULARITY_PAGE. */
    uint32_t filter_granularity;
    /* 256 ... 1 MiB; default 4096. */
    uint32_t index_page_size_bytes;
    /* Secret of the key hash. For writing: copied into the table; NULL: random. For reading: the
     * secret of the key_hash arguments, borrowed for the call; see bb_table_get. */
    const struct bb_hash_secret *secret;

    /* For reading. */
    /* Borrowed while the table is open; NULL: every request reads the file. */
    struct bb_block_cache *cache;
    enum bb_index_residency index_residency;
    /* True: the table filter is not read. Lookups then have the rate of the block filters, which is
     * filter_rate only in tables without a table filter. False: the table filter is read on first
     * use, and stays in memory while the table is open. */
    bool table_filter_off;
    enum bb_read_mode read_mode;

    /* For writing: about how many of the bits per key that filter_rate needs go to the table
     * filter. 1 ... 24, or one of BB_TABLE_FILTER_*. The block filters get the rest, rounded to a
     * whole number. If the rest is below 2, the table filter gets all bits. */
    double table_filter_bits;
};

/* Properties of a table that are known without opening it. Owned: bb_table_meta_deinit. */
struct bb_table_meta {
    /* Random, in footer and manifest. Block checksums depend on it. */
    uint8_t table_id[16];
    uint64_t file_size;
    /* Versions and tombstones; 0 only if the table has range tombstones. */
    uint64_t entry_count;
    uint64_t key_count; /* distinct keys */
    uint64_t tombstone_count;
    uint64_t block_count;
    uint64_t raw_bytes; /* keys and values */
    /* As stored, including the table filter. */
    uint64_t filter_bytes;
    /* Of these, the table filter. */
    uint64_t table_filter_bytes;
    uint64_t sequence_min;
    uint64_t sequence_max;
    /* The target of the filters; 1: no filters. */
    double filter_rate;
    /* The table filter's share of the rate, filter_rate ... 1; 1: no table filter. The rate of the
     * block filters is filter_rate / table_filter_rate. */
    double table_filter_rate;
    /* The rates that follow from the stored filters: the mean over the block filters, and the rate
     * of the table filter; above 0, at most 1, and 1 without such filters. Filters have only
     * certain sizes and reach a target on average, so they may miss it in a table of few filters.
     * The product of the rates is the probability that a lookup of an absent key passes both
     * filters. Both are 0 if an older version wrote the table. */
    double predicted_block_rate;
    double predicted_table_filter_rate;
    struct bb_buf smallest; /* bounds of entries and range tombstones, inclusive */
    struct bb_buf largest;
    /* A range tombstone ends at largest, after all entries. */
    bool largest_is_exclusive;
    /* Number of stored fragments: where ranges overlap, each is stored once per fragment. */
    uint64_t range_tombstone_count;
    /* Sequence of the oldest tombstone of a key or a range. 0: there is no tombstone, or an older
     * version wrote the table. Tombstones of such a table have at least sequence_min. */
    uint64_t tombstone_sequence_min;
};
BB_API void bb_table_meta_deinit(struct bb_table_meta *meta);

/* Builder. Call order: create, add (any number), finish, destroy. Destroying it before finish
 * removes the file. Memory: one block, 256 KiB of index pages with their filters and one page more,
 * and the root (about 30 bytes per page). A table filter needs 8 bytes per key, rounded up to a
 * power of two of keys and at most 64 MiB, plus its stored size (about table_filter_bits / 8 bytes
 * per key, up to twice that while it grows). After the first failure every call returns it. */
struct bb_table_builder;
/* Creates the file; BB_EXISTS if it exists. Options are copied. */
BB_API BB_MUST_CHECK enum bb_status bb_table_builder_create(const char *path,
                                                            const struct bb_table_options *options,
                                                            struct bb_table_builder **ret_builder);
BB_API void bb_table_builder_destroy(struct bb_table_builder *builder);
/* BB_INVALID if the entry is not greater than the previous entry; BB_TOO_LARGE beyond the
 * limits. */
BB_API BB_MUST_CHECK enum bb_status bb_table_builder_add(struct bb_table_builder *builder,
                                                         const struct bb_entry *entry);
/* Deletes all keys from low, inclusive, to high, exclusive, as of the sequence: hides versions with
 * smaller sequences in this table and in older tables. Range tombstones may be added in any order,
 * before or between entries. A range with high <= low is empty and not an error. Keys are copied
 * and stay in memory until the table is finished. BB_TOO_LARGE or BB_INVALID beyond the limits. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_builder_add_range_tombstone(struct bb_table_builder *builder, struct bb_bytes low,
                                     struct bb_bytes high, uint64_t sequence);
/* Size of the file so far, including the raw size of the open block. */
BB_API uint64_t bb_table_builder_size_estimate(const struct bb_table_builder *builder);
/* Writes the rest, syncs and closes the file. It does not sync the directory: the caller must do so
 * before anything refers to the table. BB_INVALID for a table with neither entries nor range
 * tombstones. *ret_meta (may be NULL) is owned by the caller. */
BB_API BB_MUST_CHECK enum bb_status bb_table_builder_finish(struct bb_table_builder *builder,
                                                            struct bb_table_meta *ret_meta);

/* The outcome of a lookup in one table. */
enum bb_visit {
    /* The table filter ruled out the key: no index search. */
    BB_VISIT_TABLE_FILTER_NEGATIVE,
    /* The block filter ruled out the key: no data block was requested. */
    BB_VISIT_FILTER_NEGATIVE,
    /* A block was requested, but the table has no entry of the key. */
    BB_VISIT_FALSE_POSITIVE,
    /* The newest visible version of the key is a deletion, of the key or of a range that contains
     * it. This takes precedence over the results of filters and blocks. */
    BB_VISIT_TOMBSTONE,
    /* All versions of the key are newer than the snapshot. */
    BB_VISIT_NOT_VISIBLE,
    BB_VISIT_PRESENT,
    /* The key is not within smallest ... largest. This counts no request, made or avoided. */
    BB_VISIT_OUT_OF_BOUNDS,
    BB_VISIT_COUNT,
};

/* Read statistics, summed over lookups. block_requests = found in the cache + read from the
 * file. */
struct bb_read_stats {
    uint64_t visits[BB_VISIT_COUNT];
    /* Data blocks requested. */
    uint64_t block_requests;
    /* Of these, read from the file: one pread each, except blocks_ahead and blocks_mapped. */
    uint64_t block_reads;
    /* Of these, read by the pread of an earlier block: an iterator that has passed some blocks
     * reads the next ones together. */
    uint64_t blocks_ahead;
    /* Of block_reads, taken from a map of the file. */
    uint64_t blocks_mapped;
    /* Bytes of all data blocks read, including those that an iterator read ahead and did not
     * reach. */
    uint64_t block_read_bytes;
    /* Index pages requested. */
    uint64_t page_requests;
    /* Preads for them: of one page, or of all pages of a group, which are then in memory. At most
     * one per request, unless a read fails or finds damage. */
    uint64_t page_reads;
    uint64_t page_read_bytes;
    /* Data block requests that a filter avoided by ruling out the key. */
    uint64_t avoided_requests;
    /* Of these, blocks that were not in the cache (only with account_avoided). */
    uint64_t avoided_reads;
    /* Filters that a lookup ignored because they were unusable. Also 1 for a table filter that
     * could not be read as a whole and was therefore read in pieces. */
    uint64_t damaged_filters;
    /* Reads of the table filter or a part of it: one pread each. */
    uint64_t table_filter_reads;
    uint64_t table_filter_read_bytes;
};

struct bb_read_options {
    /* Use neither the block filters nor the table filter. */
    bool ignore_filters;
    /* Also count whether an avoided block was cached. Costs a cache lookup per avoided request. */
    bool account_avoided;
    /* Do not insert blocks into the cache after reading them. */
    bool bypass_fill;
};

/* Reader. Opening reads the footer, directory, properties and root; index pages and blocks are read
 * on demand. BB_CORRUPT, BB_UNSUPPORTED (newer format, unknown mandatory section), BB_INVALID
 * (another comparator). */
struct bb_table;
BB_API BB_MUST_CHECK enum bb_status bb_table_open(const char *path,
                                                  const struct bb_table_options *options,
                                                  struct bb_table **ret_table);
/* REQUIRES: no iterators over the table and no pinned values from it exist. NULL is allowed. */
BB_API void bb_table_close(struct bb_table *table);
/* Borrowed while the table is open. */
BB_API const struct bb_table_meta *bb_table_meta(const struct bb_table *table);
/* Memory that the open table uses outside the cache, in bytes (root, pinned index pages, pinned
 * table filter). */
BB_API uint64_t bb_table_memory(const struct bb_table *table);

/* Finds the newest version of key with a sequence of at most `sequence`.
 *
 * BB_OK: *ret_visit is the outcome. For BB_VISIT_PRESENT and BB_VISIT_TOMBSTONE, *ret_sequence is
 * the sequence of the version or range tombstone. A PRESENT value replaces the contents of *value.
 * Range tombstones are checked before any filter. The call allocates nothing if value has enough
 * capacity, and the block either is cached, or is read without the cache and has at most about 8
 * KiB.
 *
 * key_hash: bb_hash_key under the secret in the options of bb_table_open. If these had no secret,
 * or not the table's, key_hash is ignored, and the call hashes the key. stats may be NULL; counts
 * are added to it. BB_CORRUPT or BB_IO: a part of the table cannot be read. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_get(struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
             uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats,
             struct bb_buf *value, uint64_t *ret_sequence, enum bb_visit *ret_visit);

/* The same without a copy. A PRESENT value is in *ret_value until bb_pinned_release, which must
 * precede bb_table_close; other outcomes leave *ret_value unchanged. The pin keeps the data block
 * in memory: a block in the cache is not evicted. Without a cache, or with bypass_fill, the pin
 * owns the block. Any thread may release it. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_get_pinned(struct bb_table *table, const struct bb_read_options *options,
                    struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                    struct bb_read_stats *stats, struct bb_pinned *ret_value,
                    uint64_t *ret_sequence, enum bb_visit *ret_visit);

/* An iterator over all entries in both directions, including entries that range tombstones of the
 * table cover. Owned: bb_iter_destroy, before the table is closed. stats may be NULL; otherwise it
 * must outlive the iterator. */
BB_API BB_MUST_CHECK enum bb_status bb_table_iter_create(struct bb_table *table,
                                                         const struct bb_read_options *options,
                                                         struct bb_read_stats *stats,
                                                         struct bb_iter **ret_iter);
/* Approximate number of bytes of the file before the first entry of key. It is 0 for keys up to the
 * smallest, the size of the file for keys after the largest, and never decreases in between. It is
 * exact to the data block and index page that contain the key. Sections of the whole table (table
 * filter, root, properties) are spread evenly. Reads no data block and at most one index page.
 * stats may be NULL. */
BB_API BB_MUST_CHECK enum bb_status bb_table_offset(struct bb_table *table, struct bb_bytes key,
                                                    struct bb_read_stats *stats,
                                                    uint64_t *ret_offset);

/* Block cache for decoded blocks of any number of tables, and for their index pages and table
 * filters if these are cached. It is sharded. An eviction takes the oldest block that was not used
 * since it entered or since an eviction passed it. Pinned blocks are never evicted. A full cache
 * inserts a block only at its second miss within a certain time, so that a block that is read once
 * evicts no other. It never inserts a block larger than half of a shard: capacity / 128, or a
 * larger share of a cache below 16 MiB. Any thread.
 *
 * After fork, the child may use a cache, and tables and iterators that no thread was using during
 * the fork. Shards that the child cannot lock count as empty. A table builder fails in the child
 * with BB_INVALID, and does not remove the file when it is destroyed. */
BB_API BB_MUST_CHECK enum bb_status bb_block_cache_create(uint64_t capacity_bytes,
                                                          struct bb_block_cache **ret_cache);
/* REQUIRES: no table uses it. */
BB_API void bb_block_cache_destroy(struct bb_block_cache *cache);
struct bb_block_cache_stats {
    uint64_t capacity_bytes;
    uint64_t used_bytes; /* pinned blocks may keep it above capacity_bytes */
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
};
BB_API void bb_block_cache_stats(struct bb_block_cache *cache,
                                 struct bb_block_cache_stats *ret_stats);
/* Removes all entries that are not pinned. */
BB_API void bb_block_cache_clear(struct bb_block_cache *cache);

/* The result of a verification. */
struct bb_table_verify_report {
    uint64_t blocks;
    uint64_t pages;
    uint64_t entries;
    uint64_t keys;
    uint64_t range_tombstones; /* as in struct bb_table_meta */
    uint64_t filters;
    uint64_t filters_compared; /* of these, rebuilt and found identical */
    /* Pieces of the table filter that were read and probed for each of their keys. */
    uint64_t table_filter_chunks;
    /* Of these, pieces of a table filter that was rebuilt and found identical. */
    uint64_t table_filter_chunks_compared;
    uint64_t bytes; /* the whole file */
};

/* Reads every byte of the file and checks all checksums, orders, counts, bounds and filters. Each
 * filter is probed for each of its keys. If this builder wrote the table, each filter is also
 * rebuilt and compared. Stops at the first defect with BB_CORRUPT and a message that describes
 * it. */
BB_API BB_MUST_CHECK enum bb_status bb_table_verify(const char *path,
                                                    const struct bb_table_options *options,
                                                    struct bb_table_verify_report *ret_report);

#ifdef __cplusplus
}
#endif
#endif
