/* Internals of an open table.
 *
 *     table.c          opening, closing, metadata
 *     table_pages.c    index pages: from a slot, the cache or the file
 *     table_read.c     data blocks: from cache, map or file
 *     table_map.c      data blocks in a map of the file
 *     table_filter_read.c  the table filter: from memory or file
 *     table_lookup.c   one lookup
 *     table_offset.c   the position of a key in the file
 *     table_iter.c     all entries in order
 *     table_walk.c     the parts of a table, for tools and verification
 *
 * Threads: constant after opening, except for the page slots and the table filter, which are
 * atomic.
 */
#ifndef BB_SSTABLE_TABLE_TABLE_H
#define BB_SSTABLE_TABLE_TABLE_H

#include "base/file.h"
#include "base/page_map.h"
#include "sstable/backoff.h"
#include "sstable/block/block.h"
#include "sstable/filter/table_filter.h"
#include "sstable/index/index_page.h"
#include "sstable/index/root.h"
#include "sstable/meta/bounds.h"
#include "sstable/meta/footer.h"
#include "sstable/meta/properties.h"
#include "sstable/meta/table_directory.h"
#include "sstable/ranges/range_tombstones.h"
#include "sstable/table/table_map.h"

struct bb_table {
    struct bb_file_system *own_fs; /* owned; NULL when the options name one */
    struct bb_file *file;          /* owned */
    uint64_t file_size;
    const struct bb_comparator *comparator;
    struct bb_block_cache *cache; /* NULL if none */
    /* Borrowed; memory for pinned parts. NULL: the allocator. */
    struct bb_large_pages *large_pages;
    uint64_t cache_owner;
    enum bb_index_residency index_residency;

    struct bb_footer footer;
    struct bb_table_id id;
    struct bb_table_directory directory;
    struct bb_properties properties;
    struct bb_root root;
    struct bb_table_meta meta;
    struct bb_bounds bounds;
    struct bb_range_tombstones *range_tombstones; /* owned; NULL if none */

    bool has_filters; /* filter_format is set */
    /* The block filters have a form that this version cannot probe. */
    bool has_unusable_filters;
    struct bb_block_filter_format filter_format;
    struct bb_hash_secret secret;
    bool takes_given_hash; /* the options' secret equals the table's */

    bool probes_table_filter; /* has_table_filter, and table_filter_off is not set */
    bool has_table_filter;    /* table_filter_format is set */
    /* The table filter is missing, or has a form that this version cannot probe. */
    bool has_unusable_table_filter;
    struct bb_block_filter_format table_filter_format;
    struct bb_table_filter_reading table_filter_reading;
    _Atomic(struct bb_table_filter *) table_filter; /* NULL until first used */
    struct bb_backoff table_filter_backoff;         /* for reading it while that fails */
    /* The same pointer, set once the fast probe is possible: the table filter has one part, uses
     * the hash that lookups are given, and the table has no range tombstones, which would have to
     * be checked first. */
    _Atomic(struct bb_table_filter *) ready_table_filter;
    _Atomic bool is_distrusted; /* no filter is probed: one ruled out a key that is present */

    struct bb_page_map copies; /* of blocks; empty if read_mode is calls */
    struct bb_table_map map;   /* empty unless read_mode is mapped */
    /* There is a map, and its blocks are not compressed. WHY they are not cached then: finding one
     * in the cache takes longer than parsing the one in the map. */
    bool uses_blocks_in_place;
    /* Approximate bytes of entries per byte of stored blocks. */
    double raw_share;

    /* One slot per pinned page; NULL until first used. */
    _Atomic(struct bb_index_page *) *pages;
    /* Of each group of pages, at the number of its first page: see takes_step. */
    _Atomic uint32_t *group_steps;
    _Atomic uint64_t pinned_bytes; /* of pages and table filter */
};

/* Memory for its blocks; NULL: the allocator's. */
static inline struct bb_block_spares *bb_table_spares(const struct bb_table *table)
{
    return table->cache == NULL ? NULL : bb_block_cache_spares(table->cache);
}

