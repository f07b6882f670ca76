/* See skip_log.h. */
#include "bench/skip_log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define VISITORS 4000
#define PATHS    1500
#define AGENTS   600
#define REFERERS 800

static uint64_t next(struct skip_log *log)
{
    log->state += UINT64_C(0x9e3779b97f4a7c15);
    return bb_hash_mix(log->state);
}

static uint32_t below(struct skip_log *log, uint32_t count)
{
    return bb_hash_range(next(log), count);
}

static double fraction(struct skip_log *log)
{
    return (double)(next(log) >> 11) * 0x1p-53;
}

/* 0 ... count - 1; the density falls as 1 / (rank + 1). */
static uint32_t skewed(struct skip_log *log, uint32_t count)
{
    uint32_t rank = (uint32_t)(pow((double)count + 1, fraction(log)) - 1);
    return rank < count ? rank : count - 1;
}

/* A word that belongs to a number: the same number gives the same word. */
static size_t put_word(char *to, uint64_t number)
{
    static const char *const syllables[] = {"ba", "con", "de", "fil", "gra", "in",  "ka", "lo",
                                            "mo", "net", "o",  "pre", "ri",  "sta", "ti", "ver"};
    uint64_t hash = bb_hash_mix(number + 1);
    size_t size = 0;
    for (uint32_t left = 1 + (uint32_t)(hash >> 60) % 4; left > 0; left--, hash >>= 4)
        size += (size_t)sprintf(to + size, "%s", syllables[hash & 15]);
    return size;
}

static size_t put_path(char *to, uint32_t path)
{
    uint64_t hash = bb_hash_mix(UINT64_C(1000000) + path);
    size_t size = 0;
    for (uint32_t left = 1 + (uint32_t)(hash >> 62); left > 0; left--, hash >>= 11) {
        to[size++] = '/';
        size += put_word(to + size, hash & 2047);
        if ((hash & 3) == 0)
            size += (size_t)sprintf(to + size, "-%u", (unsigned)(hash >> 3 & 1023));
    }
    static const char *const ends[] = {".html", ".png", ".css", "/", ".js", "", "", ".jpg"};
    return size + (size_t)sprintf(to + size, "%s", ends[hash >> 32 & 7]);
}

static size_t put_agent(char *to, uint32_t agent)
{
    static const char *const systems[] = {
        "Windows NT 6.1; WOW64", "Macintosh; Intel Mac OS X 10_9_1", "X11; Linux x86_64",
        "Windows NT 5.1", "iPhone; CPU iPhone OS 6_0 like Mac OS X"};
    uint64_t hash = bb_hash_mix(UINT64_C(2000000) + agent);
    if (agent % 8 == 3) {
        size_t size = (size_t)sprintf(to, "Mozilla/5.0 (compatible; ");
        size += put_word(to + size, 5000 + agent);
        size += (size_t)sprintf(to + size, "bot/%u.%u; +http://www.", (unsigned)(hash & 3),
                                (unsigned)(hash >> 4 & 7));
        size += put_word(to + size, 5000 + agent);
        return size + (size_t)sprintf(to + size, ".com/bot.html)");
    }
    return (size_t)sprintf(to,
                           "Mozilla/5.0 (%s) AppleWebKit/%u.%u (KHTML, like Gecko) "
                           "Chrome/%u.0.%u.%u Safari/%u.36",
                           systems[hash % 5], 530 + (unsigned)(hash >> 8 & 7),
                           (unsigned)(hash >> 11 & 31), 20 + (unsigned)(hash >> 16 & 15),
                           1300 + (unsigned)(hash >> 20 & 511), (unsigned)(hash >> 32 & 127),
                           530 + (unsigned)(hash >> 8 & 7));
}

static size_t put_referer(char *to, uint32_t referer)
{
    uint64_t hash = bb_hash_mix(UINT64_C(3000000) + referer);
    if (hash % 3 == 0)
        return (size_t)sprintf(to, "-");
    size_t size = (size_t)sprintf(to, "http://");
    size += hash % 3 == 1 ? (size_t)sprintf(to + size, "example.com") : put_word(to + size, hash);
    size += hash % 3 == 1 ? 0 : (size_t)sprintf(to + size, ".org");
    return size + put_path(to + size, (uint32_t)(hash >> 8) % PATHS);
}

