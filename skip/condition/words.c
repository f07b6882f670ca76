/* Words, by the boundaries of segments.h. See words.h. */
#include "skip/condition/words.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "skip/condition/character.h"
#include "skip/condition/search.h"
#include "skip/condition/segments.h"

static bool is_alphanumeric(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26 || (uint8_t)(byte - '0') < 10;
}

void bb_word_rules_init(struct bb_word_rules *rules)
{
    *rules = (struct bb_word_rules){{0}};
    for (uint8_t byte = 0; byte < 0x80; byte++)
        if (bb_segments_always_break_at(byte))
            rules->separates[byte / 64] |= UINT64_C(1) << byte % 64;
}

/* --- Stretches --- */

/* Bytes of the character at this place, 0: it separates. */
static size_t character_size(const struct bb_word_walk *walk, size_t at)
{
    uint8_t byte = walk->text.data[at];
    if (byte < 0x80)
        return !bb_word_separates(walk->rules, byte);
    size_t size = bb_character_size(walk->text, at);
    return size == 1 ? 0 : size;
}

/* Goes to the next stretch. */
static bool find_stretch(struct bb_word_walk *walk)
{
    size_t at = walk->stretch_end;
    size_t size = 0;
    while (at < walk->text.size && (size = character_size(walk, at)) == 0)
        at++;
    walk->at = at;
    walk->window_end = at;
    walk->is_alphanumeric = true;
    for (; at < walk->text.size && (size = character_size(walk, at)) > 0; at += size)
        walk->is_alphanumeric &= is_alphanumeric(walk->text.data[at]);
    walk->stretch_end = at;
    return walk->at < at;
}

/* --- Windows --- */

/* A window that ends before the stretch does ends where a character does. */
static size_t window_size(const struct bb_word_walk *walk)
{
    size_t size = walk->stretch_end - walk->at;
    if (size <= BB_WORD_SIZE_MAX)
        return size;
    size = BB_WORD_SIZE_MAX;
    while ((walk->text.data[walk->at + size] & 0xc0) == 0x80)
        size--;
    return size;
}

/* The end of the segment that begins at this place, in a window of this size. */
static size_t segment_end(const struct bb_word_walk *walk, size_t begin, size_t size)
{
    size_t end = begin + 1;
    while (end < size && !walk->breaks[end])
        end++;
    return end;
}

/* How much of a window has the same segments without its end: rules look at two more characters,
 * and the last two segments have them. A first segment always counts. */
static size_t certain_size(const struct bb_word_walk *walk, size_t size)
{
    size_t last = 0;
    size_t before = 0;
    for (size_t i = 1; i < size; i++) {
        if (walk->breaks[i]) {
            before = last;
            last = i;
        }
    }
    return before > 0 ? before : segment_end(walk, 0, size);
}

/* REQUIRES: the stretch has more. */
static void find_window(struct bb_word_walk *walk)
{
    size_t size = window_size(walk);
    walk->window_begin = walk->at;
    walk->window_end = walk->at + size;
    if (walk->is_alphanumeric) {
        memset(walk->breaks, 0, size);
        return;
    }
    bb_segments_find(bb_bytes_of(walk->text.data + walk->at, size), walk->breaks);
    if (walk->window_end < walk->stretch_end)
        walk->window_end = walk->at + certain_size(walk, size);
}

static struct bb_bytes take_segment(struct bb_word_walk *walk)
{
    size_t begin = walk->at - walk->window_begin;
    size_t end = segment_end(walk, begin, walk->window_end - walk->window_begin);
    walk->at = walk->window_begin + end;
    return bb_bytes_of(walk->text.data + walk->window_begin + begin, end - begin);
}

static bool is_word(struct bb_bytes segment)
{
    return is_alphanumeric(segment.data[0]) || bb_segments_have_letter(segment);
}

bool bb_word_walk_next(struct bb_word_walk *walk, struct bb_bytes *ret_word)
{
    for (;;) {
        if (walk->at == walk->stretch_end && !find_stretch(walk))
            return false;
        if (walk->at == walk->window_end)
            find_window(walk);
        *ret_word = take_segment(walk);
        if (is_word(*ret_word))
            return true;
    }
}

/* --- Case --- */

