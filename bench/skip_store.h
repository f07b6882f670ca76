/* Stores of skip_bench: a log's lines under the numbers of their rows, with indexes. */
#ifndef BB_BENCH_SKIP_STORE_H
#define BB_BENCH_SKIP_STORE_H

#include "bb/select.h"
#include "bench/skip_rows.h"

/* Which indexes. */
enum skip_indexes {
    SKIP_INDEXES_NONE,
    SKIP_INDEXES_ONE,    /* bounds of the time, and values of the host */
    SKIP_INDEXES_TOKENS, /* only tokens of the line */
    SKIP_INDEXES_TEXT,   /* only text of the line */
    SKIP_INDEXES_ALL,
    SKIP_INDEXES_ALL_TEXT /* text instead of tokens and n-grams */
};

struct skip_load {
    const char *path;
    enum skip_indexes indexes;
    uint64_t granule_bytes;
    uint64_t table_bytes; /* 0: default */
    /* Overwrites 30 % of the rows and deletes a tenth, in six flushes that are not merged: the
     * visible rows at the end are the log's. */
    bool is_overwritten;
    bool defers;        /* compactions defer index files */
    bool is_mapped;     /* tables are read from maps */
    uint64_t row_count; /* of the log's */
};

struct skip_load_cost {
    double seconds;           /* of the processor, until no work remains */
    double compacted_seconds; /* of a full compaction after it, until it returns */
    double later_seconds;     /* until no work remains after that */
};

/* Loads; compacted unless is_overwritten. The store is open: bb_db_close. */
struct bb_db *skip_store_load(const struct skip_load *load, const struct skip_rows *rows,
                              struct skip_load_cost *ret_cost);

/* Opens a store that was loaded before. */
struct bb_db *skip_store_open(const char *path, bool is_mapped);

#endif
