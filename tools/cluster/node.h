/* A connection to one node: commands out, replies in, with limits on both.
 *
 * Replies come from another machine and are not trusted: an array has at most NODE_ARRAY_MAX
 * elements and a reply at most NODE_REPLY_BYTES_MAX bytes, and the user of a reply checks its
 * types. A node that sends nothing for `silence_ns` counts as dead. After a failure the connection
 * is closed, and replies that were due on it are lost. BB_IO names the node; BB_BUSY: Ctrl-C.
 * Threads: one. */
#ifndef BB_TOOLS_CLUSTER_NODE_H
#define BB_TOOLS_CLUSTER_NODE_H

#include <hiredis/hiredis.h>

#include "tools/cluster/address.h"
#include "tools/cluster/words.h"

#define NODE_ARRAY_MAX       (4 * 1024 * 1024)
#define NODE_REPLY_BYTES_MAX ((uint64_t)1 << 30)
#define NODE_SILENCE_NS      UINT64_C(10000000000)
#define NODE_CONNECT_NS      UINT64_C(3000000000)

/* Of the user at every node; borrowed, NULL: none. */
struct credentials {
    const char *user;
    const char *password;
};

struct node {
    struct address address;
    struct redisContext *context;    /* NULL: not connected */
    redisReplyObjectFunctions plain; /* hiredis' own functions, and the ones in use */
    redisReplyObjectFunctions limited;
    uint64_t silence_ns; /* before an answer, NODE_SILENCE_NS or less; and the time of WAIT */
    bool is_used;        /* the cluster's: by the requests of a pass */
};

/* Connects and logs in, unless it is connected. */
BB_MUST_CHECK enum bb_status node_connect(struct node *node, const struct credentials *credentials);
void node_close(struct node *node);

/* Appends the command to the output, which node_flush sends. */
BB_MUST_CHECK enum bb_status node_add(struct node *node, const struct words *words);
BB_MUST_CHECK enum bb_status node_flush(struct node *node);
/* The next reply, in the order of the commands. *ret_reply is owned (freeReplyObject). */
BB_MUST_CHECK enum bb_status node_receive(struct node *node, struct redisReply **ret_reply);
/* The three in one, for a single command. */
BB_MUST_CHECK enum bb_status node_call(struct node *node, const struct words *words,
                                       struct redisReply **ret_reply);

#endif
