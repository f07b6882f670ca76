/* One immutable sorted table: a file of entries in order, cut into blocks, each block with its own
 * filter.
 *
 * Write one:   bb_table_builder_create, bb_table_builder_add in strictly ascending order,
 *              bb_table_builder_finish.
 * Read one:    bb_table_open, then bb_table_get, bb_table_iter_create; bb_table_verify reads every
 *              byte.
 *
 * The format is drawn in docs/format.md. Version 0 is read by its own development only.
 *
 * NULL: options, statistics and reports may be it, as may what is destroyed; else the rules of
 * bb/base.h hold.
 *
 * Threads: a builder and an iterator are for one thread at a time; an open table may be read by any
 * number of threads.
 */
#ifndef BB_PUBLIC_TABLE_H
#define BB_PUBLIC_TABLE_H

#include "bb/base.h"
#include "bb/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, checked on write and on read. A longer key is in no table: look-ups, offsets and seeks take it
 * for one more key that is not there. (A store refuses it: bb/db.h.) */
#define BB_KEY_SIZE_MAX   (64 * 1024)
#define BB_VALUE_SIZE_MAX (1024 * 1024 * 1024)
#define BB_SEQUENCE_MAX   ((UINT64_C(1) << 56) - 1)

/* Levels of a store that tables stand on: 0 the newest. Never another number. */
#define BB_LEVEL_COUNT 7

/* How the tables of a store are merged: docs/options.md, "Compaction styles". */
enum bb_compaction_style {
    BB_COMPACTION_DEFAULT = 0, /* in options only */
    BB_COMPACTION_LEVELED = 1, /* each level below level 0 is one run: fewest runs to ask, most
                                  bytes rewritten */
    BB_COMPACTION_TIERED = 2,  /* levels of several runs, each merged as a whole: fewest bytes
                                  rewritten, most runs, most space */
    BB_COMPACTION_LAZY_LEVELING = 3, /* the last level is one run, those above it are tiered */
};

/* ON DISK: the values never change. */
enum bb_entry_kind {
    BB_ENTRY_DELETE = 0, /* tombstone: the key is gone as of the sequence; the value is empty */
    BB_ENTRY_PUT = 1,
    BB_ENTRY_DELETE_RANGE = 2, /* of batches alone: all keys from key, inclusive, to value,
                                  exclusive, are gone. No entry of a table: range tombstones stand
                                  apart from its entries */
};

/* One version of a key. Entries order by key ascending, then by sequence descending: newest first.
 * No two entries of a store share key and sequence. */
struct bb_entry {
    struct bb_bytes key;
    uint64_t sequence; /* 0 ... BB_SEQUENCE_MAX */
    enum bb_entry_kind kind;
    struct bb_bytes value;
};

/* A sorted stream of entries. is_valid and entry are for reading only; entry is borrowed until the
 * iterator moves. When is_valid is false, status tells whether the end was reached (BB_OK) or
 * reading failed. */
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
    /* To the first entry at or after (key, sequence) in the order above: with sequence
     * BB_SEQUENCE_MAX the newest version of the first key that is not below key. key is borrowed
     * for the call. */
    void (*seek)(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence);
    /* REQUIRES: is_valid. */
    void (*next)(struct bb_iter *iter);
    void (*prev)(struct bb_iter *iter);
    /* For who writes tables: the block that holds the entry at hand and nothing else, as it is
     * stored, until the iterator moves. False where that is not at hand; NULL: never. */
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

/* Keys from low, inclusive, to high, exclusive, in their order. NULL: open to that side. */
struct bb_key_range {
    const struct bb_bytes *low; /* borrowed */
    const struct bb_bytes *high;
};

/* ON DISK: the values never change. */
enum bb_compression {
    BB_COMPRESSION_DEFAULT = 0, /* in options only: LZ4 */
    BB_COMPRESSION_NONE = 1,
    BB_COMPRESSION_LZ4 = 2, /* a block is stored raw unless LZ4 saves at least 1/8 of it */
};

/* Where the index pages of an open table live. */
enum bb_index_residency {
    BB_INDEX_PINNED = 0, /* read on first use, kept in memory while the table is open */
    BB_INDEX_CACHED = 1, /* in the block cache, evicted like blocks (needs a cache) */
};

#define BB_GRANULARITY_PAGE UINT32_MAX

/* The table summary: one filter over all keys of the table, asked before any search in the index.
 * Its rate and that of the blocks' filters multiply, so that their bits add up: together they cost
 * what one of them costs alone for the same filter_rate. How many of the bits per key stand in the
 * summary (summary_bits): */
