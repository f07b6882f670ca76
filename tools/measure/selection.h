/* Executes conditions with and without indexes and counts their work: `measure --where`.
 *
 * Each condition is run three times over open tables and index files: without indexes, with
 * indexes, and as a count with indexes. A count does not read a granule if an index knows how many
 * of its records match. These sums must agree exactly:
 *
 *     answers    the same number of records each time, and the same keys in the same order
 *     granules   excluded + counted + read  =  all granules of indexed tables
 *     records    matching - hidden  =  returned
 *     preads     of data and indexes (the account)  +  of the search for newer versions (the
 *                store's statistics)  =  of the engine
 *     system     preads of the engine  =  read calls that the operating system counted
 */
#ifndef BB_TOOLS_MEASURE_SELECTION_H
#define BB_TOOLS_MEASURE_SELECTION_H

#include "bb/select.h"
#include "tools/measure/system_counters.h"
#include "tools/output/output.h"
#include "tools/output/progress.h"
#include "tools/store/store_options.h"

enum selection_run_kind {
    SELECTION_UNINDEXED,
    SELECTION_INDEXED,
    SELECTION_COUNTED,
    SELECTION_RUN_COUNT,
};

struct selection_run {
    uint64_t records;
    uint64_t hash; /* of the keys, in order; 0 for a count */
    struct bb_select_account account;
    uint64_t other_reads; /* preads for newer versions: blocks, index pages and table filters */
    uint64_t engine_reads;
    bool has_system;
    struct system_reading system;
    uint64_t nanoseconds;
};

struct selection {
    const char *where; /* borrowed from the text */
    struct selection_run runs[SELECTION_RUN_COUNT];
};

struct selections {
    /* Given. */
    struct store_options *store; /* borrowed */
    bool no_system;
    /* Working. */
    struct bb_db *db;
    struct bb_buf text;     /* owned: the conditions, each terminated */
    struct selection *list; /* owned */
    size_t count;
    struct system_counters counters;
    json_t *mismatches; /* sums that do not agree, in words; owned */
    uint64_t check_count;
};

/* Reads a file with one condition a line. Ignores empty lines, and lines that begin with #.
 * BB_INVALID: there is no condition. Owned: selections_deinit. */
BB_MUST_CHECK enum bb_status selections_read(struct selections *selections, const char *path);
void selections_deinit(struct selections *selections);

/* Runs all conditions and checks their sums. */
BB_MUST_CHECK enum bb_status selections_execute(struct selections *selections,
                                                const char *directory);

/* selection_report.c. The short report fits 80 columns; with_details: every column. */
void selections_write(const struct selections *selections, bool with_details, struct output *out);
json_t *selections_json(const struct selections *selections);

/* selection_check.c. Checks the sums of a selection. Appends differing ones to mismatches. */
void selection_check(struct selections *selections, const struct selection *selection);

#endif
