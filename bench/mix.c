/* See mix.h. */
#include "bench/mix.h"

#include <string.h>

#define GET_ALL  .percents = {[MIX_GET] = 100}
#define SEEK_ALL .percents = {[MIX_SEEK] = 100}
#define MANY_ALL .percents = {[MIX_GET_MANY] = 100}

/* The load is followed by lookups and range queries. */
#define AFTER_LOAD                                                                                 \
    {                                                                                              \
        {PHASE_GET, MIX_UNIFORM, GET_ALL}, {PHASE_SEEK, MIX_UNIFORM, SEEK_ALL, .count = 10},       \
    }

static const struct mix mixes[] = {
    {.name = "load-random", .load = MIX_LOAD_RANDOM, .phases = AFTER_LOAD},
    {.name = "load-in-order", .load = MIX_LOAD_IN_ORDER, .phases = AFTER_LOAD},
    {.name = "load-reverse", .load = MIX_LOAD_REVERSE, .phases = AFTER_LOAD},
    {.name = "overwrite",
     .phases = {{PHASE_OVERWRITE, MIX_UNIFORM, .percents = {[MIX_PUT] = 100}},
                {PHASE_GET, MIX_UNIFORM, GET_ALL},
                {PHASE_SEEK, MIX_UNIFORM, SEEK_ALL, .count = 10}}},
    {.name = "delete-heavy",
     .phases = {{PHASE_DELETE, MIX_EACH, .percents = {[MIX_DELETE] = 100}, .keys_percent = 90},
                {PHASE_GET, MIX_UNIFORM, GET_ALL},
                {PHASE_SEEK, MIX_UNIFORM, SEEK_ALL, .count = 10}}},
    {.name = "get",
     .phases = {{PHASE_GET, MIX_UNIFORM, GET_ALL}, {PHASE_GET_NEVER, MIX_NEVER, GET_ALL}}},
    {.name = "multi-get",
     .phases = {{PHASE_GET, MIX_UNIFORM, GET_ALL},
                {PHASE_GET_10, MIX_UNIFORM, MANY_ALL, .count = 10},
                {PHASE_GET_100, MIX_UNIFORM, MANY_ALL, .count = 100}}},
    {.name = "bounded",
     .phases = {{PHASE_RANGE_10, MIX_UNIFORM, .percents = {[MIX_RANGE] = 100}, .count = 10},
                {PHASE_RANGE_100, MIX_UNIFORM, .percents = {[MIX_RANGE] = 100}, .count = 100},
                {PHASE_PREFIX, MIX_UNIFORM, .percents = {[MIX_PREFIX] = 100}}}},
    {.name = "ycsb-a",
     .phases = {{PHASE_MIX, MIX_ZIPF, .percents = {[MIX_GET] = 50, [MIX_PUT] = 50}}}},
    {.name = "ycsb-b",
     .phases = {{PHASE_MIX, MIX_ZIPF, .percents = {[MIX_GET] = 95, [MIX_PUT] = 5}}}},
    {.name = "ycsb-c", .phases = {{PHASE_MIX, MIX_ZIPF, GET_ALL}}},
    {.name = "ycsb-d",
     .phases = {{PHASE_MIX, MIX_LATEST, .percents = {[MIX_GET] = 95, [MIX_INSERT] = 5}}}},
    {.name = "ycsb-e",
     .phases = {{PHASE_MIX, MIX_ZIPF, .percents = {[MIX_SEEK] = 95, [MIX_INSERT] = 5}, .count = 100,
                 .length = MIX_LENGTH_UNIFORM}}},
    {.name = "ycsb-f",
     .phases = {{PHASE_MIX, MIX_ZIPF, .percents = {[MIX_GET] = 50, [MIX_MODIFY] = 50}}}},
    {.name = "mixgraph",
     .phases = {{PHASE_MIX, MIX_HOT_RANGES,
                 .percents = {[MIX_GET] = 83, [MIX_PUT] = 14, [MIX_SEEK] = 3}, .count = 100,
                 .length = MIX_LENGTH_PARETO}}},
};

const struct mix *mix_find(const char *name)
{
    for (size_t i = 0; mix_name(i) != NULL; i++) {
        if (strcmp(mixes[i].name, name) == 0)
            return &mixes[i];
    }
    return NULL;
}

const char *mix_name(size_t i)
{
    return i < sizeof(mixes) / sizeof(mixes[0]) ? mixes[i].name : NULL;
}

unsigned mix_percents(const struct mix_phase *phase)
{
    unsigned sum = 0;
    for (size_t kind = 0; kind < MIX_KIND_COUNT; kind++)
        sum += phase->percents[kind];
    return sum;
}

bool mix_inserts(const struct mix *mix)
{
    for (size_t i = 0; i < MIX_PHASES_MAX; i++) {
        if (mix->phases[i].percents[MIX_INSERT] > 0)
            return true;
    }
    return false;
}
