/* Many fetchers of a crawler share the set of URLs that they have seen, in a Redis server or
 * cluster.
 *
 *     fetchers HOST:PORT [PAGES [FETCHERS [PARTITIONS]]]
 *
 * The servers have loaded bloomblock_redis.so. Each fetcher is a process with an ordinary client,
 * hiredis. A URL belongs to the partition XXH64(URL) mod PARTITIONS, whose keys are in one slot:
 *
 *     seen:{17}        store: URL -> the page that named it first. Larger than memory
 *     frontier:{17}    list: URLs to fetch
 *     fetching:{17}    list: URLs that a fetcher has taken, until its page's links are stored
 *
 * Most links are duplicates. A fetcher first sends BB.MEXISTS: threads of the server look up URLs
 * that are present, and filters in memory rule out most others without a read. Absent URLs then go
 * to a script. It is atomic, so of two fetchers that find a URL at the same time one claims it, and
 * every page is fetched once, by any number of fetchers on any number of machines.
 *
 * A killed fetcher leaves its URL in `fetching`. The next run moves such URLs back to `frontier`,
 * so a crash may repeat a page, but loses no page.
 */
#define _POSIX_C_SOURCE 200809L /* fork, nanosleep */

#include <bb/base.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINKS = 8, URL_SIZE = 64, KEY_SIZE = 32, ADDRESS_SIZE = 300, PARTITIONS_MAX = 1024 };
enum { SERVERS_MAX = 64, TRIES = 500, TRY_AGAIN_MS = 20 };

static const char claim[] = "local claimed = 0\n"
                            "for i = 2, #ARGV do\n"
                            "    if redis.call('BB.EXISTS', KEYS[1], ARGV[i]) == 0 then\n"
                            "        redis.call('BB.PUT', KEYS[1], ARGV[i], ARGV[1])\n"
                            "        redis.call('LPUSH', KEYS[2], ARGV[i])\n"
                            "        claimed = claimed + 1\n"
                            "    end\n"
                            "end\n"
                            "return claimed\n";

struct server {
    char address[ADDRESS_SIZE]; /* HOST:PORT */
    redisContext *context;
};

struct counts {
    unsigned long long fetched;
    unsigned long long links;
    unsigned long long known;   /* answered by BB.MEXISTS */
    unsigned long long claimed; /* by this fetcher */
};

struct fetcher {
    struct server servers[SERVERS_MAX];
    int server_count;
    int owners[PARTITIONS_MAX]; /* the server of each partition, if it is known */
    unsigned long long page_count;
    unsigned partition_count;
    struct counts counts;
};

/* A command: its words are borrowed. */
struct command {
    const char *words[LINKS + 8];
    size_t sizes[LINKS + 8];
    int count;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "fetchers: %s: %s\n", what, why);
    exit(1);
}

static void pause_ms(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static void add(struct command *command, const char *word)
{
    command->words[command->count] = word;
    command->sizes[command->count++] = strlen(word);
}

/* ---- the servers ---- */

static int server_of(struct fetcher *fetcher, const char *address)
{
    for (int i = 0; i < fetcher->server_count; i++)
        if (strcmp(fetcher->servers[i].address, address) == 0)
            return i;
    if (fetcher->server_count == SERVERS_MAX)
        fail(address, "too many servers");
    snprintf(fetcher->servers[fetcher->server_count].address, ADDRESS_SIZE, "%s", address);
    return fetcher->server_count++;
}

static redisContext *connection_of(struct server *server)
{
    char host[ADDRESS_SIZE];
    if (server->context != NULL && server->context->err == 0)
        return server->context;
    if (server->context != NULL)
        redisFree(server->context);
    snprintf(host, sizeof(host), "%s", server->address);
    char *colon = strrchr(host, ':');
    if (colon == NULL)
        fail(server->address, "is not HOST:PORT");
    *colon = '\0';
    server->context = redisConnect(host, atoi(colon + 1));
    return server->context;
}

/* Does the reply name another server for the partition, "MOVED 3999 HOST:PORT"? Later commands go
 * there. */
static int follow(struct fetcher *fetcher, unsigned partition, const redisReply *reply)
{
    char address[ADDRESS_SIZE];
    if (sscanf(reply->str, "MOVED %*d %299s", address) != 1)
        return 0;
    fetcher->owners[partition] = server_of(fetcher, address);
    return 1;
}

/* Errors that go away: a slot is on its way to another server, or a fail-over has to happen. */
static int is_passing(const redisReply *reply)
{
    static const char *const words[] = {"ASK ", "TRYAGAIN ", "CLUSTERDOWN ", "LOADING ",
                                        "READONLY "};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(reply->str, words[i], strlen(words[i])) == 0)
            return 1;
    return 0;
}

