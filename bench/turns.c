/* See turns.h. */
#include "bench/turns.h"

#include <math.h>
#include <stdlib.h>

#include "bench/die.h"
#include "bench/median.h"

static double time_of(const struct turns *turns, size_t side, size_t turn)
{
    return turns->times[turn * turns->side_count + side];
}

void turns_init(struct turns *turns, size_t side_count, size_t turn_count)
{
    *turns = (struct turns){.side_count = side_count, .turn_count = turn_count};
    turns->times = bench_allocate(side_count * turn_count * sizeof(turns->times[0]));
}

void turns_deinit(struct turns *turns)
{
    free(turns->times);
}

void turns_note(struct turns *turns, size_t side, size_t turn, double time)
{
    turns->times[turn * turns->side_count + side] = time;
}

size_t turns_side(size_t side_count, size_t turn, size_t place)
{
    return (turn + place) % side_count;
}

void turns_take(struct turns *turns, turns_slice *slice, void *context)
{
    for (size_t turn = 0; turn < turns->turn_count; turn++) {
        for (size_t place = 0; place < turns->side_count; place++) {
            size_t side = turns_side(turns->side_count, turn, place);
            turns_note(turns, side, turn, slice(context, side, turn));
        }
    }
}

/* The side's times, or, with a reference, their ratios to its times; returns the number of them. */
static size_t gather(const struct turns *turns, size_t side, const size_t *reference,
                     double *figures)
{
    size_t count = 0;
    for (size_t turn = 0; turn < turns->turn_count; turn++) {
        double time = time_of(turns, side, turn);
        double other = reference == NULL ? 1 : time_of(turns, *reference, turn);
        if (time > 0 && other > 0)
            figures[count++] = time / other;
    }
    return count;
}

static double median(const struct turns *turns, size_t side, const size_t *reference)
{
    double *figures = bench_allocate(turns->turn_count * sizeof(*figures));
    size_t count = gather(turns, side, reference, figures);
    double middle = count == 0 ? NAN : median_of(figures, count);
    free(figures);
    return middle;
}

double turns_median(const struct turns *turns, size_t side)
{
    return median(turns, side, NULL);
}

double turns_ratio(const struct turns *turns, size_t side, size_t reference)
{
    return median(turns, side, &reference);
}

double turns_mean(const struct turns *turns, size_t side)
{
    double sum = 0;
    size_t count = 0;
    for (size_t turn = 0; turn < turns->turn_count; turn++) {
        double time = time_of(turns, side, turn);
        sum += time;
        count += time > 0;
    }
    return count == 0 ? NAN : sum / (double)count;
}

double turns_least(const struct turns *turns, size_t side)
{
    double least = NAN;
    for (size_t turn = 0; turn < turns->turn_count; turn++) {
        double time = time_of(turns, side, turn);
        if (time > 0 && !(time >= least)) /* also true for NAN */
            least = time;
    }
    return least;
}
