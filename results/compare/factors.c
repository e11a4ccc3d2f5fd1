#include "results/compare/factors.h"

#include <math.h>

enum { N_FACTORS = 3 };

static double value_of(const struct pdnn_comparison *comparison, size_t pair, int side,
                       enum pdnn_result_column column) {
    return pdnn_selection_value(&comparison->selection, comparison->at[pair][side], column);
}

void pdnn_factors_set(struct pdnn_comparison *comparison) {
    struct pdnn_table *pairs = &comparison->pairs;
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        double instructions[PDNN_SIDES], cpi[PDNN_SIDES];
        for (int side = 0; side < PDNN_SIDES; side++) {
            instructions[side] = value_of(comparison, pair, side, PDNN_RESULT_INSTRUCTIONS);
            cpi[side] = 1 / value_of(comparison, pair, side, PDNN_RESULT_IPC);
        }
        const double more = instructions[PDNN_SIDE_A] / instructions[PDNN_SIDE_B],
                     slower = cpi[PDNN_SIDE_A] / cpi[PDNN_SIDE_B], cycles = more * slower;
        if (!isfinite(cycles) || !(cycles > 0))
            continue;
        pdnn_table_set_number(pairs, pair, PDNN_PAIR_INSTRUCTIONS, more);
        pdnn_table_set_number(pairs, pair, PDNN_PAIR_CPI, slower);
        pdnn_table_set_number(pairs, pair, PDNN_PAIR_CYCLE_RATE, pdnn_pair_ratio(comparison, pair) / cycles);
    }
}

void pdnn_factors_say(const struct pdnn_comparison *comparison, struct pdnn_str *out) {
    static const char *const texts[N_FACTORS] = {" of instructions, ", " of cycles per instruction and ",
                                                 " of cycles a second."};
    const struct pdnn_table *pairs = &comparison->pairs;
    double log_sum[N_FACTORS] = {0}, log_all = 0;
    size_t count = 0;
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        if (pdnn_table_is_empty(pairs, pair, PDNN_PAIR_INSTRUCTIONS))
            continue;
        for (size_t i = 0; i < N_FACTORS; i++)
            log_sum[i] += log(pdnn_table_number(pairs, pair, PDNN_PAIR_INSTRUCTIONS + i));
        log_all += log(pdnn_pair_ratio(comparison, pair));
        count++;
    }
    if (!count)
        return;
    pdnn_str_printf(out, "By hardware counters on both sides, in %zu of %zu: a mean of ", count,
                    pairs->n_rows);
    pdnn_factor_append(out, exp(log_all / (double)count));
    pdnn_str_printf(out, " is made of ");
    for (size_t i = 0; i < N_FACTORS; i++) {
        pdnn_factor_append(out, exp(log_sum[i] / (double)count));
        pdnn_str_printf(out, "%s", texts[i]);
    }
}
