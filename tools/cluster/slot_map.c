/* See slot_map.h. */
#include "tools/cluster/slot_map.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/cluster/reply.h"

void slot_map_deinit(struct slot_map *map)
{
    for (size_t i = 0; i < map->node_count; i++) {
        node_close(map->nodes[i]);
        bb_free(map->nodes[i]);
    }
    *map = (struct slot_map){0};
}

static struct node *find_node(const struct slot_map *map, const struct address *address)
{
    for (size_t i = 0; i < map->node_count; i++)
        if (address_equal(&map->nodes[i]->address, address))
            return map->nodes[i];
    return NULL;
}

enum bb_status slot_map_node(struct slot_map *map, const struct address *address,
                             struct node **ret_node)
{
    struct node *node = find_node(map, address);
    if (node == NULL) {
        if (map->node_count == SLOT_MAP_NODES_MAX)
            return bb_fail(BB_TOO_LARGE, "the cluster names more than %d nodes",
                           SLOT_MAP_NODES_MAX);
        node = bb_alloc_zeroed(1, sizeof(*node));
        if (node == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for a node");
        node->address = *address;
        node->silence_ns = NODE_SILENCE_NS;
        map->nodes[map->node_count++] = node;
    }
    *ret_node = node;
    return BB_OK;
}

void slot_map_fill(struct slot_map *map, struct node *node)
{
    for (size_t slot = 0; slot < SLOT_COUNT; slot++)
        map->owners[slot] = node;
}

/* The host of a reply. A node that does not know its own host sends nil or an empty host. It then
 * has the host to which we connected. */
static struct bb_bytes host_of(const struct redisReply *host, const struct node *asked)
{
    return reply_is_bytes(host) && host->len > 0 ? reply_bytes(host)
                                                 : bb_bytes_of_text(asked->address.host);
}

/* [first, last, [host, port, ...], replicas ...] */
static enum bb_status decode_range(struct slot_map *map, const struct redisReply *range,
                                   const struct node *asked, struct node **owners)
{
    static const char expected[] = "[first slot, last slot, [host, port]]";
    if (!reply_is_array(range, 3) || !reply_is_integer(range->element[0]) ||
        !reply_is_integer(range->element[1]) || !reply_is_array(range->element[2], 2) ||
        !reply_is_integer(range->element[2]->element[1]))
        return reply_fail(range, "CLUSTER SLOTS", expected);
    long long first = range->element[0]->integer;
    long long last = range->element[1]->integer;
    struct redisReply *const *owner = range->element[2]->element;
    struct address address;
    struct node *node = NULL;
    if (first < 0 || last < first || last >= SLOT_COUNT ||
        !address_set(host_of(owner[0], asked), owner[1]->integer, &address))
        return reply_fail(range, "CLUSTER SLOTS", expected);
    enum bb_status status = slot_map_node(map, &address, &node);
    for (long long slot = first; slot <= last && status == BB_OK; slot++)
        owners[slot] = node;
    return status;
}

enum bb_status slot_map_decode(struct slot_map *map, const struct redisReply *reply,
                               struct node *asked)
{
    if (!reply_is_array(reply, 0))
        return reply_fail(reply, "CLUSTER SLOTS", "an array");
    enum bb_status status = BB_OK;
    struct node *owners[SLOT_COUNT] = {NULL};
    for (size_t i = 0; i < reply->elements && status == BB_OK; i++)
        status = decode_range(map, reply->element[i], asked, owners);
    if (status == BB_OK)
        memcpy(map->owners, owners, sizeof(owners));
    return status;
}
