/* See mix_batch.h. */
#include "bench/mix_batch.h"

#include <stdlib.h>
#include <string.h>

#include "bench/die.h"

#define RESULT_BYTES_MAX ((size_t)4 << 20)

/* A prefix has at most this number of keys on average. */
#define PREFIX_KEYS_MAX 100

static size_t key_size(const struct mix_batch *batch)
{
    return batch->ledger->workload->options.key_size;
}

static size_t value_size(const struct mix_batch *batch)
{
    return batch->ledger->workload->options.value_size;
}

static void visit(struct bench_visitor *base, struct bb_bytes key, struct bb_bytes value)
{
    struct mix_batch_visitor *visitor = (struct mix_batch_visitor *)base;
    if (visitor->count == visitor->capacity) {
        visitor->capacity = visitor->capacity * 2 + 1024;
        visitor->entries =
            realloc(visitor->entries, visitor->capacity * sizeof(visitor->entries[0]));
        if (visitor->entries == NULL)
            bench_die("no memory for entries");
    }
    struct ledger_entry *entry = &visitor->entries[visitor->count++];
    *entry = (struct ledger_entry){.key_size = (uint32_t)key.size,
                                   .value_size = (uint32_t)value.size,
                                   .sum = ledger_sum(value)};
    memcpy(entry->key, key.data, key.size < 16 ? key.size : 16);
    if (value.size >= 8) {
        memcpy(&entry->begin, value.data, 8);
        memcpy(&entry->end, value.data + value.size - 8, 8);
    }
}

void mix_batch_init(struct mix_batch *batch, const struct bench_engine *engine,
                    struct ledger *ledger, uint64_t seed, uint64_t thread)
{
    size_t capacity = RESULT_BYTES_MAX / ledger->workload->options.value_size;
    capacity = capacity < BENCH_MANY_MAX             ? BENCH_MANY_MAX
               : capacity > MIX_BATCH_OPERATIONS_MAX ? MIX_BATCH_OPERATIONS_MAX
                                                     : capacity;
    *batch = (struct mix_batch){.engine = engine, .ledger = ledger, .slot_capacity = capacity};
    chooser_init(&batch->chooser, ledger, seed, thread);
    batch->slots = bench_allocate(capacity * sizeof(batch->slots[0]));
    batch->keys = bench_allocate(2 * capacity * key_size(batch));
    batch->values = bench_allocate(capacity * value_size(batch));
    batch->results = bench_allocate(capacity * value_size(batch));
    batch->scratch = bench_allocate(value_size(batch));
    batch->visitor.visitor.visit = visit;
}

void mix_batch_deinit(struct mix_batch *batch)
{
    free(batch->slots);
    free(batch->keys);
    free(batch->values);
    free(batch->results);
    free(batch->scratch);
    free(batch->visitor.entries);
}

/* ---- before the calls ---- */

static uint8_t *key_of(const struct mix_batch *batch, size_t slot)
{
    return batch->keys + 2 * slot * key_size(batch);
}

static uint8_t *bound_of(const struct mix_batch *batch, size_t slot)
{
    return key_of(batch, slot) + key_size(batch);
}

static uint8_t *value_of(const struct mix_batch *batch, size_t slot)
{
    return batch->values + slot * value_size(batch);
}

static struct mix_batch_slot *add_slot(struct mix_batch *batch, uint64_t number)
{
    struct mix_batch_slot *slot = &batch->slots[batch->slot_count];
    *slot = (struct mix_batch_slot){0};
    workload_key(batch->ledger->workload, number, key_of(batch, batch->slot_count));
    batch->slot_count++;
    return slot;
}

static struct mix_batch_slot *add_key(struct mix_batch *batch, uint64_t index)
{
    struct mix_batch_slot *slot = add_slot(batch, workload_number(batch->ledger->workload, index));
    slot->index = index;
    slot->is_owner = index % batch->ledger->thread_count == batch->chooser.thread;
    return slot;
}

