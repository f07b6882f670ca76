/* See intake_iter.h. */
#include "kv/ingest/intake_iter.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

/* Hidden entries between two calls of may_go_on. */
#define STEP_HIDDEN_COUNT 4096

struct intake_iter {
    struct bb_iter iter; /* must be first */
    struct bb_intake_source source;
    uint64_t passed; /* entries before the current one */
    uint64_t hidden; /* number of these */
};

static struct intake_iter *intake_of(struct bb_iter *iter)
{
    return (struct intake_iter *)iter;
}

static bool covers(const struct bb_range_tombstones *list, const struct bb_entry *entry,
                   uint64_t above)
{
    return list != NULL && bb_range_tombstones_covering(list, entry->key, BB_SEQUENCE_MAX) > above;
}

static bool is_hidden(const struct bb_intake_source *source)
{
    const struct bb_entry *entry = &source->stream->entry;
    return covers(source->by_input, entry, source->number) ||
           covers(source->own, entry, entry->sequence);
}

static enum bb_status check_count(const struct intake_iter *intake)
{
    uint64_t expected = intake->source.entry_count;
    if (intake->passed == expected)
        return BB_OK;
    return bb_fail(BB_CORRUPT,
                   "an ingested table has %" PRIu64 " entries, its properties have %" PRIu64,
                   intake->passed, expected);
}

/* Counts the hidden entry at the stream's position. */
static enum bb_status pass(struct intake_iter *intake)
{
    const struct bb_intake_source *source = &intake->source;
    intake->passed++;
    bb_iter_next(source->stream);
    bool is_due = ++intake->hidden % STEP_HIDDEN_COUNT == 0;
    return is_due && source->may_go_on != NULL ? source->may_go_on(source->context) : BB_OK;
}

/* Moves to the next entry that is not hidden, from the stream's position. */
static void show(struct intake_iter *intake)
{
    struct bb_iter *stream = intake->source.stream;
    enum bb_status status = BB_OK;
    while (status == BB_OK && stream->is_valid && is_hidden(&intake->source))
        status = pass(intake);
    intake->iter.is_valid = status == BB_OK && stream->is_valid;
    intake->iter.status = status == BB_OK ? stream->status : status;
    if (status != BB_OK)
        return;
    intake->iter.entry = stream->entry;
    intake->iter.entry.sequence = intake->source.sequence;
    if (!stream->is_valid && stream->status == BB_OK)
        intake->iter.status = check_count(intake);
}

static void destroy(struct bb_iter *iter)
{
    bb_iter_destroy(intake_of(iter)->source.stream);
    bb_free(iter);
}

static void seek_first(struct bb_iter *iter)
{
    intake_of(iter)->passed = 0;
    bb_iter_seek_first(intake_of(iter)->source.stream);
    show(intake_of(iter));
}

static void next(struct bb_iter *iter)
{
    intake_of(iter)->passed++;
    bb_iter_next(intake_of(iter)->source.stream);
    show(intake_of(iter));
}

static const struct bb_iter_ops ops = {.destroy = destroy, .seek_first = seek_first, .next = next};

enum bb_status bb_intake_iter_create(const struct bb_intake_source *source,
                                     struct bb_iter **ret_iter)
{
    BB_ASSERT(source->sequence <= BB_SEQUENCE_MAX);
    struct intake_iter *intake = bb_alloc_zeroed(1, sizeof(*intake));
    if (intake == NULL) {
        bb_iter_destroy(source->stream);
        return bb_fail(BB_NO_MEMORY, "no memory for a stream of one sequence");
    }
    intake->iter.ops = &ops;
    intake->source = *source;
    *ret_iter = &intake->iter;
    return BB_OK;
}
