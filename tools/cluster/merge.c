/* See merge.h.
 *
 * A reply to BB.SCAN, from a server that is not trusted:
 *
 *     [ cursor or nil, [ field, value, field, value, ... ] ]
 */
#include "tools/cluster/merge.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/cluster/reply.h"

static const struct redisReply *entries_of(const struct redisReply *page)
{
    return page->element[1];
}

static struct bb_bytes field_at(const struct redisReply *page, size_t index)
{
    return reply_bytes(entries_of(page)->element[index]);
}

static size_t left_of(const struct merge_stream *stream)
{
    return stream->page == NULL ? 0 : (entries_of(stream->page)->elements - stream->index) / 2;
}

static struct bb_bytes key_of(const struct merge *merge, uint32_t partition)
{
    const struct merge_stream *stream = &merge->streams[partition];
    return field_at(stream->page, stream->index);
}

static int order_of(const struct merge *merge, struct bb_bytes a, struct bb_bytes b)
{
    int order = bb_bytes_compare(a, b);
    return merge->is_reverse ? -order : order;
}

/* ---- the heap ---- */

static bool is_before(const struct merge *merge, uint32_t a, uint32_t b)
{
    return order_of(merge, key_of(merge, merge->heap[a]), key_of(merge, merge->heap[b])) < 0;
}

static void swap(struct merge *merge, uint32_t a, uint32_t b)
{
    uint32_t other = merge->heap[a];
    merge->heap[a] = merge->heap[b];
    merge->heap[b] = other;
}

/* The entry at the place may be too late for it. */
static void sink(struct merge *merge, uint32_t place)
{
    for (uint32_t child = 2 * place + 1; child < merge->heap_count; child = 2 * place + 1) {
        if (child + 1 < merge->heap_count && is_before(merge, child + 1, child))
            child++;
        if (!is_before(merge, child, place))
            return;
        swap(merge, child, place);
        place = child;
    }
}

/* ---- pages ---- */

static enum bb_status add_field(struct words *words, const char *option, struct bb_bytes field)
{
    enum bb_status status = words_add_text(words, option);
    return status == BB_OK ? words_add(words, field) : status;
}

/* A page with a cursor has entries, and all of them are bytes. */
static enum bb_status check_types(const struct redisReply *page)
{
    static const char expected[] = "a cursor and pairs of field and value";
    if (!reply_is_array(page, 2) || !reply_is_array(page->element[1], 0))
        return reply_fail(page, "BB.SCAN", expected);
    const struct redisReply *entries = entries_of(page);
    bool is_last = reply_is_nil(page->element[0]);
    if (entries->elements % 2 != 0 || (!is_last && entries->elements == 0) ||
        (!is_last && !reply_is_bytes(page->element[0])))
        return reply_fail(entries, "BB.SCAN", expected);
    for (size_t i = 0; i < entries->elements; i++)
        if (!reply_is_bytes(entries->element[i]))
            return reply_fail(entries->element[i], "BB.SCAN", "a string");
    return BB_OK;
}

/* Fields of this partition, each after the previous one. before: NULL for the first. */
static enum bb_status check_field(const struct merge *merge, uint32_t partition,
                                  struct bb_bytes field, const struct bb_bytes *before)
{
    const char *name = merge->collection->name;
    if (collection_partition_of(merge->collection, field) != partition)
        return bb_fail(BB_IO,
                       "%s:{%u} has a field of another partition: is --partitions the number of "
                       "its writers?",
                       name, partition);
    if (before != NULL && order_of(merge, *before, field) >= 0)
        return bb_fail(BB_IO, "reply to BB.SCAN %s:{%u}: the fields are not in order", name,
                       partition);
    return BB_OK;
}

static enum bb_status check_page(const struct merge *merge, uint32_t partition,
                                 const struct redisReply *page)
{
    const struct redisReply *previous = merge->streams[partition].page;
    struct bb_bytes before = {0};
    enum bb_status status = check_types(page);
    if (status != BB_OK)
        return status;
    if (previous != NULL)
        before = field_at(previous, entries_of(previous)->elements - 2);
    for (size_t i = 0; i < entries_of(page)->elements && status == BB_OK; i += 2) {
        struct bb_bytes field = field_at(page, i);
        status = check_field(merge, partition, field, i > 0 || previous != NULL ? &before : NULL);
        before = field;
    }
    return status;
}

