#include "results/compare/gate.h"

#include "results/compare/settle.h"

#include <stdio.h>
#include <string.h>

enum { BROKEN, UNTOLD };

/* Of side C and further ones, with that side. */
static void name(struct pdnn_str *names, const struct pdnn_comparison *comparison, const char *id,
                 const char *why) {
    char side[PDNN_SIDE_TEXT];
    pdnn_str_printf(names, "%s%s", names->length ? ", " : "", id);
    if (comparison->number > 1)
        pdnn_str_printf(names, " in %s", pdnn_side_name(comparison->number, side));
    pdnn_str_printf(names, " (%s)", why);
}

static void add_pair(struct pdnn_compare_gate *gate, const struct pdnn_comparison *comparison, size_t pair,
                     double limit) {
    const struct pdnn_table *pairs = &comparison->pairs;
    const char *id = pdnn_table_text(pairs, pair, PDNN_PAIR_ID);
    char interval[64];
    if (pdnn_table_is_empty(pairs, pair, PDNN_PAIR_PAIRS)) {
        const bool is_apart = pdnn_pair_chose_apart(comparison, pair);
        gate->untold++;
        gate->paired += is_apart;
        name(&gate->names[UNTOLD], comparison, id, is_apart ? "other choices" : "no pairs");
        return;
    }
    const double low = 1 / pdnn_table_number(pairs, pair, PDNN_PAIR_HIGH) - 1,
                 high = 1 / pdnn_table_number(pairs, pair, PDNN_PAIR_LOW) - 1;
    const size_t count = (size_t)pdnn_table_count(pairs, pair, PDNN_PAIR_PAIRS);
    const bool is_slower = strcmp(pdnn_table_text(pairs, pair, PDNN_PAIR_DECISION), pdnn_slower) == 0;
    snprintf(interval, sizeof interval, "%+.1f to %+.1f %%", 100 * low, 100 * high);
    gate->paired++;
    if (high < limit) {
        gate->passed++;
    } else if (is_slower && low > 0) {
        gate->broken++;
        name(&gate->names[BROKEN], comparison, id, interval);
    } else {
        gate->untold++;
        gate->most_pairs = count > gate->most_pairs ? count : gate->most_pairs;
        name(&gate->names[UNTOLD], comparison, id, interval);
    }
}

void pdnn_gate_add(struct pdnn_compare_gate *gate, const struct pdnn_comparison *comparison, double limit) {
    const struct pdnn_table *unpaired = &comparison->unpaired;
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
        add_pair(gate, comparison, pair, limit);
    for (size_t i = 0; i < unpaired->n_rows; i++) {
        const bool a = strcmp(pdnn_table_text(unpaired, i, PDNN_UNPAIRED_A_STATUS), "ok") == 0,
                   b = strcmp(pdnn_table_text(unpaired, i, PDNN_UNPAIRED_B_STATUS), "ok") == 0;
        gate->neither += !a && !b;
        gate->untold += a || b;
        if (a || b) /* of both, one has a time of 0 */
            name(&gate->names[UNTOLD], comparison, pdnn_table_text(unpaired, i, PDNN_UNPAIRED_ID),
                 !a   ? "not ok in A"
                 : !b ? "not ok in B"
                      : "no time");
    }
}

/* Without those that ended ok on neither side. */
static size_t count_models(const struct pdnn_compare_gate *gate) {
    return gate->passed + gate->broken + gate->untold;
}

bool pdnn_gate_is_untold(const struct pdnn_compare_gate *gate) {
    return gate->untold || gate->neither > count_models(gate);
}

void pdnn_gate_say(const struct pdnn_compare_gate *gate, double limit, struct pdnn_str *out) {
    pdnn_str_printf(out, "gate %g %%: %s, %zu of %zu passed", 100 * limit,
                    gate->broken                ? "broken"
                    : pdnn_gate_is_untold(gate) ? "could not be told"
                                                : "passed",
                    gate->passed, count_models(gate));
    if (gate->broken)
        pdnn_str_printf(out, "; slower: %s", pdnn_str_text(&gate->names[BROKEN]));
    if (gate->untold)
        pdnn_str_printf(out, "; not told: %s", pdnn_str_text(&gate->names[UNTOLD]));
    if (gate->neither)
        pdnn_str_printf(out, "; on neither side ok: %zu", gate->neither);
}

void pdnn_gate_finish(struct pdnn_compare_gate *gate) {
    pdnn_str_finish(&gate->names[BROKEN]);
    pdnn_str_finish(&gate->names[UNTOLD]);
}
