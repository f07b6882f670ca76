/* Do the counts of a selection agree? See selection.h. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/measure/selection.h"

static const char *const run_names[] = {
    [SELECTION_UNINDEXED] = "without indexes",
    [SELECTION_INDEXED] = "with indexes",
    [SELECTION_COUNTED] = "count with indexes",
};

static void check(struct selections *selections, const struct selection *selection,
                  enum selection_run_kind kind, const char *sum, uint64_t found, uint64_t expected)
{
    char text[400];
    selections->check_count++;
    if (found == expected)
        return;
    snprintf(text, sizeof(text), "%.150s, %s: %s: %" PRIu64 ", expected %" PRIu64, selection->where,
             run_names[kind], sum, found, expected);
    json_array_append_new(selections->mismatches, json_string(text));
}

static void check_run(struct selections *selections, const struct selection *selection,
                      enum selection_run_kind kind)
{
    const struct selection_run *run = &selection->runs[kind];
    const struct bb_select_account *account = &run->account;
    check(selections, selection, kind, "granules excluded + counted + read",
          account->granules_excluded + account->granules_counted + account->granules_read,
          account->granules);
    check(selections, selection, kind, "records matching less hidden",
          account->records_matching - account->records_hidden, account->records_returned);
    check(selections, selection, kind,
          "preads of data, indexes and newer versions, against the engine's",
          account->data_reads + account->index_reads + run->other_reads, run->engine_reads);
    if (run->has_system)
        check(selections, selection, kind, "preads of the engine, against the system's read calls",
              run->engine_reads, run->system.read_calls);
}

void selection_check(struct selections *selections, const struct selection *selection)
{
    const struct selection_run *all = &selection->runs[SELECTION_UNINDEXED];
    const struct selection_run *indexed = &selection->runs[SELECTION_INDEXED];
    const struct selection_run *counted = &selection->runs[SELECTION_COUNTED];
    check(selections, selection, SELECTION_INDEXED, "records", indexed->records, all->records);
    check(selections, selection, SELECTION_INDEXED, "hash of the records' keys", indexed->hash,
          all->hash);
    check(selections, selection, SELECTION_COUNTED, "records", counted->records, all->records);
    for (int kind = 0; kind < SELECTION_RUN_COUNT; kind++)
        check_run(selections, selection, (enum selection_run_kind)kind);
}
