/* See merge.h.
 *
 *     node 1 ............ root       node 0: the winner
 *     node 2, 3                      node 1 ... count - 1: the loser of the match there
 *     ...                            a stream's leaf is node count + stream, and not stored
 *
 * A contestant carries its code with its number, so that a match reads one node. Codes have the
 * order of the entries in the merge's direction: a smaller code wins, equal codes decide nothing.
 * The code of a key is the eight bytes after `shared` if it begins with shared, else the lowest or
 * the highest number. shared therefore only affects speed. It is chosen again after many ties (URLs
 * with 38 common bytes: each match would be a tie).
 *
 * WHY the exchange has no branch: the winner of a match is close to random. bench/merge_bench: 13
 * ns per entry of 8 streams of random keys, 27 with branches; 21 and 43 for URLs, where the codes
 * after the shared bytes save most comparisons of whole keys.
 */
#include "compaction/merge/merge.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "sstable/block/stored_entry.h"
#include "sstable/entry.h"

#define NO_STREAM  UINT32_MAX
#define SHARED_MAX 256
/* Fewer shared bytes are not worth the comparison. */
#define SHARED_MIN 8
#define TIES_MAX   (1 << 16)
/* The streams whose seeks are prepared together: the bits of a number. */
#define APPROACH_MAX 64

/* WHY the number is smaller: the compiler would load two members of equal size as a vector, right
 * after they were stored separately, which stalls store forwarding. */
struct contestant {
    uint64_t code;
    uint32_t stream;
};

struct merge {
    struct bb_iter base;
    const struct bb_comparator *comparator;
    struct bb_merge_stream *streams; /* owned; after nodes */
    size_t count;
    size_t ties;     /* since shared was last chosen */
    size_t ties_max; /* chosen again at this many */
    size_t shared_size;
    bool is_backward;
    uint8_t shared[SHARED_MAX]; /* prefix of the keys, ideally of all keys nearby */
    struct contestant nodes[];  /* count of them */
};

static struct merge *merge_of(struct bb_iter *iter)
{
    return (struct merge *)iter;
}

/* ---- codes ---- */

static uint64_t code_of_key(const struct merge *merge, struct bb_bytes key)
{
    size_t size = merge->shared_size;
    size_t common = key.size < size ? key.size : size;
    int order = common == 0 ? 0 : memcmp(key.data, merge->shared, common);
    if (order == 0 && key.size < size)
        order = -1;
    if (order != 0)
        return order < 0 ? 0 : UINT64_MAX;
    return bb_bytes_prefix64(bb_bytes_after(key, size));
}

static uint64_t code_of(const struct merge *merge, uint32_t number)
{
    const struct bb_iter *stream = merge->streams[number].iter;
    if (!stream->is_valid)
        return UINT64_MAX;
    if (merge->comparator != NULL)
        return 0;
    uint64_t code = code_of_key(merge, stream->entry.key);
    return merge->is_backward ? ~code : code;
}

/* The shared prefix of the streams' current keys, shortened so that eight bytes of each key remain
 * for the codes. Streams that are all at versions of one key soon move to other keys. */
static size_t shared_by_streams(const struct merge *merge, struct bb_bytes *ret_first)
{
    const struct bb_entry *first = NULL;
    size_t common = SHARED_MAX;
    size_t shortest = SIZE_MAX;
    for (size_t i = 0; i < merge->count; i++) {
        const struct bb_entry *entry = &merge->streams[i].iter->entry;
        if (!merge->streams[i].iter->is_valid)
            continue;
        first = first == NULL ? entry : first;
        size_t size = bb_bytes_shared_prefix(first->key, entry->key);
        common = size < common ? size : common;
        shortest = entry->key.size < shortest ? entry->key.size : shortest;
    }
    if (first == NULL || shortest <= SHARED_MIN + sizeof(uint64_t) || common < SHARED_MIN)
        return 0;
    *ret_first = first->key;
    return common < shortest - sizeof(uint64_t) ? common : shortest - sizeof(uint64_t);
}

static size_t ties_min(const struct merge *merge)
{
    return 4 * merge->count + 16;
}

/* If the prefix is unchanged, the ties come from equal keys, and the next check is postponed. */
static void choose_shared(struct merge *merge)
{
    struct bb_bytes first = {0};
    size_t size = merge->comparator == NULL ? shared_by_streams(merge, &first) : 0;
    bool is_same =
        size == merge->shared_size && (size == 0 || memcmp(merge->shared, first.data, size) == 0);
    merge->ties = 0;
    if (!is_same)
        merge->ties_max = ties_min(merge);
    else if (merge->ties_max < TIES_MAX)
        merge->ties_max *= 2;
    merge->shared_size = size;
    if (!is_same && size > 0)
        memcpy(merge->shared, first.data, size);
}