static void add_read(struct mix_batch *batch)
{
    if (batch->chooser.phase->choice == MIX_NEVER) {
        add_slot(batch, chooser_never(&batch->chooser))->is_never = true;
        return;
    }
    struct mix_batch_slot *slot = add_key(batch, chooser_index(&batch->chooser));
    slot->state = ledger_state(batch->ledger, slot->index, slot->is_owner);
}

static void add_write(struct mix_batch *batch, uint64_t index, bool is_deletion)
{
    size_t place = batch->slot_count;
    struct mix_batch_slot *slot = add_key(batch, index);
    slot->state = ledger_start(batch->ledger, index, is_deletion);
    if (!is_deletion)
        ledger_value(batch->ledger, index, slot->state, value_of(batch, place));
}

/* slot->state is the state that the get must find, operation->written the state that the put
 * writes. */
static void add_modification(struct mix_batch *batch, struct mix_batch_operation *operation)
{
    size_t place = batch->slot_count;
    struct mix_batch_slot *slot = add_key(batch, chooser_own_index(&batch->chooser));
    slot->state = ledger_state(batch->ledger, slot->index, true);
    operation->written = ledger_start(batch->ledger, slot->index, false);
    ledger_value(batch->ledger, slot->index, operation->written, value_of(batch, place));
}

static void add_seek(struct mix_batch *batch, struct mix_batch_operation *operation)
{
    struct mix_batch_slot *slot = add_key(batch, chooser_index(&batch->chooser));
    operation->range =
        (struct ledger_range){.low = workload_number(batch->ledger->workload, slot->index),
                              .count_max = chooser_length(&batch->chooser)};
}

/* Bounds are stored keys. */
static void add_range(struct mix_batch *batch, struct mix_batch_operation *operation)
{
    const struct ledger *ledger = batch->ledger;
    uint64_t count = batch->chooser.phase->count;
    uint64_t position = chooser_position(&batch->chooser, count + 1);
    uint64_t end = position + count < ledger->capacity ? position + count : ledger->capacity - 1;
    size_t place = batch->slot_count;
    operation->range = (struct ledger_range){.low = ledger->sorted[position],
                                             .high = ledger->sorted[end],
                                             .is_bounded = true,
                                             .count_max = UINT64_MAX};
    add_slot(batch, operation->range.low);
    workload_key(ledger->workload, operation->range.high, bound_of(batch, place));
}

/* The prefix of a stored key: its first bytes, as few of them as PREFIX_KEYS_MAX permits. */
static void add_prefix(struct mix_batch *batch, struct mix_batch_operation *operation)
{
    const struct ledger *ledger = batch->ledger;
    unsigned bits_per_byte = key_size(batch) == WORKLOAD_KEY_SIZE_BINARY ? 8 : 4;
    unsigned bits = bits_per_byte;
    while (ledger->capacity >> bits > PREFIX_KEYS_MAX)
        bits += bits_per_byte;
    uint64_t step = UINT64_C(1) << (64 - bits);
    uint64_t low = ledger->sorted[chooser_position(&batch->chooser, 0)] & ~(step - 1);
    if (low > UINT64_MAX - step)
        low -= step; /* so that the prefix has a successor */
    size_t place = batch->slot_count;
    operation->range = (struct ledger_range){
        .low = low, .high = low + step, .is_bounded = true, .count_max = UINT64_MAX};
    operation->prefix_size = bits / bits_per_byte;
    add_slot(batch, low);
    workload_key(ledger->workload, low + step, bound_of(batch, place));
}

static bool is_iterator(enum mix_kind kind)
{
    return kind == MIX_SEEK || kind == MIX_RANGE || kind == MIX_PREFIX;
}

static void note(struct mix_batch *batch, const struct mix_batch_operation *operation)
{
    const struct mix_batch_slot *slot = &batch->slots[operation->slot];
    batch->checksum = dice_mix(batch->checksum + (uint64_t)operation->kind + slot->index);
    batch->checksum = dice_mix(batch->checksum + operation->range.low + operation->range.count_max);
}

