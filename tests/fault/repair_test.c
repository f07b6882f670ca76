/* Goal: after any damage to one file of a store, repair makes a store that opens and verifies
 * clean, with all readable data; a key shows another version than its newest only if the report
 * warns of that; no existing byte is lost; an intact store is unchanged; and if any call fails, the
 * store is unchanged or repaired. Method: a killed store with versions and deletions in several
 * levels and in the log; each of its files damaged in each way (tests/fault/damage.h). The oracle
 * knows every version of every key. */
#include "bb/db_files.h"
#include "tests/fault/damage.h"
#include "tests/support/file_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define KEYS    150
#define COMMITS 900
#define LOGGED  20 /* the last ones are in the log */
#define WIDTH   15 /* keys of a range that is deleted */

/* ---- the writes ---- */

static uint32_t key_of(uint32_t commit)
{
    return commit * 37 % KEYS;
}

/* One of them is in the log. */
static bool is_range(uint32_t commit)
{
    return commit % 59 == 4;
}

static bool is_deletion(uint32_t commit)
{
    return commit % 7 == 3;
}

static void delete_range(struct bb_db *db, uint32_t key)
{
    char low[16];
    char high[16];
    snprintf(low, sizeof(low), "key%04u", key);
    snprintf(high, sizeof(high), "key%04u", key + WIDTH);
    assert_ok(bb_db_delete_range(db, NULL, bb_bytes_of_text(low), bb_bytes_of_text(high)));
}

static void write_commit(struct bb_db *db, uint32_t commit)
{
    char key[16];
    char value[160];
    struct bb_write_options options = {.sync = commit == COMMITS - LOGGED / 2};
    snprintf(key, sizeof(key), "key%04u", key_of(commit));
    memset(value, 'a' + (char)(commit % 26), sizeof(value));
    snprintf(value, sizeof(value), "%u:", commit);
    if (is_range(commit))
        delete_range(db, key_of(commit));
    else if (is_deletion(commit))
        assert_ok(bb_db_delete(db, &options, bb_bytes_of_text(key)));
    else
        assert_ok(
            bb_db_put(db, &options, bb_bytes_of_text(key), bb_bytes_of(value, sizeof(value))));
}

static struct bb_db_options options_of(struct bb_file_memory *memory)
{
    struct bb_db_options options = store_options(memory);
    options.table_size_bytes = 16 * 1024;
    return options;
}

/* Tables in a deep level, newer ones above, two runs in level 0, and a log. */
static struct sample create(void)
{
    struct sample sample;
    struct bb_db *db = NULL;
    struct bb_file_memory *memory = store_memory(1);
    struct bb_db_options options = options_of(memory);
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    for (uint32_t i = 0; i < COMMITS; i++) {
        write_commit(db, i);
        if (i == 500)
            assert_ok(bb_db_compact(db));
        if (i == 700 || i == COMMITS - LOGGED - 1)
            assert_ok(bb_db_flush(db));
    }
    sample.memory = bb_file_memory_clone(memory);
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(memory);
    bb_file_memory_put(sample.memory, STORE_PATH "/notes.txt", bb_bytes_of_text("foreign"));
    photo_take(&sample.photo, sample.memory, STORE_PATH);
    return sample;
}

/* ---- the visible contents ---- */

struct shown {
    size_t newest;  /* keys that are as the last commit left them */
    size_t older;   /* that show an older version, or are missing, or are back */
    size_t foreign; /* with a value that they never had */
};

/* The commit of a key's visible value; COMMITS when it is absent, COMMITS + 1 for an unknown
 * value. */
static uint32_t commit_shown(struct bb_db *db, uint32_t key)
{
    char name[16];
    struct bb_buf value = {0};
    snprintf(name, sizeof(name), "key%04u", key);
    enum bb_status status = bb_db_get(db, NULL, bb_bytes_of_text(name), &value);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    uint32_t commit =
        status == BB_OK ? (uint32_t)strtoul((const char *)value.data, NULL, 10) : COMMITS;
    if (status == BB_OK &&
        (value.size != 160 || commit >= COMMITS || key_of(commit) != key || is_range(commit)))
        commit = COMMITS + 1;
    bb_buf_deinit(&value);
    return commit;
}

static void apply(uint32_t last[KEYS], uint32_t commit)
{
    uint32_t key = key_of(commit);
    if (!is_range(commit)) {
        last[key] = is_deletion(commit) ? COMMITS : commit;
        return;
    }
    for (uint32_t i = key; i < key + WIDTH && i < KEYS; i++)
        last[i] = COMMITS;
}