#define BB_SUMMARY_DEFAULT 0.0 /* a default that was measured; none for kinds other than ribbon */
#define BB_SUMMARY_NONE    (-1.0) /* no summary: all bits in the blocks' filters */
#define BB_SUMMARY_ALL     (-2.0) /* all bits in the summary, no filters of blocks */

/* Where the summary of an open table lives. It is read on first use.
 *
 * Cached: hashes have no locality, so that look-ups ask for all pieces alike. In a cache that is
 * smaller than the summaries, and what else is asked for, nearly every absent key reads a piece of
 * some 64 KiB: then no summary is better.
 * Unused: look-ups meet the rate of the blocks' filters alone, which is filter_rate only of tables
 * without a summary. */
enum bb_summary_residency {
    BB_SUMMARY_PINNED = 0, /* in memory while the table is open */
    BB_SUMMARY_CACHED = 1, /* in the block cache, in pieces of about 64 KiB (needs a cache) */
    BB_SUMMARY_UNUSED = 2, /* left in the file: only the blocks' filters are asked */
};

struct bb_block_cache; /* see below */
struct bb_file_system; /* base/file.h; NULL in options means the operating system's files */

/* Zero means default, everywhere. */
struct bb_table_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    struct bb_file_system *file_system;
    const struct bb_comparator
        *comparator; /* borrowed while builder or table lives; NULL: bytewise */

    /* For writing. */
    uint32_t
        block_size_bytes; /* raw size at which a block is closed, 64 ... 16 MiB; default 4096 */
    uint32_t restart_interval; /* entries between full keys, 1 ... 1024; default 16 */
    enum bb_compression compression;
    enum bb_filter_kind filter_kind; /* NONE, RIBBON (default), BLOCKED_BLOOM, BLOOM */
    double filter_rate;             /* target of the whole table, default 0.01; 1 means no filter */
    uint32_t filter_granularity;    /* consecutive blocks that share a filter, default 1;
                                       BB_GRANULARITY_PAGE */
    uint32_t index_page_size_bytes; /* default 4096 */
    const struct bb_hash_secret
        *secret; /* copied into the table; NULL: random (writing), the table's own (reading) */

    /* For reading. */
    struct bb_block_cache
        *cache; /* borrowed while the table is open; NULL: every request reads the file */
    enum bb_index_residency index_residency;
    enum bb_summary_residency summary_residency;

    /* For writing: of filter_rate's bits per key, about how many the summary gets. 1 ... 24, or one
     * of BB_SUMMARY_*. The filters of the blocks get the nearest whole number of the rest, and none
     * below 2: then the summary has all. */
    double summary_bits;

    /* For writing: space that ribbons, of blocks and summary, give for time; see struct
     * bb_filter_options. 0 ... BB_FILTER_SLACK_MAX; default 0. */
    double filter_slack;
};

/* What is known of a table without opening it. Owned: bb_table_meta_deinit. */
struct bb_table_meta {
    uint8_t table_id[16]; /* random, in footer and manifest; block checksums are bound to it */
    uint64_t file_size;
    uint64_t entry_count; /* versions and tombstones; 0 only beside range tombstones */
    uint64_t key_count;   /* distinct keys */
    uint64_t tombstone_count;
    uint64_t block_count;
    uint64_t raw_bytes;     /* keys and values */
    uint64_t filter_bytes;  /* as stored, the summary included */
    uint64_t summary_bytes; /* of these, the summary */
    uint64_t sequence_min;
    uint64_t sequence_max;
    double filter_rate;     /* the target the filters were built for; 1: no filters */
    double summary_rate;    /* the summary's part of it, filter_rate ... 1; 1: no summary. That of
                               the blocks' filters alone is filter_rate / summary_rate */
    struct bb_buf smallest; /* keys: bounds of entries and range tombstones, inclusive */
    struct bb_buf largest;
    bool largest_is_exclusive;      /* a range tombstone ends at largest, behind all entries */
    uint64_t range_tombstone_count; /* as they are stored: once for each part of a range in which
                                       the same ones overlap */
    uint64_t
        tombstone_sequence_min; /* of the oldest tombstone, of a key or a range; 0: there is none,
                                        or the table was written before this was counted, and it is
                                        at least sequence_min */
    uint64_t reserved[4];
};
BB_API void bb_table_meta_deinit(struct bb_table_meta *meta);

/* Builder. Call order: create (add)* finish destroy; destroying before finish removes the file.
 * Memory: one block, one index page with its filters, the root (some 30 bytes per page); and with a
 * summary 8 bytes for each of the next power of two of keys, at most 64 MiB, besides the summary
 * itself as it will be stored (about summary_bits / 8 bytes per key, up to twice that while it
 * grows). Sticky after a failure. */
