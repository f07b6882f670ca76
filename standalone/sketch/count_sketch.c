/* Sketches of counts (bb/filter_sets.h): the cells of count_min.h, with a list of the most frequent
 * keys. */
#include "standalone/sketch/count_sketch.h"

#include <math.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"
#include "bloomblock/domain.h"
#include "standalone/sketch/top_list.h"

#define ERROR_DEFAULT 0.001

struct bb_count_sketch {
    struct bb_count_sketch_options options; /* resolved */
    struct bb_count_min shape;
    uint64_t domain;
    uint64_t total;
    uint64_t key_count;
    uint8_t *cells; /* owned */
    struct bb_top_list top;
};

/* --- Creating --- */

static enum bb_status resolve(struct bb_count_sketch_options *options)
{
    if (options->error == 0)
        options->error = ERROR_DEFAULT;
    if (options->error_probability == 0)
        options->error_probability = BB_ENVELOPE_RATE_DEFAULT;
    if (!(options->error >= BB_COUNT_ERROR_MIN && options->error <= BB_COUNT_ERROR_MAX))
        return bb_fail(BB_INVALID, "the error of a count sketch is %g, allowed are %g to %g",
                       options->error, BB_COUNT_ERROR_MIN, BB_COUNT_ERROR_MAX);
    if (!(options->error_probability >= BB_FILTER_RATE_MIN &&
          options->error_probability <= BB_FILTER_RATE_MAX))
        return bb_fail(BB_INVALID, "the probability of a larger error is %g, allowed are %g to %g",
                       options->error_probability, BB_FILTER_RATE_MIN, BB_FILTER_RATE_MAX);
    if (options->top_count > BB_COUNT_TOP_MAX)
        return bb_fail(BB_TOO_LARGE, "a count sketch keeps %u top keys, the limit is %d",
                       options->top_count, BB_COUNT_TOP_MAX);
    return BB_OK;
}

