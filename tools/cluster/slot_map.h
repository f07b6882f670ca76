/* The nodes of a cluster and the slots that each owns, as one node describes them. */
#ifndef BB_TOOLS_CLUSTER_SLOT_MAP_H
#define BB_TOOLS_CLUSTER_SLOT_MAP_H

#include "tools/cluster/key_slot.h"
#include "tools/cluster/node.h"

/* A limit against a malicious server, which could name any number of nodes to connect to. */
#define SLOT_MAP_NODES_MAX 1024

/* A zeroed struct is a valid empty map. Owned: slot_map_deinit. */
struct slot_map {
    struct node *nodes[SLOT_MAP_NODES_MAX]; /* owned, never removed before the end */
    size_t node_count;
    struct node *owners[SLOT_COUNT]; /* of nodes; NULL: not known */
};

void slot_map_deinit(struct slot_map *map);

/* The node of the address, new or known. BB_TOO_LARGE beyond SLOT_MAP_NODES_MAX. */
BB_MUST_CHECK enum bb_status slot_map_node(struct slot_map *map, const struct address *address,
                                           struct node **ret_node);

/* Takes the owners of all slots from the reply to CLUSTER SLOTS. asked: the node that replied. A
 * failure changes no owner. */
BB_MUST_CHECK enum bb_status slot_map_decode(struct slot_map *map, const struct redisReply *reply,
                                             struct node *asked);
/* Makes the node the owner of all slots: a server that is not in a cluster. */
void slot_map_fill(struct slot_map *map, struct node *node);

#endif
