/* See bar_chart.h. */
#include "tools/output/bar_chart.h"

#include <string.h>

#define BAR_WIDTH 40

/* Columns of a value; rounded up, so that no value above 0 disappears. */
static size_t columns_of(double value, double largest)
{
    double columns = largest > 0 ? value / largest * BAR_WIDTH : 0;
    size_t whole = (size_t)columns;
    whole += columns > (double)whole;
    return whole < BAR_WIDTH ? whole : BAR_WIDTH;
}

void bar_chart_print(struct output *out, const char *label, double value, double marked,
                     double largest, const char *figure)
{
    char bar[BAR_WIDTH + 1];
    size_t width = columns_of(value, largest);
    size_t tail = columns_of(marked, largest);
    tail = tail < width ? tail : width;
    memset(bar, '#', width);
    memset(bar + width - tail, '!', tail);
    bar[width] = '\0';
    output_print(out, "  %-17s %-*s %s\n", label, BAR_WIDTH, bar, figure);
}
