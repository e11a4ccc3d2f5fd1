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

typedef const char *size_column(const struct pdnn_family_def *family);

static const char *params_column(const struct pdnn_family_def *family) {
    (void)family;
    return "params";
}

static const char *minibatch_column(const struct pdnn_family_def *family) {
    return family->params[family->minibatch_param].name;
}

static const char *embedding_column(const struct pdnn_family_def *family) {
    (void)family;
    return "embedding";
}

static void find_thirds(const struct pdnn_comparison *pairs, pdnn_report_network *network,
                        size_column *column, struct thirds *thirds) {
    struct sized *sized = pdnn_alloc(pairs->pairs.n_rows, sizeof *sized);
    *thirds = (struct thirds){.small = {.n = 0}};
    for (size_t k = 0; pdnn_families[k]; k++) {
        size_t n = 0;
        for (size_t pair = 0; pair < pairs->pairs.n_rows && network(pdnn_families[k]); pair++) {
            double size;
            if (strcmp(pdnn_table_text(&pairs->pairs, pair, PDNN_PAIR_FAMILY), pdnn_families[k]->name) == 0 &&
                pdnn_parse_double(pdnn_comparison_get(pairs, pair, PDNN_SIDE_A, column(pdnn_families[k])),
                                  &size))
                sized[n++] = (struct sized){size, pair};
        }
        add_thirds(pairs, sized, n, thirds);
    }
    free(sized);
}

static bool has_thirds(struct pdnn_report_question *q, const struct thirds *thirds, const char *what) {
    bool has = thirds->small.n >= 3 && thirds->large.n >= 3;
    if (!has)
        pdnn_report_say(
            q, PDNN_CANNOT_BE_TOLD,
            "%zu models with a small and %zu with a large %s ran on both platforms; at least 3 of each "
            "are needed.",
            thirds->small.n, thirds->large.n, what);
    return has;
}

static void say_thirds(struct pdnn_report_question *q, enum pdnn_verdict verdict, const char *what,
                       const struct thirds *thirds) {
    struct pdnn_mean_interval small = pdnn_mean_exp(pdnn_mean_interval(&thirds->small));
    struct pdnn_mean_interval large = pdnn_mean_exp(pdnn_mean_interval(&thirds->large));
    struct pdnn_mean_interval change = pdnn_mean_exp(pdnn_mean_difference(&thirds->small, &thirds->large));
    pdnn_report_say(
        q, verdict,
        "Speed-up of %.60s over %.60s: %.3g (95 %% interval %.3g to %.3g, geometric mean of %zu models) "
        "in the third with the smallest %s, %.3g (%.3g to %.3g, %zu models) in that with the largest, a "
        "change by a factor of %.3g (%.3g to %.3g).",
        q->sides->name[PDNN_SIDE_B], q->sides->name[PDNN_SIDE_A], small.at, small.low, small.high,
        thirds->small.n, what, large.at, large.low, large.high, thirds->large.n, change.at, change.low,
        change.high);
}

/* Whether small models run faster on one side and large ones on the other. */
static void sides_change(struct pdnn_report_question *q, pdnn_report_network *network, size_column *column,
                         const char *what) {
    struct thirds thirds;
    if (!pdnn_report_has_pairs(q))
        return;
    find_thirds(q->sides->pairs, network, column, &thirds);
    if (!has_thirds(q, &thirds, what))
        return;
    int small = pdnn_report_faster_side(pdnn_mean_interval(&thirds.small));
    int large = pdnn_report_faster_side(pdnn_mean_interval(&thirds.large));
    say_thirds(q, pdnn_report_judge(q, small * large<0, small * large> 0), what, &thirds);
}

static enum pdnn_status minibatch_decides(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    sides_change(q, pdnn_report_any_network, minibatch_column, "minibatch");
    return PDNN_OK;
}

static enum pdnn_status size_decides(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    sides_change(q, pdnn_report_is_fully_connected, params_column, "number of parameters");
    return PDNN_OK;
}

static enum pdnn_status lead_grows(struct pdnn_report_question *q, struct pdnn_err *err) {
    struct thirds thirds;
    (void)err;
    if (!pdnn_report_has_pairs(q))
        return PDNN_OK;
    find_thirds(q->sides->pairs, pdnn_report_is_convolutional, params_column, &thirds);
    if (!has_thirds(q, &thirds, "number of parameters"))
        return PDNN_OK;
    struct pdnn_mean all = pdnn_report_speed_ups(q->sides->pairs, pdnn_report_is_convolutional);
    struct pdnn_mean_interval change = pdnn_mean_difference(&thirds.small, &thirds.large);
    int faster = pdnn_report_faster_side(pdnn_mean_interval(&all));
    bool grows = faster > 0 ? change.low > 0 : faster < 0 && change.high < 0;
    bool shrinks = faster > 0 ? change.high < 0 : faster < 0 && change.low > 0;
    say_thirds(q, pdnn_report_judge(q, grows, shrinks), "number of parameters", &thirds);
    return PDNN_OK;
}

