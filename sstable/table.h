/* An open table's inside.
 *
 *     table.c        opening, closing, what is known of it
 *     table_read.c   index pages and data blocks: from memory, cache or file
 *     table_summary.c the summary: from memory, cache or file
 *     table_get.c    one look-up
 *     table_offset.c where a key stands in the file
 *     table_iter.c   all entries in order
 *     table_walk.c   its parts, for tools and verification
 *
 * Threads: constant after opening but for the page slots and the summary, which are atomic.
 */
#ifndef BB_SSTABLE_TABLE_H
#define BB_SSTABLE_TABLE_H

#include "base/file.h"
#include "sstable/backoff.h"
#include "sstable/block/block.h"
#include "sstable/bounds.h"
#include "sstable/footer.h"
#include "sstable/index/index_page.h"
#include "sstable/properties.h"
#include "sstable/ranges/range_tombstones.h"
#include "sstable/index/root.h"
#include "sstable/summary.h"

struct bb_table {
    struct bb_file_system *own_fs; /* owned; NULL when the options name one */
    struct bb_file *file;          /* owned */
    uint64_t file_size;
    const struct bb_comparator *comparator;
    struct bb_block_cache *cache;       /* NULL: none */
    struct bb_large_pages *large_pages; /* borrowed: for what is pinned; NULL: the allocator */
    uint64_t cache_owner;
    enum bb_index_residency index_residency;

    struct bb_footer footer;
    struct bb_table_id id;
    struct bb_directory directory;
    struct bb_properties properties;
    struct bb_root root;
    struct bb_table_meta meta;
    struct bb_bounds bounds;
    struct bb_range_tombstones *range_tombstones; /* owned; NULL: none */

    bool has_filters;          /* filter_format is set */
    bool has_unusable_filters; /* there are filters, of a form that this version cannot ask */
    struct bb_block_filter_format filter_format;
    struct bb_hash_secret secret;
    bool takes_given_hash; /* the options' secret is the table's */

    bool asks_summary;         /* has_summary, and it is not to be left in the file */
    bool has_summary;          /* summary_format is set */
    bool has_unusable_summary; /* there should be one, of a form that this version can ask */
    enum bb_summary_residency summary_residency;
    struct bb_block_filter_format summary_format;
    struct bb_summary_reading summary_reading;
    _Atomic(struct bb_summary *) summary; /* NULL until first used */
    struct bb_backoff summary_backoff;    /* of reading it, while that fails */
    /* The same once it can be asked without further ado: pinned, of one part, under the hash that
     * look-ups are given, in a table without range tombstones, which come first. */
    _Atomic(struct bb_summary *) ready_summary;
    _Atomic bool is_distrusted; /* neither summary nor filters are asked: a filter has lied */

    _Atomic(struct bb_index_page *) *pages; /* pinned pages, one slot each, NULL until first used */
    _Atomic uint64_t pinned_bytes;          /* of pages and summary */
};

/* table_read.c. stats may not be NULL. */

/* Index page number `index`, until the release. */
BB_MUST_CHECK enum bb_status bb_table_page_acquire(struct bb_table *table, uint32_t index,
                                                   struct bb_read_stats *stats,
                                                   struct bb_index_page **ret_page);
void bb_table_page_release(struct bb_table *table, struct bb_index_page *page);
/* The page if it is in memory, until the release; else NULL. Reads nothing and counts nothing. */
struct bb_index_page *bb_table_page_peek(struct bb_table *table, uint32_t index);

/* The block of an ordinal of a page; one reference, given back by bb_block_unref. A block that is
 * not kept may stand in the scratch, and goes before it. */
BB_MUST_CHECK enum bb_status
bb_table_block_acquire(struct bb_table *table, const struct bb_read_options *options,
                       const struct bb_index_page *page, uint32_t ordinal,
                       struct bb_block_scratch *scratch, bool is_kept, struct bb_read_stats *stats,
                       struct bb_block **ret_block);

/* The same for who wants the block as it is stored, too: *ret_stored has it in its payload, is a
 * reference of its own, perhaps to the same block, and NULL where the cache had the other. Nothing
 * goes into the cache. */
BB_MUST_CHECK enum bb_status
bb_table_block_acquire_both(struct bb_table *table, const struct bb_read_options *options,
                            const struct bb_index_page *page, uint32_t ordinal,
                            struct bb_read_stats *stats, struct bb_block **ret_stored,
                            struct bb_block **ret_block);

/* The same in two steps, for many blocks at once: the block if that takes no waiting; else *ret_block
 * is NULL, the system begins to fetch it, and await reads it, which takes what try says. The request
 * is counted by try. Who has begun to wait for a block leaves it to acquire to give it once more. */
BB_MUST_CHECK enum bb_status bb_table_block_try(struct bb_table *table,
                                                const struct bb_read_options *options,
                                                const struct bb_index_page *page, uint32_t ordinal,
                                                struct bb_block_scratch *scratch,
                                                struct bb_read_stats *stats, bool *ret_is_wanted,
                                                struct bb_block **ret_block);
BB_MUST_CHECK enum bb_status
bb_table_block_await(struct bb_table *table, const struct bb_index_page *page, uint32_t ordinal,
                     struct bb_block_scratch *scratch, bool is_wanted, struct bb_read_stats *stats,
                     struct bb_block **ret_block);

/* Fresh from the file, past slots and cache, owned by the caller: for tools and verification. */
BB_MUST_CHECK enum bb_status bb_table_page_load(struct bb_table *table, uint32_t index,
                                                struct bb_read_stats *stats,
                                                struct bb_index_page **ret_page);
/* The block as it is stored, its checksum verified: bb_stored_block_decode makes it searchable. */
BB_MUST_CHECK enum bb_status bb_table_block_fetch(struct bb_table *table, uint64_t offset,
                                                  uint32_t size, struct bb_read_stats *stats,
                                                  struct bb_block **ret_stored);

/* table_summary.c */

/* May the table contain the key, as far as its summary knows? True when it cannot be asked, which
 * is counted. key_hash: under the table's secret. REQUIRES: has_summary. */
bool bb_table_summary_may_contain(struct bb_table *table, struct bb_bytes key, uint64_t key_hash,
                                  struct bb_read_stats *stats);
/* For tools and verification, fresh from the file: the list of the summary, owned by the caller,
 * and then its chunks, the bytes into *stored (replaced). BB_CORRUPT. REQUIRES: has_summary. */
BB_MUST_CHECK enum bb_status bb_table_summary_load(struct bb_table *table,
                                                   struct bb_read_stats *stats,
                                                   struct bb_summary **ret_summary);
BB_MUST_CHECK enum bb_status
bb_table_summary_chunk_load(struct bb_table *table, const struct bb_summary *summary,
                            uint32_t chunk, struct bb_read_stats *stats, struct bb_buf *stored);

static inline struct bb_place bb_table_place(const struct bb_table *table, uint64_t offset)
{
    return (struct bb_place){.file = table->file->path, .offset = offset};
}

#endif
