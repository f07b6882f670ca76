/* See probe.h. */
#include "bench/probe.h"

#include "bench/thread_clock.h"

double probe_slice(void *probes, size_t side, size_t turn)
{
    const struct probe *probe = (const struct probe *)probes + side;
    (void)turn;
    if (probe->ask == NULL || !bb_cpu_has(probe->cpu))
        return 0;
    if (probe->use != NULL)
        probe->use(probe->subject, probe->cpu);
    probe->ask(probe->subject);
    double start = thread_clock_now();
    probe->ask(probe->subject);
    return (thread_clock_now() - start) / (double)probe->question_count;
}
