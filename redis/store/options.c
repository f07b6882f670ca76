/* See options.h. */
#include "redis/store/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

/* A server may have hundreds of stores, one per partition, so each is given little memory. */
#define BUFFER_DEFAULT (2 * MIB)
#define CACHE_DEFAULT  (2 * MIB)
#define BLOCK_DEFAULT  4096

/* Fewer and larger files than the library's defaults would give for such a buffer. */
#define TABLE_BYTES  (4 * MIB)
#define LEVEL1_BYTES (16 * MIB)

void bb_redis_store_options_init(struct bb_redis_store_options *options)
{
    *options = (struct bb_redis_store_options){
        .filters = {BB_FILTER_WASTED_READS, 0.01},
        .block_bytes = BLOCK_DEFAULT,
        .compression = BB_COMPRESSION_LZ4,
        .buffer_bytes = BUFFER_DEFAULT,
        .cache_bytes = CACHE_DEFAULT,
    };
}

static bool is_between(double value, double low, double high)
{
    return value >= low && value <= high; /* false for NaN */
}

static bool are_filters_valid(const struct bb_filter_amount *filters)
{
    switch (filters->unit) {
    case BB_FILTER_WASTED_READS:
        return is_between(filters->value, 1e-6, 1);
    case BB_FILTER_BYTES:
        return is_between(filters->value, 1, 0x1p50);
    case BB_FILTER_BITS_PER_KEY:
        return is_between(filters->value, 0.01, 100);
    }
    return false;
}

/* The mistake in the options, or NULL. */
static const char *mistake_of(const struct bb_redis_store_options *options)
{
    if (!are_filters_valid(&options->filters))
        return "ERR the filters of a store are TARGET 0.000001 to 1, FILTERBYTES from 1, or "
               "FILTERBITS 0.01 to 100";
    if (options->block_bytes < 64 || options->block_bytes > 16 * MIB)
        return "ERR BLOCK is 64 bytes to 16 MiB";
    if (options->compression != BB_COMPRESSION_NONE && options->compression != BB_COMPRESSION_LZ4)
        return "ERR COMPRESSION is none or lz4";
    if (options->buffer_bytes < 64 * KIB || options->buffer_bytes > KIB * MIB)
        return "ERR BUFFER is 64 KiB to 1 GiB, in bytes";
    if (options->cache_bytes < 64 * KIB || options->cache_bytes > MIB * MIB)
        return "ERR CACHE is 64 KiB to 1 TiB, in bytes";
    return NULL;
}

bool bb_redis_store_options_are_valid(const struct bb_redis_store_options *options)
{
    return mistake_of(options) == NULL;
}

/* ---- arguments ---- */

static bool take_bytes(struct bb_redis_arguments *arguments, uint64_t *ret_value)
{
    long long value = 0;
    if (!bb_redis_arguments_take_integer(arguments, &value) || value < 0)
        return false;
    *ret_value = (uint64_t)value;
    return true;
}

static bool take_filters(struct bb_redis_arguments *arguments, enum bb_filter_unit unit,
                         struct bb_redis_store_options *options)
{
    options->filters.unit = unit;
    return bb_redis_arguments_take_double(arguments, &options->filters.value);
}

static bool take_compression(struct bb_redis_arguments *arguments, uint64_t *ret_compression)
{
    if (bb_redis_arguments_take_word(arguments, "none"))
        *ret_compression = BB_COMPRESSION_NONE;
    else if (bb_redis_arguments_take_word(arguments, "lz4"))
        *ret_compression = BB_COMPRESSION_LZ4;
    else
        return false;
    return true;
}

static bool take_option(struct bb_redis_arguments *arguments,
                        struct bb_redis_store_options *options)
{
    if (bb_redis_arguments_take_word(arguments, "TARGET"))
        return take_filters(arguments, BB_FILTER_WASTED_READS, options);
    if (bb_redis_arguments_take_word(arguments, "FILTERBYTES"))
        return take_filters(arguments, BB_FILTER_BYTES, options);
    if (bb_redis_arguments_take_word(arguments, "FILTERBITS"))
        return take_filters(arguments, BB_FILTER_BITS_PER_KEY, options);
    if (bb_redis_arguments_take_word(arguments, "BLOCK"))
        return take_bytes(arguments, &options->block_bytes);
    if (bb_redis_arguments_take_word(arguments, "COMPRESSION"))
        return take_compression(arguments, &options->compression);
    if (bb_redis_arguments_take_word(arguments, "BUFFER"))
        return take_bytes(arguments, &options->buffer_bytes);
    if (bb_redis_arguments_take_word(arguments, "CACHE"))
        return take_bytes(arguments, &options->cache_bytes);
    return false;
}

const char *bb_redis_store_options_parse(struct bb_redis_arguments *arguments,
                                         struct bb_redis_store_options *options)
{
    while (bb_redis_arguments_left(arguments) > 0) {
        if (!take_option(arguments, options))
            return "ERR syntax error";
    }
    return mistake_of(options);
}

/* ---- the library's options ---- */

struct bb_db_options bb_redis_store_options_db(const struct bb_redis_store_options *options)
{
    return (struct bb_db_options){
        .filter_amount = options->filters,
        .block_size_bytes = (uint32_t)options->block_bytes,
        .compression = (enum bb_compression)options->compression,
        .write_buffer_bytes = options->buffer_bytes,
        .cache_bytes = options->cache_bytes,
        .table_size_bytes = TABLE_BYTES,
        .level1_size_bytes = LEVEL1_BYTES,
        .wal_off = true,
    };
}

/* ---- printing ---- */

static const char *filters_word(enum bb_filter_unit unit)
{
    static const char *const words[] = {[BB_FILTER_WASTED_READS] = "TARGET",
                                        [BB_FILTER_BYTES] = "FILTERBYTES",
                                        [BB_FILTER_BITS_PER_KEY] = "FILTERBITS"};
    return words[unit];
}

static void print_pair(struct bb_redis_store_words *words, int at, const char *name, uint64_t value)
{
    snprintf(words->texts[at], sizeof(words->texts[at]), "%s", name);
    snprintf(words->texts[at + 1], sizeof(words->texts[at + 1]), "%llu", (unsigned long long)value);
}

void bb_redis_store_options_print(const struct bb_redis_store_options *options,
                                  struct bb_redis_store_words *ret_words)
{
    bool is_compressed = options->compression == BB_COMPRESSION_LZ4;
    print_pair(ret_words, 0, filters_word(options->filters.unit), 0);
    snprintf(ret_words->texts[1], sizeof(ret_words->texts[1]), "%.17g", options->filters.value);
    print_pair(ret_words, 2, "BLOCK", options->block_bytes);
    print_pair(ret_words, 4, "COMPRESSION", 0);
    snprintf(ret_words->texts[5], sizeof(ret_words->texts[5]), "%s",
             is_compressed ? "lz4" : "none");
    print_pair(ret_words, 6, "BUFFER", options->buffer_bytes);
    print_pair(ret_words, 8, "CACHE", options->cache_bytes);
}