static void add_operation(struct mix_batch *batch, enum mix_kind kind)
{
    struct mix_batch_operation *operation = &batch->operations[batch->operation_count++];
    struct chooser *chooser = &batch->chooser;
    *operation = (struct mix_batch_operation){.kind = kind, .slot = batch->slot_count};
    switch (kind) {
    case MIX_PUT:
        add_write(batch, chooser_own_index(chooser), false);
        break;
    case MIX_INSERT:
        add_write(batch, chooser_insertion(chooser), false);
        break;
    case MIX_DELETE:
        add_write(batch, chooser_own_index(chooser), true);
        break;
    case MIX_MODIFY:
        add_modification(batch, operation);
        break;
    case MIX_SEEK:
        add_seek(batch, operation);
        break;
    case MIX_RANGE:
        add_range(batch, operation);
        break;
    case MIX_PREFIX:
        add_prefix(batch, operation);
        break;
    default:
        for (unsigned i = 0; i < (kind == MIX_GET_MANY ? chooser->phase->count : 1); i++)
            add_read(batch);
    }
    operation->slot_count = batch->slot_count - operation->slot;
    note(batch, operation);
}

static void clear(struct mix_batch *batch)
{
    batch->operation_count = 0;
    batch->slot_count = 0;
    batch->visitor.count = 0;
}

size_t mix_batch_fill(struct mix_batch *batch, uint64_t most)
{
    const struct mix_phase *phase = batch->chooser.phase;
    size_t slots_each = phase->percents[MIX_GET_MANY] > 0 ? phase->count : 1;
    size_t iterator_count = 0;
    clear(batch);
    while (batch->operation_count < most && batch->operation_count < MIX_BATCH_OPERATIONS_MAX &&
           batch->slot_count + slots_each <= batch->slot_capacity &&
           iterator_count < MIX_BATCH_ITERATORS_MAX) {
        enum mix_kind kind = chooser_kind(&batch->chooser);
        iterator_count += is_iterator(kind);
        add_operation(batch, kind);
    }
    return batch->operation_count;
}

size_t mix_batch_fill_load(struct mix_batch *batch, const uint64_t *indexes, uint64_t most)
{
    clear(batch);
    while (batch->operation_count < most && batch->slot_count < batch->slot_capacity) {
        batch->operations[batch->operation_count] = (struct mix_batch_operation){
            .kind = MIX_PUT, .slot = batch->slot_count, .slot_count = 1};
        add_write(batch, indexes[batch->operation_count++], false);
    }
    return batch->operation_count;
}

/* ---- the calls ---- */

static struct bb_bytes key_bytes(const struct mix_batch *batch, size_t slot)
{
    return (struct bb_bytes){.data = key_of(batch, slot), .size = key_size(batch)};
}

static struct bb_bytes value_bytes(const struct mix_batch *batch, size_t slot)
{
    return (struct bb_bytes){.data = value_of(batch, slot), .size = value_size(batch)};
}

/* value.data: NULL if the key was not found. */
static void copy_result(struct mix_batch *batch, size_t place, struct bb_bytes value)
{
    struct mix_batch_slot *slot = &batch->slots[place];
    size_t space = value_size(batch);
    slot->is_found = value.data != NULL;
    slot->size = value.size;
    if (slot->is_found)
        memcpy(batch->results + place * space, value.data, value.size < space ? value.size : space);
}

static void call_get(struct mix_batch *batch, size_t place)
{
    struct bb_bytes value = {0};
    if (batch->engine->get(batch->store, key_bytes(batch, place), &value))
        copy_result(batch, place, value);
}

static void call_get_many(struct mix_batch *batch, const struct mix_batch_operation *operation)
{
    struct bb_bytes keys[BENCH_MANY_MAX];
    struct bb_bytes values[BENCH_MANY_MAX];
    if (batch->engine->get_many == NULL) {
        for (size_t i = 0; i < operation->slot_count; i++)
            call_get(batch, operation->slot + i);
        return;
    }
    for (size_t i = 0; i < operation->slot_count; i++)
        keys[i] = key_bytes(batch, operation->slot + i);
    batch->engine->get_many(batch->store, keys, operation->slot_count, values);
    for (size_t i = 0; i < operation->slot_count; i++)
        copy_result(batch, operation->slot + i, values[i]);
}

