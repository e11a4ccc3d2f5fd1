/* Claims about two platforms: ratios of the step times of models that ran on both. The papers set a TPU
 * against a GPU, one TPU against the next, or one version of the software against the next; here the two are
 * whatever the report compares. */
#include "base/memory.h"
#include "results/claims/pairs.h"
#include "base/units.h"
#include "results/claims/networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smallest and the largest third of the models of each family, by some size. */
struct thirds {
    struct pdnn_mean small, large; /* logarithms of the speed-ups of B over A */
};

struct sized {
    double size;
    size_t pair;
};

static int compare_sizes(const void *a, const void *b) {
    const struct sized *one = a, *other = b;
    if (one->size != other->size)
        return one->size < other->size ? -1 : 1;
    return one->pair < other->pair ? -1 : one->pair > other->pair;
}

/* Equal sizes stay together, so both parts can be more than a third. Where they would overlap, there is
 * nothing to compare. */
static void add_thirds(const struct pdnn_comparison *pairs, struct sized *sized, size_t n,
                       struct thirds *thirds) {
    size_t third = n / 3 ? n / 3 : 1;
    if (!n)
        return;
    qsort(sized, n, sizeof *sized, compare_sizes);
    double small = sized[third - 1].size, large = sized[n - third].size;
    for (size_t i = 0; i < n && small < large; i++) {
        struct pdnn_mean *part = sized[i].size <= small   ? &thirds->small
                                 : sized[i].size >= large ? &thirds->large
                                                          : NULL;
        if (part)
            pdnn_mean_add(part, log(pdnn_pair_ratio(pairs, sized[i].pair)),
                          pdnn_pair_half(pairs, sized[i].pair));
    }
}

static void find_thirds(const struct pdnn_report_question *q, struct thirds *thirds) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    struct sized *sized = pdnn_alloc(pairs->pairs.n_rows, sizeof *sized);
    *thirds = (struct thirds){.small = {.n = 0}};
    for (size_t k = 0; pdnn_families[k]; k++) {
        const struct pdnn_family_def *family = pdnn_families[k];
        const char *key = q->claim->size ? q->claim->size : family->params[family->minibatch_param].name;
        int column = pdnn_results_named(&pdnn_comparison_side(pairs, PDNN_SIDE_A)->results, key);
        size_t n = 0;
        for (size_t pair = 0; pair < pairs->pairs.n_rows; pair++) {
            double size = pdnn_comparison_number(pairs, pair, PDNN_SIDE_A, column);
            if (strcmp(pdnn_table_text(&pairs->pairs, pair, PDNN_PAIR_FAMILY), family->name) == 0 &&
                pdnn_report_is_of(pairs, pair, q->claim->network) && !isnan(size))
                sized[n++] = (struct sized){size, pair};
        }
        add_thirds(pairs, sized, n, thirds);
    }
    free(sized);
}

/* False after a sentence that says why there are none. */
static bool has_thirds(struct pdnn_report_question *q, struct thirds *thirds) {
    if (!pdnn_report_has_pairs(q))
        return false;
    find_thirds(q, thirds);
    bool has = thirds->small.n >= 3 && thirds->large.n >= 3;
    if (!has)
        pdnn_report_say(
            q, PDNN_CANNOT_BE_TOLD,
            "%zu models with a small and %zu with a large %s ran on both platforms; at least 3 of each "
            "are needed.",
            thirds->small.n, thirds->large.n, q->claim->what);
    return has;
}

static void say_thirds(struct pdnn_report_question *q, enum pdnn_verdict verdict,
                       const struct thirds *thirds) {
    char text[3][PDNN_REPORT_RATIO];
    pdnn_report_say(
        q, verdict,
        "Speed-up of %s over %s: %s, geometric mean of %zu models) in the third with the smallest %s, "
        "%s, %zu models) in that with the largest, a change by a factor of %s).",
        q->sides->name[PDNN_SIDE_B], q->sides->name[PDNN_SIDE_A],
        pdnn_report_ratio(text[0], pdnn_mean_exp(pdnn_mean_interval(&thirds->small)), true), thirds->small.n,
        q->claim->what, pdnn_report_ratio(text[1], pdnn_mean_exp(pdnn_mean_interval(&thirds->large)), false),
        thirds->large.n,
        pdnn_report_ratio(text[2], pdnn_mean_exp(pdnn_mean_difference(&thirds->small, &thirds->large)),
                          false));
}

/* Whether small models run faster on one side and large ones on the other. Takes, as the next two, `network`,
 * and `size`, the column of its models' size, which is `what`; without it, their minibatch. */
static void sides_change(struct pdnn_report_question *q) {
    struct thirds thirds;
    if (!has_thirds(q, &thirds))
        return;
    int sides = pdnn_report_faster_side(pdnn_mean_interval(&thirds.small)) *
                pdnn_report_faster_side(pdnn_mean_interval(&thirds.large));
    say_thirds(q, pdnn_report_judge(q, sides<0, sides> 0), &thirds);
}

