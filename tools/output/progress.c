/* See progress.h. */
#include "tools/output/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"
#include "tools/output/process_reads.h"

#define DRAW_INTERVAL_NS UINT64_C(100000000)
#define DRAW_AFTER_TICKS 10
#define BAR_WIDTH        14

static struct number_text amount(const struct progress *progress, uint64_t value)
{
    return progress->is_bytes ? number_bytes(value) : number_grouped(value);
}

/* ", 12.3 MiB/s, 4 s left"; or without the last, if the total is not known. */
static void draw_rate(const struct progress *progress, uint64_t done, uint64_t ticks)
{
    double seconds = (double)ticks / 10;
    double rate = (double)done / seconds;
    if (done == 0)
        return;
    fprintf(stderr, ", %s/s", amount(progress, (uint64_t)rate).text);
    if (progress->total > done)
        fprintf(stderr, ", %.0f s left", (double)(progress->total - done) / rate);
}

static void draw_bar(const struct progress *progress, uint64_t done)
{
    double share = done >= progress->total ? 1 : (double)done / (double)progress->total;
    char bar[BAR_WIDTH + 1];
    int filled = (int)(share * BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    memset(bar + filled, '.', (size_t)(BAR_WIDTH - filled));
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f %%  %s of %s", progress->label, bar, 100 * share,
            amount(progress, done).text, amount(progress, progress->total).text);
}

static uint64_t work_done(struct progress *progress)
{
    uint64_t reads = 0;
    if (progress->counts_reads && process_reads(&reads))
        atomic_store_explicit(&progress->done, reads - progress->reads_before,
                              memory_order_relaxed);
    return atomic_load_explicit(&progress->done, memory_order_relaxed);
}

static void draw(struct progress *progress, uint64_t ticks)
{
    uint64_t done = work_done(progress);
    if (progress->total > 0)
        draw_bar(progress, done);
    else if (done > 0)
        fprintf(stderr, "\r%s: %s", progress->label, amount(progress, done).text);
    else
        fprintf(stderr, "\r%s: %llu s", progress->label, (unsigned long long)(ticks / 10));
    draw_rate(progress, done, ticks);
    fputs("\033[K", stderr);
    fflush(stderr);
}

static void run(void *argument)
{
    struct progress *progress = argument;
    bb_mutex_lock(&progress->mutex);
    for (uint64_t tick = 1; !progress->is_stopping; tick++) {
        bb_condvar_wait_for(&progress->stop, &progress->mutex, DRAW_INTERVAL_NS);
        if (progress->is_stopping || tick < DRAW_AFTER_TICKS)
            continue;
        draw(progress, tick);
        progress->has_drawn = true;
    }
    bb_mutex_unlock(&progress->mutex);
}

static void start(struct progress *progress)
{
    if (!isatty(STDERR_FILENO))
        return;
    bb_mutex_init(&progress->mutex);
    bb_condvar_init(&progress->stop);
    progress->is_running = bb_thread_create(&progress->thread, run, progress) == BB_OK;
    if (!progress->is_running) {
        bb_condvar_deinit(&progress->stop);
        bb_mutex_deinit(&progress->mutex);
    }
}

void progress_start(struct progress *progress, const char *label, uint64_t total, bool is_bytes)
{
    *progress = (struct progress){.label = label, .total = total, .is_bytes = is_bytes};
    start(progress);
}

void progress_start_reads(struct progress *progress, const char *label, uint64_t total)
{
    *progress = (struct progress){.label = label, .is_bytes = true};
    progress->counts_reads = process_reads(&progress->reads_before);
    progress->total = progress->counts_reads ? total : 0;
    start(progress);
}

void progress_next(struct progress *progress, const char *label)
{
    bool is_bytes = progress->is_bytes;
    progress_stop(progress);
    progress_start(progress, label, 0, is_bytes);
}

bool progress_follow(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    progress->total = total;
    atomic_store_explicit(&progress->done, done, memory_order_relaxed);
    return !interrupt_is_wanted();
}

void progress_stop(struct progress *progress)
{
    if (!progress->is_running)
        return;
    bb_mutex_lock(&progress->mutex);
    progress->is_stopping = true;
    bb_condvar_signal(&progress->stop);
    bb_mutex_unlock(&progress->mutex);
    bb_thread_join(&progress->thread);
    bb_condvar_deinit(&progress->stop);
    bb_mutex_deinit(&progress->mutex);
    progress->is_running = false;
    if (progress->has_drawn)
        fprintf(stderr, "\r\033[K");
}
