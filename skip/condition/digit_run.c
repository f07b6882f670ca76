/* See digit_run.h. */
#include "skip/condition/digit_run.h"

#include "base/assert.h"
#include "skip/record/number.h"

bool bb_digit_run_find_portable(struct bb_bytes text, size_t size, size_t from, size_t *ret_at)
{
    BB_DEBUG_ASSERT(size >= BB_DIGIT_RUN_MIN && size <= BB_DIGIT_RUN_MAX && from <= text.size);
    /* All bytes from `from` up to `known` are digits. */
    size_t known = from;
    while (size <= text.size - from) {
        size_t at = from + size;
        while (at > known && bb_number_is_digit(text.data[at - 1]))
            at--;
        if (at == known) {
            *ret_at = from;
            return true;
        }
        /* The byte before `at` is no digit; all after it, up to the end of the window, are. */
        known = from + size;
        from = at;
    }
    return false;
}

bb_digit_run_find bb_digit_run_choose(enum bb_cpu cpu)
{
#if BB_CPU_X86
    if (cpu >= BB_CPU_AVX2)
        return bb_digit_run_find_avx2;
#endif
    (void)cpu;
    return bb_digit_run_find_portable;
}
