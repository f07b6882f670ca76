/* Signals of a process that loads the shared library by dlopen. The handler of SIGBUS remains after
 * the store is closed and the library is unloaded.
 *
 *     signals LIBRARY FOLDER ignored     SIGBUS was ignored: one from a process changes nothing
 *     signals LIBRARY FOLDER own         the program's handler gets the signal
 *     signals LIBRARY FOLDER default     the signal ends the process
 *     signals LIBRARY FOLDER fault       SIGBUS was ignored: a fault ends the process
 */
#define _POSIX_C_SOURCE 200809L

#include <bb/db.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PUTS 100 /* enough for the window of a log, a map */

static volatile sig_atomic_t own_count;

static void on_own(int number)
{
    (void)number;
    own_count++;
}

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* The address of a function as an object: what dlsym returns. */
static void find(void *library, const char *name, void *ret_function)
{
    void *symbol = dlsym(library, name);
    memcpy(ret_function, &symbol, sizeof(symbol));
}

static int use_store(void *library, const char *folder)
{
    __typeof__(&bb_db_open) open_store;
    __typeof__(&bb_db_put) put;
    __typeof__(&bb_db_close) close_store;
    struct bb_db_options options = {.create_if_missing = true};
    struct bb_db *db = NULL;
    find(library, "bb_db_open", &open_store);
    find(library, "bb_db_put", &put);
    find(library, "bb_db_close", &close_store);
    if (open_store(folder, &options, &db) != BB_OK)
        return fail("the store does not open");
    for (uint8_t i = 0; i < PUTS; i++) {
        struct bb_bytes key = {.data = &i, .size = 1};
        if (put(db, NULL, key, key) != BB_OK)
            return fail("a put fails");
    }
    return close_store(db) == BB_OK ? 0 : fail("the store does not close");
}

/* Reads a page after the end of a file. */
static int fault(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/empty", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    volatile const char *bytes = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
    if (fd < 0 || (const void *)bytes == MAP_FAILED)
        return fail("no map");
    return fail(bytes[0] == 0 ? "no fault" : "no fault, and a byte");
}

static void prepare(const char *mode)
{
    if (strcmp(mode, "own") == 0)
        (void)signal(SIGBUS, on_own);
    else if (strcmp(mode, "default") != 0)
        (void)signal(SIGBUS, SIG_IGN);
}

int main(int count, char **arguments)
{
    if (count != 4)
        return fail("usage: signals LIBRARY FOLDER ignored|own|default|fault");
    prepare(arguments[3]);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || use_store(library, arguments[2]) != 0 || dlclose(library) != 0)
        return fail("the library cannot be used");
    struct sigaction now;
    if (sigaction(SIGBUS, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0)
        return fail("no handler was installed: the test shows nothing");
    if (strcmp(arguments[3], "fault") == 0)
        return fault(arguments[2]);
    if (kill(getpid(), SIGBUS) != 0)
        return fail("kill");
    if (strcmp(arguments[3], "own") == 0 && own_count != 1)
        return fail("the program's handler was not called");
    puts("alive");
    return 0;
}
