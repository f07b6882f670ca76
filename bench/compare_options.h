/* The command line of bloomblock-compare. */
#ifndef BB_BENCH_COMPARE_OPTIONS_H
#define BB_BENCH_COMPARE_OPTIONS_H

#include "bench/engine.h"
#include "bench/mixed_run.h"
#include "bench/workload.h"

#define COMPARE_ENGINES_MAX 8
#define COMPARE_ROUNDS_MAX  64

struct compare_options {
    struct workload_options workload;
    struct mixed_options mixed; /* mix: NULL: the standard workload */
    uint64_t cache_bytes;
    uint64_t write_buffer_bytes;
    uint64_t rounds;
    uint64_t slice_count; /* of each phase of reading */
    const struct bench_engine *engines[COMPARE_ENGINES_MAX];
    size_t engine_count;
    const char *directory; /* under which stores are made; borrowed */
    const char *json_path; /* NULL: none; "-": standard output, instead of the text */
    bool is_cold;
    bool is_quiet;
};

/* Ends the process after --help (status 0) and on mistakes (status 2). */
void compare_options_parse(int argc, char **argv, struct compare_options *ret_options);

#endif
