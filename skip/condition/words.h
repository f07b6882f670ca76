/* Words of text: the segments of Unicode's UAX #29 that have a letter or a digit.
 *
 *     value      it's 3.14, "naïve" 漢字 \xff don't
 *     words      it's  3.14  naïve  漢  字  don't
 *
 * The rules and the tables are GNU libunistring's; a build without it has no words. Results differ
 * between versions of Unicode, so an index of words stores bb_words_identity and is used where it
 * is the same.
 *
 *     separator   an ASCII byte without a part in any rule (space, control, / - @ and so on), or a
 *                 byte of no valid UTF-8 sequence
 *     stretch     bytes between separators
 *
 * Each stretch is segmented separately: UAX #29 always has a boundary on both sides of such an
 * ASCII byte. So the words of a stretch depend only on the stretch, and a part of a value between
 * two separators has the same words as the value has there. A stretch is read through a window of
 * BB_WORD_SIZE_MAX bytes, which moves from boundary to boundary; a segment that does not fit is cut
 * at the window's end. This bounds time and memory.
 *
 * Pure functions; any thread.
 */
#ifndef BB_SKIP_CONDITION_WORDS_H
#define BB_SKIP_CONDITION_WORDS_H

#include "bb/base.h"

#define BB_WORD_SIZE_MAX 1024
/* Case folding makes at most three bytes of one; the library needs some more space. */
#define BB_WORD_FOLDED_MAX (3 * BB_WORD_SIZE_MAX + 64)
/* With its NUL. */
#define BB_WORDS_IDENTITY_SIZE 64

/* Which ASCII bytes separate. */
struct bb_word_rules {
    uint64_t separates[2]; /* a bit for each ASCII byte */
};

/* False: this build has no words. */
bool bb_words_are_built(void);

/* BB_UNSUPPORTED where this build has no words: the message names the package. */
BB_MUST_CHECK enum bb_status bb_words_check(void);

/* The library and its version, "libunistring 1.0.0". Empty where this build has no words. */
void bb_words_identity(char ret_identity[BB_WORDS_IDENTITY_SIZE]);

void bb_word_rules_init(struct bb_word_rules *rules);

static inline bool bb_word_separates(const struct bb_word_rules *rules, uint8_t byte)
{
    return byte < 0x80 && (rules->separates[byte / 64] >> byte % 64 & 1) != 0;
}

/* Where a search for words is. */
struct bb_word_walk {
    const struct bb_word_rules *rules;
    struct bb_bytes text;
    size_t at;            /* the next segment begins here, or later */
    size_t window_end;    /* segments are known up to here */
    size_t stretch_end;   /* not below window_end */
    bool is_alphanumeric; /* the stretch has only ASCII letters and digits */
    size_t window_begin;  /* the place of breaks[0] */
    char breaks[BB_WORD_SIZE_MAX];
};

/* text: borrowed until the walk ends. rules: the same. */
static inline void bb_word_walk_begin(struct bb_word_walk *walk, const struct bb_word_rules *rules,
                                      struct bb_bytes text)
{
    walk->rules = rules;
    walk->text = text;
    walk->at = 0;
    walk->window_end = 0;
    walk->stretch_end = 0;
}

/* The next word, of at most BB_WORD_SIZE_MAX bytes; false at the end. */
bool bb_word_walk_next(struct bb_word_walk *walk, struct bb_bytes *ret_word);

/* Unicode's full case folding, without regard to a language. space: BB_WORD_FOLDED_MAX bytes, which
 * the result is in. */
struct bb_bytes bb_word_fold(struct bb_bytes word, uint8_t *space);

/* A text whose folded form has an ASCII word has the word's bytes, in either case, or one of some
 * characters outside ASCII that fold to letters of the word: the long s, the sign of Kelvin, the
 * sharp s, ligatures. Lists bytes of these characters, and returns their number. REQUIRES: the word
 * is ASCII in lower case. */
#define BB_WORD_OTHER_FORMS_MAX 5
size_t bb_word_other_forms(struct bb_bytes word,
                           struct bb_bytes ret_forms[BB_WORD_OTHER_FORMS_MAX]);

/* Whether the text is exactly one word. */
bool bb_word_is_one(const struct bb_word_rules *rules, struct bb_bytes text);

/* Whether one of the text's words is this one. */
bool bb_word_find(const struct bb_word_rules *rules, struct bb_bytes text, struct bb_bytes word);

/* The same of a folded word, and folded words. */
bool bb_word_find_folded(const struct bb_word_rules *rules, struct bb_bytes text,
                         struct bb_bytes word);

/* The part of a literal in which every word is a word of any text with that literal: the bytes
 * between its first and its last separator. An end that is also an end of the text is kept. */
struct bb_bytes bb_word_inside(const struct bb_word_rules *rules, struct bb_bytes literal,
                               bool is_at_start, bool is_at_end);

#endif
