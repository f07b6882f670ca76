/* Horizontal bars for people, in a terminal of 80 columns: a label, a bar, a figure. */
#ifndef BB_TOOLS_OUTPUT_BAR_CHART_H
#define BB_TOOLS_OUTPUT_BAR_CHART_H

#include "tools/output/output.h"

/* Prints one bar. value: at most `largest`, which fills the whole width; a value above 0 gets at
 * least one character. marked: the last part of the value, drawn with another character. */
void bar_chart_print(struct output *out, const char *label, double value, double marked,
                     double largest, const char *figure);

#endif
