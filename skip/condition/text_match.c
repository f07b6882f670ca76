/* Whether a value matches a text. See text.h. */
#include "base/assert.h"
#include "skip/condition/text.h"
#include "skip/condition/token.h"

static bool has_tokens(const struct bb_text *text, struct bb_bytes value)
{
    bool is_all = text->kind == BB_TEXT_ALL_TOKENS;
    for (size_t i = 0; i < text->operand_count; i++)
        if (bb_token_find(value, text->operands[i]) != is_all)
            return !is_all;
    return is_all;
}

enum bb_status bb_text_match(const struct bb_text *text, struct bb_regex_run *run,
                             struct bb_bytes value, bool *ret_is_match)
{
    if (text->kind == BB_TEXT_REGEX) {
        BB_ASSERT(run != NULL);
        return bb_regex_match(text->regex, run, value, ret_is_match);
    }
    if (text->kind == BB_TEXT_ALL_WORDS || text->kind == BB_TEXT_ANY_WORD) {
        *ret_is_match = bb_text_has_words(text, value);
        return BB_OK;
    }
    *ret_is_match =
        text->kind == BB_TEXT_LIKE ? bb_like_match(text->like, value) : has_tokens(text, value);
    return BB_OK;
}