struct bb_bytes bb_word_fold(struct bb_bytes word, uint8_t *space)
{
    BB_ASSERT(word.size <= BB_WORD_SIZE_MAX);
    size_t i = 0;
    for (; i < word.size && word.data[i] < 0x80; i++)
        space[i] = (uint8_t)(word.data[i] - 'A') < 26 ? word.data[i] | 0x20 : word.data[i];
    return i == word.size ? bb_bytes_of(space, i) : bb_segments_fold(word, space);
}

/* All characters outside ASCII that fold to ASCII only; of ligatures the bytes that they share. A
 * test compares the list with the library's. */
static const struct {
    const char *letters; /* one of them with any length is in the word */
    size_t letter_size;
    const char *form;
} OTHER_FORMS[BB_WORD_OTHER_FORMS_MAX] = {
    {"k", 1, "\xe2\x84\xaa"},  {"s", 1, "\xc5\xbf"},        {"ss", 2, "\xc3\x9f"},
    {"ss", 2, "\xe1\xba\x9e"}, {"fffiflst", 2, "\xef\xac"},
};

static bool has_letters(struct bb_bytes word, const char *letters, size_t size)
{
    for (; *letters != '\0'; letters += size)
        if (memmem(word.data, word.size, letters, size) != NULL)
            return true;
    return false;
}

size_t bb_word_other_forms(struct bb_bytes word, struct bb_bytes ret_forms[BB_WORD_OTHER_FORMS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < BB_WORD_OTHER_FORMS_MAX; i++)
        if (has_letters(word, OTHER_FORMS[i].letters, OTHER_FORMS[i].letter_size))
            ret_forms[count++] = bb_bytes_of_text(OTHER_FORMS[i].form);
    return count;
}

/* --- Searching --- */

bool bb_word_is_one(const struct bb_word_rules *rules, struct bb_bytes text)
{
    struct bb_word_walk walk;
    struct bb_bytes word;
    bb_word_walk_begin(&walk, rules, text);
    return bb_word_walk_next(&walk, &word) && word.size == text.size;
}

/* Goes to an ASCII separator before this place, unless the walk has passed it: words do not depend
 * on the bytes before it. */
static void skip_to(struct bb_word_walk *walk, size_t place)
{
    size_t begin = place;
    while (begin > walk->at && !bb_word_separates(walk->rules, walk->text.data[begin - 1]))
        begin--;
    if (begin > walk->at) {
        walk->at = begin;
        walk->window_end = begin;
        walk->stretch_end = begin;
    }
}

/* The bytes are searched, not the words: they are rare, and searching is many bytes at a time. */
bool bb_word_find(const struct bb_word_rules *rules, struct bb_bytes text, struct bb_bytes word)
{
    struct bb_word_walk walk;
    struct bb_bytes found = bb_bytes_of(text.data, 0);
    bb_word_walk_begin(&walk, rules, text);
    size_t from = 0;
    size_t at = 0;
    while (bb_search(text, from, word, &at)) {
        skip_to(&walk, at);
        while ((size_t)(found.data - text.data) < at || found.size == 0)
            if (!bb_word_walk_next(&walk, &found))
                return false;
        if (found.data == text.data + at && found.size == word.size)
            return true;
        from = at + 1;
    }
    return false;
}

bool bb_word_find_folded(const struct bb_word_rules *rules, struct bb_bytes text,
                         struct bb_bytes word)
{
    struct bb_word_walk walk;
    struct bb_bytes found;
    uint8_t space[BB_WORD_FOLDED_MAX];
    bb_word_walk_begin(&walk, rules, text);
    while (bb_word_walk_next(&walk, &found))
        if (bb_bytes_equal(bb_word_fold(found, space), word))
            return true;
    return false;
}

struct bb_bytes bb_word_inside(const struct bb_word_rules *rules, struct bb_bytes literal,
                               bool is_at_start, bool is_at_end)
{
    size_t begin = 0;
    size_t end = literal.size;
    while (!is_at_start && begin < end && !bb_word_separates(rules, literal.data[begin]))
        begin++;
    while (!is_at_end && end > begin && !bb_word_separates(rules, literal.data[end - 1]))
        end--;
    return bb_bytes_of(literal.data + begin, end - begin);
}
