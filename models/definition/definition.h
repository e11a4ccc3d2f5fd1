/* A family's definition as a tree: what its YAML file says, in the order of the file. gen/family makes it
 * from YAML, models/definition/text from the text that a worker gets; models/definition/compile makes
 * what builds graphs. The language is in doc/families.md.
 *
 * Everything is in one arena and constant once made; texts are ended by 0. Lists are arrays with their
 * length; an expression that is absent is NULL. A place is where in the file something was written
 * (PDNN_PLACE), 0 where nobody knows: it serves messages and is not part of what the definition means. */
#ifndef MODELS_DEFINITION_DEFINITION_H
#define MODELS_DEFINITION_DEFINITION_H

#include "models/expression/expression.h"
#include "models/family.h"
#include "models/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line and a column from 1 on, in one number. Expressions have theirs in `at`. */
#define PDNN_PLACE(line, column) ((int32_t)((line) < 1 << 19 ? (line) << 12 | ((column)&4095) : 0))
#define PDNN_PLACE_LINE(place)   ((place) >> 12)
#define PDNN_PLACE_COLUMN(place) ((place)&4095)

/* `name: expression`: an attribute, a value of `let`, or a block's parameter, which may be without a value.
 */
struct pdnn_definition_value {
    const char *name;
    const struct pdnn_expression *value;
    int32_t place; /* of the name */
};

enum pdnn_axis_type { PDNN_AXIS_INT, PDNN_AXIS_DECIMAL, PDNN_AXIS_LIST, PDNN_AXIS_CHOICE, PDNN_AXIS_SWITCH };

/* A hyper-parameter. The default is a number, a list, a word of the choices, yes or no; or an expression of
 * other axes, and then `word` is what ids and specs may write for it. */
struct pdnn_definition_axis {
    const char *name, *help, *unit, *column, *example, *word; /* all but the name may be NULL */
    enum pdnn_axis_type type;
    int64_t min, max;                       /* of a decimal: millionths */
    const char *const *choices;             /* CHOICE, SWITCH: NULL-terminated */
    const struct pdnn_expression *fallback; /* NULL: a list without numbers, `none` */
    const struct pdnn_expression *when;     /* NULL: it always applies */
    int equal; /* LIST: so many equal numbers are one number; 0: never, or where the lists are together */
    int least; /* LIST: the fewest numbers that dropping repeats leaves, 1 or more */
    bool is_input;
    int32_t place;
};

/* A condition, and what is said where it does not hold: text with {expressions}, or NULL. */
struct pdnn_definition_require {
    const struct pdnn_expression *that;
    const char *say;
    int32_t place;
};

/* A row of `inputs` or `weights`. */
struct pdnn_definition_tensor {
    const char *name;
    const struct pdnn_expression *const *shape;
    size_t rank;
    enum pdnn_fill_kind fill;
    bool is_id;                            /* fill `id`: whole numbers, all the same */
    const struct pdnn_expression *fill_by; /* NULL: 1 */
    bool is_state;                         /* weights: `trained: no` */
    const struct pdnn_expression *when;    /* weights: NULL: always */
    const char *variable;                  /* inputs: `repeat: {variable: count}`, or NULL */
    const struct pdnn_expression *count;
    int32_t place;
};

struct pdnn_definition_entries {
    const struct pdnn_definition_entry *entry;
    size_t count;
};

enum pdnn_entry_kind {
    PDNN_ENTRY_OP,      /* a registered op; `name` */
    PDNN_ENTRY_BLOCK,   /* a block; `name` */
    PDNN_ENTRY_NAMED,   /* `op: expression`; `value` */
    PDNN_ENTRY_GROUP,   /* `ops: [...]`, or only `from`; `ops` */
    PDNN_ENTRY_REQUIRE, /* `require: condition`; `value`, `say` */
};

struct pdnn_definition_entry {
    enum pdnn_entry_kind kind;
    const char *name;
    int32_t place; /* of the name */
    const struct pdnn_expression *value;
    const char *say;
    struct pdnn_definition_entries ops;
    const struct pdnn_definition_value *attributes; /* in the order of the file */
    size_t n_attributes;
    const struct pdnn_expression *const *from, *const *as; /* `as`: a name, or name[index] */
    size_t n_from, n_as;
    const struct pdnn_expression *when;
    bool has_other; /* `else`, even if it is empty */
    struct pdnn_definition_entries other;
    const struct pdnn_expression *repeat;
    const char *variable;                /* of repeat, or NULL */
    const struct pdnn_expression *layer; /* a name, name[index], or an expression of these */
    const char *share;
    bool segment;
};

struct pdnn_definition_block {
    const char *name;
    const struct pdnn_definition_value *parameters;
    size_t n_parameters;
    const char *const *inputs;
    size_t n_inputs;
    const char *layer; /* or NULL */
    bool segment;
    struct pdnn_definition_entries ops;
    const struct pdnn_expression *const *result; /* none: the last entry's */
    size_t n_result;
    int32_t place;
};

/* Values of axes as an id has them, and claims: -1 where the file has none. */
struct pdnn_definition_preset {
    const char *name, *values, *help;
    int64_t params, macs;
    int32_t place;
};

struct pdnn_definition_lengths {
    const char *source, *target, *positions; /* axes; NULL: none. Without source the whole row is absent */
    double per_second;
    int64_t plus;
    const struct pdnn_expression *target_of;
};

struct pdnn_definition {
    const char *file;   /* as messages name it, or NULL */
    const char *source; /* the map in YAML; NULL: of one that ships, and of a canonical text */
    const char *name, *help;
    const struct pdnn_definition_axis *axes;
    size_t n_axes;
    const struct pdnn_definition_value *lets;
    size_t n_lets;
    const struct pdnn_definition_require *requires;
    size_t n_requires;
    const struct pdnn_definition_tensor *inputs, *weights;
    size_t n_inputs, n_weights;
    const struct pdnn_definition_block *blocks;
    size_t n_blocks;
    struct pdnn_definition_entries ops, loss;
    const struct pdnn_expression *const *result; /* none: the last entry's */
    size_t n_result;
    const struct pdnn_layer_def *layers; /* parts of layers; other layers have the part of their first op */
    size_t n_layers;
    const struct pdnn_definition_preset *presets;
    size_t n_presets;
    const char *minibatch, *depth; /* axes; depth: NULL if there is none */
    bool layers_run;               /* the run setting layers_run applies */
    struct pdnn_definition_lengths lengths;
    bool is_linear;   /* init: linear, 1/sqrt(inputs); else he, sqrt(6/inputs) */
    bool group_layer; /* group: layer: equal ops of different layers are separate rows */
    /* Lists of which the longest says how many steps there are; trailing repeats go where `together_when`
     * holds. */
    const char *const *together;
    size_t n_together;
    const struct pdnn_expression *together_when;
};

#endif
