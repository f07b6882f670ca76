/* Properties of a store as text. The names and the layout are LevelDB's; values without a column
 * there follow its table as lines. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "leveldb/memory.h"
#include "leveldb/store.h"

/* A growing text; NULL after memory ran out; later additions are ignored. */
struct text {
    char *start;
    size_t size;
    size_t capacity;
};

#define TEXT_CAPACITY 1024

static void deinit(struct text *text)
{
    bb_leveldb_release(text->start);
    *text = (struct text){0};
}

static void make_space(struct text *text, size_t size)
{
    if (text->capacity - text->size > size)
        return;
    size_t capacity = 2 * text->capacity + size;
    char *start = bb_leveldb_alloc(capacity);
    if (start != NULL)
        memcpy(start, text->start, text->size + 1);
    bb_leveldb_release(text->start);
    text->start = start;
    text->capacity = capacity;
}

static void print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print(struct text *text, const char *format, ...)
{
    va_list arguments;
    if (text->start == NULL)
        return;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    make_space(text, (size_t)size);
    if (text->start == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(text->start + text->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)size;
}

static double mebibytes(uint64_t bytes)
{
    return (double)bytes / 1048576.0;
}

static void print_level(struct text *text, int number, const struct bb_level_stats *level,
                        struct bb_leveldb_work_level *work)
{
    uint64_t read = atomic_load(&work->bytes_read);
    uint64_t written = atomic_load(&work->bytes_written);
    double seconds = (double)atomic_load(&work->nanoseconds) / 1e9;
    if (level->table_count == 0 && written == 0)
        return;
    print(text, "%3d %8" PRIu64 " %8.0f %9.0f %8.0f %9.0f\n", number, level->table_count,
          mebibytes(level->file_bytes), seconds, mebibytes(read), mebibytes(written));
}

static void print_stats(leveldb_t *db, struct text *text)
{
    struct bb_db_stats stats;
    bb_db_stats(db->db, &stats);
    print(text, "                               Compactions\n"
                "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"
                "--------------------------------------------------\n");
    for (int i = 0; i < BB_LEVEL_COUNT; i++)
        print_level(text, i, &stats.levels[i], &db->work.levels[i]);
    print(text, "filters: %" PRIu64 " bytes, %.6f wasted reads expected per absent key\n",
          stats.filter_bytes, stats.expected_wasted_reads);
    print(text,
          "gets: %" PRIu64 ", found %" PRIu64 "; cache: %" PRIu64 " hits, %" PRIu64 " misses\n",
          stats.gets, stats.gets_found, stats.cache.hits, stats.cache.misses);
    print(text,
          "stalls: %" PRIu64 " for memtables, %" PRIu64 " for level 0, %" PRIu64 " slowdowns\n",
          stats.stalls[BB_STALL_MEMTABLES], stats.stalls[BB_STALL_LEVEL0],
          stats.stalls[BB_STALL_SLOWDOWN]);
}

static void print_memory(leveldb_t *db, struct text *text)
{
    struct bb_db_stats stats;
    bb_db_stats(db->db, &stats);
    print(text, "%" PRIu64,
          stats.memtable_bytes + stats.table_memory_bytes + stats.cache.used_bytes);
}

static void print_table(struct text *text, const struct bb_db_table *table)
{
    const char *slash = strrchr(table->path, '/');
    const char *name = slash == NULL ? table->path : slash + 1;
    print(text, " %.*s:%" PRIu64 "[%" PRIu64 " entries, predicted filter rate %g]\n",
          (int)strspn(name, "0123456789"), name, table->file_size, table->entry_count,
          table->predicted_rate);
}

static void print_tables(leveldb_t *db, struct text *text)
{
    struct bb_db_table_list list = {0};
    if (bb_db_tables(db->db, &list) != BB_OK) {
        deinit(text);
        return;
    }
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        print(text, "--- level %d ---\n", level);
        for (size_t i = 0; i < list.count; i++) {
            if (list.tables[i].level == level)
                print_table(text, &list.tables[i]);
        }
    }
    bb_db_table_list_deinit(&list);
}

/* -1: not the number of a level. */
static int level_of(const char *digits)
{
    size_t zeros = strspn(digits, "0");
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || digits[count] != 0 || count > zeros + 1)
        return -1;
    int level = digits[count - 1] - '0';
    return level < BB_LEVEL_COUNT ? level : -1;
}

static bool print_table_count(leveldb_t *db, const char *digits, struct text *text)
{
    struct bb_db_stats stats;
    int level = level_of(digits);
    if (level < 0)
        return false;
    bb_db_stats(db->db, &stats);
    print(text, "%" PRIu64, stats.levels[level].table_count);
    return true;
}

/* False: there is no such property. */
static bool print_property(leveldb_t *db, const char *name, struct text *text)
{
    static const char files_at_level[] = "leveldb.num-files-at-level";
    size_t prefix_size = sizeof(files_at_level) - 1;
    if (strncmp(name, files_at_level, prefix_size) == 0)
        return print_table_count(db, name + prefix_size, text);
    if (strcmp(name, "leveldb.stats") == 0)
        print_stats(db, text);
    else if (strcmp(name, "leveldb.sstables") == 0)
        print_tables(db, text);
    else if (strcmp(name, "leveldb.approximate-memory-usage") == 0)
        print_memory(db, text);
    else
        return false;
    return true;
}

char *leveldb_property_value(leveldb_t *db, const char *propname)
{
    /* The child of a fork has no store: its numbers would be zeros. */
    if (bb_leveldb_store_is_inherited(db))
        return NULL;
    struct text text = {.start = bb_leveldb_alloc(TEXT_CAPACITY), .capacity = TEXT_CAPACITY};
    if (!print_property(db, propname, &text))
        deinit(&text);
    return text.start;
}
