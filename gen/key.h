/* Tables of the spec's own keys: one row gives a key's name, how its value is read and where it is stored.
 * gen/axis reads the rows of hyper-parameters and run settings. */
#ifndef GEN_KEY_H
#define GEN_KEY_H

#include "base/str.h"
#include "gen/yaml/document.h"

#include <stdint.h>

struct pdnn_key_def {
    const char *name;
    /* Writes the value to (char *)target + offset; messages start with the value's place. */
    enum pdnn_status (*read)(const struct pdnn_key_def *key, const struct pdnn_yaml *value, void *target,
                             struct pdnn_err *err);
    size_t offset;
    int64_t min, max;         /* pdnn_key_read_i64: inclusive */
    const char *const *words; /* pdnn_key_read_word: NULL-terminated */
    const char *help;         /* what the key is; ends the message about a wrong value */
    const char *values;       /* how a value is written, where `read` does not say it */
    const char *fallback;     /* the default as it would be written; NULL: none */
    const char *absent;       /* what holds without the key, in words, if there is no fallback; or NULL */
    const char *example;      /* a value, or for a key of a model the whole entry */
};

/* How a row begins: its name, its reader, and the member that it stores; and the range of a number. */
#define PDNN_KEY(key, reader, type, member) .name = key, .read = reader, .offset = offsetof(type, member)
#define PDNN_KEY_RANGE(least, most)         .min = least, .max = most

enum { PDNN_PLACE_TEXT = 160 };

/* The keys of one map of a spec. */
struct pdnn_key_table {
    const char *name; /* "measure", "a spec": what messages call the map */
    const struct pdnn_key_def *keys;
    size_t n_keys;
    /* Appended to the message about an unknown key: where it belongs, or "". NULL: nowhere else. */
    const char *(*place)(char buffer[PDNN_PLACE_TEXT], const char *name);
};

#define PDNN_KEY_ROWS(rows) .keys = rows, .n_keys = sizeof rows / sizeof *rows

/* Stores the defaults of those keys that have one. */
void pdnn_keys_default(const struct pdnn_key_table *table, void *target);

/* Checks that node is a map with known keys, each given once, and reads them. */
enum pdnn_status pdnn_keys_read(const struct pdnn_yaml *node, const struct pdnn_key_table *table,
                                void *target, struct pdnn_err *err);

/* The row of the key, or NULL. */
const struct pdnn_key_def *pdnn_key_find(const struct pdnn_key_table *table, const char *name);

/* Appends how a value of the key is written: "1..10000", "shuffled, cost", "a time such as 5s". */
void pdnn_key_values_format(struct pdnn_str *out, const struct pdnn_key_def *key);

/* PDNN_INVALID unless node is a map. */
enum pdnn_status pdnn_key_check_map(const struct pdnn_yaml *node, const char *what, struct pdnn_err *err);

/* PDNN_INVALID unless value is a scalar that is present. */
enum pdnn_status pdnn_key_check_scalar(const struct pdnn_yaml *value, const char *name, struct pdnn_err *err);

/* The path that the value names: a relative one starts at the directory of the file that has the value, or
 * where the program is for one that was typed or piped. */
const char *pdnn_key_path(const struct pdnn_yaml *value, struct pdnn_arena *arena);

/* What the message about an unknown key says. */
struct pdnn_key_unknown {
    const char *what;         /* is unknown in it: "measure" */
    const char *kind;         /* what the listed words are; NULL: keys */
    const char *place;        /* where the key belongs: ", it belongs under run"; "" if nowhere */
    const char *const *words; /* otherwise the nearest of these */
    size_t n_words, n_listed; /* otherwise the first n_listed of them */
};

/* "unknown key 'x' in measure, did you mean 'y'?" at the key's place. */
enum pdnn_status pdnn_key_unknown(const struct pdnn_yaml *key, const struct pdnn_key_unknown *unknown,
                                  struct pdnn_err *err);

/* "rounds is 'x', expected <what> (<help>)" at the value's place. */
enum pdnn_status pdnn_key_expected(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                   const char *what, struct pdnn_err *err);

/* Readers for rows, and the type that each writes. */
enum pdnn_status pdnn_key_read_node(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target,
                                    struct pdnn_err *err); /* const struct pdnn_yaml *, unchecked */
enum pdnn_status pdnn_key_read_i64(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                   void *target, struct pdnn_err *err); /* int64_t */
enum pdnn_status pdnn_key_read_word(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target, struct pdnn_err *err); /* int, the index into words */
enum pdnn_status pdnn_key_read_switch(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                      void *target,
                                      struct pdnn_err *err); /* bool, from on, off, true, false, yes, no */
enum pdnn_status pdnn_key_read_percent(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                       void *target, struct pdnn_err *err); /* double in (0, 1] */
enum pdnn_status pdnn_key_read_time(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target, struct pdnn_err *err); /* uint64_t, nanoseconds, above 0 */

#endif
