/* See partition_options.h. */
#include "tools/cluster/partition_options.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/store/store_options.h"

/* BB.CREATE has less for BUFFER than the library. Its other limits are the library's. */
#define BUFFER_BYTES_MAX (UINT64_C(1) << 30)

struct option_group partition_options_group(struct partition_options *options)
{
    const struct option table[] = {
        {"target", "RATE", OPTION_REAL, &options->target,
         "wasted block requests per lookup of an absent key (0.01)"},
        {"bits-per-key", "N", OPTION_REAL, &options->bits_per_key,
         "instead of a target: bits of filters for each key"},
        {"block-size", "SIZE", OPTION_SIZE32, &options->block_bytes,
         "size at which a block is closed (4K)"},
        {"compression", "KIND", OPTION_TEXT, &options->compression, "of blocks: lz4 or none"},
        {"write-buffer", "SIZE", OPTION_SIZE, &options->buffer_bytes,
         "memory for writes before they become a table (2M)"},
        {"cache", "SIZE", OPTION_SIZE, &options->cache_bytes, "block cache (2M)"},
    };
    static_assert(BB_ARRAY_LENGTH(table) == PARTITION_OPTION_COUNT, "space for all options");
    memcpy(options->table, table, sizeof(table));
    return (struct option_group){.title = "Options of each new partition",
                                 .options = options->table,
                                 .count = PARTITION_OPTION_COUNT};
}

enum bb_status partition_options_check(const struct partition_options *options)
{
    struct store_options store = {
        .db = {.block_size_bytes = options->block_bytes,
               .write_buffer_bytes = options->buffer_bytes,
               .cache_bytes = options->cache_bytes},
        .target = options->target,
        .bits_per_key = options->bits_per_key,
        .compression = options->compression,
    };
    if (options->buffer_bytes > BUFFER_BYTES_MAX)
        return bb_fail(BB_INVALID,
                       "option --write-buffer is %" PRIu64 ", at most %" PRIu64
                       " is possible for partitions",
                       options->buffer_bytes, BUFFER_BYTES_MAX);
    return store_options_check(&store);
}

static enum bb_status add_text(struct words *words, const char *name, const char *value)
{
    if (value == NULL)
        return BB_OK;
    enum bb_status status = words_add_text(words, name);
    return status == BB_OK ? words_add_text(words, value) : status;
}

static enum bb_status add_real(struct words *words, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof(text), "%.17g", value);
    return add_text(words, name, value > 0 ? text : NULL);
}

static enum bb_status add_bytes(struct words *words, const char *name, uint64_t value)
{
    if (value == 0)
        return BB_OK;
    enum bb_status status = words_add_text(words, name);
    return status == BB_OK ? words_add_number(words, value) : status;
}

enum bb_status partition_options_add(const struct partition_options *options, struct words *words)
{
    enum bb_status status = add_real(words, "TARGET", options->target);
    if (status == BB_OK)
        status = add_real(words, "FILTERBITS", options->bits_per_key);
    if (status == BB_OK)
        status = add_bytes(words, "BLOCK", options->block_bytes);
    if (status == BB_OK)
        status = add_text(words, "COMPRESSION", options->compression);
    if (status == BB_OK)
        status = add_bytes(words, "BUFFER", options->buffer_bytes);
    if (status == BB_OK)
        status = add_bytes(words, "CACHE", options->cache_bytes);
    return status;
}