/* ---- the tournament ---- */

/* True when a sorts before b, for equal codes. A stream at its end sorts last. */
static bool comes_first(const struct merge *merge, uint32_t a, uint32_t b)
{
    const struct bb_iter *x = merge->streams[a].iter;
    const struct bb_iter *y = merge->streams[b].iter;
    if (!x->is_valid || !y->is_valid)
        return x->is_valid || (!y->is_valid && a < b);
    int order = bb_entry_compare(merge->comparator, x->entry.key, x->entry.sequence, y->entry.key,
                                 y->entry.sequence);
    if (order == 0)
        order = a < b ? -1 : 1;
    return (order < 0) != merge->is_backward;
}

/* Stores the loser of the match at the node and returns the winner. */
static inline struct contestant play(struct merge *merge, struct contestant *node,
                                     struct contestant challenger)
{
    const struct contestant holder = *node;
    if (__builtin_expect(holder.code == challenger.code, 0)) {
        /* Usually versions of one key, with the newer one always in the same stream: predicted
         * well. */
        merge->ties++;
        if (!comes_first(merge, holder.stream, challenger.stream))
            return challenger;
        node->stream = challenger.stream;
        return holder;
    }
    bool holder_wins = holder.code < challenger.code;
    uint64_t mask = (uint64_t)0 - (uint64_t)holder_wins;
    uint64_t code = (holder.code ^ challenger.code) & mask;
    uint32_t stream = (holder.stream ^ challenger.stream) & (uint32_t)mask;
    node->code = holder.code ^ code;
    node->stream = holder.stream ^ stream;
    return (struct contestant){challenger.code ^ code, challenger.stream ^ stream};
}

/* After the winner's stream has moved: replays its path to the root. */
static void replay(struct merge *merge)
{
    uint32_t number = merge->nodes[0].stream;
    struct contestant winner = {code_of(merge, number), number};
    for (size_t node = (number + merge->count) / 2; node > 0; node /= 2)
        winner = play(merge, &merge->nodes[node], winner);
    merge->nodes[0] = winner;
}

/* The first contestant at a node waits for the second. */
static void enter(struct merge *merge, uint32_t number)
{
    struct contestant winner = {code_of(merge, number), number};
    for (size_t node = (number + merge->count) / 2; node > 0; node /= 2) {
        if (merge->nodes[node].stream == NO_STREAM) {
            merge->nodes[node] = winner;
            return;
        }
        winner = play(merge, &merge->nodes[node], winner);
    }
    merge->nodes[0] = winner;
}

static void play_all(struct merge *merge)
{
    choose_shared(merge);
    for (size_t i = 0; i < merge->count; i++)
        merge->nodes[i].stream = NO_STREAM;
    for (uint32_t i = 0; i < merge->count; i++)
        enter(merge, i);
    merge->ties = 0;
}

/* ---- the iterator ---- */

static struct bb_iter *winner_of(const struct merge *merge)
{
    return merge->streams[merge->nodes[0].stream].iter;
}

static void show(struct merge *merge)
{
    const struct bb_iter *winner = winner_of(merge);
    merge->base.is_valid = winner->is_valid;
    if (winner->is_valid)
        bb_entry_copy(&merge->base.entry, &winner->entry);
}

/* After all streams have moved. A failed stream is not at its end: the merge fails with it. */
static void begin(struct merge *merge)
{
    merge->base.is_valid = false;
    merge->base.status = BB_OK;
    for (size_t i = 0; i < merge->count && merge->base.status == BB_OK; i++) {
        if (!merge->streams[i].iter->is_valid)
            merge->base.status = merge->streams[i].iter->status;
    }
    if (merge->base.status != BB_OK || merge->count == 0)
        return;
    merge->ties_max = ties_min(merge);
    play_all(merge);
    show(merge);
}

/* After the winner has moved. */
static void go_on(struct merge *merge)
{
    const struct bb_iter *winner = winner_of(merge);
    if (!winner->is_valid && winner->status != BB_OK) {
        merge->base.is_valid = false;
        merge->base.status = winner->status;
        return;
    }
    replay(merge);
    if (__builtin_expect(merge->ties > merge->ties_max, 0))
        play_all(merge);
    show(merge);
}

static void seek_first(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    merge->is_backward = false;
    for (size_t i = 0; i < merge->count; i++)
        bb_iter_seek_first(merge->streams[i].iter);
    begin(merge);
}

static void seek_last(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    merge->is_backward = true;
    for (size_t i = 0; i < merge->count; i++)
        bb_iter_seek_last(merge->streams[i].iter);
    begin(merge);
}

static bool take_step(const struct bb_merge_stream *stream, struct bb_bytes key, uint64_t sequence,
                      unsigned step)
{
    return stream->approach != NULL && stream->approach(stream->iter, key, sequence, step);
}