/* Sends the command to the server of the partition until it has a result, which is the caller's to
 * free. The effect of every command here is the same if it is executed twice, except for taking a
 * URL, which is then in `fetching`. */
static redisReply *call(struct fetcher *fetcher, unsigned partition, struct command *command)
{
    for (int i = 0; i < TRIES; i++) {
        struct server *server = &fetcher->servers[fetcher->owners[partition]];
        redisContext *context = connection_of(server);
        redisReply *reply = NULL;
        if (context != NULL && context->err == 0)
            reply = redisCommandArgv(context, command->count, command->words, command->sizes);
        if (reply != NULL && reply->type != REDIS_REPLY_ERROR)
            return reply;
        if (reply != NULL && !follow(fetcher, partition, reply)) {
            if (!is_passing(reply))
                fail(server->address, reply->str);
            pause_ms(TRY_AGAIN_MS);
        } else if (reply == NULL) {
            fetcher->owners[partition] = (fetcher->owners[partition] + 1) % fetcher->server_count;
            pause_ms(TRY_AGAIN_MS);
        }
        if (reply != NULL)
            freeReplyObject(reply);
    }
    fail(command->words[0], "no server gave a result");
    return NULL;
}

static long long call_integer(struct fetcher *fetcher, unsigned partition, struct command *command)
{
    redisReply *reply = call(fetcher, partition, command);
    if (reply->type != REDIS_REPLY_INTEGER)
        fail(command->words[0], "the reply is no integer");
    long long value = reply->integer;
    freeReplyObject(reply);
    return value;
}

/* ---- URLs ---- */

static unsigned partition_of(const struct fetcher *fetcher, const char *url)
{
    return (unsigned)(bb_hash_xxh64(bb_text(url)) % fetcher->partition_count);
}

