/* See totals.h. */
#include "tools/cluster/totals.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/cluster/reply.h"

const char *const totals_names[TOTAL_COUNT] = {
    [TOTAL_FIELDS] = "fields_estimated",
    [TOTAL_ENTRIES] = "entries_in_tables",
    [TOTAL_TABLES] = "tables",
    [TOTAL_FILE_BYTES] = "file_bytes",
    [TOTAL_FILTER_BYTES] = "filter_bytes",
    [TOTAL_MEMORY_BYTES] = "memory_bytes",
    [TOTAL_INCOMPLETE] = "is_incomplete",
    [TOTAL_LOOKUPS] = "lookups",
    [TOTAL_LOOKUPS_FOUND] = "lookups_found",
    [TOTAL_VISITS] = "table_visits",
    [TOTAL_REQUESTS] = "block_requests",
    [TOTAL_READS] = "block_reads",
    [TOTAL_AVOIDED] = "block_requests_avoided",
    [TOTAL_WASTED] = "block_requests_wasted",
    [TOTAL_WRITES] = "writes",
    [TOTAL_FLUSHES] = "flushes",
    [TOTAL_COMPACTIONS] = "compactions",
    [TOTAL_SYSTEM_READS] = "system_reads",
};

/* The first count of BB.STATS; the counts before it are of BB.INFO. */
#define FIRST_OF_STATS TOTAL_LOOKUPS

/* The value after the name, in [name, value, name, value, ...]. */
static const struct redisReply *value_of(const struct redisReply *pairs, const char *name)
{
    for (size_t i = 0; i + 1 < pairs->elements; i += 2) {
        const struct redisReply *found = pairs->element[i];
        if (reply_is_bytes(found) && bb_bytes_equal(reply_bytes(found), bb_bytes_of_text(name)))
            return pairs->element[i + 1];
    }
    return NULL;
}

static enum bb_status take_counts(const struct redisReply *pairs, const char *command,
                                  enum total first, enum total end, struct totals *totals)
{
    if (!reply_is_array(pairs, 0))
        return reply_fail(pairs, command, "an array of names and values");
    for (enum total i = first; i < end; i++) {
        const struct redisReply *value = value_of(pairs, totals_names[i]);
        if (value == NULL || !reply_is_integer(value) || value->integer < 0)
            return bb_fail(BB_IO,
                           "reply to %s: expected a count \"%s\"; is the module of the same "
                           "version as this command?",
                           command, totals_names[i]);
        totals->values[i] += (uint64_t)value->integer;
    }
    return BB_OK;
}

/* Sends the command to all partitions. */
static enum bb_status ask_all(struct collection *collection, const char *command)
{
    enum bb_status status = BB_OK;
    for (uint32_t i = 0; i < collection->partition_count && status == BB_OK; i++)
        status = collection_begin(collection, i, command);
    return status == BB_OK ? collection_run(collection) : status;
}

static struct totals *totals_of(struct collection_totals *totals, const struct node *node)
{
    size_t i = 0;
    while (i < totals->node_count && totals->nodes[i].node != node)
        i++;
    if (i == totals->node_count)
        totals->nodes[totals->node_count++] = (struct node_totals){.node = node};
    return &totals->nodes[i].totals;
}

static enum bb_status read_counts(struct collection *collection, const char *command,
                                  enum total first, enum total end,
                                  struct collection_totals *totals)
{
    enum bb_status status = ask_all(collection, command);
    for (uint32_t i = 0; i < collection->partition_count && status == BB_OK; i++) {
        const struct request *request = &collection->partitions[i].request;
        struct totals *node = totals_of(totals, request->replier);
        node->partitions += first == 0;
        status = take_counts(request->reply, command, first, end, node);
    }
    collection_reset(collection);
    return status;
}

static void add_up(struct collection_totals *totals)
{
    for (size_t i = 0; i < totals->node_count; i++) {
        totals->all.partitions += totals->nodes[i].totals.partitions;
        for (size_t j = 0; j < TOTAL_COUNT; j++)
            totals->all.values[j] += totals->nodes[i].totals.values[j];
    }
}

enum bb_status collection_totals_read(struct collection *collection,
                                      struct collection_totals *totals)
{
    static_assert(BB_ARRAY_LENGTH(totals_names) == TOTAL_COUNT, "a name for each count");
    totals->nodes = bb_alloc_zeroed(SLOT_MAP_NODES_MAX, sizeof(*totals->nodes));
    if (totals->nodes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the counts of nodes");
    enum bb_status status = read_counts(collection, "BB.INFO", 0, FIRST_OF_STATS, totals);
    if (status == BB_OK)
        status = read_counts(collection, "BB.STATS", FIRST_OF_STATS, TOTAL_COUNT, totals);
    if (status == BB_OK)
        add_up(totals);
    return status;
}

void collection_totals_deinit(struct collection_totals *totals)
{
    bb_free(totals->nodes);
    *totals = (struct collection_totals){0};
}

double totals_avoided_share(const struct totals *totals)
{
    double avoided = (double)totals->values[TOTAL_AVOIDED];
    double all = avoided + (double)totals->values[TOTAL_REQUESTS];
    return all == 0 ? 0 : avoided / all;
}

double totals_waste(const struct totals *totals)
{
    double absent =
        (double)totals->values[TOTAL_LOOKUPS] - (double)totals->values[TOTAL_LOOKUPS_FOUND];
    return absent <= 0 ? 0 : (double)totals->values[TOTAL_WASTED] / absent;
}
