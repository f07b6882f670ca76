/* See baton.h. Messages keep their bounds: one byte is the baton, anything longer is a result. */
#include "bench/baton.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/die.h"

static const char baton_byte = 1;

static ssize_t receive(int socket, void *message, size_t size)
{
    for (;;) {
        ssize_t length = recv(socket, message, size, 0);
        if (length >= 0 || errno != EINTR)
            return length;
    }
}

/* A missing peer is reported as a result here, not as a signal. */
static bool send_whole(int socket, const void *message, size_t size)
{
    return send(socket, message, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* A conductor that is gone needs no result. */
static void wait_for_turn(int baton)
{
    char byte;
    if (receive(baton, &byte, 1) != 1)
        _Exit(1);
}

static _Noreturn void begin_work(struct baton_worker *workers, size_t worker_count, int baton,
                                 void (*work)(void *context, int baton), void *context)
{
    for (size_t i = 0; i < worker_count; i++) {
        if (workers[i].process != 0)
            close(workers[i].socket);
    }
    wait_for_turn(baton);
    work(context, baton);
    bench_die("a worker ended without a result");
}

void baton_hire(struct baton_worker *workers, size_t worker_count, size_t i,
                void (*work)(void *context, int baton), void *context)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        bench_die("socketpair: %s", strerror(errno));
    fflush(NULL);
    pid_t process = fork();
    if (process < 0)
        bench_die("fork: %s", strerror(errno));
    if (process == 0) {
        close(ends[0]);
        begin_work(workers, worker_count, ends[1], work, context);
    }
    close(ends[1]);
    workers[i] = (struct baton_worker){.process = process, .socket = ends[0]};
}

static bool ended_well(struct baton_worker *worker)
{
    int status = 0;
    close(worker->socket);
    if (waitpid(worker->process, &status, 0) != worker->process)
        bench_die("waitpid: %s", strerror(errno));
    *worker = (struct baton_worker){0};
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum baton_state baton_give(struct baton_worker *worker, void *result, size_t result_size)
{
    ssize_t length = -1;
    if (send_whole(worker->socket, &baton_byte, 1))
        length = receive(worker->socket, result, result_size);
    if (length == 1)
        return BATON_BACK;
    bool is_well = ended_well(worker);
    return is_well && length == (ssize_t)result_size ? BATON_DONE : BATON_LOST;
}

void baton_pass(int baton)
{
    if (!send_whole(baton, &baton_byte, 1))
        _Exit(1);
    wait_for_turn(baton);
}

void baton_finish(int baton, const void *result, size_t result_size)
{
    _Exit(send_whole(baton, result, result_size) ? 0 : 1);
}
