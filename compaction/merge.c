/* See merge.h. */
#include "compaction/merge.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "sstable/entry.h"

#define NOBODY UINT32_MAX

struct player {
    struct bb_iter *stream; /* owned */
    uint64_t prefix;        /* of its entry's key; 0 with a comparator */
};

struct merge {
    struct bb_iter base;
    const struct bb_comparator *comparator;
    struct player *players;
    uint32_t count;
    uint32_t *losers; /* of inner node 1 ... count - 1; node 0: the winner */
    bool is_backward;
};

static struct merge *merge_of(struct bb_iter *iter)
{
    return (struct merge *)iter;
}

static int compare_entries(const struct merge *merge, const struct player *a, const struct player *b)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    const struct bb_entry *x = &a->stream->entry;
    const struct bb_entry *y = &b->stream->entry;
    return bb_entry_compare(merge->comparator, x->key, x->sequence, y->key, y->sequence);
}

/* Does a come before b in the direction of the merge? Whoever is at the end comes last. */
static bool beats(const struct merge *merge, uint32_t a, uint32_t b)
{
    const struct player *x = &merge->players[a];
    const struct player *y = &merge->players[b];
    if (!x->stream->is_valid || !y->stream->is_valid)
        return x->stream->is_valid || (!y->stream->is_valid && a < b);
    int order = compare_entries(merge, x, y);
    return order == 0 ? a < b : (order < 0) != merge->is_backward;
}

static void look(struct merge *merge, uint32_t number)
{
    struct player *player = &merge->players[number];
    bool has_prefix = player->stream->is_valid && merge->comparator == NULL;
    player->prefix = has_prefix ? bb_bytes_prefix64(player->stream->entry.key) : 0;
}

/* Plays `number` from its leaf up. While the tournament is being set up, the first to come to a node waits there. */
static void play(struct merge *merge, uint32_t number)
{
    uint32_t winner = number;
    for (uint32_t node = (number + merge->count) / 2; node > 0; node /= 2) {
        uint32_t waiting = merge->losers[node];
        if (waiting == NOBODY) {
            merge->losers[node] = winner;
            return;
        }
        bool swaps = beats(merge, waiting, winner);
        merge->losers[node] = swaps ? winner : waiting;
        winner = swaps ? waiting : winner;
    }
    merge->losers[0] = winner;
}

static enum bb_status first_failure(const struct merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++) {
        if (merge->players[i].stream->status != BB_OK)
            return merge->players[i].stream->status;
    }
    return BB_OK;
}

/* Shows the winner's entry. */
static void show(struct merge *merge)
{
    const struct bb_iter *stream = merge->players[merge->losers[0]].stream;
    merge->base.is_valid = stream->is_valid && merge->base.status == BB_OK;
    if (merge->base.is_valid)
        merge->base.entry = stream->entry;
}

static void set_up(struct merge *merge)
{
    merge->base.is_valid = false;
    merge->base.status = first_failure(merge);
    if (merge->count == 0)
        return;
    for (uint32_t i = 0; i < merge->count; i++)
        merge->losers[i] = NOBODY;
    for (uint32_t i = 0; i < merge->count; i++)
        look(merge, i);
    for (uint32_t i = 0; i < merge->count; i++)
        play(merge, i);
    show(merge);
}

static void seek_first(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    merge->is_backward = false;
    for (uint32_t i = 0; i < merge->count; i++)
        bb_iter_seek_first(merge->players[i].stream);
    set_up(merge);
}

static void seek_last(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    merge->is_backward = true;
    for (uint32_t i = 0; i < merge->count; i++)
        bb_iter_seek_last(merge->players[i].stream);
    set_up(merge);
}

static void seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    struct merge *merge = merge_of(iter);
    merge->is_backward = false;
    for (uint32_t i = 0; i < merge->count; i++)
        bb_iter_seek(merge->players[i].stream, key, sequence);
    set_up(merge);
}

/* The winner has moved. */
static void replay(struct merge *merge)
{
    uint32_t winner = merge->losers[0];
    if (merge->players[winner].stream->status != BB_OK) {
        merge->base.status = merge->players[winner].stream->status;
        merge->base.is_valid = false;
        return;
    }
    look(merge, winner);
    play(merge, winner);
    show(merge);
}

/* Puts all other streams on the near side of the winner's entry, in the other direction. */
static void turn(struct merge *merge, bool is_backward)
{
    uint32_t winner = merge->losers[0];
    const struct bb_entry *entry = &merge->players[winner].stream->entry;
    for (uint32_t i = 0; i < merge->count; i++) {
        struct bb_iter *stream = merge->players[i].stream;
        if (i == winner)
            continue;
        bb_iter_seek(stream, entry->key, entry->sequence);
        if (is_backward && stream->is_valid)
            bb_iter_prev(stream);
        else if (is_backward && stream->status == BB_OK)
            bb_iter_seek_last(stream);
    }
    merge->is_backward = is_backward;
}

static void next(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    bool turns = merge->is_backward;
    if (turns)
        turn(merge, false);
    bb_iter_next(merge->players[merge->losers[0]].stream);
    if (turns)
        set_up(merge);
    else
        replay(merge);
}

static void prev(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    bool turns = !merge->is_backward;
    if (turns)
        turn(merge, true);
    bb_iter_prev(merge->players[merge->losers[0]].stream);
    if (turns)
        set_up(merge);
    else
        replay(merge);
}

static void destroy(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    for (uint32_t i = 0; i < merge->count; i++)
        bb_iter_destroy(merge->players[i].stream);
    bb_free(merge->players);
    bb_free(merge->losers);
    bb_free(merge);
}

static const struct bb_iter_ops ops = {
    .destroy = destroy,
    .seek_first = seek_first,
    .seek_last = seek_last,
    .seek = seek,
    .next = next,
    .prev = prev,
};

static struct merge *allocate(size_t count)
{
    struct merge *merge = bb_alloc_zeroed(1, sizeof(*merge));
    if (merge == NULL)
        return NULL;
    merge->players = bb_alloc_zeroed(count + 1, sizeof(*merge->players));
    merge->losers = bb_alloc_zeroed(count + 1, sizeof(*merge->losers));
    if (merge->players != NULL && merge->losers != NULL)
        return merge;
    bb_free(merge->players);
    bb_free(merge->losers);
    bb_free(merge);
    return NULL;
}

enum bb_status bb_merge_create(struct bb_iter **streams, size_t count,
                               const struct bb_comparator *comparator, struct bb_iter **ret_merge)
{
    struct merge *merge = count < NOBODY ? allocate(count) : NULL;
    if (merge == NULL) {
        for (size_t i = 0; i < count; i++)
            bb_iter_destroy(streams[i]);
        return bb_fail(BB_NO_MEMORY, "no memory for a merge of %zu streams", count);
    }
    merge->base.ops = &ops;
    merge->comparator = comparator;
    merge->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        merge->players[i].stream = streams[i];
    *ret_merge = &merge->base;
    return BB_OK;
}