static uint32_t draw_visitor(struct skip_log *log)
{
    if (below(log, 100) < 2)
        return log->newest_visitor++;
    if (below(log, 100) < 40)
        return skewed(log, VISITORS);
    /* Who came lately comes again. */
    return log->newest_visitor - 1 -
           skewed(log, log->newest_visitor < 200 ? log->newest_visitor : 200);
}

static unsigned draw_status(struct skip_log *log)
{
    uint32_t draw = below(log, 1000);
    return draw < 910   ? 200
           : draw < 955 ? 304
           : draw < 978 ? 404
           : draw < 995 ? 301
                        : 206 + draw % 3;
}

static size_t apache_line(struct skip_log *log, char *line)
{
    uint32_t visitor = draw_visitor(log);
    uint64_t address = bb_hash_mix(UINT64_C(4000000) + visitor);
    uint64_t seconds = log->time / 1000;
    size_t size =
        (size_t)sprintf(line, "%u.%u.%u.%u - - [%02u/May/2015:%02u:%02u:%02u +0000] \"%s ",
                        1 + (unsigned)(address & 127), (unsigned)(address >> 8 & 255),
                        (unsigned)(address >> 16 & 255), (unsigned)(address >> 24 & 255),
                        1 + (unsigned)(seconds / 86400 % 28), (unsigned)(seconds / 3600 % 24),
                        (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
                        below(log, 200) == 0   ? "POST"
                        : below(log, 200) == 0 ? "HEAD"
                                               : "GET");
    uint32_t path = skewed(log, PATHS);
    size += put_path(line + size, path);
    if (below(log, 40) == 0)
        size += (size_t)sprintf(line + size, "?id=%u", below(log, 1000000));
    unsigned bytes = (unsigned)(bb_hash_mix(path) % 60000);
    size += (size_t)sprintf(line + size, " HTTP/1.1\" %u %u \"", draw_status(log),
                            below(log, 20) == 0 ? below(log, 100000) : bytes);
    size += put_referer(line + size, skewed(log, REFERERS));
    size += (size_t)sprintf(line + size, "\" \"");
    size += put_agent(line + size, (uint32_t)(address >> 32) % AGENTS);
    log->time += below(log, 1400);
    return size + (size_t)sprintf(line + size, "\"");
}

static size_t zeek_line(struct skip_log *log, char *line)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    char uid[18];
    for (size_t i = 0; i < sizeof(uid) - 1; i++)
        uid[i] = letters[below(log, sizeof(letters) - 1)];
    uid[sizeof(uid) - 1] = '\0';
    uint32_t host = skewed(log, 300);
    uint32_t query = skewed(log, 20000);
    size_t size = (size_t)sprintf(
        line, "%u.%06u\tC%s\t10.47.%u.%u\t%u\t10.0.0.%u\t53\tudp\t%u\t0.%06u\t",
        1521911720 + (unsigned)(log->time / 1000),
        (unsigned)(log->time % 1000) * 1000 + below(log, 1000), uid, host % 8, host / 8,
        1024 + below(log, 60000), 100 + host % 4, below(log, 65536), below(log, 3000));
    size += put_word(line + size, query);
    size += (size_t)sprintf(line + size, ".");
    size += put_word(line + size, 7000 + query % 900);
    size += (size_t)sprintf(line + size, ".org\t1\tC_INTERNET\t1\tA\t0\tNOERROR\tF\tF\tT\tT\t0\t");
    size += (size_t)sprintf(line + size, "134.71.%u.%u\t%u.000000\tF", query % 250, query / 250,
                            query % 3600);
    log->time += below(log, 4);
    return size;
}

