/* Random numbers for tests. */
#include "tests/support/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/coding.h"

uint64_t bb_rng_seed(const char *test, uint64_t fallback)
{
    uint64_t seed = fallback;
    const char *text = getenv("BB_TEST_SEED");
    if (text != NULL) {
        char *end = NULL;
        errno = 0;
        seed = strtoull(text, &end, 0);
        if (errno != 0 || end == text || *end != '\0') {
            fprintf(stderr, "BB_TEST_SEED is not a number: \"%s\"\n", text);
            exit(2);
        }
    }
    printf("%s: BB_TEST_SEED=%" PRIu64 "\n", test, seed);
    fflush(stdout);
    return seed;
}

static uint64_t splitmix64(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void bb_rng_init(struct bb_rng *rng, uint64_t seed)
{
    for (size_t i = 0; i < 4; i++)
        rng->state[i] = splitmix64(&seed);
}

static uint64_t rotate_left(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

uint64_t bb_rng_next(struct bb_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t bb_rng_below(struct bb_rng *rng, uint64_t count)
{
    /* The numbers below 2^64 mod count are drawn again: the rest divides evenly. */
    uint64_t uneven = (0 - count) % count;
    uint64_t drawn = bb_rng_next(rng);
    while (drawn < uneven)
        drawn = bb_rng_next(rng);
    return drawn % count;
}

uint64_t bb_rng_between(struct bb_rng *rng, uint64_t low, uint64_t high)
{
    if (low == 0 && high == UINT64_MAX)
        return bb_rng_next(rng);
    return low + bb_rng_below(rng, high - low + 1);
}

bool bb_rng_one_in(struct bb_rng *rng, uint64_t count)
{
    return bb_rng_below(rng, count) == 0;
}

uint64_t bb_rng_skewed(struct bb_rng *rng, uint64_t max)
{
    unsigned bits = max == 0 ? 0 : 64 - (unsigned)__builtin_clzll(max);
    unsigned drawn_bits = (unsigned)bb_rng_below(rng, bits + 1);
    uint64_t limit = drawn_bits == 64 ? UINT64_MAX : (UINT64_C(1) << drawn_bits) - 1;
    return bb_rng_between(rng, 0, limit < max ? limit : max);
}

void bb_rng_bytes(struct bb_rng *rng, void *buffer, size_t size)
{
    uint8_t *position = buffer;
    while (size > 0) {
        uint8_t drawn[8]; /* the same bytes on every machine: golden files hold them */
        bb_store64(drawn, bb_rng_next(rng));
        size_t part = size < sizeof(drawn) ? size : sizeof(drawn);
        memcpy(position, drawn, part);
        position += part;
        size -= part;
    }
}

static size_t shorter(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Text such as "user/000017/name". The numbers are small, so that keys repeat and share prefixes.
 */
static size_t text_key(struct bb_rng *rng, uint8_t *buffer, size_t size_max)
{
    static const char *const stems[] = {"a", "user/", "http://www.example.org/page/", "k"};
    static const char *const tails[] = {"", "/name", "/name/first", "z"};
    char text[128];
    int length = snprintf(text, sizeof(text), "%s%06u%s", stems[bb_rng_below(rng, 4)],
                          (unsigned)bb_rng_skewed(rng, 9999), tails[bb_rng_below(rng, 4)]);
    size_t size = shorter((size_t)length, size_max);
    memcpy(buffer, text, size);
    return size;
}

static size_t run_key(struct bb_rng *rng, uint8_t *buffer, size_t size_max)
{
    static const uint8_t values[] = {0x00, 0xff, 'a', 0x80};
    size_t size = bb_rng_skewed(rng, size_max);
    memset(buffer, values[bb_rng_below(rng, 4)], size);
    if (size > 0 && bb_rng_one_in(rng, 2))
        buffer[size - 1] = (uint8_t)bb_rng_below(rng, 4);
    return size;
}

size_t bb_rng_key(struct bb_rng *rng, uint8_t *buffer, size_t size_max)
{
    switch (bb_rng_below(rng, 8)) {
    case 0:
        return run_key(rng, buffer, size_max);
    case 1: { /* raw bytes */
        size_t size = bb_rng_skewed(rng, size_max);
        bb_rng_bytes(rng, buffer, size);
        return size;
    }
    case 2: { /* a few values of one or two bytes: nearly always a repetition */
        size_t size = shorter(bb_rng_below(rng, 3), size_max);
        for (size_t i = 0; i < size; i++)
            buffer[i] = (uint8_t)bb_rng_below(rng, 4);
        return size;
    }
    default:
        return text_key(rng, buffer, size_max);
    }
}

void bb_rng_shuffle(struct bb_rng *rng, uint32_t *numbers, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = bb_rng_below(rng, i);
        uint32_t held = numbers[i - 1];
        numbers[i - 1] = numbers[other];
        numbers[other] = held;
    }
}
