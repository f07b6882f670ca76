/* The options of new partitions, which become the words of BB.CREATE. */
#ifndef BB_TOOLS_CLUSTER_PARTITION_OPTIONS_H
#define BB_TOOLS_CLUSTER_PARTITION_OPTIONS_H

#include "tools/cluster/words.h"
#include "tools/command/options.h"

#define PARTITION_OPTION_COUNT 6

/* Zero or NULL: the server's default. */
struct partition_options {
    double target;
    double bits_per_key;
    uint32_t block_bytes;
    uint64_t buffer_bytes;
    uint64_t cache_bytes;
    const char *compression;
    struct option table[PARTITION_OPTION_COUNT]; /* for options_parse */
};

/* The group is borrowed from options. */
struct option_group partition_options_group(struct partition_options *options);
/* BB_INVALID: the server would refuse the named option. */
BB_MUST_CHECK enum bb_status partition_options_check(const struct partition_options *options);
BB_MUST_CHECK enum bb_status partition_options_add(const struct partition_options *options,
                                                   struct words *words);

#endif
