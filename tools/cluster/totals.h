/* Counts of partitions, from BB.INFO and BB.STATS, and their sums. */
#ifndef BB_TOOLS_CLUSTER_TOTALS_H
#define BB_TOOLS_CLUSTER_TOTALS_H

#include "tools/cluster/collection.h"

/* In the order of totals_names. */
enum total {
    TOTAL_FIELDS,
    TOTAL_ENTRIES,
    TOTAL_TABLES,
    TOTAL_FILE_BYTES,
    TOTAL_FILTER_BYTES,
    TOTAL_MEMORY_BYTES,
    TOTAL_INCOMPLETE, /* partitions with a write that was not made, such as on a full disk */
    TOTAL_LOOKUPS,
    TOTAL_LOOKUPS_FOUND,
    TOTAL_VISITS,
    TOTAL_REQUESTS,
    TOTAL_READS,
    TOTAL_AVOIDED,
    TOTAL_WASTED,
    TOTAL_WRITES,
    TOTAL_FLUSHES,
    TOTAL_COMPACTIONS,
    TOTAL_SYSTEM_READS,
    TOTAL_COUNT,
};

/* As the replies spell them. */
extern const char *const totals_names[TOTAL_COUNT];

struct totals {
    uint64_t partitions;
    uint64_t values[TOTAL_COUNT];
};

/* Of the partitions that one node has. */
struct node_totals {
    const struct node *node; /* borrowed from the cluster */
    struct totals totals;
};

/* The counts of a collection by node. A zeroed struct is valid, for totals_deinit. */
struct collection_totals {
    struct node_totals *nodes; /* owned; nodes with partitions */
    size_t node_count;
    struct totals all;
};

/* BB_IO: a reply lacks a count. */
BB_MUST_CHECK enum bb_status collection_totals_read(struct collection *collection,
                                                    struct collection_totals *totals);
void collection_totals_deinit(struct collection_totals *totals);

/* The share of block requests that filters avoided; 0 without any. */
double totals_avoided_share(const struct totals *totals);
/* Wasted block requests per lookup of an absent field; 0 without any. */
double totals_waste(const struct totals *totals);

#endif
