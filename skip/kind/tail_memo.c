/* See tail_memo.h. */
#include "skip/kind/tail_memo.h"

#include <string.h>

#include "base/alloc.h"
#include "base/coding.h"
#include "base/hash.h"

/* The number of bytes at the end that select a slot. */
#define KEY_SIZE ((size_t)24)

/* The number of bytes of an end that are kept. Values below VALUE_MIN are not kept: for lines of 93
 * bytes on average, comparing takes longer than finding the tokens that it saves. */
#define KEPT_MAX  ((size_t)256)
#define VALUE_MIN ((size_t)128)

enum bb_status bb_tail_memo_init(struct bb_tail_memo *memo)
{
    *memo = (struct bb_tail_memo){.bytes = bb_alloc(BB_TAIL_MEMO_SLOTS * KEPT_MAX)};
    return memo->bytes != NULL ? BB_OK : bb_fail(BB_NO_MEMORY, "no memory for the ends of values");
}

void bb_tail_memo_deinit(struct bb_tail_memo *memo)
{
    bb_free(memo->bytes);
    memo->bytes = NULL;
}

void bb_tail_memo_reset(struct bb_tail_memo *memo)
{
    memset(memo->sizes, 0, sizeof(memo->sizes));
}

static size_t slot_of(const uint8_t *end)
{
    uint64_t hash = bb_load64(end - 8) ^ bb_load64(end - 16) * UINT64_C(0x9e3779b97f4a7c15) ^
                    bb_load64(end - 24) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return bb_hash_mix(hash) % BB_TAIL_MEMO_SLOTS;
}

/* The number of equal bytes before both ends, at most `most`. */
static size_t count_equal(const uint8_t *a_end, const uint8_t *b_end, size_t most)
{
    size_t count = 0;
    while (count + 8 <= most) {
        uint64_t differs = bb_load64(a_end - count - 8) ^ bb_load64(b_end - count - 8);
        if (differs != 0)
            return count + (size_t)__builtin_clzll(differs) / 8;
        count += 8;
    }
    while (count < most && a_end[-1 - (ptrdiff_t)count] == b_end[-1 - (ptrdiff_t)count])
        count++;
    return count;
}

size_t bb_tail_memo_take(struct bb_tail_memo *memo, struct bb_bytes value)
{
    const uint8_t *end = value.data + value.size;
    if (value.size < VALUE_MIN)
        return 0;
    size_t slot = slot_of(end);
    size_t kept = value.size < KEPT_MAX ? value.size : KEPT_MAX;
    uint8_t *kept_end = memo->bytes + (slot + 1) * KEPT_MAX;
    size_t most = memo->sizes[slot] < kept ? memo->sizes[slot] : kept;
    size_t equal = count_equal(kept_end, end, most);
    if (equal < kept) {
        memcpy(kept_end - kept, end - kept, kept - equal);
        memo->sizes[slot] = (uint16_t)kept;
    }
    return equal;
}
