/* An iterator over the entries of one block. See the header. One thread. */
#include "sstable/block/block_iter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/prefetch.h"
#include "sstable/block/block_record.h"
#include "sstable/block/common_entry.h"

void bb_block_iter_init(struct bb_block_iter *iter, const struct bb_comparator *comparator)
{
    iter->comparator = comparator;
    iter->key = iter->key_inside;
    iter->key_capacity = sizeof(iter->key_inside);
    iter->trusts_order = false;
    iter->candidate = (struct bb_buf){0};
    bb_block_iter_reset(iter, NULL, (struct bb_place){0});
}

void bb_block_iter_deinit(struct bb_block_iter *iter)
{
    if (iter->key != iter->key_inside)
        bb_free(iter->key);
    iter->key = NULL;
    bb_buf_deinit(&iter->candidate);
}

void bb_block_iter_reset(struct bb_block_iter *iter, const struct bb_block *block,
                         struct bb_place place)
{
    iter->is_valid = false;
    iter->status = BB_OK;
    iter->entry = (struct bb_entry){0};
    iter->block = block;
    iter->place = place;
    iter->offset = 0;
    iter->next_offset = 0;
    iter->restart = 0;
    iter->key_size = 0;
}

static void stop(struct bb_block_iter *iter, enum bb_status status)
{
    iter->is_valid = false;
    iter->status = status;
}

static enum bb_status grow_key(struct bb_block_iter *iter, size_t needed)
{
    size_t capacity = iter->key_capacity;
    while (capacity < needed)
        capacity *= 2;
    bool was_inside = iter->key == iter->key_inside;
    uint8_t *key = bb_realloc(was_inside ? NULL : iter->key, capacity);
    if (key == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a key of %zu bytes", needed);
    if (was_inside)
        memcpy(key, iter->key_inside, iter->key_size);
    iter->key = key;
    iter->key_capacity = capacity;
    return BB_OK;
}

static bool is_at_restart(const struct bb_block_iter *iter)
{
    uint32_t next = iter->restart + 1;
    return next < iter->block->restart_count && iter->next_offset == iter->block->restarts[next];
}

/* True when the record sorts after the current entry. Its first `shared` bytes are the current
 * key's, so only the rest of both is compared. Between restarts `shared` must also be maximal,
 * because bb_block_find relies on it: the next byte of both differs, and decides. */
static inline bool is_after_current(const struct bb_block_iter *iter,
                                    const struct bb_block_record *record)
{
    struct bb_bytes rest = {.data = iter->key + record->shared,
                            .size = iter->key_size - record->shared};
    struct bb_bytes suffix = bb_block_record_suffix(record);
    if (rest.size > 0 && suffix.size > 0 && !is_at_restart(iter))
        return rest.data[0] < suffix.data[0];
    return bb_entry_compare(NULL, rest, iter->entry.sequence, suffix, record->sequence) < 0;
}

static enum bb_status take_key(struct bb_block_iter *iter, const struct bb_block_record *record)
{
    size_t size = (size_t)record->shared + record->unshared;
    enum bb_status status = BB_OK;
    if (size > iter->key_capacity)
        status = grow_key(iter, size);
    if (status != BB_OK)
        return status;
    if (record->unshared > 0)
        memcpy(iter->key + record->shared, record->suffix, record->unshared);
    iter->key_size = size;
    return BB_OK;
}

static enum bb_status fail_entry(const struct bb_block_iter *iter, const char *problem)
{
    return bb_corrupt(iter->place, iter->next_offset, "the entry at %u of %u bytes of entries %s",
                      iter->next_offset, iter->block->entries_size, problem);
}

/* Another order must compare whole keys. The next key will overwrite the current one, so it is
 * assembled in another buffer. */
static enum bb_status check_order_by_comparison(struct bb_block_iter *iter,
                                                const struct bb_block_record *record)
{
    struct bb_buf *next = &iter->candidate;
    bb_buf_reset(next);
    enum bb_status status = bb_buf_append(next, iter->key, record->shared);
    if (status == BB_OK)
        status = bb_buf_append(next, record->suffix, record->unshared);
    if (status != BB_OK)
        return status;
    bool is_after = bb_entry_compare(iter->comparator, iter->entry.key, iter->entry.sequence,
                                     bb_buf_bytes(next), record->sequence) < 0;
    return is_after ? BB_OK : fail_entry(iter, "is not after the previous one");
}

static inline enum bb_status check_order(struct bb_block_iter *iter,
                                         const struct bb_block_record *record)
{
    if (iter->trusts_order)
        return BB_OK;
    if (iter->comparator != NULL)
        return check_order_by_comparison(iter, record);
    return is_after_current(iter, record) ? BB_OK
                                          : fail_entry(iter, "is not after the previous one");
}

/* Restarts must be at entries. Only searches would notice a restart inside an entry. */
static bool is_past_restart(const struct bb_block_iter *iter)
{
    uint32_t next = iter->restart + 1;
    return next < iter->block->restart_count && iter->next_offset > iter->block->restarts[next];
}

static inline enum bb_status decode_next(const struct bb_block_iter *iter, struct bb_cursor *cursor,
                                         struct bb_block_record *record)
{
    if (!bb_block_record_decode(cursor, record) || record->shared > iter->key_size)
        return fail_entry(iter, "cannot be read");
    return is_past_restart(iter)
               ? fail_entry(iter, "begins after a restart inside the previous entry")
               : BB_OK;
}

static struct bb_cursor next_cursor(const struct bb_block_iter *iter)
{
    const struct bb_block *block = iter->block;
    return (struct bb_cursor){.position = block->payload + iter->next_offset,
                              .end = block->payload + block->entries_size};
}

static enum bb_status read_next(struct bb_block_iter *iter)
{
    struct bb_cursor cursor = next_cursor(iter);
    struct bb_block_record record = {0};
    enum bb_status status = decode_next(iter, &cursor, &record);
    if (status == BB_OK && iter->is_valid)
        status = check_order(iter, &record);
    if (status == BB_OK)
        status = take_key(iter, &record);
    if (status != BB_OK)
        return status;

