/* Texts that are words of Unicode. See text.h. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "skip/condition/text.h"

static enum bb_status fail_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for a condition on words");
}

/* Where operands are collected; all of them fit. */
struct collection {
    struct bb_text *text;
    uint8_t *end; /* of the bytes so far */
};

static void add_word(struct collection *collection, struct bb_bytes word)
{
    struct bb_text *text = collection->text;
    for (size_t i = 0; i < text->operand_count; i++)
        if (bb_bytes_equal(text->operands[i], word))
            return;
    memcpy(collection->end, word.data, word.size);
    text->operands[text->operand_count++] = bb_bytes_of(collection->end, word.size);
    collection->end += word.size;
}

/* A folded word stays one word, unless its form is too long: its text would be parsed into two. */
static enum bb_status add_folded(struct collection *collection, struct bb_bytes word)
{
    uint8_t space[BB_WORD_FOLDED_MAX];
    struct bb_bytes folded = bb_word_fold(word, space);
    if (!bb_word_is_one(&collection->text->rules, folded))
        return bb_fail(BB_INVALID, "expected words that are words of up to %d bytes in lower case",
                       BB_WORD_SIZE_MAX);
    add_word(collection, folded);
    return BB_OK;
}

static enum bb_status add_operand(struct collection *collection, struct bb_bytes operand)
{
    struct bb_text *text = collection->text;
    struct bb_word_walk walk;
    struct bb_bytes word;
    enum bb_status status = BB_OK;
    size_t count = 0;
    bb_word_walk_begin(&walk, &text->rules, operand);
    for (; status == BB_OK && bb_word_walk_next(&walk, &word); count++) {
        if (text->folds_case)
            status = add_folded(collection, word);
        else
            add_word(collection, word);
    }
    if (status == BB_OK && count == 0)
        return bb_fail(BB_INVALID, "expected a text with a word in it: letters or digits");
    return status;
}

static size_t count_words(const struct bb_text *text, const struct bb_bytes *operands, size_t count,
                          size_t *ret_size)
{
    struct bb_word_walk walk;
    struct bb_bytes word;
    size_t word_count = 0;
    *ret_size = 0;
    for (size_t i = 0; i < count; i++) {
        bb_word_walk_begin(&walk, &text->rules, operands[i]);
        for (; bb_word_walk_next(&walk, &word); word_count++)
            *ret_size += word.size;
    }
    return word_count;
}

static enum bb_status collect(struct bb_text *text, const struct bb_bytes *operands, size_t count)
{
    size_t size = 0;
    size_t word_count = count_words(text, operands, count, &size);
    text->operands = bb_alloc_zeroed(word_count + 1, sizeof(*text->operands));
    text->bytes = bb_alloc(size * (BB_WORD_FOLDED_MAX / BB_WORD_SIZE_MAX));
    if (text->operands == NULL || text->bytes == NULL)
        return fail_memory();
    struct collection collection = {.text = text, .end = text->bytes};
    enum bb_status status = BB_OK;
    for (size_t i = 0; status == BB_OK && i < count; i++)
        status = add_operand(&collection, operands[i]);
    /* Any of one word is all of it: one tree for one meaning. */
    if (text->operand_count == 1)
        text->kind = BB_TEXT_ALL_WORDS;
    return status;
}

static enum bb_status add_word_piece(struct bb_piece_list *list, struct bb_bytes word)
{
    struct bb_piece piece = {.bytes = word};
    return bb_piece_list_add(list, &piece);
}

/* The word without regard to case, and its other forms. */
static enum bb_status add_folded_pieces(struct bb_piece_list *list, struct bb_bytes word)
{
    struct bb_bytes forms[BB_WORD_OTHER_FORMS_MAX];
    size_t count = bb_word_other_forms(word, forms);
    struct bb_piece piece = {.bytes = word, .ignores_case = true};
    enum bb_status status = bb_piece_list_add(list, &piece);
    for (size_t i = 0; status == BB_OK && i < count; i++) {
        struct bb_piece form = {.bytes = forms[i], .is_other_form = true};
        status = bb_piece_list_add(list, &form);
    }
    return status;
}

/* A group for each word, or one of all. */
static enum bb_status describe(const struct bb_text *text, struct bb_piece_list *list,
                               enum bb_status (*add)(struct bb_piece_list *list,
                                                     struct bb_bytes word))
{
    enum bb_status status = BB_OK;
    bool is_all = text->kind == BB_TEXT_ALL_WORDS;
    for (size_t i = 0; status == BB_OK && i < text->operand_count; i++) {
        status = add(list, text->operands[i]);
        if (status == BB_OK && (is_all || i + 1 == text->operand_count))
            status = bb_piece_list_end_group(list);
    }
    return status;
}

static bool are_ascii(const struct bb_text *text)
{
    for (size_t i = 0; i < text->operand_count; i++)
        for (size_t j = 0; j < text->operands[i].size; j++)
            if (text->operands[i].data[j] >= 0x80)
                return false;
    return true;
}

/* The bytes of matches. Of folded words outside ASCII they are unknown. */
static enum bb_status describe_bytes(struct bb_text *text)
{
    if (!text->folds_case)
        return describe(text, &text->pieces, add_word_piece);
    return are_ascii(text) ? describe(text, &text->pieces, add_folded_pieces) : BB_OK;
}

static enum bb_status make(struct bb_text *text, const struct bb_bytes *operands, size_t count)
{
    bb_word_rules_init(&text->rules);
    enum bb_status status = collect(text, operands, count);
    if (status == BB_OK)
        status = describe(text, &text->words, add_word_piece);
    if (status == BB_OK)
        status = describe_bytes(text);
    text->word_groups = bb_piece_list_finish(&text->words, &text->word_group_count);
    text->groups = bb_piece_list_finish(&text->pieces, &text->group_count);
    return status;
}

enum bb_status bb_text_of_words(enum bb_text_kind kind, bool folds_case,
                                const struct bb_bytes *operands, size_t count,
                                struct bb_text **ret_text)
{
    enum bb_status status = bb_words_check();
    if (status != BB_OK)
        return status;
    struct bb_text *text = bb_alloc_zeroed(1, sizeof(*text));
    if (text == NULL)
        return fail_memory();
    text->kind = kind;
    text->folds_case = folds_case;
    status = make(text, operands, count);
    if (status == BB_OK)
        *ret_text = text;
    else
        bb_text_destroy(text);
    return status;
}

bool bb_text_has_words(const struct bb_text *text, struct bb_bytes value)
{
    bool is_all = text->kind == BB_TEXT_ALL_WORDS;
    for (size_t i = 0; i < text->operand_count; i++) {
        bool has = text->folds_case ? bb_word_find_folded(&text->rules, value, text->operands[i])
                                    : bb_word_find(&text->rules, value, text->operands[i]);
        if (has != is_all)
            return !is_all;
    }
    return is_all;
}
