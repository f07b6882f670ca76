/* A crawler's queue of pages to visit: each URL enters it once, even across crashes.
 *
 *     crawler [DIRECTORY [PAGES [KILL_AFTER]]]
 *
 * Crawls a generated web of PAGES pages and keeps its state in a store. If it is killed at any
 * moment, or kills itself in the middle of a page, the next start continues from there.
 *
 *     a link
 *       |
 *     filter in memory (scalable: the number of URLs is unknown)  "certainly new": done
 *       |  "may be known"
 *     store                                                       decides
 *
 *     key in the store    value
 *     q000000000007       URL number 7. All known URLs, in the order of discovery; the queue
 *                         begins at number `visited`
 *     uhttps://...        its number
 *     state               struct state
 *     filter              the filter, some pages old
 *
 * A page and all its new URLs are one batch: a crash leaves the whole visit or no part of it. A URL
 * in the store but not in the filter would seem new and be visited twice. So a URL is added to the
 * filter first, then to the store. At the start the filter is loaded from the store, and the rest
 * of the queue is added to it. If the filter is missing or damaged, the whole queue is added to a
 * new one.
 *
 * For comparison the program also runs the design of crawlers without a store: a filter of fixed
 * size decides. Its false positives are pages that are never visited, and their number grows with
 * the number of keys.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <bb/db.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS = 8, URL_SIZE = 64, PAGES_PER_SAVE = 1000 };

/* Written with every page, so that a killed run has the same counts as an uninterrupted one. */
struct state {
    unsigned long long visited; /* pages */
    unsigned long long met;     /* URLs */
    unsigned long long links;   /* each to a URL that is new, or to a duplicate */
    unsigned long long asked;   /* lookups in the store */
    unsigned long long in_vain; /* of these, for new URLs: the filter's false positives */
    unsigned long long lost;    /* new URLs that the fixed filter reports as duplicates */
};

struct crawler {
    struct bb_db *db;
    struct bb_hash_secret secret; /* the store's */
    struct bb_batch *batch;       /* of the page that is being visited */
    struct state state;
    struct bb_scalable_filter *filter;
    struct bb_counting_filter *fixed;       /* of a kind that takes keys one at a time */
    unsigned long long page_count, planned; /* the actual name, then the reported one */
};

static void check(enum bb_status status)
{
    if (status != BB_OK) {
        fprintf(stderr, "%s: %s\n", bb_status_name(status), bb_error_last()->message);
        exit(1);
    }
}

static struct bb_bytes bytes_of(const char *text)
{
    return (struct bb_bytes){.data = (const uint8_t *)text, .size = strlen(text)};
}

static void put(struct crawler *crawler, const char *key, const void *value, size_t size)
{
    check(bb_batch_put(crawler->batch, bytes_of(key), (struct bb_bytes){value, size}));
}

static bool get(struct crawler *crawler, const char *key, struct bb_buf *value)
{
    enum bb_status status = bb_db_get(crawler->db, NULL, bytes_of(key), value);
    check(status == BB_NOT_FOUND ? BB_OK : status);
    return status == BB_OK;
}

static void get_url(struct crawler *crawler, unsigned long long number, char url[URL_SIZE])
{
    struct bb_buf value = {0};
    char key[URL_SIZE];
    snprintf(key, sizeof(key), "q%012llu", number);
    check(bb_db_get(crawler->db, NULL, bytes_of(key), &value));
    snprintf(url, URL_SIZE, "%.*s", (int)value.size, (const char *)value.data);
    bb_buf_deinit(&value);
}