/* Takes each step for all streams before the next step, so that they wait for memory together. */
static void approach(struct merge *merge, struct bb_bytes key, uint64_t sequence)
{
    size_t count = merge->count < APPROACH_MAX ? merge->count : APPROACH_MAX;
    uint64_t pending = count == 0 ? 0 : UINT64_MAX >> (APPROACH_MAX - count);
    for (unsigned step = 0; pending != 0; step++) {
        for (uint64_t rest = pending; rest != 0; rest &= rest - 1) {
            if (!take_step(&merge->streams[__builtin_ctzll(rest)], key, sequence, step))
                pending &= ~(rest & -rest);
        }
    }
}

static void seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    struct merge *merge = merge_of(iter);
    merge->is_backward = false;
    approach(merge, key, sequence);
    for (size_t i = 0; i < merge->count; i++)
        bb_iter_seek(merge->streams[i].iter, key, sequence);
    begin(merge);
}

/* Going forward, all streams except the winner's are at their first entry after the current one, or
 * at the end: one step back moves each before it. Going backward is symmetric. */
static void turn(struct merge *merge)
{
    merge->is_backward = !merge->is_backward;
    for (size_t i = 0; i < merge->count; i++) {
        struct bb_iter *stream = merge->streams[i].iter;
        if (stream->is_valid && merge->is_backward)
            bb_iter_prev(stream);
        else if (stream->is_valid)
            bb_iter_next(stream);
        else if (merge->is_backward)
            bb_iter_seek_last(stream);
        else
            bb_iter_seek_first(stream);
    }
    begin(merge);
}

static void next(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    BB_DEBUG_ASSERT(iter->is_valid);
    if (merge->is_backward) {
        turn(merge);
        return;
    }
    bb_iter_next(winner_of(merge));
    go_on(merge);
}

static void prev(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    BB_DEBUG_ASSERT(iter->is_valid);
    if (!merge->is_backward) {
        turn(merge);
        return;
    }
    bb_iter_prev(winner_of(merge));
    go_on(merge);
}

static bool stored(struct bb_iter *iter, struct bb_stored_entry *ret_stored)
{
    return bb_iter_stored(winner_of(merge_of(iter)), ret_stored);
}

static void destroy(struct bb_iter *iter)
{
    struct merge *merge = merge_of(iter);
    for (size_t i = 0; i < merge->count; i++)
        bb_iter_destroy(merge->streams[i].iter);
    bb_free(merge);
}

static const struct bb_iter_ops ops = {
    .destroy = destroy,
    .seek_first = seek_first,
    .seek_last = seek_last,
    .seek = seek,
    .next = next,
    .prev = prev,
    .stored = stored,
};

/* Does not set the streams. */
static enum bb_status create(size_t count, const struct bb_comparator *comparator,
                             struct merge **ret_merge)
{
    size_t nodes_size = count * sizeof(struct contestant);
    struct merge *merge = NULL;
    if (count < NO_STREAM)
        merge = bb_alloc(sizeof(*merge) + nodes_size + count * sizeof(struct bb_merge_stream));
    if (merge == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a merge of %zu streams", count);
    memset(merge, 0, offsetof(struct merge, shared));
    merge->base.ops = &ops;
    merge->streams = (struct bb_merge_stream *)(void *)((uint8_t *)merge->nodes + nodes_size);
    merge->count = count;
    merge->comparator = comparator;
    *ret_merge = merge;
    return BB_OK;
}

/* Takes the streams: iters[i] without steps, or streams[i]. */
static enum bb_status create_over(struct bb_iter **iters, const struct bb_merge_stream *streams,
                                  size_t count, const struct bb_comparator *comparator,
                                  struct bb_iter **ret_merge)
{
    struct merge *merge = NULL;
    enum bb_status status = count == 1 ? BB_OK : create(count, comparator, &merge);
    for (size_t i = 0; i < count; i++) {
        struct bb_merge_stream stream =
            streams != NULL ? streams[i] : (struct bb_merge_stream){.iter = iters[i]};
        if (status != BB_OK)
            bb_iter_destroy(stream.iter);
        else if (count == 1)
            *ret_merge = stream.iter;
        else
            merge->streams[i] = stream;
    }
    if (status == BB_OK && count != 1)
        *ret_merge = &merge->base;
    return status;
}

enum bb_status bb_merge_create(struct bb_iter **streams, size_t count,
                               const struct bb_comparator *comparator, struct bb_iter **ret_merge)
{
    return create_over(streams, NULL, count, comparator, ret_merge);
}

enum bb_status bb_merge_create_approached(const struct bb_merge_stream *streams, size_t count,
                                          const struct bb_comparator *comparator,
                                          struct bb_iter **ret_merge)
{
    return create_over(NULL, streams, count, comparator, ret_merge);
}
