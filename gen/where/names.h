/* Reads a `where`: its names become variables, words such as relu become numbers. What would parse but mean
 * something other than it says is an error here, at its column; the rest of the grammar is that of
 * models/expression/parse. */
#ifndef GEN_WHERE_NAMES_H
#define GEN_WHERE_NAMES_H

#include "gen/where/evaluate.h"
#include "gen/yaml/document.h"
#include "models/cost/cost.h"
#include "models/family.h"
#include "models/instance.h"

/* Slots of variables: hyper-parameters, run settings, costs. */
enum {
    PDNN_WHERE_SETTINGS = PDNN_HYPER_MAX,
    PDNN_WHERE_COSTS = PDNN_WHERE_SETTINGS + PDNN_SETTING_COUNT,
    PDNN_WHERE_SLOTS = PDNN_WHERE_COSTS + 8,
    PDNN_WHERE_TESTS = 32
};

/* A cost by its name in an expression. */
struct pdnn_where_cost {
    const char *name;
    size_t offset; /* of the uint64_t in struct pdnn_totals */
    const char *help;
};
extern const struct pdnn_where_cost pdnn_where_costs[];
extern const size_t pdnn_where_n_costs; /* at most PDNN_WHERE_SLOTS - PDNN_WHERE_COSTS */

/* "blocks == 3-4-6-3", "library == new" and "preset == resnet50" are evaluated outside the expression, which
 * sees them as the variable holds[index]: neither is a double. */
struct pdnn_where_test {
    const struct pdnn_preset *preset; /* NULL: of the slot */
    int slot;
    struct pdnn_value list;
};

struct pdnn_where_names {
    uint64_t used; /* bit per slot */
    double values[PDNN_WHERE_SLOTS];
    struct pdnn_where_test tests[PDNN_WHERE_TESTS];
    double holds[PDNN_WHERE_TESTS]; /* 1 or 0, of each test */
    size_t n_tests;
};

/* *names starts as {0} and outlives the code, which reads its values. */
enum pdnn_status pdnn_where_read(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                 struct pdnn_where_names *names, struct pdnn_where_code **code,
                                 struct pdnn_err *err);

#endif
