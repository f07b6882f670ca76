/* Descriptions of a filter, for people and for programs: shared by the commands that make, change
 * and describe filters. */
#ifndef BB_TOOLS_FILTER_FILTER_REPORT_H
#define BB_TOOLS_FILTER_FILTER_REPORT_H

#include "bb/filter.h"
#include "tools/command/command.h"
#include "tools/output/output.h"

/* Bits per key that no filter of that rate can do without: log2(1 / rate); 0 for rate 0 or 1. */
double filter_report_limit(double rate);
/* One line: keys, size, bits per key, predicted rate and target. */
void filter_report_line(struct output *out, const char *path, const struct bb_filter_info *info);
/* Fields of an object. */
void filter_report_json(json_t *object, const struct bb_filter_info *info,
                        const struct bb_filter_file *parts);

/* Whether it has more keys than it was sized for, and its rate exceeds the target by more than
 * chance. It needs both: since bits are random, the predicted rate of every second filter is above
 * the target, and the number of keys of a union is an estimate. */
bool filter_report_is_overfull(const struct bb_filter_info *info,
                               const struct bb_filter_file *parts);
/* The rate that the set bits predict, and the target. A plan meets the target in expectation; the
 * bits of about every second sound filter predict a slightly higher rate. */
enum filter_verdict {
    FILTER_WITHIN, /* at most the target */
    FILTER_CHANCE, /* above it by less than FILTER_CHANCE_DEVIATIONS */
    FILTER_ABOVE,
};
#define FILTER_CHANCE_DEVIATIONS 5
enum filter_verdict filter_report_verdict(const struct bb_filter_info *info);
/* "within the target", ...; "within", ... */
const char *filter_verdict_text(enum filter_verdict verdict);
const char *filter_verdict_name(enum filter_verdict verdict);
/* Reports on stderr that a filter is above its target, why, and the remedy. target_rate: the one
 * that the user gave; 0: the filter's own. EXIT_ABOVE_TARGET, or EXIT_FOUND if it is not above. */
enum exit_code filter_report_target(const struct command *command,
                                    const struct bb_filter_info *info,
                                    const struct bb_filter_file *parts, double target_rate);

#endif
