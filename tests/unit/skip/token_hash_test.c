/* Every form hashes tokens as members are hashed one by one. Method: random texts of exactly their
 * size, with tokens of 1 to 300 bytes in groups of 0 to 40, also at the end of the text. */
#include "skip/member/token_hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "skip/member/tokenizer.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define TOKENS_MAX 40
#define TEXT_MAX   (TOKENS_MAX * 301)

struct drawn {
    uint8_t *text; /* of exactly its size */
    size_t size;
    uint32_t edges[2 * TOKENS_MAX];
    size_t count;
};

static size_t draw_size(struct bb_rng *rng)
{
    if (bb_rng_one_in(rng, 40))
        return 1 + bb_rng_below(rng, 300);
    return 1 + bb_rng_below(rng, bb_rng_one_in(rng, 3) ? 20 : 8);
}

static void draw(struct bb_rng *rng, struct drawn *drawn)
{
    uint8_t text[TEXT_MAX];
    size_t size = bb_rng_below(rng, 2);
    *drawn = (struct drawn){.count = bb_rng_below(rng, TOKENS_MAX + 1)};
    for (size_t i = 0; i < drawn->count; i++) {
        drawn->edges[2 * i] = (uint32_t)size;
        size += draw_size(rng);
        drawn->edges[2 * i + 1] = (uint32_t)size;
        size += i + 1 < drawn->count || bb_rng_one_in(rng, 2);
    }
    for (size_t i = 0; i < size; i++)
        text[i] = (uint8_t)bb_rng_below(rng, 256);
    drawn->size = size;
    drawn->text = malloc(size + 1);
    assert_non_null(drawn->text);
    memmove(drawn->text + 1, text, size); /* the byte before the text belongs to no token */
}

/* The simple form. */
static uint64_t hash(const struct bb_token_hasher *hasher, const uint8_t *data, size_t size)
{
    uint8_t known[BB_TOKEN_SIZE_MAX];
    size_t count = size < sizeof(known) ? size : sizeof(known);
    for (size_t i = 0; i < count; i++)
        known[i] = hasher->folds_case ? bb_token_lower(data[i]) : data[i];
    return bb_member_hash(&hasher->secret, bb_bytes_of(known, count));
}

static void check(const struct drawn *drawn, const struct bb_token_hasher *hasher)
{
    uint64_t hashes[TOKENS_MAX + 1];
    const uint8_t *text = drawn->text + 1;
    hashes[drawn->count] = 42;
    bb_token_hash(hasher, bb_bytes_of(text, drawn->size), drawn->edges, drawn->count, hashes);
    for (size_t i = 0; i < drawn->count; i++) {
        uint32_t begin = drawn->edges[2 * i];
        if (hashes[i] != hash(hasher, text + begin, drawn->edges[2 * i + 1] - begin))
            fail_msg("token %zu of %zu, of %u bytes", i, drawn->count,
                     (unsigned)(drawn->edges[2 * i + 1] - begin));
    }
    assert_int_equal(hashes[drawn->count], 42);
}

static void tokens__have_the_hashes_of_members_in_every_form(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("token_hash_test", 1));
    for (size_t i = 0; i < 20000; i += bb_test_step()) {
        struct drawn drawn;
        struct bb_token_hasher hasher = {.folds_case = bb_rng_one_in(&rng, 2)};
        bb_hash_secret_from_seed(bb_rng_below(&rng, 1000), &hasher.secret);
        draw(&rng, &drawn);
        for (uint32_t cpu = 0; cpu < BB_CPU_COUNT; cpu++) {
            hasher.cpu = (enum bb_cpu)cpu;
            if (bb_cpu_has(hasher.cpu))
                check(&drawn, &hasher);
        }
        free(drawn.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens__have_the_hashes_of_members_in_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
