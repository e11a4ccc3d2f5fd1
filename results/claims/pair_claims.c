/* Claims about two platforms: ratios of the step times of models that ran on both. The papers set a TPU
 * against a GPU, one TPU against the next, or one version of the software against the next; here the two are
 * whatever the report compares. */
#define _GNU_SOURCE /* strverscmp */
#include "base/stats.h"
#include "models/zoo/catalog.h"
#include "results/claims/claim.h"
#include "results/compare/compare_ops.h"
#include "results/query/op_groups.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether the pair is of the claim's kind of network. */
static bool is_of(const struct pdnn_question *q, size_t pair) {
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_table_text(&q->pairs->pairs, pair, PDNN_PAIR_FAMILY));
    return family && (!q->claim.network || q->claim.network(family));
}

/* Adds a pair's speed-up of B over A. */
static void add_pair(struct pdnn_mean *logs, const struct pdnn_question *q, size_t pair) {
    pdnn_mean_add(logs, log(pdnn_pair_ratio(q->pairs, pair)), pdnn_pair_half(q->pairs, pair));
}

/* 1: clearly above 0; -1: clearly below; 0: neither. */
static int sign_of(struct pdnn_mean_interval interval) {
    return interval.low > 0 ? 1 : interval.high < 0 ? -1 : 0;
}

/* Whether the lead of the faster platform, on the claim's kind of network, grows by this change. */
static enum pdnn_verdict judge_lead(struct pdnn_question *q, struct pdnn_mean_interval change) {
    struct pdnn_mean all = {.n = 0};
    for (size_t pair = 0; pair < q->pairs->pairs.n_rows; pair++)
        if (is_of(q, pair))
            add_pair(&all, q, pair);
    const int grows = sign_of(pdnn_mean_interval(&all)) * sign_of(change);
    return pdnn_claim_judge(q, grows > 0, grows < 0);
}