/* As of the first `count` commits. */
static struct shown show(struct bb_db *db, uint32_t count)
{
    struct shown shown = {0};
    uint32_t last[KEYS];
    for (uint32_t key = 0; key < KEYS; key++)
        last[key] = COMMITS;
    for (uint32_t i = 0; i < count; i++)
        apply(last, i);
    for (uint32_t key = 0; key < KEYS; key++) {
        uint32_t commit = commit_shown(db, key);
        shown.newest += commit == last[key];
        shown.foreign += commit > COMMITS;
        shown.older += commit != last[key] && commit <= COMMITS;
    }
    return shown;
}

static bool shows_prefix(struct bb_db *db)
{
    for (uint32_t count = COMMITS - LOGGED; count <= COMMITS; count++) {
        if (show(db, count).newest == KEYS)
            return true;
    }
    return false;
}

/* ---- permitted effects of a repair ---- */

static void fail_case(const char *file, const char *damage, const char *what)
{
    print_error("%s %s: %s\n    %s\n", file, damage, what, bb_error_last()->message);
    fail();
}

/* Every file's bytes are still somewhere, under its name or another one. */
static bool has_bytes(const struct photo *photo, struct bb_bytes bytes)
{
    for (size_t i = 0; i < photo->count; i++) {
        if (bb_bytes_equal(photo->files[i].bytes, bytes))
            return true;
    }
    return false;
}

static const char *lost_file(const struct photo *before, const struct photo *after)
{
    for (size_t i = 0; i < before->count; i++) {
        if (strcmp(before->files[i].name, "LOCK") != 0 && !has_bytes(after, before->files[i].bytes))
            return before->files[i].name;
    }
    return NULL;
}

static void assert_nothing_gone(const struct photo *before, struct bb_file_memory *memory,
                                const char *file, const char *damage)
{
    struct photo after;
    photo_take(&after, memory, STORE_PATH);
    const char *lost = lost_file(before, &after);
    if (lost != NULL)
        fail_case(file, damage, lost);
    photo_deinit(&after);
}

static void check_content(struct bb_file_memory *memory, const struct bb_db_repair_report *report,
                          const char *file, const char *damage)
{
    struct bb_db_options options = options_of(memory);
    struct bb_db *db = NULL;
    if (bb_db_open(STORE_PATH, &options, &db) != BB_OK)
        fail_case(file, damage, "what was repaired does not open");
    struct shown shown = show(db, COMMITS);
    if (shown.foreign > 0)
        fail_case(file, damage, "a key shows what it never had");
    if (!report->deletions_may_return && !shows_prefix(db))
        fail_case(file, damage, "older versions show, and the report denies it");
    if (report->is_whole && !shows_prefix(db))
        fail_case(file, damage, "called whole, and is not");
    /* A key whose newest entry was not lost has its newest entry. Each batch here has one, or a
     * range. */
    uint64_t lost = report->entries_lost;
    if (report->log_bytes_lost + report->logs_lost > 0 || report->is_whole)
        lost += LOGGED + WIDTH;
    lost += KEYS * report->tables_ranges_lost;
    if (shown.older > lost)
        fail_case(file, damage, "what was readable was lost");
    /* The filters keep the target again after a full compaction. */
    assert_ok(bb_db_compact(db));
    if (show(db, COMMITS).newest < shown.newest)
        fail_case(file, damage, "compaction lost something");
    assert_ok(bb_db_close(db));
}

static void check_repaired(struct bb_file_memory *memory, const struct bb_db_repair_report *report,
                           const char *file, const char *damage)
{
    struct bb_db_options options = options_of(memory);
    struct bb_db_verify_report verified;
    struct bb_db_repair_report again;
    if (bb_db_verify(STORE_PATH, &options, &verified) != BB_OK)
        fail_case(file, damage, "what was repaired is damaged");
    if (bb_db_repair(STORE_PATH, &options, NULL, &again) != BB_OK || !again.is_whole)
        fail_case(file, damage, "it has to be repaired twice");
    check_content(memory, report, file, damage);
}

static void assert_untouched(const struct photo *before, struct bb_file_memory *memory,
                             const char *file, const char *damage)
{
    struct photo after;
    photo_take(&after, memory, STORE_PATH);
    const char *difference = photo_difference(before, &after, "LOCK");
    if (difference != NULL)
        fail_case(file, damage, difference);
    photo_deinit(&after);
}

