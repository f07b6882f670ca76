/* See regex_pieces.h.
 *
 * The pattern is read once, from left to right. Groups found so far are on a stack; a part that
 * turns out to be optional takes its own off again, and alternatives replace theirs by one group. A
 * function that finds syntax it does not understand gives up, and then no group counts.
 */
#include "skip/condition/regex_pieces.h"

#include "base/bytes.h"
#include "skip/condition/search.h"
#include "skip/record/number.h"

#define NESTING_MAX      100
#define ALTERNATIVES_MAX 64

/* Offsets instead of addresses: the bytes grow. */
struct draft_piece {
    size_t offset;
    size_t size;
    bool is_at_start;
    bool is_at_end;
    bool ignores_case;
};

struct draft_group {
    size_t first; /* of pieces */
    size_t count;
};

struct options {
    bool ignores_case;
    bool is_multiline;
};

struct scan {
    struct bb_bytes pattern;
    size_t at;
    bool has_given_up;
    enum bb_status status;
    size_t nesting;
    struct options options;
    struct bb_buf bytes;
    struct bb_buf pieces; /* struct draft_piece */
    struct bb_buf groups; /* struct draft_group */
    /* The current literal is the end of bytes. */
    size_t literal_size;
    bool is_literal_at_start;
};

static bool is_over(const struct scan *scan)
{
    return scan->has_given_up || scan->status != BB_OK || scan->at >= scan->pattern.size;
}

static void give_up(struct scan *scan)
{
    scan->has_given_up = true;
}

static uint8_t peek(const struct scan *scan, size_t ahead)
{
    size_t at = scan->at + ahead;
    return at < scan->pattern.size ? scan->pattern.data[at] : 0;
}

static void note(struct scan *scan, enum bb_status status)
{
    if (scan->status == BB_OK)
        scan->status = status;
}

static size_t group_count(const struct scan *scan)
{
    return scan->groups.size / sizeof(struct draft_group);
}

static struct draft_group *groups_of(const struct scan *scan)
{
    return (struct draft_group *)(void *)scan->groups.data;
}

static const struct draft_piece *piece_at(const struct scan *scan, size_t number)
{
    return (const struct draft_piece *)(const void *)scan->pieces.data + number;
}

static void keep_groups(struct scan *scan, size_t count)
{
    scan->groups.size = count * sizeof(struct draft_group);
}

static void push_group(struct scan *scan, size_t first, size_t count)
{
    struct draft_group group = {.first = first, .count = count};
    note(scan, bb_buf_append(&scan->groups, &group, sizeof(group)));
}

/* Makes a piece of the current literal, if there is one, and begins another. */
static void end_literal(struct scan *scan, bool is_at_end)
{
    struct draft_piece piece = {.offset = scan->bytes.size - scan->literal_size,
                                .size = scan->literal_size,
                                .is_at_start = scan->is_literal_at_start,
                                .is_at_end = is_at_end,
                                .ignores_case = scan->options.ignores_case};
    scan->literal_size = 0;
    scan->is_literal_at_start = false;
    if (piece.size == 0 || scan->status != BB_OK)
        return;
    size_t number = scan->pieces.size / sizeof(piece);
    note(scan, bb_buf_append(&scan->pieces, &piece, sizeof(piece)));
    push_group(scan, number, 1);
}

static void add_literal_byte(struct scan *scan, uint8_t byte)
{
    if (scan->options.ignores_case)
        byte = bb_fold_byte(byte);
    note(scan, bb_buf_append(&scan->bytes, &byte, 1));
    scan->literal_size++;
}

/* {n}, {n,} or {n,m}. Gives up on any other text that begins with a brace. */
static bool take_braces(struct scan *scan, bool *ret_is_optional)
{
    size_t at = scan->at + 1;
    bool is_zero = true;
    size_t first = at;
    for (; at < scan->pattern.size && bb_number_is_digit(scan->pattern.data[at]); at++)
        is_zero = is_zero && scan->pattern.data[at] == '0';
    bool is_good = at > first;
    if (at < scan->pattern.size && scan->pattern.data[at] == ',')
        at++;
    while (at < scan->pattern.size && bb_number_is_digit(scan->pattern.data[at]))
        at++;
    if (!is_good || at >= scan->pattern.size || scan->pattern.data[at] != '}') {
        give_up(scan);
        return false;
    }
    scan->at = at + 1;
    *ret_is_optional = is_zero;
    return true;
}