/* table_pages.c and table_read.c. stats must not be NULL. */

/* Returns index page number `index`, to be released with bb_table_page_release. */
BB_MUST_CHECK enum bb_status bb_table_page_acquire(struct bb_table *table, uint32_t index,
                                                   struct bb_read_stats *stats,
                                                   struct bb_index_page **ret_page);
static inline void bb_table_page_release(const struct bb_table *table, struct bb_index_page *page)
{
    if (table->index_residency == BB_INDEX_CACHED)
        bb_index_page_unref(page);
}
/* The page if it is in memory, else NULL; to be released. Reads nothing and counts nothing. */
struct bb_index_page *bb_table_page_peek(struct bb_table *table, uint32_t index);

/* Returns a block by page and ordinal, with one reference for bb_block_unref. A block with is_kept
 * false may use the scratch, and must be released before it. */
BB_MUST_CHECK enum bb_status
bb_table_block_acquire(struct bb_table *table, const struct bb_read_options *options,
                       const struct bb_index_page *page, uint32_t ordinal,
                       struct bb_block_scratch *scratch, bool is_kept, struct bb_read_stats *stats,
                       struct bb_block **ret_block);

/* The two halves of bb_table_block_acquire for a block that is kept. find returns the block if the
 * cache has it; otherwise it returns NULL, and in *ret_is_wanted whether the cache wants the block,
 * which load needs. find counts the request. */
struct bb_block *bb_table_block_find(struct bb_table *table, const struct bb_read_options *options,
                                     const struct bb_index_page *page, uint32_t ordinal,
                                     struct bb_read_stats *stats, bool *ret_is_wanted);
BB_MUST_CHECK enum bb_status bb_table_block_load(struct bb_table *table,
                                                 const struct bb_read_options *options,
                                                 const struct bb_index_page *page, uint32_t ordinal,
                                                 struct bb_block_scratch *scratch, bool is_kept,
                                                 bool is_wanted, struct bb_read_stats *stats,
                                                 struct bb_block **ret_block);
/* Like load, from the block's stored bytes, which the caller has read. Counts the block, and not
 * the bytes. */
BB_MUST_CHECK enum bb_status bb_table_block_of_stored(struct bb_table *table,
                                                      const struct bb_index_page *page,
                                                      uint32_t ordinal, const uint8_t *stored,
                                                      bool is_wanted, struct bb_read_stats *stats,
                                                      struct bb_block **ret_block);
/* table_offset.c: a key in the middle of the index pages from the page for `after` on. It may be at
 * or before `after` if versions of one key fill several pages. Empty if no page follows. */
BB_MUST_CHECK enum bb_status bb_table_middle_key(const struct bb_table *table,
                                                 struct bb_bytes after, struct bb_buf *ret_key);
/* Begins to load the memory that find needs. */
void bb_table_block_prefetch(struct bb_table *table, const struct bb_index_page *page,
                             uint32_t ordinal);

/* Returns the block in the table's map, without a copy and with one reference, which the caller
 * releases before the table is closed. NULL if the map is unsound, or the block is damaged,
 * compressed, or has many entries. Its bytes may be lost at any time. If the map is sound after a
 * read, the bytes that were read are the file's. REQUIRES: the table has a map. */
BB_MUST_CHECK enum bb_status bb_table_block_show(struct bb_table *table,
                                                 const struct bb_index_page *page, uint32_t ordinal,
                                                 struct bb_read_stats *stats,
                                                 struct bb_block **ret_block);

/* Decodes a block from the map, if the table has one. *ret_block is unchanged if the map is missing
 * or unsound, or the block in it is damaged: reading the file then reports the reason. Its pages
 * may vanish at any time, so a result counts only if the map is sound afterwards. */
BB_MUST_CHECK enum bb_status
bb_table_block_take_mapped(struct bb_table *table, const struct bb_index_page *page,
                           uint32_t ordinal, struct bb_block_scratch *scratch, bool is_kept,
                           struct bb_read_stats *stats, struct bb_block **ret_block);

