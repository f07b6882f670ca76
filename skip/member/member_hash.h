/* The keyed hash of a member: of a value, a token or an n-gram.
 *
 * Members of up to 16 bytes are two zero-padded words and take one product. Longer members are
 * hashed like keys. WHY: every token of a log is hashed, a token has five bytes on average, and
 * XXH3 takes twice as long for it. Without the secret, an attacker cannot choose members that
 * collide.
 *
 *     low, high   the bytes as little-endian words, 0 after the end
 *     product     (low ^ s0) * (high ^ s1 ^ size * factor), 128 bits
 *     hash        mix(high half ^ low half)
 *
 * s0 and s1 are the first two words of the secret, mix is bb_hash_mix. ON DISK. Any thread.
 */
#ifndef BB_SKIP_MEMBER_MEMBER_HASH_H
#define BB_SKIP_MEMBER_MEMBER_HASH_H

#include "base/coding.h"
#include "base/hash.h"

/* ON DISK. */
#define BB_MEMBER_SHORT_MAX   16
#define BB_MEMBER_SIZE_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* The two words of a secret. */
struct bb_member_key {
    uint64_t low;
    uint64_t high;
};

static inline struct bb_member_key bb_member_key_of(const struct bb_hash_secret *secret)
{
    return (struct bb_member_key){.low = bb_load64(secret->bytes),
                                  .high = bb_load64(secret->bytes + 8)};
}

/* size: at most BB_MEMBER_SHORT_MAX. */
static inline uint64_t bb_member_hash_words(struct bb_member_key key, uint64_t low, uint64_t high,
                                            size_t size)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(low ^ key.low) * (high ^ key.high ^ size * BB_MEMBER_SIZE_FACTOR);
    return bb_hash_mix((uint64_t)(product >> 64) ^ (uint64_t)product);
}

/* Up to eight bytes as a word. */
static inline uint64_t bb_member_word(const uint8_t *data, size_t size)
{
    uint64_t word = 0;
    if (size >= 8)
        return bb_load64(data);
    if (size >= 4)
        return (uint64_t)bb_load32(data) | (uint64_t)bb_load32(data + size - 4) << 8 * (size - 4);
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)data[i] << 8 * i;
    return word;
}

static inline uint64_t bb_member_hash(const struct bb_hash_secret *secret, struct bb_bytes member)
{
    if (member.size > BB_MEMBER_SHORT_MAX)
        return bb_hash_key(secret, member);
    uint64_t low = bb_member_word(member.data, member.size);
    uint64_t high = member.size > 8 ? bb_member_word(member.data + 8, member.size - 8) : 0;
    return bb_member_hash_words(bb_member_key_of(secret), low, high, member.size);
}

#endif
