/* XXH3 with vectors of 64 bytes. See hash_wide.h. Any thread. */
#include "base/hash_wide.h"

#if BB_HASH_WIDE
#define FORM_TARGET "avx512f"
#define FORM_VECTOR XXH_AVX512
#define FORM_NAME   bb_hash_bytes_avx512
#include "base/hash_wide_form.h"
#endif
