/* See needle_scan.h. */
#include "skip/condition/needle_scan.h"

#include "base/assert.h"

_Static_assert(BB_NEEDLES_MAX <= BB_SEARCHER_SET_MAX, "one search is for all needles");

static bool has_runs(const struct bb_needles *needles)
{
    for (size_t i = 0; i < needles->count; i++)
        if (needles->items[i].run_size > 0)
            return true;
    return false;
}

/* The byte before all needles, or 0. */
static uint8_t common_before(const struct bb_needles *needles)
{
    uint8_t before = needles->items[0].before;
    for (size_t i = 1; i < needles->count; i++)
        if (needles->items[i].before != before)
            return 0;
    return before;
}

static void init_set(struct bb_needle_finder *finder, enum bb_cpu cpu)
{
    bb_searcher_set_init(&finder->set, cpu);
    for (size_t i = 0; i < finder->needles.count; i++)
        bb_searcher_set_add(&finder->set, bb_needle_bytes(&finder->needles.items[i]),
                            finder->needles.items[i].ignores_case);
    finder->search_count = 1;
    finder->befores[0] = common_before(&finder->needles);
}

static void init_searchers(struct bb_needle_finder *finder, enum bb_cpu cpu)
{
    finder->search_count = finder->needles.count;
    for (size_t i = 0; i < finder->needles.count; i++) {
        const struct bb_needle *needle = &finder->needles.items[i];
        finder->befores[i] = needle->before;
        if (needle->run_size == 0)
            bb_searcher_init(&finder->searchers[i], bb_needle_bytes(needle), needle->ignores_case,
                             cpu);
    }
}

void bb_needle_scan_init_finder(struct bb_needle_finder *finder,
                                const struct bb_condition *condition,
                                const struct bb_schema *schema)
{
    enum bb_cpu cpu = bb_cpu_best();
    bb_needles_of_condition(condition, schema, &finder->needles);
    finder->find_run = bb_digit_run_choose(cpu);
    finder->uses_set =
        bb_searcher_set_is_faster(finder->needles.count, cpu) && !has_runs(&finder->needles);
    if (finder->uses_set)
        init_set(finder, cpu);
    else
        init_searchers(finder, cpu);
}

static bool find_bytes(const struct bb_needle_finder *finder, size_t search, struct bb_bytes text,
                       size_t from, size_t *ret_at)
{
    if (finder->uses_set)
        return bb_searcher_set_find(&finder->set, text, from, ret_at);
    size_t run_size = finder->needles.items[search].run_size;
    return run_size > 0 ? finder->find_run(text, run_size, from, ret_at)
                        : bb_searcher_find(&finder->searchers[search], text, from, ret_at);
}

/* May the number at this place begin after such a byte? The text may begin with it. */
static bool may_begin(struct bb_bytes text, size_t at, uint8_t before)
{
    uint8_t byte = before == 0 || at == 0 ? before : text.data[at - 1];
    return byte == before || byte == '0' || byte == '+' || byte == '-';
}

static bool find(const struct bb_needle_finder *finder, size_t search, struct bb_bytes text,
                 size_t from, size_t *ret_at)
{
    while (find_bytes(finder, search, text, from, ret_at)) {
        if (may_begin(text, *ret_at, finder->befores[search]))
            return true;
        from = *ret_at + 1;
    }
    return false;
}

bool bb_needle_scan_finds(const struct bb_needle_finder *finder, struct bb_bytes text)
{
    BB_DEBUG_ASSERT(!bb_needle_finder_is_empty(finder));
    size_t at = 0;
    for (size_t i = 0; i < finder->search_count; i++)
        if (find(finder, i, text, 0, &at))
            return true;
    return false;
}

static void find_next(struct bb_needle_scan *scan, size_t search, size_t from)
{
    if (!find(scan->finder, search, scan->text, from, &scan->places[search]))
        scan->places[search] = SIZE_MAX;
}

void bb_needle_scan_init(struct bb_needle_scan *scan, const struct bb_needle_finder *finder,
                         struct bb_bytes text)
{
    BB_DEBUG_ASSERT(!bb_needle_finder_is_empty(finder));
    scan->finder = finder;
    scan->text = text;
    for (size_t i = 0; i < finder->search_count; i++)
        find_next(scan, i, 0);
}

bool bb_needle_scan_next(struct bb_needle_scan *scan, size_t from, size_t *ret_at)
{
    BB_DEBUG_ASSERT(from <= scan->text.size);
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < scan->finder->search_count; i++) {
        if (scan->places[i] < from)
            find_next(scan, i, from);
        if (scan->places[i] < first)
            first = scan->places[i];
    }
    if (first == SIZE_MAX)
        return false;
    *ret_at = first;
    return true;
}
