/* All filters of a table, one row each, with the keys that they contain.
 *
 * A filter serves a group of consecutive blocks of an index page, or, where the group is large, the
 * share of the group's keys that a hash assigns to it ("shard"). Rows are in the order of the file.
 * The list also has the table filter, which is probed before all of them.
 */
#ifndef BB_TOOLS_FILTER_FILTER_LIST_H
#define BB_TOOLS_FILTER_FILTER_LIST_H

#include "sstable/table/table_walk.h"
#include "tools/filter/table_filter_report.h"
#include "tools/keys/key_list.h"

enum filter_state {
    FILTER_GOOD,
    FILTER_NONE,    /* not stored: every probe is maybe */
    FILTER_DAMAGED, /* the page's filters can not be read, or not be understood */
};

struct filter_row {
    uint32_t page;
    uint32_t group; /* of the page */
    uint32_t shard; /* of the group */
    uint32_t shard_count;
    uint64_t first_block; /* from the table's beginning */
    uint32_t block_count;
    enum filter_state state;
    bool is_incomplete; /* a block can not be read: keys is too small */
    uint64_t keys;      /* distinct */
    uint16_t descriptor;
    struct bb_block_filter_info info; /* of a good one */
    uint64_t probed;                  /* absent keys that came to it */
    uint64_t passed;                  /* of these, maybe */
};

struct filter_list {
    struct filter_row *rows; /* owned */
    size_t count;
    size_t *page_rows; /* first row of each page, one more than pages; owned */
    struct table_filter_report table_filter;
    uint64_t table_filter_probed; /* absent keys that came to it */
    uint64_t table_filter_passed; /* of these, maybe */
    uint64_t both_passed;         /* of these, maybe in the block's filter too */
    uint64_t damaged_parts;
    char first_damage[1024];
    uint64_t outside; /* absent keys outside the table's bounds: no filter is probed */
    uint64_t inside;  /* keys that the table contains: skipped */
    uint64_t unread;  /* keys that fall into parts that can not be read */
    uint64_t lookups; /* all keys looked up */
};

/* Sums over rows; rates are means weighted by keys, because absent keys of the same shape fall
 * where keys are. */
struct filter_total {
    uint64_t keys;
    uint64_t bits; /* payloads and descriptors */
    double predicted_rate;
    double fill;
    uint64_t probed;
    uint64_t passed;
};

/* Reads the table filter, all pages and blocks. Damaged ones are counted and skipped. Owned:
 * filter_list_deinit.
 */
BB_MUST_CHECK enum bb_status filter_list_read(struct bb_table *table, struct filter_list *ret_list);
void filter_list_deinit(struct filter_list *list);

/* Probes the responsible filter for each key that the table does not contain. */
BB_MUST_CHECK enum bb_status filter_list_ask(struct filter_list *list, struct bb_table *table,
                                             const struct key_list *keys);

struct filter_total filter_list_total(const struct filter_list *list);
/* The expected rate of the table filter and the block filters together. */
double filter_list_rate(const struct filter_list *list);
/* Bits of a row: payload and descriptor. */
uint64_t filter_row_bits(const struct filter_row *row);

#endif
