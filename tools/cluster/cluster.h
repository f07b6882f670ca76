/* A client of a Redis cluster, or of a single server, for commands that name one key each.
 *
 *     requests  --slot-->  all its nodes       -->  replies
 *                            MOVED                    the slot's owner is corrected
 *                            ASK                      goes to the other node, after ASKING
 *                            TRYAGAIN, CLUSTERDOWN,
 *                            LOADING, a lost          after a pause, with a new map of slots
 *                            connection, ...
 *
 * A request is repeated until it has a result, or until no result came for `timeout_ns`: then the
 * failure names the last trouble. So a command may be executed twice, and has to have the same
 * effect then. Requests of one call may be executed in any order. Threads: one. */
#ifndef BB_TOOLS_CLUSTER_CLUSTER_H
#define BB_TOOLS_CLUSTER_CLUSTER_H

#include "tools/cluster/slot_map.h"

/* A command, and its result. A zeroed struct has no words. Owned: request_deinit. */
struct request {
    uint16_t slot;
    struct words words;
    struct redisReply *reply;   /* owned, no error; NULL: none yet */
    const struct node *replier; /* the reply is from this node; borrowed from the cluster */
    uint64_t acknowledged;      /* replicas that have the write: with wait_replicas */
    /* The cluster's. */
    struct node *node;  /* asked in this pass; NULL: none */
    struct node *asked; /* ASK named it for the next pass */
};

void request_deinit(struct request *request);
/* Empties words and reply, for a next command. */
void request_reset(struct request *request);

/* A zeroed struct is valid, for cluster_deinit. */
struct cluster {
    struct credentials credentials;
    uint64_t timeout_ns;
    uint64_t wait_replicas; /* WAIT after writes, for this many replicas; 0: no */
    uint64_t wait_ns;       /* for at most this time */
    struct slot_map map;
    size_t next_refresh; /* the node that the next map comes from */
    char trouble[1024];  /* the last reason for a repetition */
    uint64_t moved;      /* MOVED and ASK followed */
    uint64_t asked;
    uint64_t repetitions; /* commands that were sent again after a pause */
};

/* Connects to the first of the seeds (HOST:PORT) that answers, and takes the map of slots. The
 * options of the struct are set before. */
BB_MUST_CHECK enum bb_status cluster_open(struct cluster *cluster, const char *const *seeds,
                                          size_t seed_count);
void cluster_deinit(struct cluster *cluster);

/* Executes all of the requests. BB_BUSY: Ctrl-C. On failure some of the requests may have been
 * executed; a request with a reply has been. */
BB_MUST_CHECK enum bb_status cluster_run(struct cluster *cluster, struct request **requests,
                                         size_t count);

#endif
