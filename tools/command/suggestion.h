/* The known word that a mistyped one probably means. */
#ifndef BB_TOOLS_COMMAND_SUGGESTION_H
#define BB_TOOLS_COMMAND_SUGGESTION_H

#include <stddef.h>

/* Collects candidates for one mistyped word. */
struct suggestion {
    const char *word; /* borrowed */
    size_t word_size;
    const char *best; /* borrowed from the candidates; NULL: no candidate is near enough */
    size_t best_distance;
};

void suggestion_init(struct suggestion *suggestion, const char *word, size_t word_size);
/* Takes the candidate if it is nearer than the best one so far: fewer characters are inserted,
 * removed, replaced or exchanged with a neighbour, and at most one in three. */
void suggestion_add(struct suggestion *suggestion, const char *candidate);

/* For a message: "; did you mean PREFIXbest?", or "". Borrowed until the thread's next call. */
const char *suggestion_text(const struct suggestion *suggestion, const char *prefix);

#endif
