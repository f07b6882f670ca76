/* A build without libunistring: it has no words, and its message names the package. See
 * segments.h. */
#include "skip/condition/segments.h"

#if !BB_HAS_UNISTRING

#include <string.h>

#include "base/status.h"
#include "skip/condition/words.h"

bool bb_words_are_built(void)
{
    return false;
}

enum bb_status bb_words_check(void)
{
    return bb_fail(BB_UNSUPPORTED,
                   "this build has no words of Unicode: install libunistring (Debian and Ubuntu: "
                   "the package libunistring-dev) and build bloomblock again");
}

void bb_words_identity(char ret_identity[BB_WORDS_IDENTITY_SIZE])
{
    ret_identity[0] = '\0';
}

bool bb_segments_always_break_at(uint8_t byte)
{
    (void)byte;
    return true;
}

void bb_segments_find(struct bb_bytes text, char *breaks)
{
    memset(breaks, 0, text.size);
}

bool bb_segments_have_letter(struct bb_bytes text)
{
    (void)text;
    return false;
}

/* Never called: indexes and conditions of words are rejected. */
struct bb_bytes bb_segments_fold(struct bb_bytes text, uint8_t *space)
{
    (void)space;
    return text;
}

#else
/* A translation unit needs a declaration. */
extern int bb_segments_none_is_not_built;
#endif
