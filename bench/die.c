/* The end of a run that failed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/engine.h"

void bench_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bloomblock-compare: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    fflush(NULL);
    _Exit(1);
}
