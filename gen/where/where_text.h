/* Translates a `where` from the language of the spec into an expression (gen/where/expression.h): names
 * become variables v<slot>, words such as relu become numbers, 8GiB becomes bytes, and `and`, `or`, `not`
 * become operators. What would parse but mean something other than it says (1 < x < 5, x = 5, an unknown
 * name) is an error here, at its column. The rest of the grammar is the expression's. */
#ifndef GEN_WHERE_WHERE_TEXT_H
#define GEN_WHERE_WHERE_TEXT_H

#include "base/str.h"
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

/* "blocks == 3-4-6-3" and "preset == resnet50" are evaluated outside the expression, which sees them as the
 * variable l<index>: neither is a double. */
struct pdnn_where_test {
    const struct pdnn_preset *preset; /* NULL: of the slot */
    int slot;
    struct pdnn_value list;
};

/* Where a token of the translation came from. */
struct pdnn_where_token {
    size_t out, in; /* offsets in the translation and in the node's text */
};

struct pdnn_where_text {
    struct pdnn_str out;
    uint64_t used; /* bit per slot */
    struct pdnn_where_test tests[PDNN_WHERE_TESTS];
    size_t n_tests;
    struct pdnn_where_token *tokens; /* heap */
    size_t n_tokens, token_room;
};

/* *text starts as {0}; call pdnn_where_text_finish afterwards, also on failure. */
enum pdnn_status pdnn_where_translate(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                      struct pdnn_where_text *text, struct pdnn_err *err);
void pdnn_where_text_finish(struct pdnn_where_text *text);

#endif
