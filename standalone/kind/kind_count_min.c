/* The count-min sketch in an envelope, as a filter: a key may be there if its count is not 0.
 * Parameters: columns, rows. The target rate is the probability of a larger error.
 *
 *     payload    | total, u64 | error, f64 | flags, u32 | top capacity, u32 |
 *                | top entries, u32 | 0, u32 | cells (count_min.h) | entry* |
 *     entry      | hash, u64 | count, u64 | key size, u32 | key |        greatest count first
 *
 * flags: bit 0, cells are raised conservatively. Sketches are made and changed by count_sketch.c.
 */
#include "standalone/kind/kind.h"

#include <math.h>

#include "base/coding.h"
#include "base/status.h"
#include "standalone/sketch/count_sketch.h"

static enum bb_status corrupt(uint64_t at, const char *what, uint64_t found, uint64_t expected)
{
    return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE + at, "%s %llu, expected %llu",
                      what, (unsigned long long)found, (unsigned long long)expected);
}

/* The shape is large enough for the stored error bound, with a margin for rounding. */
static bool keeps_promise(const struct bb_envelope *envelope,
                          const struct bb_count_sketch_head *head)
{
    return (double)head->shape.columns * head->error >= exp(1) * (1 - 1e-9) &&
           head->shape.rows >= -log(envelope->target_rate) * (1 - 1e-9);
}

static enum bb_status check_head(const struct bb_envelope *envelope)
{
    uint64_t columns = envelope->parameters[0], rows = envelope->parameters[1];
    size_t size = envelope->payload.size;
    if (rows < 1 || rows > BB_COUNT_MIN_ROWS_MAX)
        return bb_envelope_bad_parameter(envelope, 1, "number of rows");
    if (size < BB_COUNT_HEAD_SIZE || columns < 1 ||
        columns > (size - BB_COUNT_HEAD_SIZE) / 4 / rows)
        return bb_envelope_bad_parameter(envelope, 0, "number of columns");
    struct bb_count_sketch_head head = bb_count_sketch_head_decode(envelope);
    if (!(head.error >= BB_COUNT_ERROR_MIN && head.error <= BB_COUNT_ERROR_MAX) ||
        !keeps_promise(envelope, &head))
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_HEADER_SIZE + 8,
                          "error is %g with probability %g, of %llu columns and %llu rows",
                          head.error, envelope->target_rate, (unsigned long long)columns,
                          (unsigned long long)rows);
    if (head.flags > BB_COUNT_CONSERVATIVE)
        return corrupt(16, "flags are", head.flags, BB_COUNT_CONSERVATIVE);
    if (head.top_capacity > BB_COUNT_TOP_MAX || head.top_count > head.top_capacity)
        return corrupt(20, "the list of the top keys has entries:", head.top_count,
                       head.top_capacity);
    if (head.reserved != 0)
        return corrupt(28, "reserved bytes are", head.reserved, 0);
    return BB_OK;
}

/* The cells of a row add up to the total, or to less if the sketch is conservative or has full
 * cells. */
static enum bb_status check_cells(const struct bb_envelope *envelope,
                                  const struct bb_count_sketch_head *head)
{
    struct bb_count_min_sums sums = bb_count_min_sums(head->cells, &head->shape);
    bool exact = head->flags == 0 && sums.saturated == 0;
    if (sums.most > head->total || (exact && sums.least != head->total))
        return corrupt(BB_COUNT_HEAD_SIZE, "the cells of a row add up to",
                       sums.most > head->total ? sums.most : sums.least, head->total);
    bool none = head->total == 0;
    if (none != (envelope->key_count == 0) || none != (sums.used == 0) ||
        envelope->key_count > head->total)
        return corrupt(0, "the total is", head->total, envelope->key_count);
    return BB_OK;
}

static bool is_repeated(const struct bb_count_sketch_head *head, uint32_t count, uint64_t hash)
{
    struct bb_cursor entries = bb_cursor_of(head->entries);
    struct bb_count_entry entry;
    for (uint32_t i = 0; i < count && bb_count_sketch_entry_decode(&entries, &entry); i++)
        if (entry.hash == hash)
            return true;
    return false;
}

static enum bb_status check_top(const struct bb_envelope *envelope,
                                const struct bb_count_sketch_head *head)
{
    uint64_t domain = bb_domain(BB_DOMAIN_ENVELOPE, envelope->salt);
    struct bb_cursor entries = bb_cursor_of(head->entries);
    uint64_t greatest = BB_COUNT_MIN_CELL_MAX;
    for (uint32_t i = 0; i < head->top_count; i++) {
        struct bb_count_entry entry;
        uint64_t at = (uint64_t)(entries.position - envelope->payload.data);
        if (!bb_count_sketch_entry_decode(&entries, &entry))
            return corrupt(at, "the list of the top keys ends at entry", i, head->top_count);
        uint64_t count =
            bb_count_min_count(head->cells, &head->shape, bb_domain_hash(domain, entry.hash));
        greatest = count < greatest ? count : greatest;
        if (entry.count < 1 || entry.count > greatest)
            return corrupt(at + 8, "a top key's count is", entry.count, greatest);
        if (is_repeated(head, i, entry.hash))
            return corrupt(at, "a top key is there twice: entry", i, head->top_count);
        greatest = entry.count;
    }
    size_t left = bb_cursor_left(&entries);
    return left == 0 ? BB_OK
                     : corrupt(envelope->payload.size - left,
                               "bytes after the list of the top keys:", left, 0);
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    enum bb_status status = check_head(envelope);
    if (status != BB_OK)
        return status;
    struct bb_count_sketch_head head = bb_count_sketch_head_decode(envelope);
    status = check_cells(envelope, &head);
    return status == BB_OK ? check_top(envelope, &head) : status;
}

static bool may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    struct bb_count_min shape = {view->parameters[BB_VIEW_SIZE],
                                 (uint32_t)view->parameters[BB_VIEW_PROBES]};
    return bb_count_min_count(view->payload.data + BB_COUNT_HEAD_SIZE, &shape,
                              bb_kind_view_domain_hash(view, hash)) > 0;
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_count_sketch_head head = bb_count_sketch_head_decode(envelope);
    struct bb_count_min_sums sums = bb_count_min_sums(head.cells, &head.shape);
    info->bits_per_probe = head.shape.rows;
    info->fill = (double)sums.used / ((double)head.shape.columns * head.shape.rows);
    info->predicted_rate = sums.rate;
    info->saturated_count = sums.saturated;
}

const struct bb_kind_ops bb_kind_count_min = {
    .answers_without_keys = true,
    .check = check,
    .probe = {.may_contain = may_contain},
    .describe = describe,
};