/* How often the part that was just read may occur: once, at least once, or perhaps not at all. */
enum repetition { ONCE, REPEATED, OPTIONAL };

static bool begins_quantifier(uint8_t byte)
{
    return byte == '*' || byte == '+' || byte == '?' || byte == '{';
}

static enum repetition take_quantifier(struct scan *scan)
{
    uint8_t byte = peek(scan, 0);
    bool is_optional = byte == '*' || byte == '?';
    if (is_over(scan) || !begins_quantifier(byte))
        return ONCE;
    if (byte == '{') {
        if (!take_braces(scan, &is_optional))
            return OPTIONAL;
    } else
        scan->at++;
    if (peek(scan, 0) == '?' || peek(scan, 0) == '+')
        scan->at++;
    if (begins_quantifier(peek(scan, 0))) /* a repetition of a repetition */
        give_up(scan);
    return is_optional ? OPTIONAL : REPEATED;
}

static void read_literal(struct scan *scan, uint8_t byte)
{
    enum repetition repetition = take_quantifier(scan);
    if (repetition != OPTIONAL)
        add_literal_byte(scan, byte);
    if (repetition != ONCE)
        end_literal(scan, false);
}

/* One byte of several, or several bytes. */
static void read_class(struct scan *scan)
{
    end_literal(scan, false);
    (void)take_quantifier(scan);
}

static void read_start(struct scan *scan, bool is_start_of_all)
{
    end_literal(scan, false);
    scan->is_literal_at_start = is_start_of_all;
    if (begins_quantifier(peek(scan, 0)))
        give_up(scan);
}

static void read_end(struct scan *scan, bool is_end_of_all)
{
    end_literal(scan, is_end_of_all);
    if (begins_quantifier(peek(scan, 0)))
        give_up(scan);
}

/* \xh and \xhh; \x{...} and a bare \x are given up. */
static void read_hex(struct scan *scan)
{
    int high = bb_number_hex_digit(peek(scan, 0));
    int low = bb_number_hex_digit(peek(scan, 1));
    if (high < 0) {
        give_up(scan);
        return;
    }
    scan->at += low < 0 ? 1 : 2;
    read_literal(scan, (uint8_t)(low < 0 ? high : high * 16 + low));
}

/* The byte of \n and its like; 0 for other letters. */
static uint8_t control_byte(uint8_t letter)
{
    switch (letter) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'f':
        return '\f';
    case 'e':
        return 0x1b;
    case 'a':
        return 0x07;
    default:
        return 0;
    }
}

static bool is_letter(uint8_t byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z' && byte < 0x80;
}

static void read_escape(struct scan *scan)
{
    uint8_t byte = peek(scan, 1);
    bool is_cut = scan->at + 1 >= scan->pattern.size;
    scan->at += 2;
    if (is_cut || bb_number_is_digit(byte) || byte >= 0x80)
        give_up(scan);
    else if (!is_letter(byte))
        read_literal(scan, byte);
    else if (byte == 'x')
        read_hex(scan);
    else if (control_byte(byte) != 0)
        read_literal(scan, control_byte(byte));
    else if (strchr("dDwWsShHvVR", byte) != NULL)
        read_class(scan);
    else if (byte == 'b' || byte == 'B' || byte == 'Z')
        read_end(scan, false);
    else if (byte == 'A')
        read_start(scan, true);
    else if (byte == 'z')
        read_end(scan, true);
    else
        give_up(scan);
}

/* [:alpha:] inside a class. */
static void skip_posix_name(struct scan *scan)
{
    size_t at = scan->at + 2;
    while (at < scan->pattern.size &&
           (is_letter(scan->pattern.data[at]) || scan->pattern.data[at] == '^'))
        at++;
    if (at + 1 >= scan->pattern.size || scan->pattern.data[at] != ':' ||
        scan->pattern.data[at + 1] != ']')
        give_up(scan);
    scan->at = at + 2;
}

