/* See ledger.h. */
#include "bench/ledger.h"

#include <string.h>

#include "bench/die.h"

void ledger_init(struct ledger *ledger, const struct workload *workload, uint64_t capacity)
{
    *ledger = (struct ledger){.workload = workload, .capacity = capacity, .thread_count = 1};
    ledger->sorted = workload_sorted(workload, capacity);
    ledger->started = workload_allocate(capacity, sizeof(ledger->started[0]));
    ledger->finished = workload_allocate(capacity, sizeof(ledger->finished[0]));
}

void ledger_deinit(struct ledger *ledger)
{
    workload_release(ledger->sorted, ledger->capacity, sizeof(ledger->sorted[0]));
    workload_release(ledger->started, ledger->capacity, sizeof(ledger->started[0]));
    workload_release(ledger->finished, ledger->capacity, sizeof(ledger->finished[0]));
}

static uint32_t version_of(uint32_t state)
{
    return state & ~LEDGER_DELETED;
}

static bool is_stored(uint32_t state)
{
    return state != 0 && (state & LEDGER_DELETED) == 0;
}

uint32_t ledger_start(struct ledger *ledger, uint64_t index, bool is_deletion)
{
    uint32_t version = version_of(atomic_load(&ledger->started[index])) + 1;
    uint32_t state = version | (is_deletion ? LEDGER_DELETED : 0);
    atomic_store(&ledger->started[index], state);
    return state;
}

void ledger_finish(struct ledger *ledger, uint64_t index, uint32_t state)
{
    atomic_store(&ledger->finished[index], state);
}

uint32_t ledger_state(const struct ledger *ledger, uint64_t index, bool is_owner)
{
    return atomic_load(is_owner ? &ledger->started[index] : &ledger->finished[index]);
}

void ledger_value(const struct ledger *ledger, uint64_t index, uint32_t state, uint8_t *value)
{
    workload_version_value(ledger->workload, workload_number(ledger->workload, index),
                           version_of(state), value);
}

static _Noreturn void refuse(const struct ledger *ledger, uint64_t index, const char *what)
{
    bench_die("%s: key %llu of the workload: %s", ledger->engine, (unsigned long long)index, what);
}

/* The value's version, which is one from the least to the most. */
static uint32_t check_version(const struct ledger *ledger, uint64_t index, uint32_t least,
                              uint32_t most, const uint8_t *value)
{
    uint64_t version = workload_version_of(workload_number(ledger->workload, index), value);
    if (version > version_of(most))
        refuse(ledger, index, "a value that was never written is found");
    if (version == 0 || version < version_of(least))
        refuse(ledger, index, "an old value is found, a later write is lost");
    return (uint32_t)version;
}

void ledger_check_get(const struct ledger *ledger, uint64_t index, uint32_t least, bool is_owner,
                      const struct bb_bytes *value, uint8_t *scratch)
{
    size_t size = ledger->workload->options.value_size;
    uint32_t most = is_owner ? least : atomic_load(&ledger->started[index]);
    if (value == NULL) {
        if (is_stored(least) && is_stored(most))
            refuse(ledger, index, "a stored key is not found");
        return;
    }
    if (!is_stored(least) && !is_stored(most))
        refuse(ledger, index, "an absent key is found");
    if (value->size != size)
        refuse(ledger, index, "a value of a wrong size is found");
    ledger_value(ledger, index, check_version(ledger, index, least, most, value->data), scratch);
    if (memcmp(value->data, scratch, size) != 0)
        refuse(ledger, index, "a wrong value is found");
}

/* An insertion by another thread may be newer than the iterator. */
static bool may_be_absent(const struct ledger *ledger, uint64_t index, uint64_t thread)
{
    bool is_insertion = index >= ledger->workload->options.key_count;
    if (is_insertion && index % ledger->thread_count != thread)
        return true;
    return !is_stored(atomic_load(&ledger->finished[index]));
}

static void check_entry(const struct ledger *ledger, uint64_t index,
                        const struct ledger_entry *entry, uint64_t thread, uint8_t *scratch)
{
    const struct workload_options *options = &ledger->workload->options;
    uint32_t most = atomic_load(&ledger->started[index]);
    uint32_t least = 1;
    uint64_t end = 0;
    if (index % ledger->thread_count == thread)
        least = atomic_load(&ledger->finished[index]);
    if (entry->key_size != options->key_size || entry->value_size != options->value_size)
        refuse(ledger, index, "an iterator returns a key or a value of a wrong size");
    if (!is_stored(least) && !is_stored(most))
        refuse(ledger, index, "an iterator returns an absent key");
    ledger_value(ledger, index,
                 check_version(ledger, index, least, most, (const uint8_t *)&entry->begin),
                 scratch);
    memcpy(&end, scratch + options->value_size - 8, 8);
    uint64_t sum = ledger_sum(
        (struct bb_bytes){.data = scratch, .size = ledger->workload->options.value_size});
    if (end != entry->end || sum != entry->sum)
        refuse(ledger, index, "an iterator returns a wrong value");
}

static uint64_t index_at(const struct ledger *ledger, uint64_t position)
{
    uint64_t index = 0;
    if (!workload_index(ledger->workload, ledger->sorted[position], &index))
        bench_die("a number of the workload has no index");
    return index;
}

/* Moves over absent keys to the position of a number, or to the range's end. */
static uint64_t skip_absent(const struct ledger *ledger, uint64_t position, uint64_t number,
                            uint64_t thread)
{
    for (; position < ledger->capacity && ledger->sorted[position] < number; position++) {
        uint64_t index = index_at(ledger, position);
        if (!may_be_absent(ledger, index, thread))
            refuse(ledger, index, "an iterator omits a stored key");
    }
    return position;
}

/* After the last entry no other key of the range is stored. */
static void check_end(const struct ledger *ledger, const struct ledger_range *range,
                      uint64_t position, uint64_t thread)
{
    uint64_t end = range->is_bounded ? range->high : UINT64_MAX;
    (void)skip_absent(ledger, position, end, thread);
}

void ledger_check_range(const struct ledger *ledger, const struct ledger_range *range,
                        const struct ledger_entry *entries, uint64_t entry_count, uint64_t thread,
                        uint8_t *scratch)
{
    uint64_t position = workload_lower_bound(ledger->sorted, ledger->capacity, range->low);
    if (entry_count > range->count_max)
        bench_die("%s: an iterator returns too many entries", ledger->engine);
    for (uint64_t i = 0; i < entry_count; i++) {
        uint64_t number = workload_parse(ledger->workload, entries[i].key);
        position = skip_absent(ledger, position, number, thread);
        if (position == ledger->capacity || ledger->sorted[position] != number ||
            (range->is_bounded && number >= range->high))
            bench_die("%s: an iterator returns an entry in the wrong order, or outside its range",
                      ledger->engine);
        check_entry(ledger, index_at(ledger, position), &entries[i], thread, scratch);
        position++;
    }
    if (entry_count < range->count_max)
        check_end(ledger, range, position, thread);
}
