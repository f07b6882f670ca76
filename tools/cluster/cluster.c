/* See cluster.h. */
#include "tools/cluster/cluster.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/status.h"
#include "tools/cluster/redirection.h"
#include "tools/cluster/reply.h"
#include "tools/output/clock.h"
#include "tools/output/interrupt.h"

#define PAUSE_NS_MIN UINT64_C(10000000)
#define PAUSE_NS_MAX UINT64_C(200000000)
/* Redirections in a row before a pause. */
#define HOPS_MAX 4

/* One attempt at all requests without a result. */
struct pass {
    struct request **requests;
    size_t count;
    size_t pending;          /* requests without a result */
    bool needs_pause;        /* for some, the same node would answer the same */
    struct bb_error failure; /* the first command that failed for good; BB_OK: none */
};

void request_reset(struct request *request)
{
    freeReplyObject(request->reply);
    request->reply = NULL;
    words_reset(&request->words);
}

void request_deinit(struct request *request)
{
    request_reset(request);
    words_deinit(&request->words);
}

void cluster_deinit(struct cluster *cluster)
{
    slot_map_deinit(&cluster->map);
}

/* After the failure of a connection, which is temporary unless it is Ctrl-C or a lack of memory. */
static enum bb_status settle_failure(struct cluster *cluster, enum bb_status status)
{
    if (status != BB_IO)
        return status;
    snprintf(cluster->trouble, sizeof(cluster->trouble), "%s", bb_error_last()->message);
    return BB_OK;
}

static uint64_t silence_of(const struct cluster *cluster)
{
    return cluster->timeout_ns < NODE_SILENCE_NS ? cluster->timeout_ns : NODE_SILENCE_NS;
}

static enum bb_status read_map(struct cluster *cluster, struct node *node)
{
    struct words words = {0};
    struct redisReply *reply = NULL;
    enum bb_status status = words_add_text(&words, "CLUSTER");
    if (status == BB_OK)
        status = words_add_text(&words, "SLOTS");
    node->silence_ns = silence_of(cluster);
    if (status == BB_OK)
        status = node_connect(node, &cluster->credentials);
    if (status == BB_OK)
        status = node_call(node, &words, &reply);
    words_deinit(&words);
    if (status != BB_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR &&
        strstr(reply_text(reply).text, "cluster support disabled") != NULL)
        slot_map_fill(&cluster->map, node);
    else if (reply->type == REDIS_REPLY_ERROR)
        status = bb_fail(BB_IO, "%s port %u: CLUSTER SLOTS: %s", node->address.host,
                         node->address.port, reply_text(reply).text);
    else
        status = slot_map_decode(&cluster->map, reply, node);
    freeReplyObject(reply);
    return status;
}

/* Tries one node after the other, each time from a different first one: after a fail-over some
 * still have the old map. */
static enum bb_status refresh(struct cluster *cluster)
{
    size_t count = cluster->map.node_count;
    size_t first = cluster->next_refresh++;
    for (size_t i = 0; i < count; i++) {
        enum bb_status status = read_map(cluster, cluster->map.nodes[(first + i) % count]);
        if (status == BB_OK)
            return BB_OK;
        status = settle_failure(cluster, status);
        if (status != BB_OK)
            return status;
    }
    return bb_fail(BB_IO, "no node of the cluster answers; the last: %s", cluster->trouble);
}

enum bb_status cluster_open(struct cluster *cluster, const char *const *seeds, size_t seed_count)
{
    for (size_t i = 0; i < seed_count; i++) {
        struct address address;
        struct node *node = NULL;
        if (!address_decode(bb_bytes_of_text(seeds[i]), NULL, &address))
            return bb_fail(BB_INVALID, "option --seed: \"%s\" is not HOST:PORT", seeds[i]);
        enum bb_status status = slot_map_node(&cluster->map, &address, &node);
        if (status != BB_OK)
            return status;
    }
    return refresh(cluster);
}

static struct node *node_of(const struct cluster *cluster, const struct request *request)
{
    return request->asked != NULL ? request->asked : cluster->map.owners[request->slot];
}

static enum bb_status add_one_word(struct node *node, const char *word)
{
    struct words words = {0};
    enum bb_status status = words_add_text(&words, word);
    if (status == BB_OK)
        status = node_add(node, &words);
    words_deinit(&words);
    return status;
}

