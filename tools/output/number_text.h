/* Numbers for people. Each function returns its text by value, so that it can be an argument of a
 * print call. */
#ifndef BB_TOOLS_OUTPUT_NUMBER_TEXT_H
#define BB_TOOLS_OUTPUT_NUMBER_TEXT_H

#include <stdint.h>

struct number_text {
    char text[48];
};

/* 1,234,567 */
struct number_text number_grouped(uint64_t number);
/* 1 key, 2,000 keys. one, many: the noun, at most 16 bytes. */
struct number_text number_of(uint64_t number, const char *one, const char *many);
/* 512 B, 4.0 KiB, 13.7 MiB */
struct number_text number_bytes(uint64_t bytes);
/* 0.0123, 1.2e-05; "-" for NaN */
struct number_text number_rate(double rate);
/* 1.23 s, 45.6 ms, 789 us, 12 ns */
struct number_text number_duration(uint64_t nanoseconds);

#endif
