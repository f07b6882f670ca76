/* See die.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* the program's name */
#endif

#include "bench/die.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void bench_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    fflush(NULL);
    _Exit(1);
}

void bench_die_of(enum bb_status status)
{
    bench_die("%s: %s", bb_status_name(status), bb_error_last()->message);
}

void *bench_allocate(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL)
        bench_die("no memory for %zu bytes", size);
    return memory;
}
