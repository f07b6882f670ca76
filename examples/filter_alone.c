/* A filter without a table or a store: built from some words, stored, asked. */
#include <bb/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const seen[] = {"https://example.org/", "https://example.org/a",
                                   "https://example.org/b"};

static uint64_t hash_of(const struct bb_hash_secret *secret, const char *text)
{
    return bb_hash_key(secret,
                       (struct bb_bytes){.data = (const uint8_t *)text, .size = strlen(text)});
}

static void check(enum bb_status status)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "%s: %s\n", bb_status_name(status), bb_error_last()->message);
    exit(1);
}

int main(void)
{
    struct bb_filter_options options = {.kind = BB_FILTER_RIBBON, .target_rate = 0.001};
    struct bb_filter_builder *builder = NULL;
    struct bb_filter_view view;
    struct bb_hash_secret secret;
    struct bb_buf stored = {0};
    check(bb_hash_secret_random(&secret));
    check(bb_filter_builder_create(&options, &builder));
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
        check(bb_filter_builder_add(builder, hash_of(&secret, seen[i])));
    check(bb_filter_builder_finish(builder, &stored));
    bb_filter_builder_destroy(builder);

    check(bb_filter_view_init(&view, (struct bb_bytes){.data = stored.data, .size = stored.size}));
    bool all = true;
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
        all = all && bb_filter_may_contain(&view, hash_of(&secret, seen[i]));
    printf("%zu bytes; every member is found: %s\n", stored.size, all ? "yes" : "no");
    printf("a stranger is %s\n",
           bb_filter_may_contain(&view, hash_of(&secret, "https://example.org/c"))
               ? "taken for a member"
               : "told apart");
    bb_buf_deinit(&stored);
    return all ? 0 : 1;
}