static bool try_damage(const struct sample *sample, const struct sample *other,
                       const struct photo_file *file, const struct file_damage *damage)
{
    struct bb_file_memory *memory = bb_file_memory_clone(sample->memory);
    struct bb_db_options options = options_of(memory);
    struct bb_db_repair_report found = {0};
    struct bb_db_repair_report report = {0};
    struct bb_db_repair_options dry = {.dry_run = true};
    struct photo before;
    damage_apply(memory, damage, file, other);
    photo_take(&before, memory, STORE_PATH);
    if (bb_db_repair(STORE_PATH, &options, &dry, &found) != BB_OK)
        fail_case(file->name, damage->name, "a dry run fails");
    assert_untouched(&before, memory, file->name, damage->name);
    if (bb_db_repair(STORE_PATH, &options, NULL, &report) != BB_OK)
        fail_case(file->name, damage->name, "repair fails");
    if (report.is_whole)
        assert_untouched(&before, memory, file->name, damage->name);
    assert_nothing_gone(&before, memory, file->name, damage->name);
    if (found.is_whole != report.is_whole || found.entries_lost != report.entries_lost ||
        found.log_records != report.log_records ||
        found.tables_ranges_lost != report.tables_ranges_lost ||
        found.deletions_may_return != report.deletions_may_return)
        fail_case(file->name, damage->name, "a dry run says something else");
    check_repaired(memory, &report, file->name, damage->name);
    photo_deinit(&before);
    bb_file_memory_destroy(memory);
    return !report.is_whole;
}

static bool is_of_the_store(const char *name)
{
    return strcmp(name, "LOCK") != 0 && strcmp(name, "notes.txt") != 0;
}

static void repair__of_each_file_damaged_in_each_way(void **state)
{
    (void)state;
    struct sample sample = create();
    struct sample other = sample_create(2, 1000);
    size_t repaired = 0;
    size_t cases = 0;
    for (size_t i = 0; i < sample.photo.count; i++) {
        const struct photo_file *file = &sample.photo.files[i];
        for (size_t j = 0; j < damage_count && is_of_the_store(file->name); j++) {
            repaired += try_damage(&sample, &other, file, &damages[j]);
            cases++;
        }
    }
    printf("%zu cases, %zu repaired\n", cases, repaired);
    assert_true(cases >= 60 && repaired >= 40);
    sample_destroy(&sample);
    sample_destroy(&other);
}

/* ---- when calls fail ---- */

static const struct file_damage *damage_named(const char *name)
{
    for (size_t i = 0; i < damage_count; i++) {
        if (strcmp(damages[i].name, name) == 0)
            return &damages[i];
    }
    fail();
    return NULL;
}

static const struct photo_file *file_named(const struct sample *sample, const char *part)
{
    for (size_t i = 0; i < sample->photo.count; i++) {
        if (strstr(sample->photo.files[i].name, part) != NULL)
            return &sample->photo.files[i];
    }
    fail();
    return NULL;
}

/* A repair whose nth call fails. Returns whether that call happened. */
static bool try_call(const struct sample *sample, const struct photo_file *file,
                     const struct file_damage *damage, uint64_t nth, int error_number)
{
    struct bb_file_memory *memory = bb_file_memory_clone(sample->memory);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
    struct bb_db_options options = options_of(memory);
    struct bb_db_repair_report report = {0};
    struct photo before;
    damage_apply(memory, damage, file, sample);
    photo_take(&before, memory, STORE_PATH);
    options.file_system = bb_file_fault_system(fault);
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_ANY,
                                                          .nth = nth,
                                                          .error_number = error_number});
    enum bb_status status = bb_db_repair(STORE_PATH, &options, NULL, &report);
    bool is_hit = bb_file_fault_hits(fault) > 0;
    bb_file_fault_destroy(fault);
    options.file_system = bb_file_memory_system(memory);
    assert_nothing_gone(&before, memory, file->name, damage->name);
    if (status != BB_OK)
        assert_ok(bb_db_repair(STORE_PATH, &options, NULL, &report));
    if (report.is_whole) { /* it failed after the rename, and could not report its findings */
        report.deletions_may_return = true;
        report.is_whole = false;
        report.logs_lost = 1;
    }
    check_repaired(memory, &report, file->name, damage->name);
    photo_deinit(&before);
    bb_file_memory_destroy(memory);
    return is_hit;
}

static void repair__when_any_call_fails(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"CURRENT", "missing"},  {"MANIFEST", "missing"}, {"MANIFEST", "cut to its half"},
        {".bbt", "one bit off"}, {".wal", "one bit off"},
    };
    struct sample sample = create();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct photo_file *file = file_named(&sample, cases[i][0]);
        /* Every case begins its steps elsewhere; the crash test has all calls of smaller stores. */
        uint64_t nth = 1 + i;
        while (try_call(&sample, file, damage_named(cases[i][1]), nth, nth % 2 == 0 ? EIO : ENOSPC))
            nth += 5;
        assert_true(nth > 40);
    }
    sample_destroy(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repair__of_each_file_damaged_in_each_way),
        cmocka_unit_test(repair__when_any_call_fails),
    };
    return cmocka_run_group_tests_name("repair", tests, NULL, NULL);
}