/* Compares a block with its head, if it has one. Errors: BB_CORRUPT. */
BB_MUST_CHECK enum bb_status bb_table_block_check_head(const struct bb_table *table,
                                                       const struct bb_index_page *page,
                                                       uint32_t page_index, uint32_t ordinal,
                                                       const struct bb_block *block);

/* Whether the value of an entry is in the map of the table. */
bool bb_table_shows(const struct bb_table *table, struct bb_bytes value);
/* BB_OK: the bytes of the value that were read are the file's; else BB_IO. REQUIRES: the table
 * shows it. */
BB_MUST_CHECK enum bb_status bb_table_check_shown(const struct bb_table *table,
                                                  struct bb_bytes value);

/* Like bb_table_block_acquire, for callers that need the stored form too. *ret_stored holds the
 * stored bytes as its payload, as a separate reference, perhaps to the same block. It is NULL when
 * the cache had the decoded block. Inserts nothing into the cache. */
BB_MUST_CHECK enum bb_status
bb_table_block_acquire_both(struct bb_table *table, const struct bb_read_options *options,
                            const struct bb_index_page *page, uint32_t ordinal,
                            struct bb_read_stats *stats, struct bb_block **ret_stored,
                            struct bb_block **ret_block);

/* Like bb_table_block_acquire in two steps, for batches of blocks. try returns the block if it
 * needs no waiting; with may_copy it may wait for a page that the system was known to have in
 * memory. Otherwise *ret_block is NULL, the system starts to read ahead, and await reads
 * the block with the result of try. try counts the request. A caller that has awaited a block uses
 * acquire to get it again. */
BB_MUST_CHECK enum bb_status bb_table_block_try(struct bb_table *table,
                                                const struct bb_read_options *options,
                                                const struct bb_index_page *page, uint32_t ordinal,
                                                struct bb_block_scratch *scratch, bool may_copy,
                                                struct bb_read_stats *stats, bool *ret_is_wanted,
                                                struct bb_block **ret_block);
BB_MUST_CHECK enum bb_status
bb_table_block_await(struct bb_table *table, const struct bb_index_page *page, uint32_t ordinal,
                     struct bb_block_scratch *scratch, bool is_wanted, struct bb_read_stats *stats,
                     struct bb_block **ret_block);

/* Reads from the file, bypassing slots and cache. Owned by the caller. For tools and
 * verification. */
BB_MUST_CHECK enum bb_status bb_table_page_load(struct bb_table *table, uint32_t index,
                                                struct bb_read_stats *stats,
                                                struct bb_index_page **ret_page);
/* Reads a block in its stored form and verifies its checksum. bb_stored_block_decode makes it
 * searchable. */
BB_MUST_CHECK enum bb_status bb_table_block_fetch(struct bb_table *table, uint64_t offset,
                                                  uint32_t size, struct bb_read_stats *stats,
                                                  struct bb_block **ret_stored);

/* table_filter_read.c */

/* Probes the table filter. True when the table may contain the key, or when the probe is not
 * possible, which is counted. key_hash: under the table's secret. REQUIRES: has_table_filter. */
bool bb_table_may_contain(struct bb_table *table, struct bb_bytes key, uint64_t key_hash,
                          struct bb_read_stats *stats);
/* For tools and verification: read from the file, without the cache. load reads the list of the
 * table filter, owned by the caller. filter_chunk reads one chunk into *stored (replaced). Errors:
 * BB_CORRUPT. REQUIRES: has_table_filter. */
BB_MUST_CHECK enum bb_status bb_table_load_filter(struct bb_table *table,
                                                  struct bb_read_stats *stats,
                                                  struct bb_table_filter **ret_table_filter);
BB_MUST_CHECK enum bb_status bb_table_load_filter_chunk(struct bb_table *table,
                                                        const struct bb_table_filter *table_filter,
                                                        uint32_t chunk, struct bb_read_stats *stats,
                                                        struct bb_buf *stored);

static inline struct bb_place bb_table_place(const struct bb_table *table, uint64_t offset)
{
    return (struct bb_place){.file = table->file->path, .offset = offset};
}

#endif