static enum bb_status add_wait(const struct cluster *cluster, struct node *node)
{
    struct words words = {0};
    enum bb_status status = words_add_text(&words, "WAIT");
    if (status == BB_OK)
        status = words_add_number(&words, cluster->wait_replicas);
    if (status == BB_OK)
        status = words_add_number(&words, cluster->wait_ns / 1000000);
    if (status == BB_OK)
        status = node_add(node, &words);
    words_deinit(&words);
    return status;
}

/* Adds the command to the output of its node. */
static enum bb_status add_request(struct cluster *cluster, struct request *request)
{
    struct node *node = node_of(cluster, request);
    request->node = NULL;
    if (node == NULL) {
        snprintf(cluster->trouble, sizeof(cluster->trouble), "no node owns slot %u", request->slot);
        return BB_OK;
    }
    node->silence_ns = silence_of(cluster) + cluster->wait_ns;
    enum bb_status status = node_connect(node, &cluster->credentials);
    if (status == BB_OK && request->asked != NULL)
        status = add_one_word(node, "ASKING");
    if (status == BB_OK)
        status = node_add(node, &request->words);
    if (status != BB_OK)
        return settle_failure(cluster, status);
    request->node = node;
    node->is_used = true;
    return BB_OK;
}

/* Sends everything. A node that fails loses its connection, which the receiver sees. */
static enum bb_status send_all(struct cluster *cluster, const struct pass *pass)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < cluster->map.node_count; i++)
        cluster->map.nodes[i]->is_used = false;
    for (size_t i = 0; i < pass->count && status == BB_OK; i++)
        if (pass->requests[i]->reply == NULL)
            status = add_request(cluster, pass->requests[i]);
    for (size_t i = 0; i < cluster->map.node_count && status == BB_OK; i++) {
        struct node *node = cluster->map.nodes[i];
        if (!node->is_used || node->context == NULL)
            continue;
        if (cluster->wait_replicas > 0)
            status = add_wait(cluster, node);
        if (status == BB_OK)
            status = node_flush(node);
        status = settle_failure(cluster, status);
    }
    return status;
}

static enum bb_status follow(struct cluster *cluster, struct request *request,
                             const struct redirection *redirection)
{
    struct node *node = NULL;
    enum bb_status status = slot_map_node(&cluster->map, &redirection->address, &node);
    if (status != BB_OK)
        return status;
    if (redirection->kind == REDIRECTION_ASK) {
        cluster->asked++;
        request->asked = node;
    } else {
        cluster->moved++;
        cluster->map.owners[redirection->slot] = node;
    }
    return BB_OK;
}

/* A command that failed for good. The replies of the others are still read. */
static void note_failure(struct pass *pass, const char *text)
{
    if (pass->failure.status != BB_OK)
        return;
    (void)bb_fail(BB_IO, "%s", text);
    pass->failure = *bb_error_last();
}

/* Takes the reply, or follows it. */
static enum bb_status take_reply(struct cluster *cluster, struct pass *pass,
                                 struct request *request, struct redisReply *reply)
{
    const struct address *address = &request->node->address;
    struct redirection redirection = redirection_of(reply, address);
    if (redirection.kind == REDIRECTION_NONE) {
        request->reply = reply;
        request->replier = request->node;
        return BB_OK;
    }
    enum bb_status status = BB_OK;
    snprintf(cluster->trouble, sizeof(cluster->trouble), "%s port %u: %s", address->host,
             address->port, reply_text(reply).text);
    freeReplyObject(reply);
    if (redirection.kind == REDIRECTION_ERROR)
        note_failure(pass, cluster->trouble);
    else if (redirection.kind == REDIRECTION_LATER)
        pass->needs_pause = true;
    else
        status = follow(cluster, request, &redirection);
    return status;
}

static enum bb_status skip_reply(struct node *node)
{
    struct redisReply *reply = NULL;
    enum bb_status status = node_receive(node, &reply);
    if (status == BB_OK)
        freeReplyObject(reply);
    return status;
}

static enum bb_status receive(struct cluster *cluster, struct pass *pass, struct request *request)
{
    struct node *node = request->node;
    struct redisReply *reply = NULL;
    bool was_asking = request->asked != NULL;
    request->asked = NULL;
    enum bb_status status = BB_OK;
    if (node == NULL || node->context == NULL) {
        pass->needs_pause = true;
        return BB_OK;
    }
    if (was_asking)
        status = skip_reply(node);
    if (status == BB_OK)
        status = node_receive(node, &reply);
    if (status == BB_OK)
        return take_reply(cluster, pass, request, reply);
    pass->needs_pause = true;
    return settle_failure(cluster, status);
}

