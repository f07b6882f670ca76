/* See token.h. */
#include "skip/condition/token.h"

#include "base/bytes.h"
#include "skip/condition/search.h"

static size_t end_of_run(struct bb_bytes text, size_t at)
{
    while (at < text.size && bb_token_has(text.data[at]))
        at++;
    return at;
}

bool bb_token_next(struct bb_bytes text, size_t *offset, struct bb_bytes *ret_token)
{
    size_t begin = *offset;
    while (begin < text.size && !bb_token_has(text.data[begin]))
        begin++;
    if (begin >= text.size)
        return false;
    size_t end = end_of_run(text, begin);
    *ret_token = bb_bytes_of(text.data + begin, end - begin);
    *offset = end;
    return true;
}

bool bb_token_is_one(struct bb_bytes text)
{
    return text.size > 0 && end_of_run(text, 0) == text.size;
}

/* The bytes are searched, not the tokens: they are rare, and searching is many bytes at a time. A
 * place that is no whole token rules out the rest of its run. */
bool bb_token_find(struct bb_bytes text, struct bb_bytes token)
{
    size_t from = 0;
    size_t at = 0;
    while (bb_search(text, from, token, &at)) {
        size_t end = at + token.size;
        bool begins = at == 0 || !bb_token_has(text.data[at - 1]);
        if (begins && (end == text.size || !bb_token_has(text.data[end])))
            return true;
        from = end_of_run(text, end);
    }
    return false;
}
