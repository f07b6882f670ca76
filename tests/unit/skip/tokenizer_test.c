/* All forms of the tokenizer find the same tokens as a loop over bytes, and hashes equal the
 * tokens' hashes. */
#include "skip/member/tokenizer.h"

#include "base/bytes.h"
#include "skip/member/member_scan.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

static size_t slow_edges(const uint8_t *data, size_t size, uint32_t *edges)
{
    size_t count = 0;
    for (size_t i = 0; i <= size; i++) {
        bool before = i > 0 && bb_token_has(data[i - 1]);
        bool here = i < size && bb_token_has(data[i]);
        if (before != here)
            edges[count++] = (uint32_t)i;
    }
    return count;
}

static void draw_text(struct bb_rng *rng, uint8_t *text, size_t size)
{
    uint64_t one_in = 1 + bb_rng_skewed(rng, 300);
    for (size_t i = 0; i < size; i++)
        text[i] = bb_rng_one_in(rng, one_in) ? (uint8_t)bb_rng_next(rng) : 'a';
}

static void forms__find_the_same_tokens(void **state)
{
    (void)state;
    struct bb_rng rng;
    static uint8_t text[3000];
    static uint32_t expected[3002];
    static uint32_t edges[3002 + BB_EDGE_LIST_SLACK];
    bb_rng_init(&rng, bb_rng_seed("tokenizer_test", 30));
    for (uint32_t turn = 0; turn < 4000; turn++) {
        size_t size = bb_rng_skewed(&rng, turn % 50 == 0 ? 3000 : 200);
        /* At the end of the buffer: reads beyond it are detected. */
        uint8_t *at = text + sizeof(text) - size;
        draw_text(&rng, at, size);
        size_t count = slow_edges(at, size, expected);
        for (uint32_t cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
            if (!bb_cpu_has((enum bb_cpu)cpu))
                continue;
            assert_int_equal(bb_tokenizer_edges_of((enum bb_cpu)cpu)(at, size, edges), count);
            assert_memory_equal(edges, expected, count * sizeof(edges[0]));
        }
    }
}

static uint64_t slow_hash(const struct bb_hash_secret *secret, const uint8_t *data, size_t size,
                          bool folds)
{
    uint8_t token[BB_TOKEN_SIZE_MAX];
    size = size > sizeof(token) ? sizeof(token) : size;
    for (size_t i = 0; i < size; i++)
        token[i] = folds ? bb_token_lower(data[i]) : data[i];
    return bb_member_hash(secret, (struct bb_bytes){token, size});
}

/* Also across pieces of 16 KiB, and tokens that are longer than one. */
static void scans__hash_every_token(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    struct bb_rng rng;
    static uint8_t text[SIZE];
    static uint32_t edges[SIZE + 2];
    struct bb_hash_secret secret;
    bb_hash_secret_from_seed(3, &secret);
    bb_rng_init(&rng, bb_rng_seed("tokenizer_test", 31));
    for (uint32_t turn = 0; turn < 60; turn++) {
        struct bb_skip_spec spec = {.kind = BB_SKIP_TOKENS, .folds_case = turn % 2 == 0};
        struct bb_member_scan scan;
        size_t size = turn % 3 == 0 ? bb_rng_below(&rng, SIZE) : bb_rng_below(&rng, 400);
        draw_text(&rng, text, size);
        if (turn % 7 == 0)
            memset(text, 'B', size);
        size_t edge_count = slow_edges(text, size, edges);
        size_t token = 0;
        assert_ok(bb_member_scan_init(&scan, &spec, &secret));
        bb_member_scan_begin(&scan, (struct bb_bytes){text, size});
        for (size_t count = bb_member_scan_next(&scan); count > 0;
             count = bb_member_scan_next(&scan))
            for (size_t i = 0; i < count; i++, token++)
                assert_int_equal(scan.hashes[i], slow_hash(&secret, text + edges[2 * token],
                                                           edges[2 * token + 1] - edges[2 * token],
                                                           spec.folds_case));
        assert_int_equal(token, edge_count / 2);
        bb_member_scan_deinit(&scan);
    }
}

static void scans__hash_every_ngram(void **state)
{
    (void)state;
    struct bb_rng rng;
    static uint8_t text[40000];
    struct bb_hash_secret secret;
    bb_hash_secret_from_seed(3, &secret);
    bb_rng_init(&rng, bb_rng_seed("tokenizer_test", 32));
    for (uint32_t turn = 0; turn < 40; turn++) {
        uint32_t n = BB_SKIP_NGRAM_MIN + turn % 7;
        struct bb_skip_spec spec = {
            .kind = BB_SKIP_NGRAMS, .ngram_size = n, .folds_case = turn % 2 == 0};
        struct bb_member_scan scan;
        size_t size = bb_rng_skewed(&rng, sizeof(text));
        bb_rng_bytes(&rng, text, size);
        size_t at = 0;
        assert_ok(bb_member_scan_init(&scan, &spec, &secret));
        bb_member_scan_begin(&scan, (struct bb_bytes){text, size});
        for (size_t count = bb_member_scan_next(&scan); count > 0;
             count = bb_member_scan_next(&scan))
            for (size_t i = 0; i < count; i++, at++)
                assert_int_equal(scan.hashes[i], slow_hash(&secret, text + at, n, spec.folds_case));
        assert_int_equal(at, size < n ? 0 : size - n + 1);
        bb_member_scan_deinit(&scan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms__find_the_same_tokens),
        cmocka_unit_test(scans__hash_every_token),
        cmocka_unit_test(scans__hash_every_ngram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
