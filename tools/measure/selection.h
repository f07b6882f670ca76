/* Executes conditions with and without indexes and counts their work: `measure --where`.
 *
 * Each condition is run three times over open tables and index files: reading everything, by its
 * indexes, and as a count by its indexes, which need not read granules in which an index shows all
 * matches. These sums are checked exactly:
 *
 *     answers    the same records each time (their keys' hashes, in order), and as many
 *     granules   excluded + counted + read  =  all of indexed tables
 *     records    matching - hidden  =  returned
 *     preads     of data and indexes (the account)  +  of the search for newer versions (the
 *                store's statistics)  =  preads of the engine
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
    uint64_t hash; /* of the keys, in order; not of a count */
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
    struct bb_buf text; /* the file, conditions terminated */
    struct selection *list;
    size_t count;
    struct system_counters counters;
    json_t *mismatches; /* sums that do not agree, in words; owned */
    uint64_t check_count;
};

/* One condition a line; empty lines and lines that begin with # are ignored. BB_INVALID if no
 * condition remains. Owned: selections_deinit. */
BB_MUST_CHECK enum bb_status selections_read(struct selections *selections, const char *path);
void selections_deinit(struct selections *selections);

/* Runs them all, and checks. */
BB_MUST_CHECK enum bb_status selections_execute(struct selections *selections,
                                                const char *directory);

/* selection_report.c */
/* The short report fits 80 columns; with_details: every column. */
void selections_write(const struct selections *selections, bool with_details, struct output *out);
json_t *selections_json(const struct selections *selections);

/* selection_check.c: appends to mismatches. */
void selection_check(struct selections *selections, const struct selection *selection);

#endif
