/* Shared by the programs that run on LevelDB and on bloomblock: a store with its options, opened in
 * the working directory, and operations that print their results. Uses only <leveldb/c.h>, and
 * prints no text that may differ between two correct stores. */
#ifndef BB_TESTS_LEVELDB_SESSION_H
#define BB_TESTS_LEVELDB_SESSION_H

#include <leveldb/c.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct text {
    const char *data;
    size_t size;
};

static inline struct text text_of(const char *string)
{
    return (struct text){string, strlen(string)};
}

struct session {
    const char *name; /* of the store */
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_readoptions_t *read;
    leveldb_writeoptions_t *write;
    char *error;
};

/* Options that create, a small write buffer; no store is open yet. */
void session_init(struct session *s, const char *name);
void session_deinit(struct session *s);

/* Opens, and prints how it went: in full the failures that LevelDB's users know by heart, of others
 * the kind. */
void session_open(struct session *s);
void session_close(struct session *s);

/* Prints the error of the last call after a word, and clears it. True if there was no error. */
bool session_say(struct session *s, const char *what);
/* Ends the program if the last call failed. */
void session_check(struct session *s, const char *what);

void session_put(struct session *s, struct text key, struct text value);
void session_delete(struct session *s, struct text key);
/* Prints key and value, or that it is absent. */
void session_get(struct session *s, struct text key);
/* Everything in the store, forwards and backwards. */
void session_dump(struct session *s);

/* Readable bytes; of long ones the size and a sum. */
void print_text(struct text text);
/* Prints an iterator's position. */
void print_place(const leveldb_iterator_t *iterator);

#endif
