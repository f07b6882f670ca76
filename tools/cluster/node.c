/* See node.h. */
#include "tools/cluster/node.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/time.h>

#include "base/buf.h"
#include "base/status.h"
#include "tools/cluster/reply.h"
#include "tools/output/clock.h"
#include "tools/output/interrupt.h"

#if HIREDIS_MAJOR >= 1
#define ARRAY_COUNT size_t
#else
#define ARRAY_COUNT int
#endif

/* Refuses sizes that hiredis would allocate for a mere number in a reply. */
static void *create_array(const redisReadTask *task, ARRAY_COUNT count)
{
    const struct node *node = task->privdata;
    return count > NODE_ARRAY_MAX ? NULL : node->plain.createArray(task, count);
}

static void limit_replies(struct node *node)
{
    redisReader *reader = node->context->reader;
    node->plain = *reader->fn;
    node->limited = node->plain;
    node->limited.createArray = create_array;
    reader->fn = &node->limited;
    reader->privdata = node;
}

static struct timeval timeval_of(uint64_t nanoseconds)
{
    return (struct timeval){.tv_sec = (time_t)(nanoseconds / 1000000000),
                            .tv_usec = (suseconds_t)(nanoseconds % 1000000000 / 1000)};
}

void node_close(struct node *node)
{
    if (node->context != NULL)
        redisFree(node->context);
    node->context = NULL;
}

/* Closes the connection, whose later replies would belong to no command. */
static enum bb_status fail(struct node *node, const char *reason)
{
    enum bb_status status =
        interrupt_is_wanted()
            ? bb_fail(BB_BUSY, "interrupted")
            : bb_fail(BB_IO, "%s port %u: %s", node->address.host, node->address.port, reason);
    node_close(node);
    return status;
}

static enum bb_status fail_context(struct node *node)
{
    char reason[sizeof(node->context->errstr)];
    memcpy(reason, node->context->errstr, sizeof(reason));
    reason[sizeof(reason) - 1] = '\0';
    return fail(node, reason);
}

enum bb_status node_add(struct node *node, const struct words *words)
{
    struct words first = {0};
    enum bb_status status = bb_buf_print(&first.text, "*%zu\r\n", words->count);
    if (status == BB_OK &&
        (redisAppendFormattedCommand(node->context, (const char *)first.text.data,
                                     first.text.size) != REDIS_OK ||
         redisAppendFormattedCommand(node->context, (const char *)words->text.data,
                                     words->text.size) != REDIS_OK))
        status = fail_context(node);
    words_deinit(&first);
    return status;
}

enum bb_status node_flush(struct node *node)
{
    int is_done = 0;
    while (is_done == 0) {
        if (interrupt_is_wanted())
            return fail(node, "");
        if (redisBufferWrite(node->context, &is_done) != REDIS_OK)
            return fail_context(node);
    }
    return BB_OK;
}

/* Until bytes came, or Ctrl-C. */
static enum bb_status wait_readable(struct node *node)
{
    uint64_t end = clock_now() + node->silence_ns;
    for (uint64_t now = clock_now(); now < end && !interrupt_is_wanted(); now = clock_now()) {
        struct pollfd file = {.fd = node->context->fd, .events = POLLIN};
        int count = poll(&file, 1, (int)((end - now) / 1000000) + 1);
        if (count > 0)
            return BB_OK;
        if (count < 0 && errno != EINTR)
            return fail(node, strerror(errno));
    }
    return fail(node, "no answer");
}

static enum bb_status read_more(struct node *node, uint64_t *size_bytes)
{
    enum bb_status status = wait_readable(node);
    if (status != BB_OK)
        return status;
    size_t before = node->context->reader->len;
    if (redisBufferRead(node->context) != REDIS_OK)
        return fail_context(node);
    *size_bytes += node->context->reader->len - before;
    return *size_bytes <= NODE_REPLY_BYTES_MAX
               ? BB_OK
               : fail(node, "a reply of more than 1 GiB is refused; "
                            "fewer keys at a time: --batch");
}

enum bb_status node_receive(struct node *node, struct redisReply **ret_reply)
{
    uint64_t size_bytes = 0;
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        void *reply = NULL;
        if (redisGetReplyFromReader(node->context, &reply) != REDIS_OK)
            return fail_context(node);
        if (reply != NULL) {
            *ret_reply = reply;
            return BB_OK;
        }
        status = read_more(node, &size_bytes);
    }
    return status;
}

enum bb_status node_call(struct node *node, const struct words *words,
                         struct redisReply **ret_reply)
{
    enum bb_status status = node_add(node, words);
    if (status == BB_OK)
        status = node_flush(node);
    return status == BB_OK ? node_receive(node, ret_reply) : status;
}

static enum bb_status log_in_with(struct node *node, const struct words *words)
{
    struct redisReply *reply = NULL;
    enum bb_status status = node_call(node, words, &reply);
    if (status == BB_OK && reply->type == REDIS_REPLY_ERROR)
        status = fail(node, reply_text(reply).text);
    freeReplyObject(reply);
    return status;
}

static enum bb_status log_in(struct node *node, const struct credentials *credentials)
{
    if (credentials->password == NULL)
        return BB_OK;
    struct words words = {0};
    enum bb_status status = words_add_text(&words, "AUTH");
    if (status == BB_OK && credentials->user != NULL)
        status = words_add_text(&words, credentials->user);
    if (status == BB_OK)
        status = words_add_text(&words, credentials->password);
    if (status == BB_OK)
        status = log_in_with(node, &words);
    words_deinit(&words);
    return status;
}

enum bb_status node_connect(struct node *node, const struct credentials *credentials)
{
    if (node->context != NULL)
        return BB_OK;
    node->context = redisConnectWithTimeout(node->address.host, node->address.port,
                                            timeval_of(NODE_CONNECT_NS));
    if (node->context == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a connection");
    if (node->context->err != 0)
        return fail_context(node);
    limit_replies(node);
    if (redisSetTimeout(node->context, timeval_of(node->silence_ns)) != REDIS_OK)
        return fail_context(node);
    return log_in(node, credentials);
}
