/* A collection: the partitions NAME:{0} ... NAME:{N-1}, one key of type bbstore-1 each.
 *
 * A field belongs to the partition XXH64(field) mod N. N is not stored: it is given, and
 * compared with the existing keys. The key N - 1 is created before the others, so that an
 * interrupted creation is recognised. */
#ifndef BB_TOOLS_CLUSTER_COLLECTION_H
#define BB_TOOLS_CLUSTER_COLLECTION_H

#include "tools/cluster/cluster.h"

#define COLLECTION_PARTITIONS_MAX     65536
#define COLLECTION_PARTITIONS_DEFAULT 256

struct partition {
    struct bb_buf key; /* NAME:{17} */
    bool exists;       /* at the last check */
    struct request request;
};

/* A zeroed struct is valid, for collection_deinit. */
struct collection {
    struct cluster *cluster;      /* borrowed */
    const char *name;             /* borrowed */
    struct partition *partitions; /* and one more, whose key must not exist */
    uint32_t partition_count;
    struct request **batch; /* space for a request of each */
};

/* BB_INVALID: a name with "{", which would put all keys into one slot, or a bad count. */
BB_MUST_CHECK enum bb_status collection_init(struct collection *collection, struct cluster *cluster,
                                             const char *name, uint64_t partition_count);
void collection_deinit(struct collection *collection);

uint32_t collection_partition_of(const struct collection *collection, struct bb_bytes field);

/* Begins a command in the partition's request: its name, and the key. */
BB_MUST_CHECK enum bb_status collection_begin(struct collection *collection, uint32_t partition,
                                              const char *command);
/* Executes the begun commands of all partitions. Their replies are in the requests. */
BB_MUST_CHECK enum bb_status collection_run(struct collection *collection);
/* Empties the requests of all partitions. */
void collection_reset(struct collection *collection);

/* Checks that all partitions exist and that there are no more. BB_NOT_FOUND: none exists.
 * BB_INVALID: fewer or more. */
BB_MUST_CHECK enum bb_status collection_check(struct collection *collection);
/* The same, but creates the missing partitions if no partition exists, or if the last one does (an
 * interrupted creation). options: the words of BB.CREATE after the key. */
BB_MUST_CHECK enum bb_status collection_create(struct collection *collection,
                                               const struct words *options, uint32_t *ret_created);

#endif
