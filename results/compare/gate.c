#include "results/compare/gate.h"

#include <stdio.h>
#include <string.h>

enum { BROKEN, UNTOLD };

static void name(struct pdnn_str *names, const char *id, const char *why) {
    pdnn_str_printf(names, "%s%s (%s)", names->length ? ", " : "", id, why);
}

static void add_pair(struct pdnn_compare_gate *gate, const struct pdnn_table *pairs, size_t pair,
                     double limit) {
    const char *id = pdnn_table_text(pairs, pair, PDNN_PAIR_ID);
    char interval[64];
    if (pdnn_table_is_empty(pairs, pair, PDNN_PAIR_PAIRS)) {
        gate->untold++;
        name(&gate->names[UNTOLD], id, "no pairs");
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
        name(&gate->names[BROKEN], id, interval);
    } else {
        gate->untold++;
        gate->most_pairs = count > gate->most_pairs ? count : gate->most_pairs;
        name(&gate->names[UNTOLD], id, interval);
    }
}

void pdnn_gate_add(struct pdnn_compare_gate *gate, const struct pdnn_comparison *comparison, double limit) {
    const struct pdnn_table *unpaired = &comparison->unpaired;
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
        add_pair(gate, &comparison->pairs, pair, limit);
    for (size_t i = 0; i < unpaired->n_rows; i++) {
        const bool a = strcmp(pdnn_table_text(unpaired, i, PDNN_UNPAIRED_A_STATUS), "ok") == 0,
                   b = strcmp(pdnn_table_text(unpaired, i, PDNN_UNPAIRED_B_STATUS), "ok") == 0;
        if (a == b) /* what ran on neither side is no part of the comparison */
            continue;
        gate->untold++;
        gate->lacking++;
        name(&gate->names[UNTOLD], pdnn_table_text(unpaired, i, PDNN_UNPAIRED_ID),
             a ? "not ok in B" : "not ok in A");
    }
}

void pdnn_gate_say(const struct pdnn_compare_gate *gate, double limit, struct pdnn_str *out) {
    const size_t all = gate->passed + gate->broken + gate->untold;
    pdnn_str_printf(out, "gate %g %%: %s, %zu of %zu passed", 100 * limit,
                    gate->broken   ? "broken"
                    : gate->untold ? "could not be told"
                                   : "passed",
                    gate->passed, all);
    if (gate->broken)
        pdnn_str_printf(out, "; slower: %s", pdnn_str_text(&gate->names[BROKEN]));
    if (gate->untold)
        pdnn_str_printf(out, "; not told: %s", pdnn_str_text(&gate->names[UNTOLD]));
}

void pdnn_gate_finish(struct pdnn_compare_gate *gate) {
    pdnn_str_finish(&gate->names[BROKEN]);
    pdnn_str_finish(&gate->names[UNTOLD]);
}