/* The reply to WAIT: replicas that have the node's writes. */
static enum bb_status read_wait(const struct cluster *cluster, struct node *node,
                                uint64_t *ret_count)
{
    struct redisReply *reply = NULL;
    enum bb_status status =
        node->context == NULL ? bb_fail(BB_IO, "%s", cluster->trouble) : node_receive(node, &reply);
    if (status != BB_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR)
        status = bb_fail(BB_IO, "WAIT: %s", reply_text(reply).text);
    else if (!reply_is_integer(reply) || reply->integer < 0)
        status = reply_fail(reply, "WAIT", "a number of replicas");
    else
        *ret_count = (uint64_t)reply->integer;
    freeReplyObject(reply);
    return status;
}

/* Without a reply it is unknown how many replicas have the writes of this pass, so the writes are
 * repeated. */
static enum bb_status receive_wait(struct cluster *cluster, struct pass *pass, struct node *node)
{
    uint64_t count = 0;
    enum bb_status status = read_wait(cluster, node, &count);
    for (size_t i = 0; i < pass->count; i++) {
        struct request *request = pass->requests[i];
        if (request->node != node || request->reply == NULL)
            continue;
        request->acknowledged = count;
        if (status != BB_OK) {
            freeReplyObject(request->reply);
            request->reply = NULL;
            pass->needs_pause = true;
        }
    }
    return settle_failure(cluster, status);
}

static enum bb_status receive_all(struct cluster *cluster, struct pass *pass)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < pass->count && status == BB_OK; i++) {
        if (pass->requests[i]->reply == NULL)
            status = receive(cluster, pass, pass->requests[i]);
        else
            pass->requests[i]->node = NULL;
    }
    for (size_t i = 0; i < cluster->map.node_count && status == BB_OK; i++)
        if (cluster->wait_replicas > 0 && cluster->map.nodes[i]->is_used)
            status = receive_wait(cluster, pass, cluster->map.nodes[i]);
    return status;
}

/* An unread reply would be mistaken for the reply to a later command. */
static void close_used(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->map.node_count; i++)
        if (cluster->map.nodes[i]->is_used)
            node_close(cluster->map.nodes[i]);
}

/* Sends each request that has no result yet, once. */
static enum bb_status run_pass(struct cluster *cluster, struct pass *pass)
{
    pass->needs_pause = false;
    enum bb_status status = send_all(cluster, pass);
    if (status == BB_OK)
        status = receive_all(cluster, pass);
    if (status != BB_OK) {
        close_used(cluster);
        return status;
    }
    pass->pending = 0;
    for (size_t i = 0; i < pass->count; i++)
        pass->pending += pass->requests[i]->reply == NULL;
    return pass->failure.status == BB_OK ? BB_OK : bb_error_restore(&pass->failure);
}

/* Nodes that send a request to each other in a circle need a pause too. */
static enum bb_status pause_and_refresh(struct cluster *cluster, const struct pass *pass,
                                        uint64_t *pause_ns)
{
    struct timespec time = {.tv_nsec = (long)*pause_ns};
    nanosleep(&time, NULL);
    *pause_ns = *pause_ns * 2 > PAUSE_NS_MAX ? PAUSE_NS_MAX : *pause_ns * 2;
    cluster->repetitions += pass->pending;
    return settle_failure(cluster, refresh(cluster));
}

enum bb_status cluster_run(struct cluster *cluster, struct request **requests, size_t count)
{
    struct pass pass = {.requests = requests, .count = count, .pending = count};
    uint64_t end = clock_now() + cluster->timeout_ns;
    uint64_t pause_ns = PAUSE_NS_MIN;
    unsigned hops = 0;
    enum bb_status status = BB_OK;
    while (status == BB_OK && pass.pending > 0) {
        size_t before = pass.pending;
        status = run_pass(cluster, &pass);
        if (pass.pending < before)
            end = clock_now() + cluster->timeout_ns;
        if (status != BB_OK || pass.pending == 0)
            break;
        if (interrupt_is_wanted())
            status = bb_fail(BB_BUSY, "interrupted");
        else if (clock_now() >= end)
            status = bb_fail(BB_IO, "the cluster gave no result for %.4g s; the last answer: %s",
                             (double)cluster->timeout_ns / 1e9, cluster->trouble);
        else if (pass.needs_pause || ++hops % HOPS_MAX == 0)
            status = pause_and_refresh(cluster, &pass, &pause_ns);
    }
    return status;
}
