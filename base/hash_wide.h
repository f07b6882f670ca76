/* XXH3 of long inputs with wider vectors than all processors of the architecture support: the same
 * values in half the time. bb_hash_bytes selects a form; tests run each form.
 *
 * Threads: any. */
#ifndef BB_BASE_HASH_WIDE_H
#define BB_BASE_HASH_WIDE_H

#include <stddef.h>
#include <stdint.h>

/* Whether the wider forms are part of this build. -DBB_HASH_WIDE=0 excludes them, and so does
 * -DBB_CPU_X86=0, which excludes all such forms (bloomblock/cpu.h). */
#ifndef BB_HASH_WIDE
#if defined(__x86_64__) && !(defined(BB_CPU_X86) && !BB_CPU_X86)
#define BB_HASH_WIDE 1
#else
#define BB_HASH_WIDE 0
#endif
#endif

/* XXH3 does not use vectors for inputs up to this size. */
#define BB_HASH_SHORT_MAX 240

#if BB_HASH_WIDE
/* Inputs may have any size. REQUIRES: __builtin_cpu_supports("avx2"), or "avx512f" for the
 * second. */
uint64_t bb_hash_bytes_avx2(const void *data, size_t size);
uint64_t bb_hash_bytes_avx512(const void *data, size_t size);
#endif

#endif
