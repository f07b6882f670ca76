/* The text that a leaf of kind TEXT searches in an attribute's bytes: a pattern of LIKE, tokens,
 * words or a regular expression. It decides on values, and lists the bytes that every match
 * contains. It is constant. */
#ifndef BB_SKIP_CONDITION_TEXT_H
#define BB_SKIP_CONDITION_TEXT_H

#include "bb/condition.h"
#include "skip/condition/like.h"
#include "skip/condition/piece_list.h"
#include "skip/condition/regex.h"
#include "skip/condition/words.h"

enum bb_text_kind {
    BB_TEXT_LIKE, /* also without regard to case */
    BB_TEXT_ALL_TOKENS,
    BB_TEXT_ANY_TOKEN,
    BB_TEXT_REGEX,
    BB_TEXT_ALL_WORDS,
    BB_TEXT_ANY_WORD,
};

struct bb_text {
    enum bb_text_kind kind;
    struct bb_like *like;      /* LIKE */
    struct bb_regex *regex;    /* REGEX */
    struct bb_bytes *operands; /* tokens or words, each once; the regular expression */
    size_t operand_count;
    bool folds_case;            /* words: the operands are folded, and so are the words of values */
    struct bb_word_rules rules; /* words */
    /* As in struct bb_leaf. */
    const struct bb_piece_group *groups;
    size_t group_count;
    const struct bb_piece_group *word_groups;
    size_t word_group_count;
    bool has_cover;
    bool is_cover_exact;
    struct bb_interval cover;
    /* Memory that the pointers above point to. */
    struct bb_piece_list pieces;
    struct bb_piece_list words;
    uint8_t *bytes;
    uint8_t *cover_high;
};

/* Whether only a value equal to these bytes matches: a pattern without % and _ that heeds case is
 * an equality, not a text. */
bool bb_text_like_is_literal(const struct bb_like *like, struct bb_bytes *ret_literal);

/* Owns the pattern from then on, if it succeeds. */
BB_MUST_CHECK enum bb_status bb_text_of_like(struct bb_like *like, struct bb_text **ret_text);

/* The tokens of the operands count; the operands are copied. BB_INVALID when one has no tokens. */
BB_MUST_CHECK enum bb_status bb_text_of_tokens(enum bb_text_kind kind,
                                               const struct bb_bytes *operands, size_t count,
                                               struct bb_text **ret_text);

/* The same of words: kind is BB_TEXT_ALL_WORDS or BB_TEXT_ANY_WORD. BB_UNSUPPORTED where this build
 * has no words. */
BB_MUST_CHECK enum bb_status bb_text_of_words(enum bb_text_kind kind, bool folds_case,
                                              const struct bb_bytes *operands, size_t count,
                                              struct bb_text **ret_text);

BB_MUST_CHECK enum bb_status bb_text_of_regex(struct bb_bytes pattern, struct bb_text **ret_text);

void bb_text_destroy(struct bb_text *text);

/* run may be NULL where the text is no regular expression. Failures as bb_regex_match. */
BB_MUST_CHECK enum bb_status bb_text_match(const struct bb_text *text, struct bb_regex_run *run,
                                           struct bb_bytes value, bool *ret_is_match);

/* bb_text_match of words. */
bool bb_text_has_words(const struct bb_text *text, struct bb_bytes value);

#endif