/* Within a tenth either way counts as no change. */
static enum pdnn_status embedding_decides(struct pdnn_report_question *q, struct pdnn_err *err) {
    struct thirds thirds;
    (void)err;
    if (!pdnn_report_has_pairs(q))
        return PDNN_OK;
    find_thirds(q->sides->pairs, pdnn_report_is_recurrent, embedding_column, &thirds);
    if (!has_thirds(q, &thirds, "embedding"))
        return PDNN_OK;
    struct pdnn_mean_interval change = pdnn_mean_difference(&thirds.small, &thirds.large);
    bool same = change.low > -log(1.1) && change.high < log(1.1);
    say_thirds(q, pdnn_report_judge(q, pdnn_report_faster_side(change) != 0 && !same, same), "embedding",
               &thirds);
    return PDNN_OK;
}

/* Utilization: each side's rate over its own peak. */
static void uses_more(struct pdnn_report_question *q, pdnn_report_network *network, double factor) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    struct pdnn_mean mean = {.n = 0};
    if (!pdnn_report_has_pairs(q))
        return;
    for (size_t i = 0; i < pairs->pairs.n_rows; i++) {
        double a, b;
        if (pdnn_report_is_of(pairs, i, network) &&
            pdnn_parse_double(pdnn_comparison_get(pairs, i, PDNN_SIDE_A, "pct_of_peak"), &a) &&
            pdnn_parse_double(pdnn_comparison_get(pairs, i, PDNN_SIDE_B, "pct_of_peak"), &b) && a > 0 &&
            b > 0)
            pdnn_mean_add(&mean, log(b / a), pdnn_pair_half(pairs, i));
    }
    struct pdnn_mean_interval ratio = pdnn_mean_exp(pdnn_mean_interval(&mean));
    if (isnan(ratio.at)) {
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD,
                        "%zu such models have a utilization on both platforms; at least 3 are needed.",
                        mean.n);
        return;
    }
    bool more = ratio.low > factor || ratio.high < 1 / factor;
    bool less = ratio.low > 1 / factor && ratio.high < factor;
    pdnn_report_say(
        q, pdnn_report_judge(q, more, less),
        "The utilization on %.60s is %.3g times that on %.60s (95 %% interval %.3g to %.3g, geometric "
        "mean of %zu models).",
        q->sides->name[PDNN_SIDE_B], ratio.at, q->sides->name[PDNN_SIDE_A], ratio.low, ratio.high, mean.n);
}

static enum pdnn_status uses_more_on_cnn(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    uses_more(q, pdnn_report_is_convolutional, 2);
    return PDNN_OK;
}

static enum pdnn_status uses_more_on_rnn(struct pdnn_report_question *q, struct pdnn_err *err) {
    (void)err;
    uses_more(q, pdnn_report_is_recurrent, 3);
    return PDNN_OK;
}

const struct pdnn_report_claim pdnn_report_claims_of_pairs[] = {
    {5, "Matrix products bound by memory gain more from the faster platform than those bound by compute.",
     pdnn_report_memory_bound_gain_more,
     "The same models on two generations of a processor, with roofs and ops.csv on both sides, some of them bound "
     "by memory."},
    {7, "Large minibatches prefer one platform, small ones the other.", minibatch_decides,
     "The same sweep over several minibatches on two platforms."},
    {8, "Small fully connected networks prefer one platform, large ones the other.", size_decides,
     "The same fully connected networks of several sizes on two platforms."},
    {9, "The faster platform's lead on convolutional networks grows with their size.", lead_grows,
     "The same convolutional networks of several sizes on two platforms, one of which is clearly faster."},
    {10, "One platform uses at least twice as much of its peak on convolutional networks.", uses_more_on_cnn,
     "The same convolutional networks on two platforms with roofs."},
    {10, "One platform uses at least three times as much of its peak on recurrent networks.",
     uses_more_on_rnn, "The same recurrent networks on two platforms with roofs."},
    {11, "One platform gains more than the other from wider embeddings of recurrent networks.",
     embedding_decides, "The same recurrent networks with several embeddings on two platforms."},
    {12, "A newer version of the library makes some models at least twice as fast.",
     pdnn_report_newer_doubles_some, "The same sweep on one machine with two versions of the library."},
    {14, "Every newer version of the library makes models faster.", pdnn_report_newer_is_faster,
     "The same sweep on one machine with two versions of the library."},
};

const size_t pdnn_report_n_claims_of_pairs =
    sizeof pdnn_report_claims_of_pairs / sizeof *pdnn_report_claims_of_pairs;
