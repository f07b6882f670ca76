/* The options of commands that open a store. Opens and closes the store. */
#ifndef BB_TOOLS_STORE_STORE_OPTIONS_H
#define BB_TOOLS_STORE_STORE_OPTIONS_H

#include "bb/db.h"
#include "tools/command/options.h"

#define STORE_OPTION_COUNT 32

struct store_options {
    struct bb_db_options db;
    /* db.filter_amount in three units, of which at most one is given. 0: not given. */
    double target;
    uint64_t filter_budget;
    double bits_per_key;
    const char *filter_amount;     /* the name of the given option; NULL: none of the three */
    const struct command *command; /* for warnings */
    const char *directory;         /* borrowed: of the opened store; NULL: not opened yet */
    const char *compression;       /* "lz4" or "none", NULL: not given */
    bool index_cached;
    const char *read_mode;           /* "copies", "mapped" or "calls", NULL: not given */
    const char *table_filter_bits;   /* a number, "none" or "all", NULL: not given */
    const char *style;               /* "leveled", "tiered" or "lazy", NULL: not given */
    const char *recovery;            /* "strict", "synced", "point-in-time" or "salvage", or NULL */
    struct bb_db_recovery recovered; /* the findings of the opening */
    const char *secret_seed;         /* a number as text; NULL: the secret is random */
    struct bb_hash_secret secret;
    struct option list[STORE_OPTION_COUNT];
    size_t list_count;
};

/* Builds the list of options. The list has pointers into *store, which must not move. */
void store_options_init(struct store_options *store, const struct command *command);
/* The same for a command that only reads: adds the option --read-only. */
void store_options_init_to_read(struct store_options *store, const struct command *command);
struct option_group store_options_group(const struct store_options *store);

/* Checks the options as store_open does, for stores that something else opens. BB_INVALID: the
 * failure names the option of the command. */
BB_MUST_CHECK enum bb_status store_options_check(struct store_options *store);

/* Opens with the parsed options. Prints important events to stderr. Owned: store_close. */
BB_MUST_CHECK enum bb_status store_open(struct store_options *store, const char *directory,
                                        struct bb_db **ret_db);

/* The same for a command that only reads: it starts no compaction, with any options. */
BB_MUST_CHECK enum bb_status store_open_to_read(struct store_options *store, const char *directory,
                                                struct bb_db **ret_db);

/* The word of --style for a style, which must not be BB_COMPACTION_DEFAULT. */
const char *store_style_name(enum bb_compaction_style style);

/* Decodes "synced", "strict", "point-in-time" or "salvage". BB_INVALID: another text. */
BB_MUST_CHECK enum bb_status store_recovery_decode(const char *text,
                                                   enum bb_recovery *ret_recovery);

/* After a failure that `repair` can repair, prints to stderr that it can. */
void store_hint(const char *directory, enum exit_code code);

/* Closes the store and returns the exit code. It is another than `code` only if the command
 * succeeded, but closing failed or the opening dropped synced data. db may be NULL. */
enum exit_code store_close(const struct store_options *store, struct bb_db *db,
                           enum exit_code code);

#endif
