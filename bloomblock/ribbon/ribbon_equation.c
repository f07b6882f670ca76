/* The constants of equations. */
#include "bloomblock/ribbon/ribbon_equation.h"

const struct bb_ribbon_factors bb_ribbon_factors = {.tweak = BB_RIBBON_TWEAK_FACTOR,
                                                    .start = BB_RIBBON_START_FACTOR,
                                                    .coefficient = BB_RIBBON_COEFFICIENT_FACTOR};