static bool is_same_machine(const struct pdnn_comparison *pairs) {
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

bool pdnn_claim_differ_only_in(const struct pdnn_question *q, const char *key) {
    return q->pairs && q->pairs->across.count == 1 &&
           strcmp(pdnn_results_name(&q->pairs->selection.results, q->pairs->across.column[0]), key) == 0 &&
           is_same_machine(q->pairs);
}

/* Adds the smallest and the largest third of the models of a family. Equal sizes stay together, so both parts
 * can be more than a third. Where they would overlap, there is nothing to compare. */
static void add_thirds(struct pdnn_question *q, const struct pdnn_family_def *family, double *size,
                       double *sorted, struct pdnn_mean part[2]) {
    const char *key = q->claim.size ? q->claim.size : family->params[family->minibatch_param].name;
    const int column = pdnn_results_named(&q->pairs->selection.results, key);
    size_t n = 0;
    for (size_t pair = 0; pair < q->pairs->pairs.n_rows; pair++) {
        const bool is_here =
            strcmp(pdnn_table_text(&q->pairs->pairs, pair, PDNN_PAIR_FAMILY), family->name) == 0;
        size[pair] =
            is_here ? pdnn_selection_number(&q->pairs->selection, q->pairs->at[pair][PDNN_SIDE_A], column)
                    : NAN;
        if (!isnan(size[pair]))
            sorted[n++] = size[pair];
    }
    if (!n)
        return;
    pdnn_sort(sorted, n);
    const size_t third = n / 3 ? n / 3 : 1;
    const double small = sorted[third - 1], large = sorted[n - third];
    for (size_t pair = 0; pair < q->pairs->pairs.n_rows && small < large; pair++)
        if (size[pair] <= small || size[pair] >= large)
            add_pair(&part[size[pair] >= large], q, pair);
}

/* Speed-ups of the smallest models beside those of the largest: whether one platform is faster with small
 * ones and the other with large ones; whether the lead of the faster platform grows; or whether they differ
 * by more than `factor`. Takes `rule`, `network`, and `size`, the column of the models' size, which is
 * `what`; without it, their minibatch. */
static void check_thirds(struct pdnn_question *q) {
    const size_t n = q->pairs->pairs.n_rows;
    struct pdnn_mean part[2] = {{.n = 0}};
    double *size = pdnn_arena_alloc(&q->arena, n, sizeof *size),
           *sorted = pdnn_arena_alloc(&q->arena, n, sizeof *sorted);
    for (size_t k = 0; pdnn_family_at(k); k++)
        if (!q->claim.network || q->claim.network(pdnn_family_at(k)))
            add_thirds(q, pdnn_family_at(k), size, sorted, part);
    const struct pdnn_mean_interval small = pdnn_mean_interval(&part[0]),
                                    large = pdnn_mean_interval(&part[1]),
                                    change = pdnn_mean_difference(&part[0], &part[1]);
    if (isnan(change.at)) {
        pdnn_claim_say(
            q, PDNN_CANNOT_BE_TOLD,
            "Models that ran on both platforms with a small %s: %zu, with a large one: %zu; at least "
            "3 of each are needed.",
            q->claim.what, part[0].n, part[1].n);
        return;
    }
    const double most = log(q->claim.factor);
    const int sides = sign_of(small) * sign_of(large);
    const bool is_same = change.low > -most && change.high < most;
    const enum pdnn_verdict verdict = q->claim.rule == PDNN_OPPOSITE ? pdnn_claim_judge(q, sides<0, sides> 0)
                                      : q->claim.rule == PDNN_GROWS
                                          ? judge_lead(q, change)
                                          : pdnn_claim_judge(q, sign_of(change) != 0 && !is_same, is_same);
    pdnn_claim_say(q, verdict,
                   "Speed-up of %s over %s: %s, geometric mean of %zu models) in the third with the smallest "
                   "%s, %s, %zu models) in that with the largest, a change by a factor of %s).",
                   q->name[PDNN_SIDE_B], q->name[PDNN_SIDE_A],
                   pdnn_claim_ratio(q, pdnn_mean_exp(small), PDNN_CLAIM_NAMED), part[0].n, q->claim.what,
                   pdnn_claim_ratio(q, pdnn_mean_exp(large), " ("), part[1].n,
                   pdnn_claim_ratio(q, pdnn_mean_exp(change), " ("));
}

/* Each side's rate over its own peak. Takes `network`. */
static struct pdnn_mean utilization(struct pdnn_question *q) {
    struct pdnn_mean mean = {.n = 0};
    for (size_t i = 0; i < q->pairs->pairs.n_rows; i++) {
        double peak[PDNN_SIDES];
        for (int side = 0; side < PDNN_SIDES; side++)
            peak[side] =
                pdnn_selection_value(&q->pairs->selection, q->pairs->at[i][side], PDNN_RESULT_PCT_OF_PEAK);
        if (is_of(q, i) && peak[PDNN_SIDE_A] > 0 && peak[PDNN_SIDE_B] > 0)
            pdnn_mean_add(&mean, log(peak[PDNN_SIDE_B] / peak[PDNN_SIDE_A]), pdnn_pair_half(q->pairs, i));
    }
    q->claim.what = pdnn_arena_printf(&q->arena, "The utilization on %s over that on %s is",
                                      q->name[PDNN_SIDE_B], q->name[PDNN_SIDE_A]);
    return mean;
}

/* Speed-ups of B over A by kind of op; of each model the mean over its ops of that kind. */
enum op_kind { COMPUTE_BOUND, MEMORY_BOUND, LOOKUP, OP_KINDS };

static size_t op_kind_of(const struct pdnn_op_record *op) {
    if (strcmp(op->category, "embedding") == 0)
        return LOOKUP;
    if (!pdnn_category_is_product(op->category))
        return OP_KINDS;
    return op->place.bound == PDNN_BOUND_COMPUTE  ? COMPUTE_BOUND
           : op->place.bound == PDNN_BOUND_MEMORY ? MEMORY_BOUND
                                                  : OP_KINDS;
}

/* What bounds an op is looked up on side A. */
static void read_op_kinds(const struct pdnn_question *q, struct pdnn_mean kinds[OP_KINDS]) {
    struct pdnn_arena arena = {0};
    for (size_t pair = 0; pair < q->pairs->pairs.n_rows; pair++) {
        struct pdnn_mean own[OP_KINDS] = {{.n = 0}};
        pdnn_arena_reset(&arena);
        const struct pdnn_pair_ops ops = pdnn_pair_ops(q->pairs, pair, q->data->readers, &arena);
        for (size_t i = 0; i < ops.side[PDNN_SIDE_A].count; i++) {
            const struct pdnn_op_record *a = &ops.side[PDNN_SIDE_A].op[i], *b = ops.other[i];
            const size_t kind = op_kind_of(a);
            if (kind < OP_KINDS && b && a->time_ns_median > 0 && b->time_ns_median > 0)
                pdnn_mean_add(&own[kind], log(a->time_ns_median / b->time_ns_median), 0);
        }
        for (size_t k = 0; k < OP_KINDS; k++)
            if (own[k].n)
                pdnn_mean_add(&kinds[k], own[k].mean, 0);
    }
    pdnn_arena_finish(&arena);
}

static void memory_bound_gain_more(struct pdnn_question *q) {
    struct pdnn_mean kinds[OP_KINDS] = {{.n = 0}};
    read_op_kinds(q, kinds);
    struct pdnn_mean_interval change = pdnn_mean_difference(&kinds[COMPUTE_BOUND], &kinds[MEMORY_BOUND]);
    struct pdnn_mean_interval each[OP_KINDS];
    for (size_t k = 0; k < OP_KINDS; k++)
        each[k] = pdnn_mean_exp(pdnn_mean_interval(&kinds[k]));
    if (isnan(change.at)) {
        pdnn_claim_say(
            q, PDNN_CANNOT_BE_TOLD,
            "Models with products bound by compute: %zu, with products bound by memory: %zu; at least 3 of "
            "each are needed.",
            kinds[COMPUTE_BOUND].n, kinds[MEMORY_BOUND].n);
        return;
    }
    const char *lookups = "";
    if (!isnan(each[LOOKUP].at))
        lookups = pdnn_arena_printf(&q->arena, "; lookups of embeddings: %s, %zu models)",
                                    pdnn_claim_ratio(q, each[LOOKUP], " ("), kinds[LOOKUP].n);
    pdnn_claim_say(q, judge_lead(q, change),
                   "Speed-up of %s over %s: products bound by memory %s, geometric mean of %zu models), "
                   "products bound by compute %s, %zu models)%s.",
                   q->name[PDNN_SIDE_B], q->name[PDNN_SIDE_A],
                   pdnn_claim_ratio(q, each[MEMORY_BOUND], PDNN_CLAIM_NAMED), kinds[MEMORY_BOUND].n,
                   pdnn_claim_ratio(q, each[COMPUTE_BOUND], " ("), kinds[COMPUTE_BOUND].n, lookups);
}

/* The software that all pairs of a side ran on, "oneDNN 3.5"; "" if there were several or none is known. */
static const char *software_of(const struct pdnn_question *q, int side) {
    const struct pdnn_comparison *c = q->pairs;
    const struct pdnn_selection *rows = q->data->rows[c->source[side]];
    const int column = pdnn_results_setting(&rows->results, PDNN_SETTING_BACKEND);
    const char *backend = pdnn_comparison_setting(c, 0, side, PDNN_SETTING_BACKEND);
    for (size_t i = 1; i < c->pairs.n_rows; i++)
        if (strcmp(pdnn_comparison_setting(c, i, side, PDNN_SETTING_BACKEND), backend) != 0)
            return "";
    for (size_t at = 0; at < rows->count; at++)
        if (strcmp(pdnn_selection_get(rows, at, column), backend) == 0)
            return pdnn_selection_get(rows, at, rows->results.version);
    return "";
}

/* 1 if B has the newer version of one library on one machine, -1 if A has; 0 after a sentence that says why
 * there is no newer one. names: the older and the newer. */
static int newer_side(struct pdnn_question *q, const char *names[2]) {
    const char *a = software_of(q, PDNN_SIDE_A), *b = software_of(q, PDNN_SIDE_B);
    const int order = strverscmp(b, a), newer = (order > 0) - (order < 0);
    names[newer > 0] = b;
    names[newer <= 0] = a;
    if (q->pairs->across.count)
        pdnn_claim_say(q, PDNN_CANNOT_BE_TOLD, "The two differ in their settings.");
    else if (!*a || !*b)
        pdnn_claim_say(q, PDNN_CANNOT_BE_TOLD, "The version of a library is not known.");
    else if (!is_same_machine(q->pairs))
        pdnn_claim_say(q, PDNN_CANNOT_BE_TOLD, "The two are different machines.");
    else if (!newer)
        pdnn_claim_say(q, PDNN_CANNOT_BE_TOLD, "Both ran %s.", a);
    else
        return newer;
    return 0;
}

static struct pdnn_mean gain_of_newer(struct pdnn_question *q) {
    struct pdnn_mean all = {.n = 0};
    const char *names[2];
    const int newer = newer_side(q, names);
    for (size_t i = 0; i < q->pairs->pairs.n_rows && newer; i++)
        pdnn_mean_add(&all, newer * log(pdnn_pair_ratio(q->pairs, i)), pdnn_pair_half(q->pairs, i));
    q->claim.what = pdnn_arena_printf(&q->arena, "From %s to %s the speed of models is multiplied by",
                                      names[0], names[1]);
    return all;
}

/* By what the gain is at least; a pair without an interval comes last, and among these the ratio counts. */
static bool is_greater(struct pdnn_mean_interval gain, struct pdnn_mean_interval than) {
    if (isnan(gain.low) || isnan(than.low))
        return isnan(gain.low) == isnan(than.low) ? gain.at > than.at : isnan(than.low);
    return gain.low > than.low;
}

/* Whether the greatest gain is clearly above `factor`; it is not if no model's can be. */
static void newer_doubles_some(struct pdnn_question *q) {
    const struct pdnn_table *pairs = &q->pairs->pairs;
    struct pdnn_mean_interval most = {.at = 0, .low = NAN};
    const char *names[2];
    const int newer = newer_side(q, names);
    size_t best = 0;
    bool none = true, some = false;
    for (size_t i = 0; i < pairs->n_rows && newer; i++) {
        const double ratio = pdnn_pair_ratio(q->pairs, i), low = pdnn_table_number(pairs, i, PDNN_PAIR_LOW),
                     high = pdnn_table_number(pairs, i, PDNN_PAIR_HIGH);
        const struct pdnn_mean_interval gain =
            newer > 0 ? (struct pdnn_mean_interval){ratio, low, high}
                      : (struct pdnn_mean_interval){1 / ratio, 1 / high, 1 / low};
        some = some || gain.low > q->claim.factor;
        none = none && gain.high < q->claim.factor; /* not without an interval */
        if (is_greater(gain, most)) {
            most = gain;
            best = i;
        }
    }
    if (newer)
        pdnn_claim_say(q, pdnn_claim_judge(q, some, none),
                       "Of %zu model%s, the greatest gain from %s to %s is a factor of %s): %s.",
                       pairs->n_rows, pairs->n_rows == 1 ? "" : "s", names[0], names[1],
                       pdnn_claim_ratio(q, most, PDNN_CLAIM_NAMED),
                       pdnn_table_text(pairs, best, PDNN_PAIR_ID));
}

static const struct pdnn_claim claims[] = {
    {5, "Matrix products bound by memory gain more from the faster platform than those bound by compute.",
     memory_bound_gain_more,
     .needs = "The same models on two generations of a processor, with roofs and ops.csv on both sides, some "
              "of them bound by memory."},
    {7, "Large minibatches prefer one platform, small ones the other.", check_thirds, .rule = PDNN_OPPOSITE,
     .what = "minibatch", .needs = "The same sweep over several minibatches on two platforms."},
    {8, "Small fully connected networks prefer one platform, large ones the other.", check_thirds,
     .rule = PDNN_OPPOSITE, .what = "number of parameters", .size = "params",
     .network = pdnn_network_is_fully_connected,
     .needs = "The same fully connected networks of several sizes on two platforms."},
    {9, "The faster platform's lead on convolutional networks grows with their size.", check_thirds,
     .rule = PDNN_GROWS, .what = "number of parameters", .size = "params",
     .network = pdnn_network_is_convolutional,
     .needs = "The same convolutional networks of several sizes on two platforms, one of which is clearly "
              "faster."},
    {10, "One platform uses at least twice as much of its peak on convolutional networks.",
     pdnn_claim_check_ratio, .collect = utilization, .rule = PDNN_BEYOND, .factor = 2, .of = "models",
     .network = pdnn_network_is_convolutional, .few = "Such models with a utilization on both platforms",
     .needs = "The same convolutional networks on two platforms with roofs."},
    {10, "One platform uses at least three times as much of its peak on recurrent networks.",
     pdnn_claim_check_ratio, .collect = utilization, .rule = PDNN_BEYOND, .factor = 3, .of = "models",
     .network = pdnn_network_is_recurrent, .few = "Such models with a utilization on both platforms",
     .needs = "The same recurrent networks on two platforms with roofs."},
    {11, "One platform gains more than the other from wider embeddings of recurrent networks.", check_thirds,
     .rule = PDNN_BEYOND, .factor = 1.1, .what = "embedding", .size = "embedding",
     .network = pdnn_network_is_recurrent,
     .needs = "The same recurrent networks with several embeddings on two platforms."},
    {12, "A newer version of the library makes some models at least twice as fast.", newer_doubles_some,
     .factor = 2, .needs = "The same sweep on one machine with two versions of the library."},
    {14, "Every newer version of the library makes models faster.", pdnn_claim_check_ratio,
     .collect = gain_of_newer, .factor = 1, .of = "models", .few = "Models that ran on both",
     .needs = "The same sweep on one machine with two versions of the library."},
    {.text = NULL},
};

const struct pdnn_claim_list pdnn_pair_claims = {claims, .is_of_pairs = true};