/* BB.SCAN for the page after the pages that the stream has. */
static enum bb_status begin_page(struct merge *merge, uint32_t partition)
{
    const struct merge_stream *stream = &merge->streams[partition];
    const struct key_range *range = merge->range;
    struct words *words = &merge->collection->partitions[partition].request.words;
    enum bb_status status = collection_begin(merge->collection, partition, "BB.SCAN");
    if (status == BB_OK && range->from != NULL)
        status = add_field(words, "FROM", bb_buf_bytes(&range->low));
    if (status == BB_OK && range->to != NULL)
        status = add_field(words, "TO", bb_buf_bytes(&range->high));
    if (status == BB_OK && range->prefix != NULL)
        status = add_field(words, "PREFIX", bb_buf_bytes(&range->low));
    if (status == BB_OK && stream->page != NULL)
        status = add_field(words, "AFTER", reply_bytes(stream->page->element[0]));
    if (status == BB_OK && merge->is_reverse)
        status = words_add_text(words, "REVERSE");
    if (status == BB_OK)
        status = words_add_text(words, "LIMIT");
    return status == BB_OK ? words_add_number(words, merge->page_entries) : status;
}

static bool needs_page(const struct merge *merge, const struct merge_stream *stream)
{
    return stream->has_more && stream->ahead == NULL && left_of(stream) <= merge->page_entries / 2;
}

static enum bb_status take_page(struct merge *merge, uint32_t partition)
{
    struct merge_stream *stream = &merge->streams[partition];
    struct request *request = &merge->collection->partitions[partition].request;
    enum bb_status status = check_page(merge, partition, request->reply);
    if (status != BB_OK)
        return status;
    stream->ahead = request->reply;
    request->reply = NULL;
    stream->has_more = !reply_is_nil(stream->ahead->element[0]);
    return BB_OK;
}

/* The next pages of all streams that have little left. */
static enum bb_status fetch(struct merge *merge)
{
    enum bb_status status = BB_OK;
    uint32_t count = merge->collection->partition_count;
    for (uint32_t i = 0; i < count && status == BB_OK; i++)
        if (needs_page(merge, &merge->streams[i]))
            status = begin_page(merge, i);
    if (status == BB_OK)
        status = collection_run(merge->collection);
    for (uint32_t i = 0; i < count && status == BB_OK; i++)
        if (merge->collection->partitions[i].request.reply != NULL)
            status = take_page(merge, i);
    collection_reset(merge->collection);
    return status;
}

/* Continues with the page ahead, which may be empty at the end of a partition. */
static void turn_page(struct merge_stream *stream)
{
    freeReplyObject(stream->page);
    stream->page = stream->ahead;
    stream->ahead = NULL;
    stream->index = 0;
    if (stream->page != NULL && entries_of(stream->page)->elements == 0) {
        freeReplyObject(stream->page);
        stream->page = NULL;
    }
}

/* ---- the merge ---- */

static enum bb_status begin(struct merge *merge)
{
    uint32_t count = merge->collection->partition_count;
    for (uint32_t i = 0; i < count; i++)
        merge->streams[i].has_more = true;
    enum bb_status status = fetch(merge);
    for (uint32_t i = 0; i < count && status == BB_OK; i++) {
        turn_page(&merge->streams[i]);
        if (merge->streams[i].page != NULL)
            merge->heap[merge->heap_count++] = i;
    }
    for (uint32_t i = merge->heap_count / 2; i > 0; i--)
        sink(merge, i - 1);
    return status;
}

enum bb_status merge_init(struct merge *merge, struct collection *collection,
                          const struct key_range *range, bool is_reverse, uint64_t limit)
{
    *merge = (struct merge){.collection = collection, .range = range, .is_reverse = is_reverse};
    bool is_short = limit != 0 && limit < MERGE_PAGE_ENTRIES_MAX;
    merge->page_entries = is_short ? (uint32_t)limit : MERGE_PAGE_ENTRIES_MAX;
    merge->streams = bb_alloc_zeroed(collection->partition_count, sizeof(*merge->streams));
    merge->heap = bb_alloc_zeroed(collection->partition_count, sizeof(*merge->heap));
    if (merge->streams == NULL || merge->heap == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for scans");
    return begin(merge);
}

void merge_deinit(struct merge *merge)
{
    for (uint32_t i = 0; merge->streams != NULL && i < merge->collection->partition_count; i++) {
        freeReplyObject(merge->streams[i].page);
        freeReplyObject(merge->streams[i].ahead);
    }
    bb_free(merge->streams);
    bb_free(merge->heap);
    *merge = (struct merge){0};
}

struct bb_bytes merge_key(const struct merge *merge)
{
    return key_of(merge, merge->heap[0]);
}

struct bb_bytes merge_value(const struct merge *merge)
{
    const struct merge_stream *stream = &merge->streams[merge->heap[0]];
    return field_at(stream->page, stream->index + 1);
}

enum bb_status merge_next(struct merge *merge)
{
    struct merge_stream *stream = &merge->streams[merge->heap[0]];
    stream->index += 2;
    if (left_of(stream) == 0) {
        enum bb_status status = stream->ahead == NULL && stream->has_more ? fetch(merge) : BB_OK;
        if (status != BB_OK)
            return status;
        turn_page(stream);
    }
    if (stream->page == NULL)
        merge->heap[0] = merge->heap[--merge->heap_count];
    sink(merge, 0);
    return BB_OK;
}