static void name_key(char key[KEY_SIZE], const char *name, unsigned partition)
{
    snprintf(key, KEY_SIZE, "%s:{%u}", name, partition);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void name_url(char url[URL_SIZE], unsigned long long page)
{
    snprintf(url, URL_SIZE, "https://www%u.example/page/%llu", (unsigned)(mix(page) % 1000), page);
}

/* The web of the example crawler: page n links to 2n + 1 and 2n + 2, so that all pages are reached,
 * and to some at random, low numbers more than others. */
static int fetch(const struct fetcher *fetcher, const char *url, char links[LINKS][URL_SIZE])
{
    unsigned long long page = strtoull(strrchr(url, '/') + 1, NULL, 10);
    int count = 0;
    for (unsigned i = 1; i <= LINKS; i++) {
        double x = (double)(mix(page * LINKS + i) >> 11) * 0x1p-53;
        unsigned long long to =
            i <= 2 ? 2 * page + i : (unsigned long long)((double)fetcher->page_count * x * x);
        if (to < fetcher->page_count)
            name_url(links[count++], to);
    }
    return count;
}

/* Stores the links of one partition that no fetcher has seen, and queues them. */
static void meet(struct fetcher *fetcher, unsigned partition, const char *page, char **links,
                 int count)
{
    char seen[KEY_SIZE], frontier[KEY_SIZE];
    struct command ask = {.count = 0}, take = {.count = 0};
    name_key(seen, "seen", partition);
    name_key(frontier, "frontier", partition);
    add(&ask, "BB.MEXISTS");
    add(&ask, seen);
    for (int i = 0; i < count; i++)
        add(&ask, links[i]);
    redisReply *known = call(fetcher, partition, &ask);
    if (known->type != REDIS_REPLY_ARRAY || known->elements != (size_t)count)
        fail("BB.MEXISTS", "the reply is no array with an element for each URL");
    const char *const head[] = {"EVAL", claim, "2", seen, frontier, page};
    for (int i = 0; i < 6; i++)
        add(&take, head[i]);
    for (int i = 0; i < count; i++)
        if (known->element[i]->integer == 0)
            add(&take, links[i]);
    freeReplyObject(known);
    fetcher->counts.known += (unsigned)(count - (take.count - 6));
    if (take.count > 6)
        fetcher->counts.claimed += (unsigned long long)call_integer(fetcher, partition, &take);
}

/* Links of the same partition are stored together. */
static void visit(struct fetcher *fetcher, const char *url)
{
    char links[LINKS][URL_SIZE];
    int count = fetch(fetcher, url, links);
    unsigned done_mask = 0;
    for (int i = 0; i < count; i++) {
        char *same[LINKS];
        int same_count = 0;
        unsigned partition = partition_of(fetcher, links[i]);
        for (int j = i; j < count; j++) {
            if ((done_mask >> j & 1) != 0 || partition_of(fetcher, links[j]) != partition)
                continue;
            same[same_count++] = links[j];
            done_mask |= 1u << j;
        }
        if (same_count > 0)
            meet(fetcher, partition, url, same, same_count);
    }
    fetcher->counts.fetched++;
    fetcher->counts.links += (unsigned)count;
}

/* Takes a URL of the partition, visits it and forgets that it was taken. Returns whether there was
 * one. */
static int work(struct fetcher *fetcher, unsigned partition)
{
    char frontier[KEY_SIZE], fetching[KEY_SIZE], url[URL_SIZE];
    name_key(frontier, "frontier", partition);
    name_key(fetching, "fetching", partition);
    struct command take = {.count = 0}, done = {.count = 0};
    const char *const take_words[] = {"LMOVE", frontier, fetching, "RIGHT", "LEFT"};
    for (int i = 0; i < 5; i++)
        add(&take, take_words[i]);
    redisReply *reply = call(fetcher, partition, &take);
    int has_url = reply->type == REDIS_REPLY_STRING && reply->len < URL_SIZE;
    if (has_url)
        snprintf(url, sizeof(url), "%s", reply->str);
    freeReplyObject(reply);
    if (!has_url)
        return 0;
    visit(fetcher, url);
    const char *const done_words[] = {"LREM", fetching, "1", url};
    for (int i = 0; i < 4; i++)
        add(&done, done_words[i]);
    call_integer(fetcher, partition, &done);
    return 1;
}

/* Is a URL in work, which may lead to others? */
static int is_busy(struct fetcher *fetcher)
{
    for (unsigned i = 0; i < fetcher->partition_count; i++) {
        char key[KEY_SIZE];
        struct command length = {.count = 0};
        name_key(key, "fetching", i);
        add(&length, "LLEN");
        add(&length, key);
        if (call_integer(fetcher, i, &length) > 0)
            return 1;
    }
    return 0;
}

static void run(struct fetcher *fetcher, unsigned first)
{
    int has_found;
    do {
        has_found = 0;
        for (unsigned i = 0; i < fetcher->partition_count; i++)
            has_found |= work(fetcher, (first + i) % fetcher->partition_count);
        if (!has_found && is_busy(fetcher)) {
            pause_ms(TRY_AGAIN_MS / 4);
            has_found = 1;
        }
    } while (has_found);
}

/* Puts back the URLs that the fetchers of an earlier run had taken. */
static void put_back(struct fetcher *fetcher)
{
    for (unsigned i = 0; i < fetcher->partition_count; i++) {
        char frontier[KEY_SIZE], fetching[KEY_SIZE];
        name_key(frontier, "frontier", i);
        name_key(fetching, "fetching", i);
        for (int is_string = 1; is_string;) {
            struct command move = {.count = 0};
            const char *const words[] = {"LMOVE", fetching, frontier, "RIGHT", "LEFT"};
            for (int j = 0; j < 5; j++)
                add(&move, words[j]);
            redisReply *reply = call(fetcher, i, &move);
            is_string = reply->type == REDIS_REPLY_STRING;
            freeReplyObject(reply);
        }
    }
}

/* Every URL that was seen; an exact count reads all of them. */
static unsigned long long count_seen(struct fetcher *fetcher)
{
    unsigned long long count = 0;
    for (unsigned i = 0; i < fetcher->partition_count; i++) {
        char key[KEY_SIZE];
        struct command length = {.count = 0};
        name_key(key, "seen", i);
        add(&length, "BB.LEN");
        add(&length, key);
        add(&length, "EXACT");
        count += (unsigned long long)call_integer(fetcher, i, &length);
    }
    return count;
}

/* Connections are not shared between processes. */
static void disconnect(struct fetcher *fetcher)
{
    for (int i = 0; i < fetcher->server_count; i++) {
        if (fetcher->servers[i].context != NULL)
            redisFree(fetcher->servers[i].context);
        fetcher->servers[i].context = NULL;
    }
}

/* Runs the fetchers as processes, and adds their counts. */
static void run_all(struct fetcher *fetcher, unsigned count, struct counts *total)
{
    int ends[2];
    if (pipe(ends) != 0)
        fail("pipe", "no file descriptors");
    for (unsigned i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0)
            fail("fork", "no process");
        if (child > 0)
            continue;
        run(fetcher, i * fetcher->partition_count / count);
        disconnect(fetcher);
        _exit(write(ends[1], &fetcher->counts, sizeof(fetcher->counts)) < 0);
    }
    for (unsigned i = 0; i < count; i++) {
        struct counts counts;
        int status = 0;
        if (wait(&status) < 0 || status != 0 || read(ends[0], &counts, sizeof(counts)) < 0)
            fail("a fetcher", "failed; the next run continues");
        printf("fetcher %u: %llu pages\n", i + 1, counts.fetched);
        total->fetched += counts.fetched;
        total->links += counts.links;
        total->known += counts.known;
        total->claimed += counts.claimed;
    }
}

