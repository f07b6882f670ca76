/* Skips fields: the place after the n-th separator. Threads: any. */
#ifndef BB_SKIP_RECORD_SEPARATOR_H
#define BB_SKIP_RECORD_SEPARATOR_H

#include "bb/base.h"
#include "bloomblock/cpu.h"

/* The byte after the count-th separator of at ... end; NULL when there are fewer. count is not
 * 0. */
typedef const uint8_t *(*bb_separator_skip)(const uint8_t *at, const uint8_t *end,
                                            uint8_t separator, size_t count);

/* REQUIRES: bb_cpu_has(cpu). */
bb_separator_skip bb_separator_skip_of(enum bb_cpu cpu);

#if BB_CPU_X86
const uint8_t *bb_separator_skip_avx2(const uint8_t *at, const uint8_t *end, uint8_t separator,
                                      size_t count);
#endif

#endif
