/* See collection.h. */
#include "tools/cluster/collection.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/cluster/reply.h"

static enum bb_status init_partition(struct partition *partition, const char *name, uint32_t number)
{
    enum bb_status status = bb_buf_print(&partition->key, "%s:{%u}", name, number);
    if (status == BB_OK)
        partition->request.slot = key_slot(bb_buf_bytes(&partition->key));
    return status;
}

static enum bb_status check_arguments(const char *name, uint64_t partition_count)
{
    if (strchr(name, '{') != NULL)
        return bb_fail(BB_INVALID,
                       "the name \"%s\" contains \"{\": all partitions would be in one slot", name);
    if (partition_count < 1 || partition_count > COLLECTION_PARTITIONS_MAX)
        return bb_fail(BB_INVALID, "option --partitions: 1 ... %d are possible",
                       COLLECTION_PARTITIONS_MAX);
    return BB_OK;
}

enum bb_status collection_init(struct collection *collection, struct cluster *cluster,
                               const char *name, uint64_t partition_count)
{
    enum bb_status status = check_arguments(name, partition_count);
    if (status != BB_OK)
        return status;
    size_t count = (size_t)partition_count + 1;
    collection->cluster = cluster;
    collection->name = name;
    collection->partitions = bb_alloc_zeroed(count, sizeof(*collection->partitions));
    collection->batch = bb_alloc_zeroed(count, sizeof(struct request *));
    if (collection->partitions == NULL || collection->batch == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu partitions", count);
    collection->partition_count = (uint32_t)partition_count;
    for (uint32_t i = 0; i < count && status == BB_OK; i++)
        status = init_partition(&collection->partitions[i], name, i);
    return status;
}

void collection_deinit(struct collection *collection)
{
    for (uint32_t i = 0; collection->partitions != NULL && i <= collection->partition_count; i++) {
        bb_buf_deinit(&collection->partitions[i].key);
        request_deinit(&collection->partitions[i].request);
    }
    bb_free(collection->partitions);
    bb_free(collection->batch);
    *collection = (struct collection){0};
}

uint32_t collection_partition_of(const struct collection *collection, struct bb_bytes field)
{
    return (uint32_t)(bb_hash_xxh64(field) % collection->partition_count);
}

enum bb_status collection_begin(struct collection *collection, uint32_t partition,
                                const char *command)
{
    struct partition *at = &collection->partitions[partition];
    request_reset(&at->request);
    enum bb_status status = words_add_text(&at->request.words, command);
    return status == BB_OK ? words_add(&at->request.words, bb_buf_bytes(&at->key)) : status;
}

enum bb_status collection_run(struct collection *collection)
{
    size_t count = 0;
    for (uint32_t i = 0; i <= collection->partition_count; i++) {
        struct request *request = &collection->partitions[i].request;
        if (request->words.count > 0 && request->reply == NULL)
            collection->batch[count++] = request;
    }
    return cluster_run(collection->cluster, collection->batch, count);
}

void collection_reset(struct collection *collection)
{
    for (uint32_t i = 0; i <= collection->partition_count; i++)
        request_reset(&collection->partitions[i].request);
}

/* The partitions that exist, from the replies to EXISTS. */
struct presence {
    uint32_t count;
    bool has_last;
    bool has_more;
    uint32_t missing; /* the first */
};

static enum bb_status read_presence(struct collection *collection, struct presence *presence)
{
    uint32_t last = collection->partition_count - 1;
    presence->missing = collection->partition_count;
    for (uint32_t i = 0; i <= collection->partition_count; i++) {
        const struct redisReply *reply = collection->partitions[i].request.reply;
        if (!reply_is_integer(reply))
            return reply_fail(reply, "EXISTS", "an integer");
        bool exists = reply->integer > 0;
        collection->partitions[i].exists = exists;
        if (i > last)
            presence->has_more = exists;
        else if (exists)
            presence->count++;
        else if (presence->missing > last)
            presence->missing = i;
        if (i == last)
            presence->has_last = exists;
    }
    return BB_OK;
}

static enum bb_status find_presence(struct collection *collection, struct presence *presence)
{
    enum bb_status status = BB_OK;
    for (uint32_t i = 0; i <= collection->partition_count && status == BB_OK; i++)
        status = collection_begin(collection, i, "EXISTS");
    if (status == BB_OK)
        status = collection_run(collection);
    if (status == BB_OK)
        status = read_presence(collection, presence);
    collection_reset(collection);
    return status;
}

/* Is the count that was given the collection's? */
static enum bb_status check_count(const struct collection *collection,
                                  const struct presence *presence)
{
    uint32_t count = collection->partition_count;
    if (presence->has_more)
        return bb_fail(BB_INVALID,
                       "%s has more than %u partitions: the key %s:{%u} exists; give its number "
                       "with --partitions",
                       collection->name, count, collection->name, count);
    if (presence->count > 0 && !presence->has_last)
        return bb_fail(BB_INVALID,
                       "%s has fewer than %u partitions: the key %s:{%u} does not exist, %u others "
                       "do; give its number with --partitions",
                       collection->name, count, collection->name, count - 1, presence->count);
    return BB_OK;
}

enum bb_status collection_check(struct collection *collection)
{
    struct presence presence = {0};
    enum bb_status status = find_presence(collection, &presence);
    if (status == BB_OK)
        status = check_count(collection, &presence);
    if (status != BB_OK || presence.count == collection->partition_count)
        return status;
    if (presence.count == 0)
        return bb_fail(BB_NOT_FOUND, "%s does not exist: none of the keys %s:{0} ... %s:{%u} does",
                       collection->name, collection->name, collection->name,
                       collection->partition_count - 1);
    return bb_fail(BB_IO, "%s is incomplete: the key %s:{%u} does not exist, and %u of %u do",
                   collection->name, collection->name, presence.missing, presence.count,
                   collection->partition_count);
}

/* Creates the missing partitions of a range. */
static enum bb_status create_missing(struct collection *collection, const struct words *options,
                                     uint32_t first, uint32_t end, uint32_t *created)
{
    enum bb_status status = BB_OK;
    for (uint32_t i = first; i < end && status == BB_OK; i++) {
        if (collection->partitions[i].exists)
            continue;
        status = collection_begin(collection, i, "BB.CREATE");
        if (status == BB_OK)
            status = words_add_all(&collection->partitions[i].request.words, options);
        *created += 1;
    }
    if (status == BB_OK)
        status = collection_run(collection);
    collection_reset(collection);
    return status;
}

/* A command that was sent again, or another client, may have created a key before us: the failure
 * counts only if keys are missing. */
static enum bb_status settle_create(struct collection *collection, enum bb_status status)
{
    if (status != BB_IO)
        return status;
    struct bb_error failure = *bb_error_last();
    struct presence presence = {0};
    status = find_presence(collection, &presence);
    return status == BB_OK && presence.count < collection->partition_count
               ? bb_error_restore(&failure)
               : status;
}

enum bb_status collection_create(struct collection *collection, const struct words *options,
                                 uint32_t *ret_created)
{
    struct presence presence = {0};
    uint32_t last = collection->partition_count - 1;
    uint32_t created = 0;
    enum bb_status status = find_presence(collection, &presence);
    if (status == BB_OK)
        status = check_count(collection, &presence);
    if (status != BB_OK)
        return status;
    if (!presence.has_last)
        status = create_missing(collection, options, last, last + 1, &created);
    if (status == BB_OK)
        status = create_missing(collection, options, 0, last, &created);
    status = settle_create(collection, status);
    if (status == BB_OK)
        *ret_created = created;
    return status;
}