static unsigned long long argument(int argc, char **argv, int at, unsigned long long otherwise)
{
    return argc > at ? strtoull(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    struct fetcher fetcher = {.page_count = argument(argc, argv, 2, 20000),
                              .partition_count = (unsigned)argument(argc, argv, 4, 16)};
    unsigned fetcher_count = (unsigned)argument(argc, argv, 3, 4);
    struct counts total = {0};
    char first[URL_SIZE], *links[] = {first};
    if (argc < 2 || fetcher.partition_count < 1 || fetcher.partition_count > PARTITIONS_MAX) {
        fprintf(stderr, "usage: fetchers HOST:PORT [PAGES [FETCHERS [PARTITIONS]]]\n");
        return 2;
    }
    server_of(&fetcher, argv[1]);
    put_back(&fetcher);
    name_url(first, 0); /* where it all begins */
    meet(&fetcher, partition_of(&fetcher, first), "start", links, 1);
    total = fetcher.counts;
    fetcher.counts = (struct counts){0};
    disconnect(&fetcher);
    run_all(&fetcher, fetcher_count, &total);
    printf("pages   %llu fetched, %llu URLs claimed, %llu seen\n", total.fetched, total.claimed,
           count_seen(&fetcher));
    printf("links   %llu, %llu known before any script ran\n", total.links, total.known);
    disconnect(&fetcher);
    return 0;
}
