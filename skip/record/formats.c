/* See formats.h. */
#include "skip/record/formats.h"

#include "base/assert.h"
#include "base/bytes.h"

static const struct bb_format *const FORMATS[] = {
    &bb_format_key,  &bb_format_value,  &bb_format_split,    &bb_format_csv,
    &bb_format_tsv,  &bb_format_json,   &bb_format_fixed,    &bb_format_clf,
    &bb_format_zeek, &bb_format_logfmt, &bb_format_callback,
};

const char bb_format_names[] = "key, value, split, csv, tsv, json, fixed, clf, zeek, logfmt";

const struct bb_format *bb_format_find(struct bb_bytes name)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(FORMATS); i++) {
        if (bb_bytes_equal(name, bb_bytes_of_text(FORMATS[i]->name)))
            return FORMATS[i];
    }
    return NULL;
}

enum bb_verbatim bb_formats_verbatim_always(const struct bb_definition *definition,
                                            uint8_t *ret_escape)
{
    (void)definition;
    (void)ret_escape;
    return BB_VERBATIM_ALWAYS;
}

enum bb_verbatim bb_formats_verbatim_never(const struct bb_definition *definition,
                                           uint8_t *ret_escape)
{
    (void)definition;
    (void)ret_escape;
    return BB_VERBATIM_NEVER;
}

enum bb_verbatim bb_formats_verbatim_backslash(const struct bb_definition *definition,
                                               uint8_t *ret_escape)
{
    (void)definition;
    *ret_escape = '\\';
    return BB_VERBATIM_UNESCAPED;
}

bool bb_formats_share_pass(const struct bb_definition *a, const struct bb_definition *b)
{
    (void)a;
    (void)b;
    return true;
}
