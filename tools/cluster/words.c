/* See words.h. */
#include "tools/cluster/words.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"

void words_deinit(struct words *words)
{
    bb_buf_deinit(&words->text);
    words->count = 0;
}

void words_reset(struct words *words)
{
    bb_buf_reset(&words->text);
    words->count = 0;
}

enum bb_status words_add(struct words *words, struct bb_bytes word)
{
    enum bb_status status = bb_buf_print(&words->text, "$%zu\r\n", word.size);
    if (status == BB_OK)
        status = bb_buf_append(&words->text, word.data, word.size);
    if (status == BB_OK)
        status = bb_buf_append(&words->text, "\r\n", 2);
    if (status == BB_OK)
        words->count++;
    return status;
}

enum bb_status words_add_text(struct words *words, const char *word)
{
    return words_add(words, bb_bytes_of_text(word));
}

enum bb_status words_add_number(struct words *words, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    return words_add_text(words, text);
}

enum bb_status words_add_all(struct words *words, const struct words *more)
{
    enum bb_status status = bb_buf_append(&words->text, more->text.data, more->text.size);
    if (status == BB_OK)
        words->count += more->count;
    return status;
}
