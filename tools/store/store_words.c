/* See store_words.h. */
#include "tools/store/store_words.h"

#include <ctype.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"

static const struct {
    const char *library;
    const char *command;
} words[] = {
    {"write_buffer_bytes", "--write-buffer"},
    {"cache_bytes", "--cache"},
    {"open_tables_max", "--open-tables"},
    {"absent_share", "--absent-share"},
    {"filter_kind", "--filter"},
    {"table_filter_bits", "--table-filter-bits"},
    {"filter_granularity", "--granularity"},
    {"block_size_bytes", "--block-size"},
    {"restart_interval", "--restart-interval"},
    {"table_size_bytes", "--table-size"},
    {"level0_run_count_compact", "--level0-compact"},
    {"level0_run_count_busy", "--level0-busy"},
    {"level0_run_count_stop", "--level0-stop"},
    {"level1_size_bytes", "--level1-size"},
    {"level_size_ratio", "--level-ratio"},
    {"BB_TABLE_FILTER_NONE", "none"},
    {"BB_TABLE_FILTER_ALL", "all"},
};

/* The command has no such options: the user chose its behaviour by its name. */
static const char *const asides[] = {", and create_if_missing is not set",
                                     ", and error_if_exists is set"};

static size_t word_size(const char *text)
{
    size_t size = 0;
    while (isalnum((unsigned char)text[size]) || text[size] == '_')
        size++;
    return size;
}

static bool is_word(const char *known, const char *word, size_t size)
{
    return strlen(known) == size && memcmp(known, word, size) == 0;
}

static struct bb_bytes translate(const char *word, size_t size, const char *filter_amount)
{
    if (filter_amount != NULL && is_word("filter_amount", word, size))
        return bb_bytes_of_text(filter_amount);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(words); i++)
        if (is_word(words[i].library, word, size))
            return bb_bytes_of_text(words[i].command);
    return bb_bytes_of(word, size);
}

/* message begins with "option": names of files, which could look like an option's, come later or
 * not at all. */
static enum bb_status append_translated(struct bb_buf *text, const char *message,
                                        const char *filter_amount)
{
    enum bb_status status = BB_OK;
    while (*message != '\0' && status == BB_OK) {
        size_t size = word_size(message);
        struct bb_bytes part =
            size > 0 ? translate(message, size, filter_amount) : bb_bytes_of(message, 1);
        status = bb_buf_append(text, part.data, part.size);
        message += size > 0 ? size : 1;
    }
    return status;
}

static void cut_asides(char *message)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(asides); i++) {
        size_t size = strlen(message), aside = strlen(asides[i]);
        if (size >= aside && strcmp(message + size - aside, asides[i]) == 0)
            message[size - aside] = '\0';
    }
}

enum bb_status store_words_fail(enum bb_status status, const char *filter_amount)
{
    struct bb_error error = *bb_error_last();
    struct bb_buf text = {0};
    if (error.status != status)
        return status;
    cut_asides(error.message);
    if (strncmp(error.message, "option", strlen("option")) != 0)
        return bb_error_restore(&error);
    if (append_translated(&text, error.message, filter_amount) == BB_OK)
        status = bb_fail(status, "%.*s", (int)text.size, (const char *)text.data);
    bb_buf_deinit(&text);
    return status;
}
