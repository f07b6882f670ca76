/* Measurements of sides that take turns. On a shared processor, or with a changing clock, speed may
 * double a second later, which distorts sides that are measured one after the other. In a turn
 * every side does a short slice of its work, so that a disturbance affects its neighbours too. The
 * ratio of two sides is taken within each turn, and the median of the turns' ratios is the result.
 *
 *     turn        1        2        3     ...
 *            A  B  C  B  C  A  C  A  B         each turn begins with another side
 *
 * A time of 0 means that the side did no work in that turn, which its figures then ignore.
 */
#ifndef BB_BENCH_TURNS_H
#define BB_BENCH_TURNS_H

#include <stddef.h>

struct turns {
    size_t side_count;
    size_t turn_count;
    double *times; /* of all sides in one turn, then in the next; of one operation */
};

/* One slice of a side's work; returns the time of one operation. */
typedef double turns_slice(void *context, size_t side, size_t turn);

/* All times are 0. Ends the process when memory runs out. Owned: turns_deinit. */
void turns_init(struct turns *turns, size_t side_count, size_t turn_count);
void turns_deinit(struct turns *turns);

/* Takes all turns. */
void turns_take(struct turns *turns, turns_slice *slice, void *context);
/* For callers that measure times themselves. */
void turns_note(struct turns *turns, size_t side, size_t turn, double time);
/* Which side a turn has in this place. */
size_t turns_side(size_t side_count, size_t turn, size_t place);

/* Over the turns; NAN without any. */
double turns_median(const struct turns *turns, size_t side);
double turns_mean(const struct turns *turns, size_t side);
double turns_least(const struct turns *turns, size_t side);
/* Median of the ratio of the side's time to another side's in the same turn. */
double turns_ratio(const struct turns *turns, size_t side, size_t reference);

#endif
