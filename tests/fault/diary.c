/* See diary.h. */
#include "tests/fault/diary.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/must_alloc.h"

/* The state of a key: the number of a write, or one of these. */
#define ABSENT  UINT64_C(0)
#define UNKNOWN UINT64_MAX /* reading failed */

static _Thread_local char text[512];

void diary_deinit(struct diary *diary)
{
    free(diary->operations);
    free(diary->acknowledged);
}

uint64_t diary_begin(struct diary *diary)
{
    diary->acknowledged = bb_must_grow(diary->acknowledged, diary->write_count + 1,
                                       &diary->write_capacity, sizeof(*diary->acknowledged));
    diary->acknowledged[++diary->write_count] = false;
    return diary->write_count;
}

void diary_add(struct diary *diary, uint32_t key, bool is_put, uint32_t value_size)
{
    diary->operations = bb_must_grow(diary->operations, diary->operation_count,
                                     &diary->operation_capacity, sizeof(*diary->operations));
    diary->operations[diary->operation_count++] = (struct diary_operation){
        .key = key, .is_put = is_put, .value_size = value_size, .write = diary->write_count};
}

void diary_add_range(struct diary *diary, uint32_t low, uint32_t high)
{
    for (uint32_t key = low; key < high; key++)
        diary_add(diary, key, false, 0);
}

void diary_end(struct diary *diary, bool is_acknowledged)
{
    diary->acknowledged[diary->write_count] = is_acknowledged;
}

void diary_set_durable(struct diary *diary)
{
    diary->durable = diary->write_count;
}

struct bb_bytes diary_key(uint32_t key, char *buffer)
{
    return bb_bytes_of(buffer, (size_t)snprintf(buffer, 16, "key%03u", key));
}

struct bb_bytes diary_value(const struct diary_operation *operation, uint8_t *buffer)
{
    for (uint32_t i = 0; i < operation->value_size; i++)
        buffer[i] = (uint8_t)((operation->write * 2654435761u + (uint64_t)i * i * 40503u) >> 7);
    memcpy(buffer, &operation->write, sizeof(operation->write));
    memcpy(buffer + 8, &operation->key, sizeof(operation->key));
    return bb_bytes_of(buffer, operation->value_size);
}

/* True when this operation may have written the value. Compares size and head before making all its
 * bytes. */
static bool looks_like(const struct diary_operation *operation, struct bb_bytes value)
{
    return operation->is_put && operation->value_size == value.size &&
           memcmp(value.data, &operation->write, sizeof(operation->write)) == 0;
}

/* The write that wrote this value; UNKNOWN if none did. */
static uint64_t find_write(const struct diary *diary, uint32_t key, struct bb_bytes value)
{
    uint8_t expected[DIARY_VALUE_MAX];
    for (size_t i = 0; i < diary->operation_count; i++) {
        const struct diary_operation *operation = &diary->operations[i];
        if (operation->key == key && looks_like(operation, value) &&
            bb_bytes_equal(diary_value(operation, expected), value))
            return operation->write;
    }
    return UNKNOWN;
}

/* The last operation on the key that must have taken effect, or -1. */
static int64_t last_certain(const struct diary *diary, uint32_t key, enum diary_scope scope)
{
    int64_t last = -1;
    for (size_t i = 0; i < diary->operation_count; i++) {
        const struct diary_operation *operation = &diary->operations[i];
        bool is_certain = diary->acknowledged[operation->write] &&
                          (scope == DIARY_LIVE || operation->write <= diary->durable);
        if (operation->key == key && is_certain)
            last = (int64_t)i;
    }
    return last;
}

static bool is_allowed(const struct diary *diary, uint32_t key, uint64_t found,
                       enum diary_scope scope)
{
    int64_t certain = last_certain(diary, key, scope);
    if (found == ABSENT && certain < 0)
        return true;
    for (size_t i = certain < 0 ? 0 : (size_t)certain; i < diary->operation_count; i++) {
        const struct diary_operation *operation = &diary->operations[i];
        if (operation->key == key && (operation->is_put ? operation->write : ABSENT) == found)
            return true;
    }
    return false;
}

/* Does the key show that this write was lost, with another key showing that it was not? Only a
 * later operation may hide it. */
static bool is_hidden(const struct diary *diary, const struct diary_operation *operation,
                      uint64_t found)
{
    if (!operation->is_put || found == UNKNOWN || (found != ABSENT && found >= operation->write))
        return true;
    for (const struct diary_operation *later = operation + 1;
         later < diary->operations + diary->operation_count; later++) {
        if (later->key == operation->key && !later->is_put && found == ABSENT)
            return true;
    }
    return false;
}

