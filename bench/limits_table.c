/* See limits_table.h. */
#include "bench/limits_table.h"

#include <stdio.h>

#define TITLE_SIZE 64

void limits_table_steps(const char *phase)
{
    printf("%s: steps, ns\n", phase);
}

void limits_table_step(const char *name, double time)
{
    printf("  %-26s %8.0f\n", name, time);
}

void limits_table_rows(const char *phase, const char *what)
{
    char title[TITLE_SIZE];
    snprintf(title, sizeof(title), "%s: %s, ns", phase, what);
    printf("%-28s %8s %8s %8s %8s\n", title, "store", "limit", "ratio", "reads");
}

void limits_table_row(const char *name, double time, double limit, double reads)
{
    printf("  %-26s %8.0f %8.0f %8.2f %8.3f\n", name, time, limit, time / limit, reads);
    fflush(stdout);
}
