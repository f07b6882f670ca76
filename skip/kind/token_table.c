/* See token_table.h. */
#include "skip/kind/token_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"

#define SLOTS_MIN   ((size_t)4096)
#define ENTRIES_MIN 2048u
#define PAIRS_MIN   ((size_t)16 * 1024)

#define HASH_MASK (UINT64_MAX << 32)

enum bb_status bb_token_table_init(struct bb_token_table *table)
{
    *table = (struct bb_token_table){
        .slot_mask = SLOTS_MIN - 1, .entry_capacity = ENTRIES_MIN, .pair_capacity = PAIRS_MIN};
    table->slots = bb_alloc_zeroed(SLOTS_MIN, sizeof(table->slots[0]));
    table->entries = bb_alloc(ENTRIES_MIN * sizeof(table->entries[0]));
    table->pairs = bb_alloc(PAIRS_MIN * sizeof(table->pairs[0]));
    if (table->slots != NULL && table->entries != NULL && table->pairs != NULL)
        return BB_OK;
    bb_token_table_deinit(table);
    return bb_fail(BB_NO_MEMORY, "no memory for the tokens of a granule");
}

void bb_token_table_deinit(struct bb_token_table *table)
{
    bb_free(table->slots);
    bb_free(table->entries);
    bb_free(table->pairs);
    bb_buf_deinit(&table->bytes);
    *table = (struct bb_token_table){0};
}

static void fail(struct bb_token_table *table, size_t bytes)
{
    table->status =
        bb_fail(BB_NO_MEMORY, "no memory for the tokens of a segment (%zu bytes)", bytes);
}

static void *grow(struct bb_token_table *table, void *list, size_t bytes)
{
    void *grown = bb_realloc(list, bytes);
    if (grown == NULL)
        fail(table, bytes);
    return grown;
}