static enum bb_status create(const struct bb_count_sketch_options *options,
                             const struct bb_count_min *shape, struct bb_count_sketch **ret_sketch)
{
    size_t size = (size_t)bb_count_min_size(shape);
    struct bb_count_sketch *sketch = bb_alloc_zeroed(1, sizeof(*sketch));
    if (sketch == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a count sketch");
    sketch->options = *options;
    sketch->shape = *shape;
    sketch->domain = bb_domain(BB_DOMAIN_ENVELOPE, options->salt);
    sketch->cells = bb_alloc_zeroed(size, 1);
    enum bb_status status =
        sketch->cells == NULL
            ? bb_fail(BB_NO_MEMORY, "no memory for a count sketch of %zu bytes", size)
            : bb_top_list_init(&sketch->top, options->top_count);
    if (status == BB_OK)
        *ret_sketch = sketch;
    else
        bb_count_sketch_destroy(sketch);
    return status;
}

enum bb_status bb_count_sketch_create(const struct bb_count_sketch_options *options,
                                      struct bb_count_sketch **ret_sketch)
{
    struct bb_count_sketch_options resolved =
        options == NULL ? (struct bb_count_sketch_options){0} : *options;
    enum bb_status status = resolve(&resolved);
    if (status != BB_OK)
        return status;
    struct bb_count_min shape = {
        .columns = (uint64_t)ceil(exp(1) / resolved.error),
        .rows = (uint32_t)ceil(-log(resolved.error_probability)),
    };
    return create(&resolved, &shape, ret_sketch);
}

void bb_count_sketch_destroy(struct bb_count_sketch *sketch)
{
    if (sketch == NULL)
        return;
    bb_top_list_deinit(&sketch->top);
    bb_free(sketch->cells);
    bb_free(sketch);
}

void bb_count_sketch_reset(struct bb_count_sketch *sketch)
{
    memset(sketch->cells, 0, (size_t)bb_count_min_size(&sketch->shape));
    bb_top_list_reset(&sketch->top);
    sketch->total = 0;
    sketch->key_count = 0;
}

/* --- Counting --- */

enum bb_status bb_count_sketch_add(struct bb_count_sketch *sketch, uint64_t hash,
                                   struct bb_bytes key, uint64_t count)
{
    uint64_t domain_hash = bb_domain_hash(sketch->domain, hash);
    if (count == 0)
        return BB_OK;
    if (key.size > BB_COUNT_KEY_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "a counted key has %zu bytes, the limit is %d", key.size,
                       BB_COUNT_KEY_SIZE_MAX);
    if (count > UINT64_MAX - sketch->total)
        return bb_fail(BB_TOO_LARGE, "the counts of a sketch add up to more than %llu",
                       (unsigned long long)UINT64_MAX);
    uint64_t before = bb_count_min_count(sketch->cells, &sketch->shape, domain_hash);
    uint64_t space = BB_COUNT_MIN_CELL_MAX - before;
    /* WHY first: only this step can fail, and a failure must change neither cells nor counts. */
    enum bb_status status =
        bb_top_list_add(&sketch->top, hash, key, before + (count < space ? count : space), count);
    if (status != BB_OK)
        return status;
    bb_count_min_add(sketch->cells, &sketch->shape, domain_hash, count,
                     sketch->options.is_conservative);
    sketch->total += count;
    sketch->key_count += before == 0 && sketch->key_count < BB_FILTER_KEY_COUNT_MAX;
    return BB_OK;
}

uint64_t bb_count_sketch_count(const struct bb_count_sketch *sketch, uint64_t hash)
{
    return bb_count_min_count(sketch->cells, &sketch->shape, bb_domain_hash(sketch->domain, hash));
}

size_t bb_count_sketch_top(const struct bb_count_sketch *sketch, struct bb_count_entry *entries,
                           size_t capacity)
{
    return bb_top_list_sort(&sketch->top, entries, capacity);
}

void bb_count_sketch_info(const struct bb_count_sketch *sketch,
                          struct bb_count_sketch_info *ret_info)
{
    *ret_info = (struct bb_count_sketch_info){
        .total = sketch->total,
        .key_count = sketch->key_count,
        .error = sketch->options.error,
        .error_probability = sketch->options.error_probability,
        .columns = sketch->shape.columns,
        .rows = sketch->shape.rows,
        .cells_size_bytes = bb_count_min_size(&sketch->shape),
        .saturated_count = bb_count_min_sums(sketch->cells, &sketch->shape).saturated,
    };
}

/* --- Storing --- */

static enum bb_status append_head(const struct bb_count_sketch *sketch, struct bb_buf *buf)
{
    uint8_t *head = NULL;
    enum bb_status status = bb_buf_extend(buf, BB_COUNT_HEAD_SIZE, &head);
    if (status != BB_OK)
        return status;
    bb_store64(head, sketch->total);
    bb_store64(head + 8, bb_bits_of_double(sketch->options.error));
    bb_store32(head + 16, sketch->options.is_conservative ? BB_COUNT_CONSERVATIVE : 0);
    bb_store32(head + 20, sketch->top.capacity);
    bb_store32(head + 24, sketch->top.count);
    return bb_buf_append(buf, sketch->cells, (size_t)bb_count_min_size(&sketch->shape));
}

static enum bb_status append_entry(const struct bb_count_entry *entry, struct bb_buf *buf)
{
    enum bb_status status = bb_append_u64(buf, entry->hash);
    if (status == BB_OK)
        status = bb_append_u64(buf, entry->count);
    if (status == BB_OK)
        status = bb_append_u32(buf, (uint32_t)entry->key.size);
    return status == BB_OK ? bb_buf_append(buf, entry->key.data, entry->key.size) : status;
}

static enum bb_status append_top(const struct bb_count_sketch *sketch, struct bb_buf *buf)
{
    uint32_t count = sketch->top.count;
    if (count == 0)
        return BB_OK;
    struct bb_count_entry *entries = bb_alloc_zeroed(count, sizeof(entries[0]));
    if (entries == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %u keys", count);
    bb_top_list_sort(&sketch->top, entries, count);
    enum bb_status status = BB_OK;
    for (uint32_t i = 0; i < count && status == BB_OK; i++)
        status = append_entry(&entries[i], buf);
    bb_free(entries);
    return status;
}

enum bb_status bb_count_sketch_encode(const struct bb_count_sketch *sketch, struct bb_buf *envelope)
{
    size_t start = envelope->size;
    struct bb_envelope fields = {.kind = BB_FILTER_COUNT_MIN,
                                 .salt = sketch->options.salt,
                                 .key_count = sketch->key_count,
                                 .target_rate = sketch->options.error_probability,
                                 .parameters = {sketch->shape.columns, sketch->shape.rows}};
    enum bb_status status = bb_envelope_encode(&fields, envelope);
    if (status == BB_OK)
        status = append_head(sketch, envelope);
    if (status == BB_OK)
        status = append_top(sketch, envelope);
    return bb_envelope_finish(envelope, start, status);
}

struct bb_count_sketch_head bb_count_sketch_head_decode(const struct bb_envelope *envelope)
{
    const uint8_t *data = envelope->payload.data;
    struct bb_count_sketch_head head = {
        .total = bb_load64(data),
        .error = bb_double_of_bits(bb_load64(data + 8)),
        .flags = bb_load32(data + 16),
        .top_capacity = bb_load32(data + 20),
        .top_count = bb_load32(data + 24),
        .reserved = bb_load32(data + 28),
        .shape = {.columns = envelope->parameters[0], .rows = (uint32_t)envelope->parameters[1]},
        .cells = data + BB_COUNT_HEAD_SIZE};
    size_t before = BB_COUNT_HEAD_SIZE + (size_t)bb_count_min_size(&head.shape);
    head.entries = (struct bb_bytes){data + before, envelope->payload.size - before};
    return head;
}

bool bb_count_sketch_entry_decode(struct bb_cursor *entries, struct bb_count_entry *ret_entry)
{
    struct bb_count_entry entry;
    uint32_t size = 0;
    if (!bb_decode_u64(entries, &entry.hash) || !bb_decode_u64(entries, &entry.count) ||
        !bb_decode_u32(entries, &size) || size > BB_COUNT_KEY_SIZE_MAX ||
        !bb_decode_raw(entries, size, &entry.key))
        return false;
    *ret_entry = entry;
    return true;
}

/* Loads a checked envelope into a sketch of its shape. */
static enum bb_status load(struct bb_count_sketch *sketch, const struct bb_count_sketch_head *head,
                           uint64_t key_count)
{
    struct bb_cursor entries = bb_cursor_of(head->entries);
    struct bb_count_entry entry;
    enum bb_status status = BB_OK;
    memcpy(sketch->cells, head->cells, (size_t)bb_count_min_size(&head->shape));
    sketch->total = head->total;
    sketch->key_count = key_count;
    while (status == BB_OK && bb_count_sketch_entry_decode(&entries, &entry))
        status = bb_top_list_add(&sketch->top, entry.hash, entry.key, entry.count, entry.count);
    return status;
}

enum bb_status bb_count_sketch_decode(struct bb_bytes envelope, struct bb_count_sketch **ret_sketch)
{
    struct bb_envelope fields;
    struct bb_count_sketch *sketch = NULL;
    enum bb_status status = bb_envelope_decode_kind(envelope, BB_FILTER_COUNT_MIN, &fields);
    if (status != BB_OK)
        return status;
    struct bb_count_sketch_head head = bb_count_sketch_head_decode(&fields);
    struct bb_count_sketch_options options = {.error = head.error,
                                              .error_probability = fields.target_rate,
                                              .top_count = head.top_capacity,
                                              .is_conservative = head.flags != 0,
                                              .salt = fields.salt};
    status = create(&options, &head.shape, &sketch);
    if (status == BB_OK)
        status = load(sketch, &head, fields.key_count);
    if (status == BB_OK)
        *ret_sketch = sketch;
    else
        bb_count_sketch_destroy(sketch);
    return status;
}
