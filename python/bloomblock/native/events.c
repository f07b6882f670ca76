/* The events of a store, kept until the program asks for them. They happen in threads of the
 * library, which do not run Python: a callback would have to wait for the interpreter's lock, in
 * the middle of a flush. */
#include "store_methods.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Older events are dropped. */
#define EVENT_COUNT  256
#define MESSAGE_SIZE 512

struct noted {
    struct bb_event event;
    char message[MESSAGE_SIZE];
};

struct events {
    pthread_mutex_t mutex;
    size_t first;
    size_t count;
    struct noted noted[EVENT_COUNT];
};

struct events *events_create(void)
{
    struct events *events = calloc(1, sizeof(*events));
    if (events != NULL)
        pthread_mutex_init(&events->mutex, NULL);
    return events;
}

void events_destroy(struct events *events)
{
    if (events != NULL)
        pthread_mutex_destroy(&events->mutex);
    free(events);
}

void events_note(void *context, const struct bb_event *event)
{
    struct events *events = context;
    pthread_mutex_lock(&events->mutex);
    struct noted *noted = &events->noted[(events->first + events->count) % EVENT_COUNT];
    noted->event = *event;
    strncpy(noted->message, event->message, MESSAGE_SIZE - 1);
    if (events->count < EVENT_COUNT)
        events->count++;
    else
        events->first = (events->first + 1) % EVENT_COUNT;
    pthread_mutex_unlock(&events->mutex);
}

static bool take_first(struct events *events, struct noted *ret_noted)
{
    pthread_mutex_lock(&events->mutex);
    bool is_there = events->count > 0;
    if (is_there) {
        *ret_noted = events->noted[events->first];
        events->first = (events->first + 1) % EVENT_COUNT;
        events->count--;
    }
    pthread_mutex_unlock(&events->mutex);
    return is_there;
}

static const char *const kinds[] = {"flush", "compaction", "stall", "recovery",
                                    "error", "damage",     NULL};

static const struct field fields[] = {
    FIELD_IN(bb_event, kind, kinds),
    FIELD(bb_event, U64, nanoseconds),
    FIELD(bb_event, U64, bytes_read),
    FIELD(bb_event, U64, bytes_written),
};

static PyObject *dictionary_of(const struct noted *noted)
{
    PyObject *entry = fields_get(fields, sizeof(fields) / sizeof(fields[0]), &noted->event);
    PyObject *level = PyLong_FromLong(noted->event.level);
    PyObject *message = PyUnicode_DecodeFSDefault(noted->message);
    if (entry == NULL || level == NULL || message == NULL ||
        PyDict_SetItemString(entry, "level", level) != 0 ||
        PyDict_SetItemString(entry, "message", message) != 0)
        Py_CLEAR(entry);
    Py_XDECREF(level);
    Py_XDECREF(message);
    return entry;
}

PyObject *store_events(PyObject *self, PyObject *nothing)
{
    struct events *events = ((struct store *)self)->events;
    struct noted noted;
    (void)nothing;
    /* In a child a thread of the parent may have held the mutex. */
    if (!store_check_process((struct store *)self))
        return NULL;
    PyObject *list = PyList_New(0);
    while (list != NULL && events != NULL && take_first(events, &noted)) {
        PyObject *entry = dictionary_of(&noted);
        if (entry == NULL || PyList_Append(list, entry) != 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}