static void grow_slots(struct bb_token_table *table)
{
    size_t count = (table->slot_mask + 1) * 2;
    uint64_t *slots = bb_alloc_zeroed(count, sizeof(slots[0]));
    if (slots == NULL) {
        fail(table, count * sizeof(slots[0]));
        return;
    }
    for (size_t i = 0; i <= table->slot_mask; i++) {
        size_t slot = (size_t)(table->slots[i] >> 32) & (count - 1);
        while (table->slots[i] != 0 && slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        if (table->slots[i] != 0)
            slots[slot] = table->slots[i];
    }
    bb_free(table->slots);
    table->slots = slots;
    table->slot_mask = count - 1;
}

static void grow_entries(struct bb_token_table *table)
{
    uint32_t capacity = table->entry_capacity * 2;
    void *entries = grow(table, table->entries, capacity * sizeof(table->entries[0]));
    if (entries == NULL)
        return;
    table->entries = entries;
    table->entry_capacity = capacity;
}

static void grow_pairs(struct bb_token_table *table)
{
    size_t capacity = table->pair_capacity * 2;
    void *pairs = grow(table, table->pairs, capacity * sizeof(table->pairs[0]));
    if (pairs == NULL)
        return;
    table->pairs = pairs;
    table->pair_capacity = capacity;
}

static inline bool is_entry(const struct bb_token_table *table, uint64_t slot, uint64_t hash,
                            struct bb_bytes token)
{
    if (((slot ^ hash) & HASH_MASK) != 0)
        return false;
    const struct bb_token_entry *entry = &table->entries[(uint32_t)slot - 1];
    return entry->size == token.size &&
           memcmp(table->bytes.data + entry->offset, token.data, token.size) == 0;
}

/* The slot of the token, or the empty one for it. */
static inline size_t find_slot(const struct bb_token_table *table, uint64_t hash,
                               struct bb_bytes token)
{
    size_t slot = (size_t)(hash >> 32) & table->slot_mask;
    while (table->slots[slot] != 0 && !is_entry(table, table->slots[slot], hash, token))
        slot = (slot + 1) & table->slot_mask;
    return slot;
}

/* Makes an entry for a new token. False: the granule is full, or memory is. */
static bool add_entry(struct bb_token_table *table, uint64_t hash, struct bb_bytes token,
                      size_t slot)
{
    if (table->bytes.size - table->granule_bytes + token.size > BB_TOKEN_TABLE_GRANULE_BYTES_MAX ||
        table->entry_count == BB_TOKEN_PAIR_TOKENS_MAX) {
        table->is_full = true;
        return false;
    }
    if (table->entry_count == table->entry_capacity)
        grow_entries(table);
    size_t offset = table->bytes.size;
    if (table->status == BB_OK)
        table->status = bb_buf_append(&table->bytes, token.data, token.size);
    if (table->status != BB_OK)
        return false;
    table->entries[table->entry_count++] =
        (struct bb_token_entry){.offset = (uint32_t)offset, .size = (uint16_t)token.size};
    table->slots[slot] = (hash & HASH_MASK) | table->entry_count;
    if (table->entry_count > table->slot_mask / 2)
        grow_slots(table);
    return table->status == BB_OK;
}

static void add_pair(struct bb_token_table *table, uint32_t number)
{
    struct bb_token_entry *entry = &table->entries[number];
    if (table->pair_count - table->granule_pairs >= BB_TOKEN_TABLE_GRANULE_TOKENS_MAX)
        table->is_full = true;
    else if (table->pair_count == table->pair_capacity)
        grow_pairs(table);
    if (table->is_full || table->status != BB_OK)
        return;
    entry->granule = (uint16_t)table->granule;
    entry->pair = (uint32_t)table->pair_count;
    entry->pair_count++;
    table->pairs[table->pair_count++] = bb_token_pair(number, table->granule, 1);
}

void bb_token_table_add(struct bb_token_table *table, uint64_t hash, struct bb_bytes token)
{
    if (table->is_full || table->status != BB_OK)
        return;
    size_t slot = find_slot(table, hash, token);
    uint32_t number = (uint32_t)table->slots[slot] - 1;
    if (table->slots[slot] == 0) {
        number = table->entry_count;
        if (!add_entry(table, hash, token, slot))
            return;
    }
    struct bb_token_entry *entry = &table->entries[number];
    if (entry->record == table->record)
        return;
    entry->record = table->record;
    if (entry->pair_count == 0 || entry->granule != table->granule)
        add_pair(table, number);
    else
        table->pairs[entry->pair]++;
}

/* Takes the pairs of the current granule back. Its tokens stay, without pairs. */
static void drop_granule(struct bb_token_table *table)
{
    while (table->pair_count > table->granule_pairs) {
        struct bb_token_entry *entry =
            &table->entries[bb_token_pair_token(table->pairs[--table->pair_count])];
        entry->pair_count--;
        entry->granule = UINT16_MAX;
    }
}

enum bb_status bb_token_table_end_granule(struct bb_token_table *table, bool *ret_is_full)
{
    if (table->status != BB_OK)
        return table->status;
    if (table->is_full)
        drop_granule(table);
    *ret_is_full = table->is_full;
    table->is_full = false;
    table->granule_pairs = table->pair_count;
    table->granule_bytes = table->bytes.size;
    table->granule++;
    return BB_OK;
}

void bb_token_table_reset(struct bb_token_table *table)
{
    memset(table->slots, 0, (table->slot_mask + 1) * sizeof(table->slots[0]));
    bb_buf_reset(&table->bytes);
    table->entry_count = 0;
    table->pair_count = 0;
    table->granule_pairs = 0;
    table->granule_bytes = 0;
    table->granule = 0;
    table->record = 0;
}

/* --- Sorting --- */

/* No token has a zero byte, so that different prefixes decide. */
static int compare_tokens(const void *left, const void *right)
{
    const struct bb_sorted_token *a = left;
    const struct bb_sorted_token *b = right;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return bb_bytes_compare(a->bytes, b->bytes);
}

/* The pairs of each token follow each other in placed. */
static void place_pairs(const struct bb_token_table *table, uint64_t *placed,
                        struct bb_sorted_token *tokens)
{
    uint64_t *next = placed;
    for (uint32_t i = 0; i < table->entry_count; i++) {
        tokens[i].pairs = next;
        next += table->entries[i].pair_count;
    }
    for (size_t i = 0; i < table->pair_count; i++) {
        struct bb_sorted_token *token = &tokens[bb_token_pair_token(table->pairs[i])];
        placed[token->pairs - placed + token->pair_count++] = table->pairs[i];
    }
}

/* Tokens of dropped granules are omitted. */
static size_t name_tokens(const struct bb_token_table *table, struct bb_sorted_token *tokens)
{
    size_t count = 0;
    for (uint32_t i = 0; i < table->entry_count; i++) {
        const struct bb_token_entry *entry = &table->entries[i];
        struct bb_sorted_token token = tokens[i];
        token.bytes = bb_bytes_of(table->bytes.data + entry->offset, entry->size);
        token.prefix = bb_bytes_prefix64(token.bytes);
        if (token.pair_count > 0)
            tokens[count++] = token;
    }
    return count;
}

enum bb_status bb_token_table_sort(const struct bb_token_table *table, struct bb_buf *spare,
                                   struct bb_sorted_token **ret_tokens, size_t *ret_count)
{
    bb_buf_reset(spare);
    enum bb_status status = bb_buf_reserve(spare, table->pair_count * sizeof(uint64_t) + 1);
    if (status != BB_OK)
        return status;
    struct bb_sorted_token *tokens =
        bb_alloc_zeroed((size_t)table->entry_count + 1, sizeof(tokens[0]));
    if (tokens == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for sorting %u tokens", table->entry_count);
    place_pairs(table, (uint64_t *)(void *)spare->data, tokens);
    size_t count = name_tokens(table, tokens);
    qsort(tokens, count, sizeof(tokens[0]), compare_tokens);
    *ret_tokens = tokens;
    *ret_count = count;
    return BB_OK;
}
