/* See attribute_text.h. */
#include "tools/records/attribute_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"

#define NANOSECONDS INT64_C(1000000000)

struct time_text time_text_fixed(int64_t nanoseconds)
{
    struct time_text made;
    struct tm day = {0};
    int64_t fraction = nanoseconds % NANOSECONDS;
    time_t seconds = (time_t)(nanoseconds / NANOSECONDS);
    if (fraction < 0) {
        fraction += NANOSECONDS;
        seconds--;
    }
    gmtime_r(&seconds, &day);
    size_t size = strftime(made.text, sizeof(made.text), "%Y-%m-%dT%H:%M:%S", &day);
    snprintf(made.text + size, sizeof(made.text) - size, ".%09" PRId64 "Z", fraction);
    return made;
}

struct time_text time_text_of(int64_t nanoseconds)
{
    struct time_text made = time_text_fixed(nanoseconds);
    size_t size = strlen(made.text) - 1;
    while (made.text[size - 1] == '0')
        size--;
    size -= made.text[size - 1] == '.';
    memcpy(made.text + size, "Z", 2);
    return made;
}

/* The shortest of the texts that read back to the same number. */
static struct time_text real_text(double number)
{
    struct time_text made;
    /* 15 digits without zeros at the end are the shortest text, except for subnormal numbers. */
    for (int digits = fabs(number) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(made.text, sizeof(made.text), "%.*g", digits, number);
        if (strtod(made.text, NULL) == number)
            break;
    }
    return made;
}

static bool is_number(const struct bb_attribute *attribute)
{
    return attribute->type == BB_ATTRIBUTE_I64 || attribute->type == BB_ATTRIBUTE_U64 ||
           (attribute->type == BB_ATTRIBUTE_F64 && isfinite(attribute->as.f64));
}

/* Of every type but bytes. */
static struct time_text text_of(const struct bb_attribute *attribute)
{
    struct time_text made;
    switch (attribute->type) {
    case BB_ATTRIBUTE_TIME:
        return time_text_of(attribute->as.i64);
    case BB_ATTRIBUTE_F64:
        return real_text(attribute->as.f64);
    case BB_ATTRIBUTE_U64:
        snprintf(made.text, sizeof(made.text), "%" PRIu64, attribute->as.u64);
        return made;
    default:
        snprintf(made.text, sizeof(made.text), "%" PRId64, attribute->as.i64);
        return made;
    }
}

void attribute_write_tsv(struct output *out, const struct bb_attribute *attribute)
{
    if (attribute->state != BB_ATTRIBUTE_PRESENT)
        output_write(out, bb_bytes_of_text("\\N"));
    else if (attribute->type == BB_ATTRIBUTE_BYTES)
        output_bytes(out, attribute->as.bytes, false);
    else
        output_write(out, bb_bytes_of_text(text_of(attribute).text));
}

/* The text between the braces of an object with one field. */
void bytes_write_json(struct output *out, const char *name, struct bb_bytes bytes)
{
    json_t *field = json_object();
    json_set_bytes(field, name, bytes);
    char *text = json_dumps(field, JSON_COMPACT);
    json_decref(field);
    size_t size = text == NULL ? 0 : strlen(text);
    if (size <= 2)
        out->has_failed = true;
    else
        output_write(out, bb_bytes_of(text + 1, size - 2));
    free(text);
}

void attribute_write_json(struct output *out, const char *name,
                          const struct bb_attribute *attribute)
{
    if (attribute->state != BB_ATTRIBUTE_PRESENT)
        output_print(out, "\"%s\":null", name);
    else if (attribute->type == BB_ATTRIBUTE_BYTES)
        bytes_write_json(out, name, attribute->as.bytes);
    else if (is_number(attribute))
        output_print(out, "\"%s\":%s", name, text_of(attribute).text);
    else
        output_print(out, "\"%s\":\"%s\"", name, text_of(attribute).text);
}
