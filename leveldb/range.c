/* Ranges of keys: how much space they take, and their compaction. */
#include "leveldb/memory.h"
#include "leveldb/store.h"

static uint64_t size_of(leveldb_t *db, struct bb_bytes low, struct bb_bytes high)
{
    struct bb_key_range range = {.low = &low, .high = &high};
    struct bb_range_size size;
    return bb_db_approximate_sizes(db->db, &range, 1, &size) == BB_OK ? size.file_bytes : 0;
}

void leveldb_approximate_sizes(leveldb_t *db, int num_ranges, const char *const *range_start_key,
                               const size_t *range_start_key_len,
                               const char *const *range_limit_key,
                               const size_t *range_limit_key_len, uint64_t *sizes)
{
    for (int i = 0; i < num_ranges; i++) {
        struct bb_bytes low = {(const uint8_t *)range_start_key[i], range_start_key_len[i]};
        struct bb_bytes high = {(const uint8_t *)range_limit_key[i], range_limit_key_len[i]};
        sizes[i] = size_of(db, low, high);
    }
}

/* LevelDB's limit is inclusive, and bb_db_compact_range's is not. In bytewise order the next key
 * becomes the limit. A program's comparator may not be called with keys that the program did not
 * create, so there the limit is excluded. */
static void *key_after(const leveldb_t *db, struct bb_bytes *limit)
{
    if (db->order.compare != NULL)
        return NULL;
    uint8_t *next = bb_leveldb_alloc(limit->size + 1);
    if (next == NULL)
        return NULL;
    for (size_t i = 0; i < limit->size; i++)
        next[i] = limit->data[i];
    *limit = (struct bb_bytes){next, limit->size + 1};
    return next;
}

void leveldb_compact_range(leveldb_t *db, const char *start_key, size_t start_key_len,
                           const char *limit_key, size_t limit_key_len)
{
    struct bb_bytes low = {(const uint8_t *)start_key, start_key_len};
    struct bb_bytes high = {(const uint8_t *)limit_key, limit_key_len};
    void *owned = limit_key == NULL ? NULL : key_after(db, &high);
    /* This function cannot report a failure; the next write fails instead. */
    (void)!bb_db_compact_range(db->db, start_key == NULL ? NULL : &low,
                               limit_key == NULL ? NULL : &high);
    bb_leveldb_release(owned);
}
