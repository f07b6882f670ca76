/* The options that all sub-commands of `bloomblock cluster` share, and the opening by them. */
#ifndef BB_TOOLS_CLUSTER_CLUSTER_OPTIONS_H
#define BB_TOOLS_CLUSTER_CLUSTER_OPTIONS_H

#include "tools/cluster/collection.h"
#include "tools/command/options.h"

#define CLUSTER_OPTION_COUNT 4

struct cluster_options {
    struct option_texts seeds;
    uint64_t partition_count;
    double timeout_seconds;
    const char *user;
    struct option table[CLUSTER_OPTION_COUNT]; /* for options_parse */
};

/* Sets the defaults, and returns the group, which is borrowed from options. */
struct option_group cluster_options_group(struct cluster_options *options);

/* Connects; the password is in the environment variable REDISCLI_AUTH. On success and failure
 * both structs are the caller's to deinit. cluster: zeroed, or with the fields of WAIT set. */
BB_MUST_CHECK enum bb_status cluster_options_open(const struct cluster_options *options,
                                                  const char *name, struct cluster *cluster,
                                                  struct collection *collection);

#endif
