/* Counts the first lines that have no text for an extractor: these may have another format.
 *
 * Memory: a record reader. Threads: one.
 */
#ifndef BB_TOOLS_RECORDS_LINE_PROBE_H
#define BB_TOOLS_RECORDS_LINE_PROBE_H

#include "bb/record.h"

#define LINE_PROBE_LINES_MAX 1000

struct line_probe {
    char extractor[24];
    struct bb_schema *schema;
    struct bb_record_reader *reader; /* NULL: there is no extractor */
    uint64_t examined_lines;
    uint64_t lines_without;
};

/* extractor: "csv(3)"; empty: no line is examined. Owned: line_probe_deinit. */
BB_MUST_CHECK enum bb_status line_probe_init(struct line_probe *probe, const char *extractor);
void line_probe_deinit(struct line_probe *probe);

/* Examines the line, if it is one of the first LINE_PROBE_LINES_MAX. */
BB_MUST_CHECK enum bb_status line_probe_look(struct line_probe *probe, struct bb_bytes line);

#endif
