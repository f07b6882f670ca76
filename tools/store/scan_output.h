/* The options and the output of commands that print entries in order: `bloomblock scan` and
 * `bloomblock cluster scan`. */
#ifndef BB_TOOLS_STORE_SCAN_OUTPUT_H
#define BB_TOOLS_STORE_SCAN_OUTPUT_H

#include "tools/command/options.h"
#include "tools/keys/key_range.h"
#include "tools/output/output.h"

#define SCAN_OUTPUT_OPTION_COUNT 9

struct scan_output {
    struct output out;
    /* Options. */
    struct key_range range;
    uint64_t limit; /* 0: none */
    bool is_reverse;
    bool is_keys_only;
    bool is_hex;
    bool is_count_only;
    struct option list[SCAN_OUTPUT_OPTION_COUNT];
    /* Entries so far. */
    uint64_t count;
};

/* Owned: key_range_deinit of the range. The struct must not be moved afterwards. */
void scan_output_init(struct scan_output *scan);
struct option_group scan_output_group(const struct scan_output *scan);

/* True while the scan prints entries: the limit is not reached, and the output works. */
bool scan_output_wants(const struct scan_output *scan);
void scan_output_begin(struct scan_output *scan);
/* Prints the entry, or only counts it. */
void scan_output_add(struct scan_output *scan, struct bb_bytes key, struct bb_bytes value);
/* is_complete: reading did not fail midway. */
void scan_output_end(struct scan_output *scan, bool is_complete);

#endif
