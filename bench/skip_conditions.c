/* See skip_conditions.h. */
#include "bench/skip_conditions.h"

#define DAY 86400u

static bool none(const struct planted_facts *facts)
{
    (void)facts;
    return false;
}

/* A condition with only one planted token. */
#define HOLDS(name, what)                                                                          \
    static bool name(const struct planted_facts *facts)                                            \
    {                                                                                              \
        return planted_has(facts, what);                                                           \
    }
HOLDS(token_1, PLANTED_TOKEN_1)
HOLDS(token_10, PLANTED_TOKEN_10)
HOLDS(token_100, PLANTED_TOKEN_100_A)
HOLDS(token_1000, PLANTED_TOKEN_1000)
HOLDS(token_10000, PLANTED_TOKEN_10000)
HOLDS(token_bursts, PLANTED_TOKEN_BURSTS)
HOLDS(inside, PLANTED_INSIDE)
HOLDS(host_1, PLANTED_HOST_1)
HOLDS(host_10, PLANTED_HOST_10)
HOLDS(host_1000, PLANTED_HOST_1000)
HOLDS(user, PLANTED_USER)

static bool host_in(const struct planted_facts *facts)
{
    return host_1(facts) || host_10(facts);
}

static bool status_418(const struct planted_facts *facts)
{
    return facts->status == 418;
}

static bool status_503(const struct planted_facts *facts)
{
    return facts->status == 503;
}

static bool status_404(const struct planted_facts *facts)
{
    return facts->status == 404;
}

static bool large(const struct planted_facts *facts)
{
    return facts->has_bytes && facts->bytes > 100000000;
}

static bool ten_minutes(const struct planted_facts *facts)
{
    return facts->second >= 2 * DAY + 36000 && facts->second < 2 * DAY + 36600;
}

static bool day_and_404(const struct planted_facts *facts)
{
    return facts->status == 404 && facts->second >= DAY && facts->second < 2 * DAY;
}

static bool token_or_token(const struct planted_facts *facts)
{
    return token_1(facts) || token_10(facts);
}

static bool host_or_token(const struct planted_facts *facts)
{
    return host_10(facts) || token_1(facts);
}

static bool token_and_404(const struct planted_facts *facts)
{
    return token_10000(facts) && status_404(facts);
}

static bool token_and_not_200(const struct planted_facts *facts)
{
    return token_1000(facts) && facts->status != 200;
}

static bool either_100(const struct planted_facts *facts)
{
    return planted_has(facts, PLANTED_TOKEN_100_A) || planted_has(facts, PLANTED_TOKEN_100_B);
}

static bool user_without_bytes(const struct planted_facts *facts)
{
    return user(facts) && !facts->has_bytes;
}

static bool status_uncommon(const struct planted_facts *facts)
{
    return facts->status != 200 && facts->status != 304 && facts->status != 404 &&
           facts->status != 301;
}

static bool not_early(const struct planted_facts *facts)
{
    return facts->second >= DAY / 2;
}

#define TIME_CH(text) "parseDateTimeBestEffort('" text "')"

const struct skip_condition skip_conditions[] = {
    {"token, absent", "has_token(line, 'qzabsent')", "hasToken(line, 'qzabsent')", "qzabsent",
     none},
    {"token, 1 row", "has_token(line, 'qzone0')", "hasToken(line, 'qzone0')", "qzone0", token_1},
    {"token, 10 rows", "has_token(line, 'qzten0')", "hasToken(line, 'qzten0')", "qzten0", token_10},
    {"token, 100 rows", "has_token(line, 'qzhuna')", "hasToken(line, 'qzhuna')", "qzhuna",
     token_100},
    {"token, 1,000 rows", "has_token(line, 'qzthou')", "hasToken(line, 'qzthou')", "qzthou",
     token_1000},
    {"token, 10,000 rows", "has_token(line, 'qzmyri')", "hasToken(line, 'qzmyri')", "qzmyri",
     token_10000},
    {"token, 10,000 rows in 3 bursts", "has_token(line, 'qzburst')", "hasToken(line, 'qzburst')",
     "qzburst", token_bursts},
    {"host, 1 row", "host = '203.0.113.1'", "host = '203.0.113.1'", NULL, host_1},
    {"host, 10 rows", "host = '203.0.113.10'", "host = '203.0.113.10'", NULL, host_10},
    {"host, 1,000 rows", "host = '203.0.113.100'", "host = '203.0.113.100'", NULL, host_1000},
    {"host IN 3, 11 rows", "host IN ('203.0.113.10', '203.0.113.1', '198.51.100.7')",
     "host IN ('203.0.113.10', '203.0.113.1', '198.51.100.7')", NULL, host_in},
    {"status = 418, 20 rows", "status = 418", "status = 418", NULL, status_418},
    {"status = 503, 500 rows in 2 bursts", "status = 503", "status = 503", NULL, status_503},
    {"status = 404, 2 % of the rows", "status = 404", "status = 404", NULL, status_404},
    {"bytes > 1e8, nullable, 89 rows", "bytes > 100000000", "bytes > 100000000", NULL, large},
    {"10 minutes", "time >= '2015-05-03T10:00:00Z' AND time < '2015-05-03T10:10:00Z'",
     "time >= " TIME_CH("2015-05-03 10:00:00") " AND time < " TIME_CH("2015-05-03 10:10:00"), NULL,
     ten_minutes},
    {"one day AND status = 404", "time >= '2015-05-02' AND time < '2015-05-03' AND status = 404",
     "time >= " TIME_CH("2015-05-02 00:00:00") " AND time < " TIME_CH(
         "2015-05-03 00:00:00") " AND status = 404",
     NULL, day_and_404},
    {"token OR token, 11 rows", "has_token(line, 'qzone0') OR has_token(line, 'qzten0')",
     "hasToken(line, 'qzone0') OR hasToken(line, 'qzten0')", NULL, token_or_token},
    {"host OR token, 11 rows", "host = '203.0.113.10' OR has_token(line, 'qzone0')",
     "host = '203.0.113.10' OR hasToken(line, 'qzone0')", NULL, host_or_token},
    {"token (10,000) AND status = 404", "has_token(line, 'qzmyri') AND status = 404",
     "hasToken(line, 'qzmyri') AND status = 404", NULL, token_and_404},
    {"token (1,000) AND NOT status = 200", "has_token(line, 'qzthou') AND NOT status = 200",
     "hasToken(line, 'qzthou') AND NOT status = 200", NULL, token_and_not_200},
    {"substring inside a token, 20 rows", "contains(line, 'zteninside')",
     "line LIKE '%zteninside%'", "zteninside", inside},
    {"regular expression with a literal, 200 rows", "matches(line, 'tag=qzhun[ab][ &]')",
     "match(line, 'tag=qzhun[ab][ &]')", "tag=qzhun", either_100},
    {"user, 100 rows", "user = 'alice'", "user = 'alice'", NULL, user},
    {"bytes IS NULL AND user", "bytes IS NULL AND user = 'alice'",
     "bytes IS NULL AND user = 'alice'", NULL, user_without_bytes},
    {"NOT (status IN 4 common)", "NOT status IN (200, 304, 404, 301)",
     "NOT status IN (200, 304, 404, 301)", NULL, status_uncommon},
    {"NOT (time < noon of the first day)", "NOT time < '2015-05-01T12:00:00Z'",
     "NOT time < " TIME_CH("2015-05-01 12:00:00"), NULL, not_early},
};

const size_t skip_condition_count = sizeof(skip_conditions) / sizeof(skip_conditions[0]);
