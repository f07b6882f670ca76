/* Functions that only prefetch. Threads: any. */
#ifndef BB_BASE_PREFETCH_H
#define BB_BASE_PREFETCH_H

/* The last statement of a function that only prefetches; memory: any pointer of it. Compilers treat
 * such a function as having no effects, and would remove calls that are not inlined. */
static inline void bb_prefetch_done(const void *memory)
{
    __asm__ volatile("" : : "r"(memory));
}

#endif