struct bb_table_builder;
/* Creates the file; BB_EXISTS when the name is taken. Options are copied. */
BB_API BB_MUST_CHECK enum bb_status bb_table_builder_create(const char *path,
                                                            const struct bb_table_options *options,
                                                            struct bb_table_builder **ret_builder);
BB_API void bb_table_builder_destroy(struct bb_table_builder *builder);
/* BB_INVALID when the entry is not after the last one; BB_TOO_LARGE beyond the limits. */
BB_API BB_MUST_CHECK enum bb_status bb_table_builder_add(struct bb_table_builder *builder,
                                                         const struct bb_entry *entry);
/* All keys from low, inclusive, to high, exclusive, are gone as of the sequence: versions with
 * smaller ones are hidden, in this table and in older ones. In any order, before or between
 * entries; a range whose high is not above its low is empty, and no error. Keys are copied, and
 * stay in memory until the table is finished. BB_TOO_LARGE, BB_INVALID beyond the limits. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_builder_add_range_tombstone(struct bb_table_builder *builder, struct bb_bytes low,
                                     struct bb_bytes high, uint64_t sequence);
/* Bytes of the file so far, the open block included as it is. */
BB_API uint64_t bb_table_builder_size_estimate(const struct bb_table_builder *builder);
/* Writes the rest, syncs and closes the file. The directory entry is not synced: that is the
 * caller's, before anything may refer to the table. BB_INVALID for a table without entries and
 * range tombstones.
 * *ret_meta (may be NULL) is owned by the caller. */
BB_API BB_MUST_CHECK enum bb_status bb_table_builder_finish(struct bb_table_builder *builder,
                                                            struct bb_table_meta *ret_meta);

/* What a look-up's visit to a table ended in: exactly one of these. */
enum bb_visit {
    BB_VISIT_SUMMARY_NEGATIVE, /* the table summary said no: nothing was searched */
    BB_VISIT_FILTER_NEGATIVE,  /* the block's filter said no: no data block was touched */
    BB_VISIT_FALSE_POSITIVE,   /* a block was asked for; the table holds no entry of the key */
    BB_VISIT_TOMBSTONE,   /* the newest that is visible of the key is a deletion, its own or of a
                                  range it lies in, whatever filters said and blocks held */
    BB_VISIT_NOT_VISIBLE, /* only versions newer than the snapshot */
    BB_VISIT_PRESENT,
    BB_VISIT_OUT_OF_BOUNDS, /* the key lies outside smallest ... largest: no block request made or
                               avoided */
    BB_VISIT_COUNT,
};
#define BB_VISIT_ROOM 8

/* Counts of reading. Sums over look-ups; *_requests = found in the cache + read from the file. */
struct bb_read_stats {
    uint64_t visits[BB_VISIT_ROOM];
    uint64_t block_requests; /* data blocks asked for */
    uint64_t block_reads;    /* of these, read from the file: one pread each */
    uint64_t block_read_bytes;
    uint64_t page_requests; /* index pages asked for */
    uint64_t page_reads;
    uint64_t page_read_bytes;
    uint64_t avoided_requests; /* data block requests that a negative made unnecessary, counted at
                                  the negative */
    uint64_t
        avoided_reads; /* of these, blocks that were not in the cache (only with account_avoided) */
    uint64_t damaged_filters; /* filters that could not be used and were passed over; once more for
                                 a summary that had to be read in pieces */
    uint64_t summary_reads;   /* reads of the summary or a part of it: one pread each */
    uint64_t summary_read_bytes;
    uint64_t reserved[5];
};

struct bb_read_options {
    size_t struct_size;   /* sizeof of it, or 0: bb/base.h */
    bool ignore_filters;  /* as if the table had none, nor a summary */
    bool account_avoided; /* also find out whether an avoided block was cached: costs a cache
                             look-up per negative */
    bool bypass_fill;     /* blocks read do not enter the cache */
};

/* Reader. Reads footer, directory, properties and root at once; index pages and blocks on demand.
 * BB_CORRUPT, BB_UNSUPPORTED (newer format, unknown mandatory section), BB_INVALID (other
 * comparator). */
struct bb_table;
BB_API BB_MUST_CHECK enum bb_status bb_table_open(const char *path,
                                                  const struct bb_table_options *options,
                                                  struct bb_table **ret_table);
/* REQUIRES: no iterator over it and no pinned value from it is alive. NULL is allowed. */
BB_API void bb_table_close(struct bb_table *table);
/* Borrowed while the table is open. */
BB_API const struct bb_table_meta *bb_table_meta(const struct bb_table *table);
/* Bytes that the open table keeps in memory outside the cache (root, pinned index pages, pinned
 * summary). */
BB_API uint64_t bb_table_memory(const struct bb_table *table);

