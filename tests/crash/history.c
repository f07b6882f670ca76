/* See history.h. */
#include "tests/crash/history.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/must_alloc.h"

void history_deinit(struct history *history)
{
    free(history->operations);
    free(history->commits);
}

void history_begin(struct history *history, const struct history_operation *operations,
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        history->operations =
            bb_must_grow(history->operations, history->operation_count,
                         &history->operation_capacity, sizeof(*history->operations));
        history->operations[history->operation_count++] = operations[i];
    }
    history->commits = bb_must_grow(history->commits, history->commit_count,
                                    &history->commit_capacity, sizeof(*history->commits));
    history->commits[history->commit_count++] =
        (struct history_commit){.end = history->operation_count};
}

void history_end(struct history *history, bool is_durable)
{
    history->acknowledged = history->operation_count;
    if (is_durable)
        history->durable = history->operation_count;
}

void history_fail(struct history *history)
{
    history->commits[history->commit_count - 1].has_failed = true;
}

struct bb_bytes history_key(uint32_t key, char *buffer)
{
    int size = snprintf(buffer, 16, "key%03u", key);
    return bb_bytes_of(buffer, (size_t)size);
}

struct bb_bytes history_value(const struct history *history, uint64_t sequence, uint8_t *buffer)
{
    uint32_t size = history->operations[sequence - 1].value_size;
    for (uint32_t i = 0; i < size; i++)
        buffer[i] = (uint8_t)((sequence * 2654435761u + (uint64_t)i * i * 40503u) >> 7);
    return bb_bytes_of(buffer, size);
}

static void apply(const struct history_operation *operation, uint64_t sequence,
                  uint64_t state[HISTORY_KEYS])
{
    state[operation->key] = operation->is_put ? sequence : 0;
    for (uint32_t key = operation->key; key < operation->high_key; key++)
        state[key] = 0;
}

/* The sequence whose value each key has, 0 for none. with_failed: the commit that ends at
 * `sequence` took effect although it failed. */
static void state_at(const struct history *history, uint64_t sequence, bool with_failed,
                     uint64_t state[HISTORY_KEYS])
{
    uint64_t s = 1;
    memset(state, 0, HISTORY_KEYS * sizeof(*state));
    for (size_t i = 0; i < history->commit_count && history->commits[i].end <= sequence; i++) {
        const struct history_commit *commit = &history->commits[i];
        bool is_there = !commit->has_failed || (with_failed && commit->end == sequence);
        for (; s <= commit->end; s++) {
            if (is_there)
                apply(&history->operations[s - 1], s, state);
        }
    }
}

static int compare_key(const struct history *history, uint32_t key, uint64_t wanted,
                       struct bb_db *db, char *message, size_t size)
{
    char text[16];
    struct bb_buf value = {0};
    uint8_t *expected =
        bb_must_realloc(NULL, wanted == 0 ? 1 : history->operations[wanted - 1].value_size);
    enum bb_status status = bb_db_get(db, NULL, history_key(key, text), &value);
    int differs = 0;
    if (status != BB_OK && status != BB_NOT_FOUND)
        differs = snprintf(message, size, "get %s: %s", text, bb_error_last()->message) > 0;
    else if ((status == BB_OK) != (wanted != 0))
        differs = snprintf(message, size, "%s is %s, expected the value of sequence %" PRIu64, text,
                           status == BB_OK ? "present" : "absent", wanted) > 0;
    else if (wanted != 0 &&
             !bb_bytes_equal(bb_buf_bytes(&value), history_value(history, wanted, expected)))
        differs = snprintf(message, size, "%s has another value than that of sequence %" PRIu64,
                           text, wanted) > 0;
    bb_buf_deinit(&value);
    free(expected);
    return differs;
}

static size_t count_scan(struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    size_t count = 0;
    if (bb_db_iter_create(db, NULL, &iter) != BB_OK)
        return SIZE_MAX;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    enum bb_status status = bb_db_iter_status(iter);
    bb_db_iter_destroy(iter);
    return status == BB_OK ? count : SIZE_MAX;
}

static int compare_state(const struct history *history, const uint64_t state[HISTORY_KEYS],
                         struct bb_db *db, char *message, size_t size)
{
    size_t present = 0;
    for (uint32_t key = 0; key < HISTORY_KEYS; key++) {
        present += state[key] != 0;
        if (compare_key(history, key, state[key], db, message, size) != 0)
            return 1;
    }
    size_t scanned = count_scan(db);
    if (scanned == present)
        return 0;
    snprintf(message, size, "a scan finds %zu keys, expected %zu", scanned, present);
    return 1;
}

static const struct history_commit *commit_at(const struct history *history, uint64_t sequence)
{
    for (size_t i = 0; i < history->commit_count; i++) {
        if (history->commits[i].end == sequence)
            return &history->commits[i];
    }
    return NULL;
}

int history_compare(const struct history *history, uint64_t sequence, struct bb_db *db,
                    char *message, size_t size)
{
    const struct history_commit *commit = commit_at(history, sequence);
    uint64_t state[HISTORY_KEYS];
    state_at(history, sequence, false, state);
    if (compare_state(history, state, db, message, size) == 0)
        return 0;
    if (commit == NULL || !commit->has_failed)
        return 1;
    state_at(history, sequence, true, state);
    return compare_state(history, state, db, message, size);
}

bool history_is_commit(const struct history *history, uint64_t sequence)
{
    return sequence == 0 || commit_at(history, sequence) != NULL;
}
