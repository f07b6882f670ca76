/* See order.h. */
#include "tests/leveldb/order.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep(void *state)
{
    (void)state;
}

static int sign_of(long long difference)
{
    return (difference > 0) - (difference < 0);
}

static int compare_bytes(const char *a, size_t alen, const char *b, size_t blen)
{
    int order = memcmp(a, b, alen < blen ? alen : blen);
    return order != 0 ? order : sign_of((long long)alen - (long long)blen);
}

static int compare_reverse(void *state, const char *a, size_t alen, const char *b, size_t blen)
{
    (void)state;
    return compare_bytes(b, blen, a, alen);
}

static const char *name_reverse(void *state)
{
    (void)state;
    return "test.reverse";
}

leveldb_comparator_t *order_create_reverse(void)
{
    return leveldb_comparator_create(NULL, keep, compare_reverse, name_reverse);
}

static int compare_by_length(void *state, const char *a, size_t alen, const char *b, size_t blen)
{
    __atomic_add_fetch((long *)state, 1, __ATOMIC_RELAXED);
    return alen != blen ? sign_of((long long)alen - (long long)blen)
                        : compare_bytes(a, alen, b, blen);
}

static const char *name_by_length(void *state)
{
    (void)state;
    return "test.by-length";
}

leveldb_comparator_t *order_create_by_length(long *count)
{
    return leveldb_comparator_create(count, keep, compare_by_length, name_by_length);
}

static int compare_caseless(void *state, const char *a, size_t alen, const char *b, size_t blen)
{
    (void)state;
    for (size_t i = 0; i < alen && i < blen; i++) {
        int difference = tolower((unsigned char)a[i]) - tolower((unsigned char)b[i]);
        if (difference != 0)
            return difference;
    }
    return sign_of((long long)alen - (long long)blen);
}

static const char *name_caseless(void *state)
{
    (void)state;
    return "test.caseless";
}

leveldb_comparator_t *order_create_caseless(void)
{
    return leveldb_comparator_create(NULL, keep, compare_caseless, name_caseless);
}

static uint64_t number_of(const char *bytes, size_t size)
{
    uint64_t number = 0;
    if (size != sizeof(number)) {
        printf("a comparator was shown a key of %zu bytes\n", size);
        fflush(stdout);
        exit(1);
    }
    memcpy(&number, bytes, sizeof(number));
    return number;
}

static int compare_numbers(void *state, const char *a, size_t alen, const char *b, size_t blen)
{
    uint64_t first = number_of(a, alen);
    uint64_t second = number_of(b, blen);
    (void)state;
    return (first > second) - (first < second);
}

static const char *name_numbers(void *state)
{
    (void)state;
    return "test.numbers";
}

leveldb_comparator_t *order_create_numbers(void)
{
    return leveldb_comparator_create(NULL, keep, compare_numbers, name_numbers);
}
