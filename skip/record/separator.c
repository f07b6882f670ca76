/* See separator.h. */
#include "skip/record/separator.h"

#include "base/assert.h"

#include <string.h>

static const uint8_t *skip_portable(const uint8_t *at, const uint8_t *end, uint8_t separator,
                                    size_t count)
{
    for (; count > 0; count--) {
        at = memchr(at, separator, (size_t)(end - at));
        if (at == NULL)
            return NULL;
        at++;
    }
    return at;
}

bb_separator_skip bb_separator_skip_of(enum bb_cpu cpu)
{
    BB_DEBUG_ASSERT(bb_cpu_has(cpu));
#if BB_CPU_X86
    if (cpu >= BB_CPU_AVX2)
        return bb_separator_skip_avx2;
#endif
    (void)cpu;
    return skip_portable;
}
