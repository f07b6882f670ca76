/* Searching texts for runs of ASCII digits: the integers of a range have at least as many.
 *
 * The portable form reads a window of n bytes from its end, and continues after the last byte that
 * is no digit. So it reads few bytes of a text without digits. The other form makes a bit of each
 * of 64 bytes, and finds runs by shifting these bits.
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
