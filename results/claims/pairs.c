#include "results/claims/pairs.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

bool pdnn_report_is_of(const struct pdnn_comparison *pairs, size_t pair, pdnn_report_network *network) {
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_table_text(&pairs->pairs, pair, PDNN_PAIR_FAMILY));
    return family && (!network || network(family));
}

struct pdnn_mean pdnn_report_speed_ups(const struct pdnn_comparison *pairs, pdnn_report_network *network) {
    struct pdnn_mean mean = {.n = 0};
    for (size_t i = 0; i < pairs->pairs.n_rows; i++)
        if (pdnn_report_is_of(pairs, i, network))
            pdnn_mean_add(&mean, log(pdnn_pair_ratio(pairs, i)), pdnn_pair_half(pairs, i));
    return mean;
}

int pdnn_report_faster_side(struct pdnn_mean_interval logs) {
    return logs.low > 0 ? 1 : logs.high < 0 ? -1 : 0;
}

bool pdnn_report_has_pairs(struct pdnn_report_question *q) {
    if (!q->sides->pairs)
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "No two platforms ran the same models.");
    return q->sides->pairs != NULL;
}

bool pdnn_report_is_same_machine(const struct pdnn_comparison *pairs) {
    static const char *const keys[] = {"cpu", "isa", "cores_usable", "host"};
    bool same = true;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        struct pdnn_str a = {0}, b = {0};
        pdnn_environment_get(pairs->directory[PDNN_SIDE_A], keys[k], &a);
        pdnn_environment_get(pairs->directory[PDNN_SIDE_B], keys[k], &b);
        same = same && strcmp(pdnn_str_text(&a), pdnn_str_text(&b)) == 0;
        pdnn_str_finish(&a);
        pdnn_str_finish(&b);
    }
    return same;
}

bool pdnn_report_differ_only_in(const struct pdnn_report_question *q, const char *key) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    return pairs && pairs->n_across == 1 && strcmp(pairs->across[0].name, key) == 0 &&
           pdnn_report_is_same_machine(pairs);
}
