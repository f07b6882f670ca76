/* See regex.h. */
#include "skip/condition/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/alloc.h"
#include "base/status.h"

/* Limits of backtracking and nesting without JIT. By default pcre2 limits the depth only by the
 * number of steps. */
#define DEPTH_MAX       10000
#define HEAP_KIB_MAX    (16 << 10)
#define JIT_STACK_FIRST (32 << 10)
#define JIT_STACK_MAX   (512 << 10)
#define MESSAGE_SIZE    128

struct bb_regex {
    pcre2_code *code;
};

struct bb_regex_run {
    pcre2_general_context *general;
    pcre2_match_context *context;
    pcre2_match_data *data;
    pcre2_jit_stack *stack;
};

static void *take_memory(PCRE2_SIZE size, void *unused)
{
    (void)unused;
    return bb_alloc(size);
}

static void give_memory(void *memory, void *unused)
{
    (void)unused;
    bb_free(memory);
}

static enum bb_status fail_memory(void)
{
    return bb_fail(BB_NO_MEMORY, "no memory for a regular expression");
}

static enum bb_status fail_compile(int error, PCRE2_SIZE offset)
{
    PCRE2_UCHAR message[MESSAGE_SIZE] = "";
    if (error == PCRE2_ERROR_HEAP_FAILED || error == PCRE2_ERROR_NOMEMORY)
        return fail_memory();
    (void)pcre2_get_error_message(error, message, sizeof(message));
    return bb_fail(error == PCRE2_ERROR_PATTERN_TOO_LARGE ? BB_TOO_LARGE : BB_INVALID,
                   "regular expression: at byte %zu of the pattern: %s", (size_t)offset,
                   (const char *)message);
}

/* If the system forbids code that is generated at run time, patterns are interpreted. */
static enum bb_status compile(struct bb_bytes pattern, pcre2_general_context *general,
                              pcre2_code **ret_code)
{
    pcre2_compile_context *context = pcre2_compile_context_create(general);
    if (context == NULL)
        return fail_memory();
    (void)pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    (void)pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
    (void)pcre2_set_parens_nest_limit(context, BB_REGEX_NESTING_MAX);
    int error = 0;
    PCRE2_SIZE offset = 0;
    uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_DOLLAR_ENDONLY;
    const uint8_t *text = pattern.size == 0 ? (const uint8_t *)"" : pattern.data;
    pcre2_code *code = pcre2_compile(text, pattern.size, options, &error, &offset, context);
    pcre2_compile_context_free(context);
    if (code == NULL)
        return fail_compile(error, offset);
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    *ret_code = code;
    return BB_OK;
}

enum bb_status bb_regex_create(struct bb_bytes pattern, struct bb_regex **ret_regex)
{
    if (pattern.size > BB_REGEX_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "a regular expression of %zu bytes; the limit is %u",
                       pattern.size, BB_REGEX_SIZE_MAX);
    struct bb_regex *regex = bb_alloc_zeroed(1, sizeof(*regex));
    pcre2_general_context *general = pcre2_general_context_create(take_memory, give_memory, NULL);
    enum bb_status status = BB_OK;
    if (regex == NULL || general == NULL)
        status = fail_memory();
    else
        status = compile(pattern, general, &regex->code);
    pcre2_general_context_free(general);
    if (status != BB_OK) {
        bb_free(regex);
        return status;
    }
    *ret_regex = regex;
    return BB_OK;
}

void bb_regex_destroy(struct bb_regex *regex)
{
    if (regex == NULL)
        return;
    pcre2_code_free(regex->code);
    bb_free(regex);
}

enum bb_status bb_regex_run_create(struct bb_regex_run **ret_run)
{
    struct bb_regex_run *run = bb_alloc_zeroed(1, sizeof(*run));
    if (run == NULL)
        return fail_memory();
    run->general = pcre2_general_context_create(take_memory, give_memory, NULL);
    if (run->general != NULL) {
        run->context = pcre2_match_context_create(run->general);
        run->data = pcre2_match_data_create(1, run->general);
        /* Without a separate stack, JIT has 32 KiB of the thread's stack. */
        run->stack = pcre2_jit_stack_create(JIT_STACK_FIRST, JIT_STACK_MAX, run->general);
    }
    if (run->context == NULL || run->data == NULL) {
        bb_regex_run_destroy(run);
        return fail_memory();
    }
    (void)pcre2_set_depth_limit(run->context, DEPTH_MAX);
    (void)pcre2_set_heap_limit(run->context, HEAP_KIB_MAX);
    pcre2_jit_stack_assign(run->context, NULL, run->stack);
    *ret_run = run;
    return BB_OK;
}

void bb_regex_run_destroy(struct bb_regex_run *run)
{
    if (run == NULL)
        return;
    pcre2_jit_stack_free(run->stack);
    pcre2_match_data_free(run->data);
    pcre2_match_context_free(run->context);
    pcre2_general_context_free(run->general);
    bb_free(run);
}

static uint32_t steps_for(size_t size)
{
    if (size > (UINT32_MAX - BB_REGEX_STEPS) / BB_REGEX_STEPS_PER_BYTE)
        return UINT32_MAX;
    return (uint32_t)(BB_REGEX_STEPS + size * BB_REGEX_STEPS_PER_BYTE);
}

static enum bb_status fail_match(int error, size_t size)
{
    PCRE2_UCHAR message[MESSAGE_SIZE] = "";
    if (error == PCRE2_ERROR_NOMEMORY)
        return fail_memory();
    (void)pcre2_get_error_message(error, message, sizeof(message));
    return bb_fail(BB_TOO_LARGE,
                   "regular expression: gave up on a value of %zu bytes: %s; a pattern without "
                   "nested repetitions takes fewer steps",
                   size, (const char *)message);
}

enum bb_status bb_regex_match(const struct bb_regex *regex, struct bb_regex_run *run,
                              struct bb_bytes text, bool *ret_is_match)
{
    const uint8_t *data = text.size == 0 ? (const uint8_t *)"" : text.data;
    (void)pcre2_set_match_limit(run->context, steps_for(text.size));
    int result = pcre2_match(regex->code, data, text.size, 0, 0, run->data, run->context);
    if (result < 0 && result != PCRE2_ERROR_NOMATCH)
        return fail_match(result, text.size);
    *ret_is_match = result >= 0;
    return BB_OK;
}