static void skip_class_part(struct scan *scan)
{
    uint8_t byte = peek(scan, 0);
    uint8_t next = peek(scan, 1);
    if (byte == '[' && (next == '.' || next == '='))
        give_up(scan);
    else if (byte == '[' && next == ':')
        skip_posix_name(scan);
    else if (byte == '\\') {
        if (next == 'Q' || next == 'E' || next == 'c')
            give_up(scan);
        scan->at += 2;
    } else
        scan->at++;
}

static void read_bracket_class(struct scan *scan)
{
    scan->at++;
    if (peek(scan, 0) == '^')
        scan->at++;
    if (peek(scan, 0) == ']')
        scan->at++;
    while (!is_over(scan) && peek(scan, 0) != ']')
        skip_class_part(scan);
    if (is_over(scan)) {
        give_up(scan);
        return;
    }
    scan->at++;
    read_class(scan);
}

static void read_branches(struct scan *scan);

/* (?i) and other options: i, s, - and m are understood. Stops at ) or :. */
static void read_options(struct scan *scan)
{
    bool is_on = true;
    for (; !is_over(scan); scan->at++) {
        uint8_t byte = peek(scan, 0);
        if (byte == ')' || byte == ':')
            return;
        if (byte == '-' && is_on)
            is_on = false;
        else if (byte == 'i')
            scan->options.ignores_case = is_on;
        else if (byte == 'm')
            scan->options.is_multiline = is_on;
        else if (byte != 's')
            give_up(scan);
    }
}

static void skip_group_name(struct scan *scan, uint8_t end)
{
    while (!is_over(scan) && peek(scan, 0) != end) {
        if (!is_letter(peek(scan, 0)) && !bb_number_is_digit(peek(scan, 0)) && peek(scan, 0) != '_')
            give_up(scan);
        scan->at++;
    }
    scan->at++;
}

/* After "(?": up to where the group's inside begins. True when it tests the surroundings, not bytes
 * of the match. A group with only options leaves the place at its ")". */
static bool read_group_head(struct scan *scan)
{
    uint8_t byte = peek(scan, 0);
    uint8_t next = peek(scan, 1);
    if (byte == ':' || byte == '>') {
        scan->at++;
    } else if (byte == '=' || byte == '!') {
        scan->at++;
        return true;
    } else if (byte == '<' && (next == '=' || next == '!')) {
        scan->at += 2;
        return true;
    } else if (byte == '<' || byte == '\'') {
        scan->at++;
        skip_group_name(scan, byte == '<' ? '>' : '\'');
    } else if (byte == 'P' && next == '<') {
        scan->at += 2;
        skip_group_name(scan, '>');
    } else {
        read_options(scan);
        if (peek(scan, 0) == ':')
            scan->at++;
    }
    return false;
}

/* A group with only options applies from here to the end of the group around it. */
static bool is_options_alone(const struct scan *scan, size_t open)
{
    for (size_t at = open + 2; at < scan->pattern.size; at++) {
        uint8_t byte = scan->pattern.data[at];
        if (byte == ')')
            return at > open + 2;
        if (!is_letter(byte) && byte != '-')
            return false;
    }
    return false;
}

static void read_group(struct scan *scan)
{
    size_t open = scan->at;
    struct options outside = scan->options;
    size_t groups = group_count(scan);
    bool is_around = false;
    if (scan->nesting == NESTING_MAX || peek(scan, 1) == '*') {
        give_up(scan);
        return;
    }
    scan->at++;
    if (peek(scan, 0) == '?') {
        scan->at++;
        if (is_options_alone(scan, open)) {
            read_options(scan);
            scan->at++;
            return;
        }
        is_around = read_group_head(scan);
    }
    scan->nesting++;
    read_branches(scan);
    scan->nesting--;
    scan->options = outside;
    if (is_over(scan) || peek(scan, 0) != ')') {
        give_up(scan);
        return;
    }
    scan->at++;
    if (take_quantifier(scan) == OPTIONAL || is_around)
        keep_groups(scan, groups);
}

