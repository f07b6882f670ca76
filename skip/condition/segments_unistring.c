/* Segments by GNU libunistring. See segments.h. */
#include "skip/condition/segments.h"

#if BB_HAS_UNISTRING

#include <stdio.h>
#include <unicase.h>
#include <unictype.h>
#include <unistr.h>
#include <unistring/version.h>
#include <uniwbrk.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "skip/condition/words.h"

bool bb_words_are_built(void)
{
    return true;
}

enum bb_status bb_words_check(void)
{
    return BB_OK;
}

/* WHY the library's version: it has no name for that of Unicode, each of its versions has one, and
 * some repair rules. It is the version at run time, not at compile time. */
void bb_words_identity(char ret_identity[BB_WORDS_IDENTITY_SIZE])
{
    snprintf(ret_identity, BB_WORDS_IDENTITY_SIZE, "libunistring %d.%d.%d",
             _libunistring_version >> 16, _libunistring_version >> 8 & 0xff,
             _libunistring_version & 0xff);
}

bool bb_segments_always_break_at(uint8_t byte)
{
    switch (uc_wordbreak_property(byte)) {
    case WBP_OTHER:
    case WBP_CR:
    case WBP_LF:
    case WBP_NEWLINE:
    case WBP_WSS:
        return true;
    default:
        return false;
    }
}

void bb_segments_find(struct bb_bytes text, char *breaks)
{
    u8_wordbreaks(text.data, text.size, breaks);
}

bool bb_segments_have_letter(struct bb_bytes text)
{
    static const uint32_t letters_and_digits = UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_N;
    size_t size = 0;
    for (size_t at = 0; at < text.size; at += size) {
        ucs4_t character = 0;
        size = (size_t)u8_mbtouc_unsafe(&character, text.data + at, text.size - at);
        if (uc_is_general_category_withtable(character, letters_and_digits))
            return true;
    }
    return false;
}

struct bb_bytes bb_segments_fold(struct bb_bytes text, uint8_t *space)
{
    size_t size = BB_WORD_FOLDED_MAX;
    uint8_t *folded = u8_casefold(text.data, text.size, NULL, NULL, space, &size);
    BB_ASSERT(folded == space);
    return bb_bytes_of(folded, size);
}

#else
/* A translation unit has a declaration. */
extern int bb_segments_unistring_is_not_built;
#endif
