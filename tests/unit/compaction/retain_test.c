/* Goal: a merge keeps exactly the visible versions, and changes no reader's result. Method: every
 * sequence of up to five versions of a key (every kind, every gap between the sequences), with
 * every set of snapshots, at the bottom and above it, compared with two judges that do not use
 * intervals: one decides by the definition which versions must stay, the other reads at every
 * snapshot before and after, with every older version that a deeper level might have. */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "compaction/merge/retain.h"

#define VERSIONS_MAX 5
/* Versions have sequences 1 ... SPAN, snapshots 0 ... SPAN; SPAN + 1 is now. */
#define SPAN    6
#define NOTHING 0

struct version {
    uint64_t sequence;
    enum bb_entry_kind kind;
};

struct scene {
    struct version versions[VERSIONS_MAX]; /* newest first */
    size_t count;
    uint64_t snapshots[SPAN + 1]; /* ascending */
    size_t snapshot_count;
    bool is_bottom;
    bool kept[VERSIONS_MAX];
};

/* The version visible at `sequence`: the sequence of a put, or NOTHING. `below` is the sequence of
 * an older put in a deeper level, 0 if none. */
static uint64_t read_as_of(const struct scene *scene, bool only_kept, uint64_t below,
                           uint64_t sequence)
{
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->versions[i].sequence > sequence || (only_kept && !scene->kept[i]))
            continue;
        return scene->versions[i].kind == BB_ENTRY_PUT ? scene->versions[i].sequence * 100
                                                       : NOTHING;
    }
    return below <= sequence ? below : NOTHING;
}

/* The definition: a version is needed if a reader finds it first; a tombstone that all readers can
 * do without, because nothing older is or stays anywhere, is not. */
static bool is_needed(const struct scene *scene, size_t index)
{
    uint64_t own = scene->versions[index].sequence;
    uint64_t newer = index == 0 ? SPAN + 2 : scene->versions[index - 1].sequence;
    bool is_seen = newer > SPAN + 1; /* now */
    bool has_older_reader = false;
    for (size_t i = 0; i < scene->snapshot_count; i++) {
        is_seen = is_seen || (scene->snapshots[i] >= own && scene->snapshots[i] < newer);
        has_older_reader = has_older_reader || scene->snapshots[i] < own;
    }
    bool is_idle =
        scene->versions[index].kind == BB_ENTRY_DELETE && scene->is_bottom && !has_older_reader;
    return is_seen && !is_idle;
}

static void judge(struct scene *scene, struct bb_retain *retain, const char *key)
{
    for (size_t i = 0; i < scene->count; i++) {
        struct bb_entry entry = {.key = bb_bytes_of_text(key),
                                 .sequence = scene->versions[i].sequence,
                                 .kind = scene->versions[i].kind};
        assert_int_equal(bb_retain_is_new_key(retain, entry.key), i == 0);
        assert_ok(bb_retain_judge(retain, &entry, scene->is_bottom, &scene->kept[i]));
    }
}

static void fail_scene(const struct scene *scene, const char *why)
{
    printf("%s; %s; versions", why, scene->is_bottom ? "bottom" : "not bottom");
    for (size_t i = 0; i < scene->count; i++)
        printf(" %c@%d%s", scene->versions[i].kind == BB_ENTRY_PUT ? 'P' : 'D',
               (int)scene->versions[i].sequence, scene->kept[i] ? "+" : "-");
    printf("; snapshots");
    for (size_t i = 0; i < scene->snapshot_count; i++)
        printf(" %d", (int)scene->snapshots[i]);
    printf("\n");
    fail();
}

static void check_answers(const struct scene *scene, uint64_t sequence)
{
    /* Below there may be a version older than all of ours, unless this is the bottom. */
    uint64_t below_max = scene->is_bottom ? 0 : 1;
    for (uint64_t below = 0; below <= below_max; below++) {
        if (below > 0 && scene->count > 0 && scene->versions[scene->count - 1].sequence <= below)
            continue;
        if (read_as_of(scene, false, below, sequence) != read_as_of(scene, true, below, sequence))
            fail_scene(scene, "a reader's answer has changed");
    }
}

static void check_scene(struct scene *scene)
{
    struct bb_retain retain;
    bb_retain_init(&retain, scene->snapshots, scene->snapshot_count, NULL);
    judge(scene, &retain, "key");
    bb_retain_deinit(&retain);
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->kept[i] != is_needed(scene, i))
            fail_scene(scene, "not what the definition keeps");
    }
    check_answers(scene, SPAN + 1);
    for (size_t i = 0; i < scene->snapshot_count; i++)
        check_answers(scene, scene->snapshots[i]);
}

/* used: which of the sequences 1 ... SPAN there are; kinds: bit i of the i-th newest; snapshots:
 * bit s for snapshot s. */
