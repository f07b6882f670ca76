/* A blacklist of names: is this name, or a domain that it belongs to, on the list?
 *
 *     blacklist [--seed N] [LIST [QUERIES]]     files of names, one a line; "#" begins a comment
 *
 * Prints each blocked query and the entry that blocks it, then the cost of the queries. Without
 * files it uses a small built-in list and built-in queries.
 *
 *     cdn.ads.test.  ->  cdn.ads.test, ads.test, test          each is looked up in
 *
 *         filter in memory (ribbon, 10 bits per entry)   "certainly not listed": no read
 *             | "may be listed"
 *         exact list on disk (a sorted table)            decides
 *
 * Without the list, the filter would block innocent names, one in a thousand here. Without the
 * filter, every query would read the list, although nearly all queried names are not on it.
 */
#define _POSIX_C_SOURCE 200809L /* getline, mkdtemp */

#include <bb/table.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char own_list[] =
    "ads.test\ntracker.test\npixel.stats.test\nMalware.Example   # any case\nphish.invalid\n";
static const char own_queries[] = "example.org\ncdn.ads.test\nroads.test\nads.test.\nSTATS.test\n"
                                  "a.b.malware.example\ntest\ninvalid\nlogin.phish.invalid\n";

struct names {
    char **items;
    size_t count;
};

struct blacklist {
    struct bb_hash_secret secret;
    struct bb_buf filter_bytes; /* the view below borrows them */
    struct bb_filter_view filter;
    struct bb_filter_info info;
    struct bb_table *table;
    char folder[32];
    char path[48];
    unsigned long long asked;         /* names */
    unsigned long long asked_exactly; /* of these, of the list on disk */
    unsigned long long listed;        /* of these, found there */
};

static void check(enum bb_status status)
{
    if (status != BB_OK) {
        fprintf(stderr, "%s: %s\n", bb_status_name(status), bb_error_last()->message);
        exit(1);
    }
}

static void require(bool condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(1);
    }
}

static struct bb_bytes bytes_of(const char *text)
{
    return (struct bb_bytes){.data = (const uint8_t *)text, .size = strlen(text)};
}

static uint64_t hash_of(const struct blacklist *list, const char *name)
{
    return bb_hash_key(&list->secret, bytes_of(name));
}

/* One spelling per name, for both the list and the queries: no comment, no blanks around it,
 * lower case, no dot at the end. A filter finds a key only if a probe has the same bytes as the
 * addition. */
static void normalise(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    const char *name = line + strspn(line, " \t");
    size_t size = strcspn(name, " \t");
    if (size > 0 && name[size - 1] == '.')
        size--;
    for (size_t i = 0; i < size; i++)
        line[i] = (char)tolower((unsigned char)name[i]);
    line[size] = '\0';
}

static void names_add(struct names *names, const char *text)
{
    char *name = strdup(text);
    require(name != NULL, "memory");
    normalise(name);
    if (*name == '\0') {
        free(name);
        return;
    }
    if ((names->count & (names->count - 1)) == 0) { /* full at every power of two */
        size_t capacity = names->count == 0 ? 1 : names->count * 2;
        names->items = realloc(names->items, capacity * sizeof(names->items[0]));
        require(names->items != NULL, "memory");
    }
    names->items[names->count++] = name;
}

/* From a file, or, without one, from a text of our own. */
static struct names names_read(const char *path, const char *own)
{
    struct names names = {0};
    char *line = NULL;
    size_t capacity = 0;
    FILE *file =
        path != NULL ? fopen(path, "r") : fmemopen((void *)(uintptr_t)own, strlen(own), "r");
    require(file != NULL, path);
    while (getline(&line, &capacity, file) >= 0)
        names_add(&names, line);
    require(!ferror(file), path);
    fclose(file);
    free(line);
    return names;
}