/* A request in JSON: a unique id, a status, an address that repeats. */
static size_t json_line(struct skip_log *log, char *line)
{
    uint64_t address = bb_hash_mix(UINT64_C(4000000) + draw_visitor(log));
    uint64_t id = next(log);
    unsigned long long seconds = 1431849000 + log->time / 1000;
    size_t size = (size_t)sprintf(
        line,
        "{\"time\": %llu, \"id\": \"%08x-%04x-%04x\", \"remote_ip\": \"%u.%u.%u.%u\", "
        "\"remote_user\": \"-\", \"request\": \"GET ",
        seconds, (unsigned)(id >> 32), (unsigned)(id >> 16 & 65535), (unsigned)(id & 65535),
        1 + (unsigned)(address & 127), (unsigned)(address >> 8 & 255),
        (unsigned)(address >> 16 & 255), (unsigned)(address >> 24 & 255));
    size += put_path(line + size, skewed(log, PATHS));
    size += (size_t)sprintf(line + size, " HTTP/1.1\", \"response\": %u, \"bytes\": %u, ",
                            draw_status(log), below(log, 20) == 0 ? below(log, 100000) : 490);
    size += (size_t)sprintf(line + size, "\"referrer\": \"-\", \"agent\": \"");
    size += put_agent(line + size, (uint32_t)(address >> 32) % AGENTS);
    log->time += below(log, 700);
    return size + (size_t)sprintf(line + size, "\"}");
}

/* A daemon's message: a text with a number, an address or a name. */
static size_t put_message(struct skip_log *log, char *to)
{
    uint64_t address = bb_hash_mix(UINT64_C(6000000) + skewed(log, 20000));
    unsigned low = (unsigned)(address & 255);
    unsigned high = (unsigned)(address >> 8 & 255);
    switch (below(log, 6)) {
    case 0:
        return (size_t)sprintf(to,
                               "sshd[%u]: Failed password for invalid user u%u from 10.%u.%u.7 "
                               "port %u ssh2",
                               1000 + below(log, 30000), skewed(log, 3000), low, high,
                               1024 + below(log, 60000));
    case 1:
        return (size_t)sprintf(to, "kernel: [%u.%06u] eth0: link is up, 1000 Mbps, full duplex",
                               (unsigned)(log->time / 1000), below(log, 1000000));
    case 2:
        return (size_t)sprintf(to,
                               "dhclient: DHCPREQUEST on eth%u to 10.%u.%u.1 port 67 xid 0x%08x",
                               below(log, 4), low, high, (unsigned)next(log));
    case 3:
        return (size_t)sprintf(to,
                               "CRON[%u]: pam_unix(cron:session): session opened for user root "
                               "by (uid=0)",
                               1000 + below(log, 30000));
    case 4:
        return (size_t)sprintf(
            to, "dfs.DataNode: Received block blk_%llu of size %u from 10.%u.%u.3",
            (unsigned long long)(next(log) >> 4), 67108864 - below(log, 3) * 512, low, high);
    default:
        return (size_t)sprintf(to, "app: instance %08x-%04x spawned in %u.%02u seconds",
                               (unsigned)next(log), below(log, 65536), below(log, 30),
                               below(log, 100));
    }
}

static size_t system_line(struct skip_log *log, char *line)
{
    uint64_t seconds = log->time / 1000;
    size_t size =
        (size_t)sprintf(line, "May %2u %02u:%02u:%02u node%u ",
                        1 + (unsigned)(seconds / 86400 % 28), (unsigned)(seconds / 3600 % 24),
                        (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60), skewed(log, 200));
    log->time += below(log, 500);
    return size + put_message(log, line + size);
}

void skip_log_init(struct skip_log *log, enum skip_log_kind kind, uint64_t seed)
{
    *log = (struct skip_log){.kind = kind, .state = bb_hash_mix(seed), .newest_visitor = VISITORS};
}

size_t skip_log_next(struct skip_log *log, char *line)
{
    static size_t (*const makers[SKIP_LOG_KINDS])(struct skip_log *, char *) = {
        apache_line, zeek_line, json_line, system_line};
    return makers[log->kind](log, line);
}
