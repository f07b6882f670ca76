/* The options of a store, which BB.CREATE takes and every copy of the store keeps. */
#ifndef BB_REDIS_STORE_OPTIONS_H
#define BB_REDIS_STORE_OPTIONS_H

#include "bb/db.h"
#include "redis/command/arguments.h"

struct bb_redis_store_options {
    struct bb_filter_amount filters; /* the target, or a budget */
    uint64_t block_bytes;
    uint64_t compression; /* enum bb_compression */
    uint64_t buffer_bytes;
    uint64_t cache_bytes;
};

/* The syntax of the arguments, for the description of a command. */
#define BB_REDIS_STORE_OPTIONS_SYNTAX                                                              \
    "[TARGET rate:double] [FILTERBYTES bytes:integer] [FILTERBITS bits:double] "                   \
    "[BLOCK bytes:integer] [COMPRESSION method] [BUFFER bytes:integer] [CACHE bytes:integer]"

void bb_redis_store_options_init(struct bb_redis_store_options *options);

/* Takes all remaining arguments. Returns NULL, or the error to reply. */
const char *bb_redis_store_options_parse(struct bb_redis_arguments *arguments,
                                         struct bb_redis_store_options *options);

/* True if the values are within the limits that the parser checks: for values from a payload. */
bool bb_redis_store_options_are_valid(const struct bb_redis_store_options *options);

/* The library's options for an opening. */
struct bb_db_options bb_redis_store_options_db(const struct bb_redis_store_options *options);

/* The words of a BB.CREATE with the same options, two per option, in texts[*]. */
#define BB_REDIS_STORE_OPTIONS_WORDS 10
struct bb_redis_store_words {
    char texts[BB_REDIS_STORE_OPTIONS_WORDS][32];
};
void bb_redis_store_options_print(const struct bb_redis_store_options *options,
                                  struct bb_redis_store_words *ret_words);

#endif