static uint64_t hash_of(const struct crawler *crawler, const char *url)
{
    return bb_hash_key(&crawler->secret, bytes_of(url));
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The web. Page n links to 2n + 1 and 2n + 2, so that all pages are reached, and to some at random,
 * low numbers more than others; a third of the links are to a place within a page. */
static int fetch(const char *url, unsigned long long page_count, char links[LINKS][URL_SIZE])
{
    unsigned long long page = strtoull(strrchr(url, '/') + 1, NULL, 10);
    int count = 0;
    for (unsigned i = 1; i <= LINKS; i++) {
        uint64_t draw = mix(page * LINKS + i);
        double x = (double)(draw >> 11) * 0x1p-53;
        unsigned long long to =
            i <= 2 ? 2 * page + i : (unsigned long long)((double)page_count * x * x);
        if (to < page_count)
            snprintf(links[count++], URL_SIZE, "https://www%u.example/page/%llu%s",
                     (unsigned)(mix(to) % 1000), to, draw % 3 == 0 ? "#there" : "");
    }
    return count;
}

/* The result of the fixed filter. A URL that it reports as known is not added: all its bits are
 * set. */
static bool is_lost(struct crawler *crawler, uint64_t hash)
{
    if (bb_counting_filter_may_contain(crawler->fixed, hash))
        return true;
    check(bb_counting_filter_add(crawler->fixed, hash));
    return false;
}

/* Appends a URL to the queue, unless it is known. */
static void meet(struct crawler *crawler, const char *url)
{
    struct state *state = &crawler->state;
    uint64_t hash = hash_of(crawler, url);
    char queue_key[URL_SIZE], url_key[URL_SIZE + 1];
    bool is_new;
    snprintf(url_key, sizeof(url_key), "u%s", url);
    check(bb_scalable_filter_add(crawler->filter, hash, &is_new)); /* probes, and adds a new URL */
    if (!is_new) {
        state->asked++;
        if (get(crawler, url_key, NULL))
            return;
        state->in_vain++;
    }
    state->lost += is_lost(crawler, hash);
    snprintf(queue_key, sizeof(queue_key), "q%012llu", state->met++);
    put(crawler, queue_key, url, strlen(url));
    put(crawler, url_key, queue_key + 1, strlen(queue_key + 1));
}

/* A URL that a page names twice is not in the store yet when it comes for the second time. */
static bool is_named_before(char links[LINKS][URL_SIZE], int at)
{
    bool is_named = false;
    for (int i = 0; i < at; i++)
        is_named = is_named || strcmp(links[i], links[at]) == 0;
    return is_named;
}

static void put_filter(struct crawler *crawler)
{
    struct bb_buf envelope = {0};
    check(bb_scalable_filter_encode(crawler->filter, &envelope));
    put(crawler, "filter", envelope.data, envelope.size);
    bb_buf_deinit(&envelope);
}

static void visit(struct crawler *crawler, unsigned long long kill_after)
{
    struct state *state = &crawler->state;
    char url[URL_SIZE], links[LINKS][URL_SIZE];
    get_url(crawler, state->visited, url);
    int count = fetch(url, crawler->page_count, links);
    bb_batch_reset(crawler->batch);
    for (int i = 0; i < count; i++) {
        links[i][strcspn(links[i], "#")] = '\0'; /* one spelling for each page */
        if (!is_named_before(links, i))
            meet(crawler, links[i]);
    }
    state->links += (unsigned)count;
    if (++state->visited % PAGES_PER_SAVE == 0)
        put_filter(crawler);
    put(crawler, "state", state, sizeof(*state));
    if (state->visited == kill_after)
        raise(SIGKILL); /* now the filter has the page's URLs, and the store has not */
    check(bb_db_write(crawler->db, NULL, crawler->batch));
}

/* The filter in the store contains all URLs below its count of keys, because they were added in
 * this order. A filter with a higher count than the queue has URLs does not belong to this
 * queue. */
static unsigned long long load_filter(struct crawler *crawler)
{
    struct bb_scalable_filter_options options = {.target_rate = 0.01};
    struct bb_buf stored = {0};
    bool is_good = get(crawler, "filter", &stored) &&
                   bb_scalable_filter_decode((struct bb_bytes){stored.data, stored.size},
                                             &crawler->filter) == BB_OK;
    bb_buf_deinit(&stored);
    if (is_good && bb_scalable_filter_key_count(crawler->filter) <= crawler->state.met)
        return bb_scalable_filter_key_count(crawler->filter);
    bb_scalable_filter_destroy(crawler->filter);
    check(bb_scalable_filter_create(&options, &crawler->filter));
    return 0;
}

/* The fixed filter, which serves only the comparison, is not stored; the whole queue is added to
 * it. */
static void open_filters(struct crawler *crawler)
{
    struct bb_counting_filter_options options = {.target_rate = 0.01,
                                                 .key_count = crawler->planned};
    unsigned long long loaded = load_filter(crawler);
    char url[URL_SIZE];
    bool is_new;
    check(bb_counting_filter_create(&options, &crawler->fixed));
    for (unsigned long long number = 0; number < crawler->state.met; number++) {
        get_url(crawler, number, url);
        if (number >= loaded)
            check(bb_scalable_filter_add(crawler->filter, hash_of(crawler, url), &is_new));
        is_lost(crawler, hash_of(crawler, url));
    }
    printf("starts at page %llu of %llu: filter of %llu URLs loaded, %llu added\n",
           crawler->state.visited, crawler->state.met, loaded, crawler->state.met - loaded);
}

static void crawler_open(struct crawler *crawler, const char *directory)
{
    struct bb_hash_secret secret; /* for figures that repeat; a store's own choice is random */
    struct bb_db_options options = {.create_if_missing = true, .secret = &secret};
    struct bb_buf state = {0};
    bb_hash_secret_from_seed(1, &secret);
    check(bb_db_open(directory, &options, &crawler->db));
    bb_db_secret(crawler->db, &crawler->secret);
    check(bb_batch_create(&crawler->batch));
    if (get(crawler, "state", &state) && state.size == sizeof(crawler->state))
        memcpy(&crawler->state, state.data, sizeof(crawler->state));
    bb_buf_deinit(&state);
    open_filters(crawler);
    if (crawler->state.met > 0)
        return;
    meet(crawler, "https://www0.example/page/0"); /* where it all begins */
    put(crawler, "state", &crawler->state, sizeof(crawler->state));
    check(bb_db_write(crawler->db, NULL, crawler->batch));
}

static void report(const struct crawler *crawler)
{
    const struct state *state = &crawler->state;
    unsigned long long new_count = state->met - 1; /* to the first page no link was followed */
    struct bb_filter_info fixed;
    bb_counting_filter_info(crawler->fixed, &fixed);
    printf("pages   %llu visited, %llu URLs found\n", state->visited, state->met);
    printf("links   %llu: %llu new, %llu duplicates\n", state->links, new_count,
           state->links - new_count);
    printf("store   asked %llu times, %llu in vain; spared %llu lookups of new URLs\n",
           state->asked, state->in_vain, new_count - state->in_vain);
    printf("fixed   planned for %llu URLs, holds %llu: %llu pages would never have been visited\n",
           crawler->planned, (unsigned long long)fixed.key_count, state->lost);
    if (fixed.key_count > crawler->planned)
        printf("WARNING: the fixed filter holds more than planned and takes %.1f %% of new URLs "
               "for duplicates\n",
               fixed.predicted_rate * 100);
}

int main(int argc, char **argv)
{
    unsigned long long page_count = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
    struct crawler crawler = {.page_count = page_count, .planned = page_count / 2 + 1};
    unsigned long long kill_after = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    char folder[] = "/tmp/crawler_XXXXXX", command[64];
    if (argc < 2 && mkdtemp(folder) == NULL)
        return 1;
    crawler_open(&crawler, argc > 1 ? argv[1] : folder);
    while (crawler.state.visited < crawler.state.met)
        visit(&crawler, kill_after);
    report(&crawler);
    bb_batch_destroy(crawler.batch);
    bb_scalable_filter_destroy(crawler.filter);
    bb_counting_filter_destroy(crawler.fixed);
    check(bb_db_close(crawler.db));
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return argc < 2 && system(command) != 0;
}