/* A write that shows in one key shows in all of its keys. */
static const char *check_whole(const struct diary *diary, const uint64_t found[DIARY_KEYS])
{
    for (size_t i = 0; i < diary->operation_count; i++) {
        const struct diary_operation *shown = &diary->operations[i];
        if (found[shown->key] != shown->write || !shown->is_put)
            continue;
        for (size_t j = 0; j < diary->operation_count; j++) {
            const struct diary_operation *other = &diary->operations[j];
            if (other->write != shown->write || is_hidden(diary, other, found[other->key]))
                continue;
            snprintf(text, sizeof(text),
                     "write %" PRIu64 " is there in part: key %u has it, key %u has %" PRIu64,
                     shown->write, shown->key, other->key, found[other->key]);
            return text;
        }
    }
    return NULL;
}

static const char *check_key(const struct diary *diary, uint32_t key, uint64_t found,
                             enum diary_scope scope)
{
    if (is_allowed(diary, key, found, scope))
        return NULL;
    int64_t certain = last_certain(diary, key, scope);
    snprintf(text, sizeof(text), "key %u has write %" PRIu64 ", acknowledged was %" PRIu64 " (%s)",
             key, found, certain < 0 ? 0 : diary->operations[certain].write,
             certain < 0 || diary->operations[certain].is_put ? "put" : "delete");
    return text;
}

static const char *get_key(const struct diary *diary, struct bb_db *db, uint32_t key,
                           uint64_t *failures, uint64_t *ret_found)
{
    char name[16];
    struct bb_buf value = {0};
    const char *wrong = NULL;
    enum bb_status status = bb_db_get(db, NULL, diary_key(key, name), &value);
    *ret_found = status == BB_OK ? find_write(diary, key, bb_buf_bytes(&value)) : ABSENT;
    if (status == BB_OK && *ret_found == UNKNOWN) {
        snprintf(text, sizeof(text), "key %u has a value that nobody wrote", key);
        wrong = text;
    } else if (status != BB_OK && status != BB_NOT_FOUND) {
        *ret_found = UNKNOWN;
        snprintf(text, sizeof(text), "get: %.400s", bb_error_last()->message);
        wrong = failures == NULL ? text : NULL;
        if (failures != NULL)
            ++*failures;
    }
    bb_buf_deinit(&value);
    return wrong;
}

static const char *check_gets(const struct diary *diary, struct bb_db *db, enum diary_scope scope,
                              uint64_t *failures, uint64_t found[DIARY_KEYS])
{
    for (uint32_t key = 0; key < DIARY_KEYS; key++) {
        const char *wrong = get_key(diary, db, key, failures, &found[key]);
        if (wrong == NULL && found[key] != UNKNOWN)
            wrong = check_key(diary, key, found[key], scope);
        if (wrong != NULL)
            return wrong;
    }
    return check_whole(diary, found);
}

/* The contents found by a scan, by key; ABSENT for missing keys. */
static enum bb_status scan(const struct diary *diary, struct bb_db *db, uint64_t found[DIARY_KEYS],
                           uint64_t *ret_count)
{
    struct bb_db_iter *iter = NULL;
    enum bb_status status = bb_db_iter_create(db, NULL, &iter);
    memset(found, 0, DIARY_KEYS * sizeof(*found));
    *ret_count = 0;
    if (status != BB_OK)
        return status;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
        char name[16];
        snprintf(name, sizeof(name), "%.*s", (int)bb_db_iter_key(iter).size,
                 (const char *)bb_db_iter_key(iter).data);
        uint32_t key = (uint32_t)strtoul(name + 3, NULL, 10) % DIARY_KEYS;
        found[key] = find_write(diary, key, bb_db_iter_value(iter));
        ++*ret_count;
    }
    status = bb_db_iter_status(iter);
    bb_db_iter_destroy(iter);
    return status;
}

static const char *check_scan(const struct diary *diary, struct bb_db *db, uint64_t *failures,
                              const uint64_t gets[DIARY_KEYS])
{
    uint64_t found[DIARY_KEYS];
    uint64_t count = 0;
    if (scan(diary, db, found, &count) != BB_OK) {
        snprintf(text, sizeof(text), "scan: %.400s", bb_error_last()->message);
        if (failures == NULL)
            return text;
        ++*failures;
        return NULL;
    }
    for (uint32_t key = 0; key < DIARY_KEYS; key++) {
        count -= found[key] != ABSENT;
        if (gets[key] == UNKNOWN || gets[key] == found[key])
            continue;
        snprintf(text, sizeof(text), "key %u has write %" PRIu64 " by get, %" PRIu64 " by scan",
                 key, gets[key], found[key]);
        return text;
    }
    return count == 0 ? NULL : "a scan shows a key twice, or one that nobody wrote";
}

const char *diary_check(const struct diary *diary, struct bb_db *db, enum diary_scope scope,
                        uint64_t *failures)
{
    uint64_t found[DIARY_KEYS];
    const char *wrong = check_gets(diary, db, scope, failures, found);
    return wrong != NULL ? wrong : check_scan(diary, db, failures, found);
}