static void read_atom(struct scan *scan)
{
    uint8_t byte = peek(scan, 0);
    switch (byte) {
    case '\\':
        read_escape(scan);
        return;
    case '[':
        read_bracket_class(scan);
        return;
    case '(':
        end_literal(scan, false);
        read_group(scan);
        return;
    case '.':
        scan->at++;
        read_class(scan);
        return;
    case '^':
        scan->at++;
        read_start(scan, !scan->options.is_multiline);
        return;
    case '$':
        scan->at++;
        read_end(scan, !scan->options.is_multiline);
        return;
    case '*':
    case '+':
    case '?':
    case '{': /* a literal brace is rare */
        give_up(scan);
        return;
    default:
        scan->at++;
        read_literal(scan, byte);
    }
}

static size_t shortest(const struct scan *scan, const struct draft_group *group)
{
    size_t size = SIZE_MAX;
    for (size_t i = 0; i < group->count; i++)
        if (piece_at(scan, group->first + i)->size < size)
            size = piece_at(scan, group->first + i)->size;
    return size;
}

/* Leaves one group of those from first on: the one whose shortest piece is longest. */
static void keep_best(struct scan *scan, size_t first)
{
    struct draft_group *groups = groups_of(scan);
    size_t count = group_count(scan);
    if (count <= first)
        return;
    size_t best = first;
    for (size_t i = first + 1; i < count; i++)
        if (shortest(scan, &groups[i]) > shortest(scan, &groups[best]))
            best = i;
    groups[first] = groups[best];
    keep_groups(scan, first + 1);
}

/* Makes one group of one for each of the alternatives, from first on. */
static void merge(struct scan *scan, size_t first, size_t branch_count)
{
    size_t count = group_count(scan);
    size_t merged = scan->pieces.size / sizeof(struct draft_piece);
    size_t piece_count = 0;
    for (size_t i = first; i < count; i++)
        piece_count += groups_of(scan)[i].count;
    if (count - first != branch_count || piece_count > ALTERNATIVES_MAX) {
        keep_groups(scan, first);
        return;
    }
    for (size_t i = first; i < count && scan->status == BB_OK; i++)
        for (size_t j = 0; j < groups_of(scan)[i].count; j++) {
            struct draft_piece copy = *piece_at(scan, groups_of(scan)[i].first + j);
            note(scan, bb_buf_append(&scan->pieces, &copy, sizeof(copy)));
        }
    keep_groups(scan, first);
    push_group(scan, merged, piece_count);
}

/* Up to the closing parenthesis or the end. */
static void read_branches(struct scan *scan)
{
    size_t first = group_count(scan);
    size_t branch_count = 1;
    size_t branch = first;
    for (;;) {
        while (!is_over(scan) && peek(scan, 0) != '|' && peek(scan, 0) != ')')
            read_atom(scan);
        end_literal(scan, false);
        if (is_over(scan) || peek(scan, 0) != '|')
            break;
        scan->at++;
        keep_best(scan, branch);
        branch = group_count(scan);
        branch_count++;
    }
    if (branch_count == 1 || scan->status != BB_OK)
        return;
    keep_best(scan, branch);
    merge(scan, first, branch_count);
}

static enum bb_status add_group(const struct scan *scan, const struct draft_group *group,
                                struct bb_piece_list *list)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; status == BB_OK && i < group->count; i++) {
        const struct draft_piece *draft = piece_at(scan, group->first + i);
        struct bb_piece piece = {.bytes =
                                     bb_bytes_of(scan->bytes.data + draft->offset, draft->size),
                                 .is_at_start = draft->is_at_start,
                                 .is_at_end = draft->is_at_end,
                                 .ignores_case = draft->ignores_case};
        status = bb_piece_list_add(list, &piece);
    }
    return status == BB_OK ? bb_piece_list_end_group(list) : status;
}

enum bb_status bb_regex_pieces(struct bb_bytes pattern, struct bb_piece_list *list)
{
    struct scan scan = {.pattern = pattern};
    read_branches(&scan);
    /* A NUL looks like the end to the readers above. */
    bool is_read = !scan.has_given_up && scan.at == pattern.size &&
                   (pattern.size == 0 || memchr(pattern.data, 0, pattern.size) == NULL);
    enum bb_status status = scan.status;
    for (size_t i = 0; status == BB_OK && is_read && i < group_count(&scan); i++)
        status = add_group(&scan, &groups_of(&scan)[i], list);
    bb_buf_deinit(&scan.bytes);
    bb_buf_deinit(&scan.pieces);
    bb_buf_deinit(&scan.groups);
    return status;
}
