/* See number_text.h. */
#include "tools/output/number_text.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/assert.h"

struct number_text number_grouped(uint64_t number)
{
    struct number_text result = {""};
    char digits[24] = "";
    size_t count = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            result.text[length++] = ',';
        result.text[length++] = digits[i];
    }
    return result;
}

struct number_text number_of(uint64_t number, const char *one, const char *many)
{
    struct number_text result = {""};
    snprintf(result.text, sizeof(result.text), "%.26s %.16s", number_grouped(number).text,
             number == 1 ? one : many);
    return result;
}

struct number_text number_bytes(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct number_text result = {""};
    if (bytes < 1024) {
        snprintf(result.text, sizeof(result.text), "%" PRIu64 " B", bytes);
        return result;
    }
    double scaled = (double)bytes / 1024;
    size_t unit = 0;
    while (scaled >= 1024 && unit + 1 < BB_ARRAY_LENGTH(units)) {
        scaled /= 1024;
        unit++;
    }
    snprintf(result.text, sizeof(result.text), "%.1f %s", scaled, units[unit]);
    return result;
}

struct number_text number_rate(double rate)
{
    struct number_text result = {"-"};
    if (!isnan(rate))
        snprintf(result.text, sizeof(result.text), rate != 0 && rate < 1e-3 ? "%.3e" : "%.5f",
                 rate);
    return result;
}

struct number_text number_duration(uint64_t nanoseconds)
{
    struct number_text result = {""};
    double n = (double)nanoseconds;
    if (n < 1e3)
        snprintf(result.text, sizeof(result.text), "%.0f ns", n);
    else if (n < 1e6)
        snprintf(result.text, sizeof(result.text), "%.1f us", n / 1e3);
    else if (n < 1e9)
        snprintf(result.text, sizeof(result.text), "%.1f ms", n / 1e6);
    else
        snprintf(result.text, sizeof(result.text), "%.2f s", n / 1e9);
    return result;
}
