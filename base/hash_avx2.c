/* XXH3 with vectors of 32 bytes. See hash_wide.h. Any thread. */
#include "base/hash_wide.h"

#if BB_HASH_WIDE
#define FORM_TARGET "avx2"
#define FORM_VECTOR XXH_AVX2
#define FORM_NAME   bb_hash_bytes_avx2
#include "base/hash_wide_form.h"
#endif
