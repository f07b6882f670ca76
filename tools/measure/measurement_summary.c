/* The short report, which ends with a headline. See measurement_report.h. */
#include <math.h>
#include <stdio.h>

#include "tools/output/bar_chart.h"
#include "tools/measure/measurement_report.h"
#include "tools/output/number_text.h"

/* One figure of two runs, without filters (off) and with filters (on). */
struct pair {
    double off;
    double on;
    double wasted; /* part of `on` */
    struct number_text off_text;
    struct number_text on_text;
};

static const struct measurement_run *run_of(const struct measurement *measurement, size_t index)
{
    return &measurement->runs[index];
}

static struct pair pair_of_counts(uint64_t off, uint64_t on)
{
    return (struct pair){.off = (double)off,
                         .on = (double)on,
                         .off_text = number_grouped(off),
                         .on_text = number_grouped(on)};
}

static struct pair pair_of_times(const struct measurement_run *off,
                                 const struct measurement_run *on)
{
    uint64_t without = off->lookups == 0 ? 0 : off->nanoseconds / off->lookups;
    uint64_t with = on->lookups == 0 ? 0 : on->nanoseconds / on->lookups;
    return (struct pair){.off = (double)without,
                         .on = (double)with,
                         .off_text = number_duration(without),
                         .on_text = number_duration(with)};
}

static void write_pair(struct output *out, const char *title, const struct pair *pair)
{
    double largest = pair->off > pair->on ? pair->off : pair->on;
    output_print(out, "%s\n", title);
    bar_chart_print(out, "without filters", pair->off, 0, largest, pair->off_text.text);
    bar_chart_print(out, "with filters", pair->on, pair->wasted, largest, pair->on_text.text);
}

static void write_bars(const struct measurement *m, struct output *out)
{
    const struct measurement_run *off = run_of(m, MEASUREMENT_OFF_COLD);
    const struct measurement_run *on = run_of(m, MEASUREMENT_ON_COLD);
    struct pair requests = pair_of_counts(off->reads.block_requests, on->reads.block_requests);
    struct pair reads = pair_of_counts(off->reads.block_reads, on->reads.block_reads);
    struct pair cold = pair_of_times(off, on);
    struct pair warm =
        pair_of_times(run_of(m, MEASUREMENT_OFF_WARM), run_of(m, MEASUREMENT_ON_WARM));
    requests.wasted = (double)(on->wasted_absent + on->wasted_present);
    write_pair(out, "block requests (! wasted: the block did not hold the key)", &requests);
    write_pair(out, "block reads, beginning with a cold cache", &reads);
    write_pair(out, "time per lookup, beginning with a cold cache", &cold);
    write_pair(out, "time per lookup, warm cache", &warm);
}

/* The percentage of block requests that the filters avoided. Without filters, every visit to a
 * table is a request. */
static double share_avoided(const struct measurement *m)
{
    uint64_t all = run_of(m, MEASUREMENT_OFF_COLD)->reads.block_requests;
    uint64_t avoided = run_of(m, MEASUREMENT_ON_COLD)->reads.avoided_requests;
    return all == 0 ? 0 : 100 * (double)avoided / (double)all;
}

static void write_speed(const struct measurement *m, struct output *out)
{
    double off = (double)run_of(m, MEASUREMENT_OFF_WARM)->nanoseconds;
    double on = (double)run_of(m, MEASUREMENT_ON_WARM)->nanoseconds;
    if (on > 0 && off >= on)
        output_print(out, "lookups %.1f x faster", off / on);
    else if (off > 0)
        output_print(out, "lookups %.1f x slower", on / off);
}

static void write_headline(const struct measurement *m, struct output *out)
{
    const struct measurement_run *on = run_of(m, MEASUREMENT_ON_COLD);
    uint64_t all = run_of(m, MEASUREMENT_OFF_COLD)->reads.block_requests;
    output_print(out, "\nfilters avoided %.1f %% of %s block requests; ", share_avoided(m),
                 number_grouped(all).text);
    write_speed(m, out);
    output_print(out, ";\n");
    if (on->absent == 0)
        output_print(out, "no key was absent, so the filters had no wasted request to avoid\n");
    else if (m->target_wasted_reads > 0)
        output_print(out, "waste %s per absent key, of %s allowed\n",
                     number_rate(measurement_wasted_rate(on)).text,
                     number_rate(m->target_wasted_reads).text);
    else
        output_print(out, "waste %s per absent key; no target is set\n",
                     number_rate(measurement_wasted_rate(on)).text);
}

static void write_checks(const struct measurement_checks *checks, struct output *out)
{
    size_t differing = 0;
    for (size_t i = 0; i < checks->count; i++)
        differing += !checks->list[i].is_ok;
    output_print(out, "accounting: %zu sums, ", checks->count);
    if (differing == 0)
        output_print(out, "all agree to the unit (--details lists them)\n");
    else
        output_print(out, "%zu DIFFER\n", differing);
}

void measurement_summary_write(const struct measurement *measurement,
                               const struct measurement_checks *checks, struct output *out)
{
    write_bars(measurement, out);
    write_headline(measurement, out);
    write_checks(checks, out);
}