static void lead_grows(struct pdnn_report_question *q) {
    struct thirds thirds;
    if (!has_thirds(q, &thirds))
        return;
    struct pdnn_mean all = pdnn_report_speed_ups(q->sides->pairs, q->claim->network);
    struct pdnn_mean_interval change = pdnn_mean_difference(&thirds.small, &thirds.large);
    int faster = pdnn_report_faster_side(pdnn_mean_interval(&all));
    bool grows = faster > 0 ? change.low > 0 : faster < 0 && change.high < 0;
    bool shrinks = faster > 0 ? change.high < 0 : faster < 0 && change.low > 0;
    say_thirds(q, pdnn_report_judge(q, grows, shrinks), &thirds);
}

/* Within `factor` either way counts as no change. */
static void size_changes(struct pdnn_report_question *q) {
    struct thirds thirds;
    if (!has_thirds(q, &thirds))
        return;
    struct pdnn_mean_interval change = pdnn_mean_difference(&thirds.small, &thirds.large);
    bool same = change.low > -log(q->claim->factor) && change.high < log(q->claim->factor);
    say_thirds(q, pdnn_report_judge(q, pdnn_report_faster_side(change) != 0 && !same, same), &thirds);
}

/* Utilization: each side's rate over its own peak. Takes `network` and `factor`. */
static void uses_more(struct pdnn_report_question *q) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    const double factor = q->claim->factor;
    struct pdnn_mean mean = {.n = 0};
    if (!pdnn_report_has_pairs(q))
        return;
    for (size_t i = 0; i < pairs->pairs.n_rows; i++) {
        double peak[PDNN_SIDES];
        for (int side = 0; side < PDNN_SIDES; side++)
            peak[side] = pdnn_selection_value(pdnn_comparison_side(pairs, side), pairs->at[i][side],
                                              PDNN_RESULT_PCT_OF_PEAK);
        if (pdnn_report_is_of(pairs, i, q->claim->network) && peak[PDNN_SIDE_A] > 0 && peak[PDNN_SIDE_B] > 0)
            pdnn_mean_add(&mean, log(peak[PDNN_SIDE_B] / peak[PDNN_SIDE_A]), pdnn_pair_half(pairs, i));
    }
    struct pdnn_mean_interval ratio = pdnn_mean_exp(pdnn_mean_interval(&mean));
    if (isnan(ratio.at)) {
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu such models have a utilization on both platforms; at least 3 are needed.",
                        mean.n);
        return;
    }
    char text[PDNN_REPORT_RATIO];
    bool more = ratio.low > factor || ratio.high < 1 / factor;
    bool less = ratio.low > 1 / factor && ratio.high < factor;
    pdnn_report_say(q, pdnn_report_judge(q, more, less),
                    "The utilization on %s over that on %s is %s, geometric mean of %zu models).",
                    q->sides->name[PDNN_SIDE_B], q->sides->name[PDNN_SIDE_A],
                    pdnn_report_ratio(text, ratio, true), mean.n);
}

const struct pdnn_report_claim pdnn_report_claims_of_pairs[] = {
    {5, "Matrix products bound by memory gain more from the faster platform than those bound by compute.",
     pdnn_report_memory_bound_gain_more,
     .tells =
         "The same models on two generations of a processor, with roofs and ops.csv on both sides, some of them bound "
         "by memory."},
    {7, "Large minibatches prefer one platform, small ones the other.", sides_change,
     .tells = "The same sweep over several minibatches on two platforms.", .what = "minibatch"},
    {8, "Small fully connected networks prefer one platform, large ones the other.", sides_change,
     .tells = "The same fully connected networks of several sizes on two platforms.",
     .what = "number of parameters", .network = pdnn_report_is_fully_connected, .size = "params"},
    {9, "The faster platform's lead on convolutional networks grows with their size.", lead_grows,
     .tells =
         "The same convolutional networks of several sizes on two platforms, one of which is clearly faster.",
     .what = "number of parameters", .network = pdnn_report_is_convolutional, .size = "params"},
    {10, "One platform uses at least twice as much of its peak on convolutional networks.", uses_more,
     .tells = "The same convolutional networks on two platforms with roofs.",
     .network = pdnn_report_is_convolutional, .factor = 2},
    {10, "One platform uses at least three times as much of its peak on recurrent networks.", uses_more,
     .tells = "The same recurrent networks on two platforms with roofs.", .network = pdnn_report_is_recurrent,
     .factor = 3},
    {11, "One platform gains more than the other from wider embeddings of recurrent networks.", size_changes,
     .tells = "The same recurrent networks with several embeddings on two platforms.", .what = "embedding",
     .network = pdnn_report_is_recurrent, .size = "embedding", .factor = 1.1},
    {12, "A newer version of the library makes some models at least twice as fast.",
     pdnn_report_newer_doubles_some,
     .tells = "The same sweep on one machine with two versions of the library."},
    {14, "Every newer version of the library makes models faster.", pdnn_report_newer_is_faster,
     .tells = "The same sweep on one machine with two versions of the library."},
};

const size_t pdnn_report_n_claims_of_pairs =
    sizeof pdnn_report_claims_of_pairs / sizeof *pdnn_report_claims_of_pairs;
