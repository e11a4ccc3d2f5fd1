/* A YAML document as a tree of nodes that know where they were written, so that every message can say so.
 * Only what a spec needs: maps, lists and scalars; aliases are copied in. What the keys mean is checked
 * elsewhere (gen/key). */
#ifndef GEN_YAML_DOCUMENT_H
#define GEN_YAML_DOCUMENT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum pdnn_yaml_kind { PDNN_YAML_SCALAR, PDNN_YAML_MAP, PDNN_YAML_LIST, PDNN_YAML_KIND_COUNT };

enum {
    PDNN_YAML_FILE_BYTES = 16 << 20, /* of one file */
    PDNN_YAML_TEXT_BYTES = 4096,     /* of one scalar */
    PDNN_YAML_DEPTH = 32,            /* levels of nesting */
    PDNN_YAML_ANCHORS = 256,         /* of one document */
    PDNN_YAML_DIRECTIVES = 16,       /* lines of one file that begin with % */
    /* Of everything that is counted together, aliases as often as they are used. */
    PDNN_YAML_NODES = 1 << 18,
    PDNN_YAML_TEXTS_BYTES = 4 << 20 /* keys and scalars */
};

/* Behind messages about a value that YAML ended too early. */
#define PDNN_YAML_BRACES_HINT "; inside braces, what has a comma, a bracket or '? :' goes in quotes"

/* What was read so far, if several texts share the limits; {0} at first. */
struct pdnn_yaml_count {
    size_t nodes, text_bytes;
};

/* What is parsed: text (length bytes; what follows them is not read) and what messages call it. */
struct pdnn_yaml_input {
    const char *file;
    bool whole_name; /* messages say `file` without line and column, and there is one document */
    const char *text;
    size_t length;
    struct pdnn_yaml_count *count; /* NULL: it shares its limits with nothing */
};

struct pdnn_yaml {
    enum pdnn_yaml_kind kind;
    const char *file; /* the source as messages name it: a path, or an option as typed */
    int line, column; /* from 1; line 0: the source is not a file, messages give only its name */
    const char *text; /* of a scalar, else "" */
    /* column + text_offset is the text's first character; -1: the text has escapes or folded lines. */
    int text_offset;
    bool plain;            /* a scalar without quotes: only then is an empty text "no value" */
    struct pdnn_yaml *key; /* the key whose value it is, in a map; else NULL */
    struct pdnn_yaml *first, *last, *next; /* children, and the next sibling or document */
    size_t count;                          /* of children */
};

/* Parses text into trees in the arena: *root is the first document, the others follow through `next`.
 * PDNN_INVALID with file:line:col for invalid YAML, NUL bytes, tabs as indentation, tags, cyclic anchors,
 * keys that a map has twice, an empty document, and anything beyond the limits above. */
enum pdnn_status pdnn_yaml_parse(const struct pdnn_yaml_input *input, struct pdnn_arena *arena,
                                 struct pdnn_yaml **root, struct pdnn_err *err);

/* The value of a map's key, or NULL. */
struct pdnn_yaml *pdnn_yaml_find(const struct pdnn_yaml *map, const char *key);

/* Puts a value behind the others of a map or list. */
void pdnn_yaml_append(struct pdnn_yaml *parent, struct pdnn_yaml *child);

/* True for an absent value: `key:` or `key: ~`. */
bool pdnn_yaml_is_null(const struct pdnn_yaml *node);

/* "a list", for messages. */
const char *pdnn_yaml_kind_name(const struct pdnn_yaml *node);

/* PDNN_INVALID with "file:line:col: " and the message. */
enum pdnn_status pdnn_yaml_fail(const struct pdnn_yaml *node, struct pdnn_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a character of a scalar's text, if its position is known. */
enum pdnn_status pdnn_yaml_fail_in(const struct pdnn_yaml *node, size_t offset, struct pdnn_err *err,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* PDNN_INVALID if the text of a node is too long, or has characters that nobody sees. */
enum pdnn_status pdnn_yaml_check_text(const struct pdnn_yaml *node, const char *text, size_t length,
                                      struct pdnn_err *err);

/* Puts "file:line:col: " in front of the existing error. */
enum pdnn_status pdnn_yaml_wrap(const struct pdnn_yaml *node, struct pdnn_err *err);

#endif