/* Finds the newest version of key with a sequence of at most `sequence`.
 * BB_OK: *ret_visit says how the visit ended; for BB_VISIT_PRESENT and BB_VISIT_TOMBSTONE
 * *ret_sequence is the version's or range tombstone's sequence, and a PRESENT value is copied into
 * *value (replaced). Range tombstones are asked before any filter. Allocates nothing when value has
 * room and the block is cached, or read past the cache and at most some 8 KiB. key_hash: bb_hash_key under the
 * options' secret. stats may be NULL; it is added to. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_get(struct bb_table *table, const struct bb_read_options *options, struct bb_bytes key,
             uint64_t key_hash, uint64_t sequence, struct bb_read_stats *stats,
             struct bb_buf *value, uint64_t *ret_sequence, enum bb_visit *ret_visit);

/* The same without a copy: a PRESENT value stands in *ret_value until bb_pinned_release, which must
 * come before the table is closed; for other visits *ret_value is untouched. The pin keeps the data
 * block in memory, in the cache (which it is then counted in as pinned_bytes and not evicted from)
 * or, with none or bypass_fill, for itself alone. Any thread may release it. */
BB_API BB_MUST_CHECK enum bb_status
bb_table_get_pinned(struct bb_table *table, const struct bb_read_options *options,
                    struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                    struct bb_read_stats *stats, struct bb_pinned *ret_value,
                    uint64_t *ret_sequence, enum bb_visit *ret_visit);

/* Iterator over all entries, both directions; those that range tombstones of the table cover are
 * among them. Owned: bb_iter_destroy, before the table is closed.
 * stats may be NULL, else it must outlive the iterator. */
BB_API BB_MUST_CHECK enum bb_status bb_table_iter_create(struct bb_table *table,
                                                         const struct bb_read_options *options,
                                                         struct bb_read_stats *stats,
                                                         struct bb_iter **ret_iter);
/* About how many bytes of the file stand before the first entry of key: 0 up to the smallest key,
 * the file's size behind the largest, monotone between. Precise to the data block and index page
 * that key falls into; what belongs to the whole table (summary, root, properties) is spread
 * evenly. Reads no data block, one index page at most. stats may be NULL. */
BB_API BB_MUST_CHECK enum bb_status bb_table_offset(struct bb_table *table, struct bb_bytes key,
                                                    struct bb_read_stats *stats,
                                                    uint64_t *ret_offset);

/* Block cache: decoded blocks (and index pages with BB_INDEX_CACHED) of any number of tables,
 * sharded, least recently used first out; pinned blocks are never evicted. When it is full, a block
 * is taken in at its second miss within a while, so that what is read once evicts nothing; one that
 * would take more than half of a shard (capacity / 128, or more in caches below 16 MiB), never.
 * Any thread. A child made by fork may use a cache, and tables and iterators that were not being used
 * at the fork: what it cannot lock at once counts as not cached. A table's builder refuses to write in
 * it, with BB_INVALID, and leaves the file alone when it is destroyed. */
BB_API BB_MUST_CHECK enum bb_status bb_block_cache_create(uint64_t capacity_bytes,
                                                          struct bb_block_cache **ret_cache);
/* REQUIRES: no table uses it. */
BB_API void bb_block_cache_destroy(struct bb_block_cache *cache);
struct bb_block_cache_stats {
    uint64_t capacity_bytes;
    uint64_t used_bytes;
    uint64_t pinned_bytes;
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t reserved[2];
};
BB_API void bb_block_cache_stats(struct bb_block_cache *cache,
                                 struct bb_block_cache_stats *ret_stats);
/* Drops everything that is not pinned. */
BB_API void bb_block_cache_clear(struct bb_block_cache *cache);

/* Result of a verification. */
struct bb_table_verify_report {
    uint64_t blocks;
    uint64_t pages;
    uint64_t entries;
    uint64_t keys;
    uint64_t range_tombstones; /* as in struct bb_table_meta */
    uint64_t filters;
    uint64_t filters_compared; /* rebuilt and found equal byte for byte */
    uint64_t summary_chunks;   /* pieces of the summary that were read, each asked for its keys */
    uint64_t summary_chunks_compared; /* of these, in a summary that was rebuilt and found equal */
    uint64_t bytes;                   /* all of the file */
    uint64_t reserved[6];
};

/* Reads every byte of the file and checks every checksum, order, count, bound and filter: each
 * filter is asked for each of its keys and, when this builder wrote the table, rebuilt and
 * compared. Stops at the first defect with BB_CORRUPT naming it. */
BB_API BB_MUST_CHECK enum bb_status bb_table_verify(const char *path,
                                                    const struct bb_table_options *options,
                                                    struct bb_table_verify_report *ret_report);

#ifdef __cplusplus
}
#endif
#endif
