/* See run_cursor.h. */
#include "kv/select/run_cursor.h"

#include "base/bytes.h"
#include "compaction/merge/run_iter.h"

/* Costs in steps. */
#define COST_DENIED   2u  /* a lookup that filters end */
#define COST_SEARCHED 40u /* a lookup that searches a block */
#define COST_BLOCK    20u /* of a step that enters a block */
#define COST_SEEK     100u

#define PRICE_MIN  (2 * COST_SEEK)
#define PRICE_MAX  (PRICE_MIN << 10)
#define CREDIT_MAX (4 * COST_SEEK)

void bb_run_cursor_deinit(struct bb_run_cursor *cursor)
{
    bb_iter_destroy(cursor->iter);
    *cursor = (struct bb_run_cursor){0};
}

/* ---- beginning and ending ---- */

/* The error is dropped: a lookup of the key finds it again if the key needs the block. */
static void end(struct bb_run_cursor *cursor)
{
    bb_run_cursor_deinit(cursor);
    cursor->is_ended = true;
}

static bool open_run(struct bb_run_cursor *cursor, const struct bb_followed_run *followed)
{
    static const struct bb_read_options options = {.bypass_fill = true};
    const struct bb_run *run = followed->run;
    if (cursor->iter != NULL)
        return true;
    /* The entries of a run do not show which keys its range tombstones hide. */
    if (run->range_tombstone_count > 0 ||
        bb_run_iter_create(run->files, run->count, followed->comparator, NULL, &options,
                           followed->stats, &cursor->iter) != BB_OK)
        return false;
    bb_run_iter_skip_values(cursor->iter);
    bb_run_iter_search_by(cursor->iter, run, 0);
    return true;
}

static void begin(struct bb_run_cursor *cursor, const struct bb_followed_run *followed,
                  struct bb_bytes key, uint64_t sequence)
{
    if (!open_run(cursor, followed)) {
        end(cursor);
        return;
    }
    bb_iter_seek(cursor->iter, key, sequence);
    cursor->is_placed = true;
    cursor->saved = 0;
    cursor->credit = COST_SEEK;
    cursor->earned = 0;
}

void bb_run_cursor_leave(struct bb_run_cursor *cursor)
{
    if (!cursor->is_placed)
        return;
    if (cursor->earned >= 2 * COST_SEEK)
        cursor->price = PRICE_MIN;
    else if (cursor->price < PRICE_MAX)
        cursor->price *= 2;
    cursor->is_placed = false;
}

void bb_run_cursor_learn(struct bb_run_cursor *cursor, bool is_searched)
{
    if (cursor->price == 0)
        cursor->price = PRICE_MIN;
    if (cursor->saved < PRICE_MAX)
        cursor->saved += is_searched ? COST_SEARCHED : COST_DENIED;
}

/* ---- following ---- */

/* WHY blocks count: where values are large, a block has one or two entries. Then 40 steps decode 20
 * blocks, and a lookup decodes one. */
static void step(struct bb_run_cursor *cursor, const struct bb_read_stats *stats)
{
    uint64_t blocks = stats->block_requests;
    bb_iter_next(cursor->iter);
    uint32_t cost = stats->block_requests != blocks ? 1 + COST_BLOCK : 1;
    cursor->credit -= cost < cursor->credit ? cost : cursor->credit;
}

/* Moves to the first entry at or after (key, sequence). False without credit, or after an error. */
static bool approach(struct bb_run_cursor *cursor, const struct bb_followed_run *followed,
                     struct bb_bytes key, uint64_t sequence, bool *ret_is_found)
{
    struct bb_iter *iter = cursor->iter;
    *ret_is_found = false;
    while (iter->is_valid) {
        int order = bb_key_compare(followed->comparator, iter->entry.key, key);
        *ret_is_found = order == 0 && iter->entry.sequence <= sequence;
        if (order > 0 || *ret_is_found)
            return true;
        if (cursor->credit == 0)
            return false;
        step(cursor, followed->stats);
    }
    return iter->status == BB_OK;
}

static void earn(struct bb_run_cursor *cursor, uint32_t cost)
{
    cursor->earned += cost;
    cursor->credit = cursor->credit + cost < CREDIT_MAX ? cursor->credit + cost : CREDIT_MAX;
}

bool bb_run_cursor_find(struct bb_run_cursor *cursor, const struct bb_followed_run *followed,
                        struct bb_bytes key, uint64_t sequence, const struct bb_entry **ret_entry)
{
    bool is_found = false;
    if (cursor->is_ended)
        return false;
    if (!cursor->is_placed && cursor->price > 0 && cursor->saved >= cursor->price)
        begin(cursor, followed, key, sequence);
    if (!cursor->is_placed)
        return false;
    if (!approach(cursor, followed, key, sequence, &is_found)) {
        if (cursor->iter->status == BB_OK)
            bb_run_cursor_leave(cursor);
        else
            end(cursor);
        return false;
    }
    earn(cursor, is_found ? COST_SEARCHED : COST_DENIED);
    *ret_entry = is_found ? &cursor->iter->entry : NULL;
    return true;
}