    iter->restart += is_at_restart(iter);
    iter->offset = iter->next_offset;
    iter->next_offset = (uint32_t)(cursor.position - iter->block->payload);
    iter->entry = (struct bb_entry){
        .key = {.data = iter->key, .size = iter->key_size},
        .sequence = record.sequence,
        .kind = record.kind,
        .value = bb_block_record_value(&record),
    };
    iter->is_valid = true;
    return BB_OK;
}

/* From any entry, or from none. */
static __attribute__((noinline)) void advance(struct bb_block_iter *iter)
{
    bool is_end = iter->next_offset >= iter->block->entries_size;
    enum bb_status status = BB_OK;
    if (!is_end)
        status = read_next(iter);
    else if (is_past_restart(iter))
        status = fail_entry(iter, "would be the end, and a restart points before it");
    if (is_end || status != BB_OK)
        stop(iter, status);
}

/* ---- common entries ---- */

/* As many bytes of a suffix are copied, which may be more than it has. */
#define SUFFIX_COPIED 16
#define COMMON_READ   (BB_COMMON_ENTRY_READ + SUFFIX_COPIED)
/* Bytes from an entry to the lines that are loaded while it is used. */
#define AHEAD 768

/* May the key of such an entry be taken without the other checks of read_next? */
static inline bool is_next_key(const struct bb_block_iter *iter,
                               const struct bb_common_entry *common, size_t key_size)
{
    return common->shared < key_size && common->unshared > 0 && common->unshared <= SUFFIX_COPIED &&
           common->shared + SUFFIX_COPIED <= BB_BLOCK_ITER_KEY_SIZE &&
           (iter->trusts_order || iter->key[common->shared] < common->suffix[0]);
}

/* The end of the entries up to the next restart. */
static inline const uint8_t *interval_end(const struct bb_block_iter *iter)
{
    const struct bb_block *block = iter->block;
    uint32_t next = iter->restart + 1;
    return block->payload +
           (next < block->restart_count ? block->restarts[next] : block->entries_size);
}

/* Shows the common entry at p. */
static inline void show_common(struct bb_block_iter *iter, const struct bb_common_entry *common,
                               const uint8_t *p)
{
    const uint8_t *payload = iter->block->payload;
    iter->key_size = common->shared + common->unshared;
    iter->offset = (uint32_t)(p - payload);
    iter->next_offset = (uint32_t)(bb_common_entry_end(common) - payload);
    iter->entry.key.size = iter->key_size;
    iter->entry.sequence = bb_common_entry_sequence(common);
    iter->entry.kind = BB_ENTRY_PUT;
    iter->entry.value = bb_bytes_of(common->suffix + common->unshared, common->value_size);
}

/* Two lines, about one entry of the usual size. WHY: an entry tells where the next one begins, so
 * the processor cannot load the lines of a cached block ahead. */
static inline void prefetch_ahead(const uint8_t *entry)
{
    uintptr_t ahead = (uintptr_t)entry + AHEAD; /* a number: it may be after the block */
    __builtin_prefetch((const void *)ahead);
    __builtin_prefetch((const void *)(ahead + 64));
    bb_prefetch_done(entry);
}

/* WHY the common entry has a path of its own: a scan spends most of its time here, and this one has
 * a third of the instructions of read_next. */
void bb_block_iter_next(struct bb_block_iter *iter)
{
    BB_DEBUG_ASSERT(iter->is_valid);
    const uint8_t *p = iter->block->payload + iter->next_offset;
    const uint8_t *limit = interval_end(iter);
    struct bb_common_entry common;
    if (iter->comparator != NULL || limit - p < COMMON_READ ||
        !bb_common_entry_decode(p, &common) || !is_next_key(iter, &common, iter->key_size) ||
        bb_common_entry_end(&common) > limit) {
        advance(iter);
        return;
    }
    prefetch_ahead(p);
    memcpy(iter->key + common.shared, common.suffix, SUFFIX_COPIED);
    show_common(iter, &common, p);
}

/* ---- passing entries ---- */

/* Passes common entries of this interval that end at or before the limit, and that are before the
 * key if there is one, with the checks of read_next. Shows the last one. WHY: most entries of an
 * interval are only on the way. The place of the next one is in registers. */
static void pass_common(struct bb_block_iter *iter, const uint8_t *limit,
                        const struct bb_bytes *key)
{
    const uint8_t *p = iter->block->payload + iter->next_offset;
    const uint8_t *last = NULL;
    size_t matched = key == NULL ? 0 : bb_bytes_shared_prefix(iter->entry.key, *key);
    size_t key_size = iter->key_size;
    struct bb_common_entry common;
    while (limit - p >= COMMON_READ && bb_common_entry_decode(p, &common) &&
           bb_common_entry_end(&common) <= limit && is_next_key(iter, &common, key_size) &&
           (key == NULL || bb_common_entry_is_before(&common, *key, &matched))) {
        memcpy(iter->key + common.shared, common.suffix, SUFFIX_COPIED);
        key_size = common.shared + common.unshared;
        last = p;
        p = bb_common_entry_end(&common);
    }
    if (last != NULL && bb_common_entry_decode(last, &common))
        show_common(iter, &common, last);
}

void bb_block_iter_skip_to(struct bb_block_iter *iter, uint32_t at)
{
    BB_DEBUG_ASSERT(at < iter->block->entries_size);
    const uint8_t *target = iter->block->payload + at;
    while (iter->is_valid && iter->next_offset <= at) {
        const uint8_t *end = interval_end(iter);
        if (iter->comparator == NULL)
            pass_common(iter, target < end ? target : end, NULL);
        bb_block_iter_next(iter);
    }
}

void bb_block_iter_seek_restart(struct bb_block_iter *iter, uint32_t restart)
{
    BB_DEBUG_ASSERT(restart < iter->block->restart_count);
    iter->is_valid = false;
    iter->status = BB_OK;
    iter->restart = restart;
    iter->next_offset = iter->block->restarts[restart];
    iter->key_size = 0;
    advance(iter);
}

void bb_block_iter_seek_first(struct bb_block_iter *iter)
{
    bb_block_iter_seek_restart(iter, 0);
}

void bb_block_iter_seek_last(struct bb_block_iter *iter)
{
    bb_block_iter_seek_restart(iter, iter->block->restart_count - 1);
    while (iter->is_valid && iter->next_offset < iter->block->entries_size)
        bb_block_iter_next(iter);
}

/* Checks that the number of restarts before the result equals the number that the search over the
 * restarts found. If not, the restarts are out of order, and the search may have missed its
 * target. */
static void check_search(struct bb_block_iter *iter, uint32_t below)
{
    uint32_t passed = iter->block->restart_count;
    if (!iter->is_valid && iter->status != BB_OK)
        return;
    if (iter->is_valid)
        passed = iter->restart + (iter->offset != iter->block->restarts[iter->restart]);
    if (passed != below)
        stop(iter, bb_corrupt(iter->place, iter->offset,
                              "the restarts of %u bytes of entries are not in order: %u are in "
                              "front of a key, a search finds %u",
                              iter->block->entries_size, passed, below));
}

void bb_block_iter_seek(struct bb_block_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    uint32_t below = bb_block_find_restart(iter->block, iter->comparator, key, sequence);
    bb_block_iter_seek_restart(iter, below == 0 ? 0 : below - 1);
    while (iter->is_valid && bb_entry_compare(iter->comparator, iter->entry.key,
                                              iter->entry.sequence, key, sequence) < 0) {
        if (iter->comparator == NULL)
            pass_common(iter, interval_end(iter), &key);
        bb_block_iter_next(iter);
    }
    check_search(iter, below);
}

/* Checks the current entry against the entry before the call of prev, which follows it. */
static void check_next(struct bb_block_iter *iter, uint32_t following)
{
    struct bb_cursor cursor = next_cursor(iter);
    struct bb_block_record record = {0};
    enum bb_status status = iter->next_offset == following
                                ? decode_next(iter, &cursor, &record)
                                : fail_entry(iter, "does not end where the next entry begins");
    if (status == BB_OK)
        status = check_order(iter, &record);
    if (status != BB_OK)
        stop(iter, status);
}

/* Entries can only be decoded forward: go back to an earlier restart, and forward again. The order
 * up to the current entry was checked before and is not checked again. */
void bb_block_iter_prev(struct bb_block_iter *iter)
{
    uint32_t current = iter->offset;
    if (current == 0) {
        stop(iter, BB_OK);
        return;
    }
    bool trusts_order = iter->trusts_order;
    bool leaves_interval = iter->block->restarts[iter->restart] == current;
    iter->trusts_order |= !leaves_interval;
    bb_block_iter_seek_restart(iter, iter->restart - leaves_interval);
    while (iter->is_valid && iter->next_offset < current)
        bb_block_iter_next(iter);
    iter->trusts_order = trusts_order;
    if (iter->is_valid && leaves_interval)
        check_next(iter, current);
}
