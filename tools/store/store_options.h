/* Options of the commands that open a store, and the opening. */
#ifndef BB_TOOLS_STORE_STORE_OPTIONS_H
#define BB_TOOLS_STORE_STORE_OPTIONS_H

#include "bb/db.h"
#include "tools/command/options.h"

#define STORE_OPTION_COUNT 32

struct store_options {
    struct bb_db_options db;
    double target;          /* three units of db.filter_amount, at most one of them given; */
    uint64_t filter_budget; /* 0: not given */
    double bits_per_key;
    const char *filter_amount;     /* the option that was given, or NULL */
    const struct command *command; /* for warnings */
    const char *directory;         /* of the opening; NULL before; borrowed */
    const char *compression;       /* "lz4" or "none", NULL: not given */
    bool index_cached;
    bool mapped;
    const char *table_filter_bits;   /* a number, "none" or "all", NULL: not given */
    const char *style;               /* "leveled", "tiered" or "lazy", NULL: not given */
    const char *recovery;            /* "strict", "synced", "point-in-time" or "salvage", or NULL */
    struct bb_db_recovery recovered; /* the findings of the opening */
    const char *secret_seed;         /* text of a number, NULL: random */
    struct bb_hash_secret secret;
    struct option list[STORE_OPTION_COUNT];
    size_t list_count;
};

/* Builds the list of options whose values are in *store, which must stay where it is. */
void store_options_init(struct store_options *store, const struct command *command);
/* The same for a command that only reads, with --read-only. */
void store_options_init_to_read(struct store_options *store, const struct command *command);
struct option_group store_options_group(const struct store_options *store);

/* Opens with the parsed options; important events go to stderr. Owned: store_close.
 */
BB_MUST_CHECK enum bb_status store_open(struct store_options *store, const char *directory,
                                        struct bb_db **ret_db);

/* The same for a command that only reads: it causes no compaction, with any options. */
BB_MUST_CHECK enum bb_status store_open_to_read(struct store_options *store, const char *directory,
                                                struct bb_db **ret_db);

/* As in --style. style: not the default. */
const char *store_style_name(enum bb_compaction_style style);

/* "synced", "strict", "point-in-time" or "salvage"; BB_INVALID for other texts. */
BB_MUST_CHECK enum bb_status store_recovery_decode(const char *text,
                                                   enum bb_recovery *ret_recovery);

/* After a failure that `repair` can repair, prints to stderr that it can. */
void store_hint(const char *directory, enum exit_code code);

/* Closes and returns the exit code: code, except if the command succeeded and closing fails or the
 * opening dropped synced data. db may be NULL. */
enum exit_code store_close(const struct store_options *store, struct bb_db *db,
                           enum exit_code code);

#endif