static void commit(struct mix_batch *batch)
{
    if (batch->engine->commit != NULL)
        batch->engine->commit(batch->store);
}

static void call_put(struct mix_batch *batch, size_t place)
{
    batch->engine->put(batch->store, key_bytes(batch, place), value_bytes(batch, place));
}

static void call_iterator(struct mix_batch *batch, struct mix_batch_operation *operation)
{
    const struct bench_engine *engine = batch->engine;
    struct bench_visitor *visitor = &batch->visitor.visitor;
    struct bb_bytes low = key_bytes(batch, operation->slot);
    struct bb_bytes high = {.data = bound_of(batch, operation->slot), .size = low.size};
    operation->entry = batch->visitor.count;
    if (operation->kind == MIX_PREFIX)
        low.size = high.size = operation->prefix_size;
    if (operation->kind == MIX_SEEK)
        engine->seek(batch->store, low, operation->range.count_max, visitor);
    else if (operation->kind == MIX_PREFIX && engine->prefix != NULL)
        engine->prefix(batch->store, low, visitor);
    else
        engine->range(batch->store, low, high, visitor);
    operation->entry_count = batch->visitor.count - operation->entry;
}

static void call(struct mix_batch *batch, struct mix_batch_operation *operation)
{
    switch (operation->kind) {
    case MIX_GET:
        call_get(batch, operation->slot);
        break;
    case MIX_MODIFY:
        call_get(batch, operation->slot);
        call_put(batch, operation->slot);
        commit(batch);
        break;
    case MIX_PUT:
    case MIX_INSERT:
        call_put(batch, operation->slot);
        commit(batch);
        break;
    case MIX_DELETE:
        batch->engine->remove(batch->store, key_bytes(batch, operation->slot));
        commit(batch);
        break;
    case MIX_GET_MANY:
        call_get_many(batch, operation);
        break;
    default:
        call_iterator(batch, operation);
    }
}

void mix_batch_call(struct mix_batch *batch)
{
    for (size_t i = 0; i < batch->operation_count; i++)
        call(batch, &batch->operations[i]);
}

void mix_batch_call_load(struct mix_batch *batch)
{
    for (size_t i = 0; i < batch->operation_count; i++)
        call_put(batch, batch->operations[i].slot);
}

/* ---- after the calls ---- */

static void check_gets(struct mix_batch *batch, const struct mix_batch_operation *operation)
{
    for (size_t place = operation->slot; place < operation->slot + operation->slot_count; place++) {
        const struct mix_batch_slot *slot = &batch->slots[place];
        struct bb_bytes value = {.data = batch->results + place * value_size(batch),
                                 .size = slot->size};
        if (slot->is_never && slot->is_found)
            bench_die("%s: an absent key is found", batch->engine->name);
        if (!slot->is_never)
            ledger_check_get(batch->ledger, slot->index, slot->state, slot->is_owner,
                             slot->is_found ? &value : NULL, batch->scratch);
    }
}

static void check(struct mix_batch *batch, const struct mix_batch_operation *operation)
{
    if (is_iterator(operation->kind))
        ledger_check_range(batch->ledger, &operation->range,
                           batch->visitor.entries + operation->entry, operation->entry_count,
                           batch->chooser.thread, batch->scratch);
    else if (operation->kind == MIX_GET || operation->kind == MIX_GET_MANY ||
             operation->kind == MIX_MODIFY)
        check_gets(batch, operation);
}

static void finish(struct mix_batch *batch, const struct mix_batch_operation *operation)
{
    const struct mix_batch_slot *slot = &batch->slots[operation->slot];
    if (operation->kind == MIX_MODIFY)
        ledger_finish(batch->ledger, slot->index, operation->written);
    else if (operation->kind == MIX_PUT || operation->kind == MIX_INSERT ||
             operation->kind == MIX_DELETE)
        ledger_finish(batch->ledger, slot->index, slot->state);
}

void mix_batch_check(struct mix_batch *batch)
{
    for (size_t i = 0; i < batch->operation_count; i++)
        check(batch, &batch->operations[i]);
    for (size_t i = 0; i < batch->operation_count; i++)
        finish(batch, &batch->operations[i]);
}
