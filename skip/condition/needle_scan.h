/* Finds the places in a text at which any of several needles begins, in ascending order.
 *
 * Call order: finder init (scan init (next)*)*. A finder is constant after init, is not copied, and
 * may be used by any number of threads; a scan is for one.
 */
#ifndef BB_SKIP_CONDITION_NEEDLE_SCAN_H
#define BB_SKIP_CONDITION_NEEDLE_SCAN_H

#include "skip/condition/digit_run.h"
#include "skip/condition/needle.h"
#include "skip/condition/searcher.h"
#include "skip/condition/searcher_set.h"

struct bb_needle_finder {
    struct bb_needles needles;
    /* They borrow from the needles. Several needles are searched together where that is faster. */
    struct bb_searcher searchers[BB_NEEDLES_MAX]; /* not of runs */
    struct bb_searcher_set set;
    size_t search_count;             /* 1 with the set */
    uint8_t befores[BB_NEEDLES_MAX]; /* of each search: bb_needle.before of all that it finds */
    bool uses_set;
    bb_digit_run_find find_run;
};

struct bb_needle_scan {
    const struct bb_needle_finder *finder; /* borrowed */
    struct bb_bytes text;                  /* borrowed */
    size_t places[BB_NEEDLES_MAX]; /* of each search, the next place; SIZE_MAX: it has no more */
};

/* Finds the needles of a condition, as bb_needles_of_condition does. */
void bb_needle_scan_init_finder(struct bb_needle_finder *finder,
                                const struct bb_condition *condition,
                                const struct bb_schema *schema);
static inline bool bb_needle_finder_is_empty(const struct bb_needle_finder *finder)
{
    return finder->needles.count == 0;
}
/* Is one of them in the text? REQUIRES: the finder is not empty. */
bool bb_needle_scan_finds(const struct bb_needle_finder *finder, struct bb_bytes text);

/* REQUIRES: the finder is not empty. */
void bb_needle_scan_init(struct bb_needle_scan *scan, const struct bb_needle_finder *finder,
                         struct bb_bytes text);
/* The first place at or after `from`; false: there is no such place. `from` must not decrease from
 * call to call. REQUIRES: from <= text.size. */
bool bb_needle_scan_next(struct bb_needle_scan *scan, size_t from, size_t *ret_at);

#endif
