/* Sides measured by turns. A processor that others use too, or whose clock wanders, may be twice as
 * fast a second later: sides that are measured one after the other differ by that. In a turn every
 * side does a short slice of its work, so that what disturbs one disturbs its neighbours; the ratio
 * of two sides is taken within each turn, and the median of the turns' ratios is the one that
 * counts.
 *
 *     turn        1        2        3     ...
 *            A  B  C  B  C  A  C  A  B         each turn begins with another side
 *
 * A time of 0: this side did nothing in that turn, which then counts for none of its figures.
 */
#ifndef BB_BENCH_TURNS_H
#define BB_BENCH_TURNS_H

#include <stddef.h>

struct turns {
    size_t side_count;
    size_t turn_count;
    double *times; /* of a turn all sides, then those of the next; of one operation */
};

/* One slice of a side's work: what one operation of it took. */
typedef double turns_slice(void *context, size_t side, size_t turn);

/* All times are 0. Ends the process when memory runs out. Owned: turns_deinit. */
void turns_init(struct turns *turns, size_t side_count, size_t turn_count);
void turns_deinit(struct turns *turns);

/* Takes all turns. */
void turns_take(struct turns *turns, turns_slice *slice, void *context);
/* For those who take them themselves. */
void turns_note(struct turns *turns, size_t side, size_t turn, double time);
/* Which side a turn has in this place. */
size_t turns_side(size_t side_count, size_t turn, size_t place);

/* Over the turns; NAN: there is none. */
double turns_median(const struct turns *turns, size_t side);
double turns_mean(const struct turns *turns, size_t side);
double turns_least(const struct turns *turns, size_t side);
/* Median of the side's time by that of another one in the same turn. */
double turns_ratio(const struct turns *turns, size_t side, size_t reference);

#endif