static void set_scene(struct scene *scene, unsigned used, unsigned kinds, unsigned snapshots)
{
    scene->count = 0;
    scene->snapshot_count = 0;
    for (uint64_t sequence = SPAN; sequence > 0; sequence--) {
        if ((used >> (sequence - 1) & 1) != 0) {
            enum bb_entry_kind kind =
                (kinds >> scene->count & 1) != 0 ? BB_ENTRY_PUT : BB_ENTRY_DELETE;
            scene->versions[scene->count++] = (struct version){sequence, kind};
        }
    }
    for (uint64_t sequence = 0; sequence <= SPAN; sequence++) {
        if ((snapshots >> sequence & 1) != 0)
            scene->snapshots[scene->snapshot_count++] = sequence;
    }
}

static void retain__keeps_what_the_definition_keeps(void **state)
{
    (void)state;
    size_t scenes = 0;
    for (unsigned used = 0; used < 1u << SPAN; used++) {
        int count = __builtin_popcount(used);
        if (count > VERSIONS_MAX)
            continue;
        for (unsigned kinds = 0; kinds < 1u << count; kinds++) {
            for (unsigned snapshots = 0; snapshots < 1u << (SPAN + 1); snapshots++) {
                for (int bottom = 0; bottom < 2; bottom++) {
                    struct scene scene = {.is_bottom = bottom == 1};
                    set_scene(&scene, used, kinds, snapshots);
                    check_scene(&scene);
                    scenes++;
                }
            }
        }
    }
    assert_true(scenes > 100000);
}

static void judge_one(struct bb_retain *retain, const char *key, uint64_t sequence,
                      enum bb_entry_kind kind, bool expected)
{
    struct bb_entry entry = {.key = bb_bytes_of_text(key), .sequence = sequence, .kind = kind};
    bool keep = !expected;
    assert_ok(bb_retain_judge(retain, &entry, true, &keep));
    assert_int_equal(keep, expected);
}

static void retain__begins_anew_with_each_key(void **state)
{
    (void)state;
    const uint64_t snapshots[] = {5};
    struct bb_retain retain;
    bb_retain_init(&retain, snapshots, 1, NULL);
    judge_one(&retain, "", 3, BB_ENTRY_PUT, true);
    judge_one(&retain, "", 2, BB_ENTRY_PUT, false);
    judge_one(&retain, "a", 9, BB_ENTRY_PUT, true);
    judge_one(&retain, "a", 4, BB_ENTRY_DELETE, false);
    judge_one(&retain, "a", 3, BB_ENTRY_PUT, false);
    judge_one(&retain, "ab", 4, BB_ENTRY_PUT, true);
    judge_one(&retain, "b", 0, BB_ENTRY_PUT, true);
    bb_retain_deinit(&retain);
}

static int compare_without_case(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        int order = (a.data[i] | 32) - (b.data[i] | 32);
        if (order != 0)
            return order;
    }
    return (a.size > b.size) - (a.size < b.size);
}

static void retain__keys_are_equal_if_the_comparator_says_so(void **state)
{
    (void)state;
    const struct bb_comparator comparator = {
        .name = "no case", .compare = compare_without_case, .equates_different_bytes = true};
    struct bb_retain retain;
    bb_retain_init(&retain, NULL, 0, &comparator);
    judge_one(&retain, "Key", 9, BB_ENTRY_PUT, true);
    judge_one(&retain, "KEY", 8, BB_ENTRY_PUT, false);
    judge_one(&retain, "key", 7, BB_ENTRY_DELETE, false);
    judge_one(&retain, "keys", 6, BB_ENTRY_DELETE, false);
    judge_one(&retain, "KEYS", 5, BB_ENTRY_PUT, false);
    bb_retain_deinit(&retain);
}

static void retain__greatest_sequences(void **state)
{
    (void)state;
    const uint64_t snapshots[] = {0, BB_SEQUENCE_MAX};
    struct bb_retain retain;
    bb_retain_init(&retain, snapshots, 2, NULL);
    judge_one(&retain, "a", BB_SEQUENCE_MAX, BB_ENTRY_DELETE, true);
    judge_one(&retain, "a", BB_SEQUENCE_MAX - 1, BB_ENTRY_PUT, false);
    judge_one(&retain, "a", 0, BB_ENTRY_PUT, true);
    judge_one(&retain, "b", 0, BB_ENTRY_DELETE, false);
    bb_retain_deinit(&retain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retain__keeps_what_the_definition_keeps),
        cmocka_unit_test(retain__begins_anew_with_each_key),
        cmocka_unit_test(retain__keys_are_equal_if_the_comparator_says_so),
        cmocka_unit_test(retain__greatest_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
