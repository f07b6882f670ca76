/* Searching texts for runs of ASCII digits: the integers of a range have at least as many.
 *
 * Of a run of n digits one is at a place that n divides. The portable form looks at these bytes,
 * the other one makes a bit of each of 64 bytes and shifts them together.
 *
 * Threads: pure functions.
 */
#ifndef BB_SKIP_CONDITION_DIGIT_RUN_H
#define BB_SKIP_CONDITION_DIGIT_RUN_H

#include "bb/base.h"
#include "bloomblock/cpu.h"

/* WHY not fewer: dates, addresses and sizes have such runs in nearly every record of a log. */
#define BB_DIGIT_RUN_MIN 6
#define BB_DIGIT_RUN_MAX 20

/* The first place at or after from where `size` digits follow one another; false without one. A run
 * that begins before from is cut there. REQUIRES: from <= text.size, and size is at least
 * BB_DIGIT_RUN_MIN and at most BB_DIGIT_RUN_MAX. */
typedef bool (*bb_digit_run_find)(struct bb_bytes text, size_t size, size_t from, size_t *ret_at);

bool bb_digit_run_find_portable(struct bb_bytes text, size_t size, size_t from, size_t *ret_at);
#if BB_CPU_X86
bool bb_digit_run_find_avx2(struct bb_bytes text, size_t size, size_t from, size_t *ret_at);
#endif

/* REQUIRES: bb_cpu_has(cpu). */
bb_digit_run_find bb_digit_run_choose(enum bb_cpu cpu);

#endif
