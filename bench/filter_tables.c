/* Prints the measured tables of docs/filters.md.
 *
 *     filter_tables [--seed N] [--positives N] [--large N] [rates] [probes] [formulas] [large]
 *
 * Without a name of a table: all. Exit status 1 when a figure is outside of its bounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/filter_tables.h"

struct settings {
    uint64_t seed;
    uint64_t positives;
    uint64_t large;
    bool rates, probes, formulas, large_sets;
};

static void usage(void)
{
    fputs("usage: filter_tables [--seed N] [--positives N] [--large N] [rates] [probes] [formulas] "
          "[large]\n"
          "  --seed N       of the keys (1)\n"
          "  --positives N  non-member keys expected to pass in each cell of rates (1200)\n"
          "  --large N      keys of the largest set (10000000)\n",
          stderr);
    exit(2);
}

static uint64_t number(const char *text)
{
    char *end = NULL;
    uint64_t value = text == NULL ? 0 : strtoull(text, &end, 10);
    if (value == 0 || *end != '\0')
        usage();
    return value;
}

static bool set_number(struct settings *settings, const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0)
        settings->seed = number(value);
    else if (strcmp(name, "--positives") == 0)
        settings->positives = number(value);
    else if (strcmp(name, "--large") == 0)
        settings->large = number(value);
    else
        return false;
    return true;
}

static void set_table(struct settings *settings, const char *name)
{
    if (strcmp(name, "rates") == 0)
        settings->rates = true;
    else if (strcmp(name, "probes") == 0)
        settings->probes = true;
    else if (strcmp(name, "formulas") == 0)
        settings->formulas = true;
    else if (strcmp(name, "large") == 0)
        settings->large_sets = true;
    else
        usage();
}

int main(int argc, char **argv)
{
    struct settings settings = {.seed = 1, .positives = 1200, .large = 10000000};
    for (int i = 1; i < argc; i++) {
        if (set_number(&settings, argv[i], argv[i + 1]))
            i++;
        else
            set_table(&settings, argv[i]);
    }
    bool all = !settings.rates && !settings.probes && !settings.formulas && !settings.large_sets;
    bool fine = true;
    if (all || settings.rates)
        fine &= filter_tables_rates(settings.seed, settings.positives);
    if (all || settings.probes)
        fine &= filter_tables_probes(settings.seed, 10000000);
    if (all || settings.formulas)
        fine &= filter_tables_formulas(settings.seed);
    if (all || settings.large_sets)
        fine &= filter_tables_large(settings.seed, settings.large);
    return fine ? 0 : 1;
}