static void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The exact list: a sorted table without filters in it, because our filter is probed before it. */
static void build_table(struct blacklist *list, const struct names *names)
{
    struct bb_table_options options = {.filter_kind = BB_FILTER_NONE, .secret = &list->secret};
    struct bb_table_builder *builder = NULL;
    check(bb_table_builder_create(list->path, &options, &builder));
    for (size_t i = 0; i < names->count; i++) {
        struct bb_entry entry = {.key = bytes_of(names->items[i]), .kind = BB_ENTRY_PUT};
        if (i == 0 || strcmp(names->items[i - 1], names->items[i]) != 0)
            check(bb_table_builder_add(builder, &entry));
    }
    check(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    check(bb_table_open(list->path, &options, &list->table));
}

/* Names listed twice cost nothing: equal hashes are kept once. */
static void build_filter(struct blacklist *list, const struct names *names)
{
    struct bb_filter_options options = {.kind = BB_FILTER_RIBBON, .target_rate = 0.001};
    struct bb_filter_builder *builder = NULL;
    check(bb_filter_builder_create(&options, &builder));
    for (size_t i = 0; i < names->count; i++)
        check(bb_filter_builder_add(builder, hash_of(list, names->items[i])));
    check(bb_filter_builder_finish(builder, &list->filter_bytes));
    bb_filter_builder_destroy(builder);
    struct bb_bytes envelope = {list->filter_bytes.data, list->filter_bytes.size};
    check(bb_filter_view_init(&list->filter, envelope));
    check(bb_filter_info(envelope, &list->info));
}

static void blacklist_open(struct blacklist *list, const struct names *names)
{
    strcpy(list->folder, "/tmp/blacklist_XXXXXX");
    require(mkdtemp(list->folder) != NULL, list->folder);
    snprintf(list->path, sizeof(list->path), "%s/list.bbt", list->folder);
    if (names->count > 0) { /* a table has at least one entry */
        qsort(names->items, names->count, sizeof(names->items[0]), compare_names);
        build_table(list, names);
    }
    build_filter(list, names);
}

static void blacklist_close(struct blacklist *list)
{
    bb_table_close(list->table);
    bb_buf_deinit(&list->filter_bytes);
    unlink(list->path);
    rmdir(list->folder);
}

/* The filter first; only its "may be" is worth a read. */
static bool is_listed(struct blacklist *list, const char *name)
{
    uint64_t hash = hash_of(list, name);
    struct bb_buf value = {0};
    uint64_t sequence;
    enum bb_visit visit = BB_VISIT_OUT_OF_BOUNDS;
    list->asked++;
    if (list->table == NULL || !bb_filter_may_contain(&list->filter, hash))
        return false;
    list->asked_exactly++;
    check(bb_table_get(list->table, NULL, bytes_of(name), hash, BB_SEQUENCE_MAX, NULL, &value,
                       &sequence, &visit));
    bb_buf_deinit(&value);
    list->listed += visit == BB_VISIT_PRESENT;
    return visit == BB_VISIT_PRESENT;
}

/* The entry that blocks a name: the name itself, or the part after one of its dots. Only dots
 * separate parts, so that "ads.test" does not block "roads.test". */
static const char *blocking_entry(struct blacklist *list, const char *name)
{
    while (*name != '\0' && !is_listed(list, name)) {
        name += strcspn(name, ".");
        name += *name == '.';
    }
    return *name == '\0' ? NULL : name;
}

static void report(const struct blacklist *list, size_t query_count, size_t blocked_count)
{
    printf("entries            %llu, filter %llu bytes, %.2f bits per entry\n",
           (unsigned long long)list->info.key_count, (unsigned long long)list->info.size_bytes,
           list->info.bits_per_key);
    printf("queries            %zu, blocked %zu\n", query_count, blocked_count);
    printf("names looked up    %llu: the queries and the domains they belong to\n", list->asked);
    printf("lookups in list    %llu: %llu listed, %llu in vain (predicted %.1f)\n",
           list->asked_exactly, list->listed, list->asked_exactly - list->listed,
           (double)(list->asked - list->listed) * list->info.predicted_rate);
}

int main(int argc, char **argv)
{
    struct blacklist list = {0};
    size_t blocked_count = 0;
    bool is_seeded = argc > 2 && strcmp(argv[1], "--seed") == 0;
    char **paths = argv + (is_seeded ? 3 : 1);
    if (is_seeded) /* the same figures in every run, and no protection */
        bb_hash_secret_from_seed(strtoull(argv[2], NULL, 10), &list.secret);
    else
        check(bb_hash_secret_random(&list.secret));
    struct names names = names_read(paths[0], own_list);
    struct names queries = names_read(paths[0] == NULL ? NULL : paths[1], own_queries);
    blacklist_open(&list, &names);
    for (size_t i = 0; i < queries.count; i++) {
        const char *entry = blocking_entry(&list, queries.items[i]);
        if (entry != NULL)
            printf("%s is blocked by %s\n", queries.items[i], entry);
        blocked_count += entry != NULL;
    }
    report(&list, queries.count, blocked_count);
    blacklist_close(&list);
    names_free(&names);
    names_free(&queries);
    return 0;
}
