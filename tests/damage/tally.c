/* See tally.h. */
#include "tests/damage/tally.h"

#include <inttypes.h>
#include <stdio.h>

#define ANY (-1)

void tally_add(struct tally *tally, const struct damage *damage, enum outcome outcome)
{
    tally->counts[damage->end][damage->file_kind][damage->kind][outcome]++;
}

static bool matches(int wanted, int number)
{
    return wanted == ANY || wanted == number;
}

static uint64_t sum(const struct tally *tally, int end, int file, int kind, enum outcome outcome)
{
    uint64_t count = 0;
    for (int i = 0; i < STORE_ENDS * IMAGE_KINDS * DAMAGE_KINDS; i++) {
        int e = i / (IMAGE_KINDS * DAMAGE_KINDS);
        int f = i / DAMAGE_KINDS % IMAGE_KINDS;
        int k = i % DAMAGE_KINDS;
        if (matches(end, e) && matches(file, f) && matches(kind, k))
            count += tally->counts[e][f][k][outcome];
    }
    return count;
}

static void print_row(const struct tally *tally, const char *engine, const char *what, int end,
                      int file, int kind)
{
    uint64_t total = 0;
    for (int outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++)
        total += sum(tally, end, file, kind, (enum outcome)outcome);
    if (total == 0)
        return;
    printf("| %s | %s | %" PRIu64 " |", engine, what, total);
    for (int outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++)
        printf(" %" PRIu64 " |", sum(tally, end, file, kind, (enum outcome)outcome));
    printf("\n");
}

void tally_print(const struct tally *tally, const char *engine)
{
    printf("| engine | damaged | damages |");
    for (int outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++)
        printf(" %s |", outcome_name((enum outcome)outcome));
    printf("\n|---|---|---|");
    for (int outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++)
        printf("---|");
    printf("\n");
    print_row(tally, engine, "all", ANY, ANY, ANY);
    for (int file = 0; file < IMAGE_KINDS; file++)
        print_row(tally, engine, image_kind_name((enum image_kind)file), ANY, file, ANY);
    for (int kind = 0; kind < DAMAGE_KINDS; kind++)
        print_row(tally, engine, damage_kind_name((enum damage_kind)kind), ANY, ANY, kind);
    for (int end = 0; end < STORE_ENDS; end++)
        print_row(tally, engine, store_end_name((enum store_end)end), end, ANY, ANY);
}

bool tally_is_permitted(const struct engine *engine, const struct damage *damage,
                        enum outcome outcome)
{
    bool is_cut = damage->kind == DAMAGE_CUT;
    if (!engine->is_ours)
        return true;
    switch (outcome) {
    case OUTCOME_TAIL_SILENT: /* no mode drops a part of a record silently */
        return is_cut;
    case OUTCOME_END_SILENT: /* cut at the end of a record, it equals the log of an earlier kill */
        return is_cut && damage->end != STORE_CLOSED;
    case OUTCOME_LOST_REPORTED:
        return !engine->is_strict;
    case OUTCOME_REFUSED:
    case OUTCOME_READ_ERROR:
    case OUTCOME_VERIFY:
    case OUTCOME_NO_EFFECT:
        return true;
    case OUTCOME_NONE:
    case OUTCOME_LOST_SILENT:
    case OUTCOME_WRONG_SILENT:
    case OUTCOME_DIED:
        break;
    }
    return false;
}
