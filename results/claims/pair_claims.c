/* Claims about two platforms: ratios of the step times of models that ran on both. The papers set a TPU
 * against a GPU, one TPU against the next, or one version of the software against the next; here the two are
 * whatever the report compares. */
#include "base/memory.h"
#include "results/claims/claims.h"
#include "results/compare/compare_ops.h"
#include "results/query/op_groups.h"
#include "results/store/tables.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const struct pdnn_comparison *pairs, size_t pair, pdnn_report_network *network) {
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_table_text(&pairs->pairs, pair, PDNN_PAIR_FAMILY));
    return family && (!network || network(family));
}

static struct pdnn_mean speed_ups(const struct pdnn_comparison *pairs, pdnn_report_network *network) {
    struct pdnn_mean mean = {.n = 0};
    for (size_t i = 0; i < pairs->pairs.n_rows; i++)
        if (is_of(pairs, i, network))
            pdnn_mean_add(&mean, log(pdnn_pair_ratio(pairs, i)), pdnn_pair_half(pairs, i));
    return mean;
}

static int faster_side(struct pdnn_mean_interval logs) {
    return logs.low > 0 ? 1 : logs.high < 0 ? -1 : 0;
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

bool pdnn_report_differ_only_in(const struct pdnn_report_question *q, const char *key) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    return pairs && pairs->n_across == 1 && strcmp(pairs->across[0].name, key) == 0 && is_same_machine(pairs);
}

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
                is_of(pairs, pair, q->claim->network) && !isnan(size))
                sized[n++] = (struct sized){size, pair};
        }
        add_thirds(pairs, sized, n, thirds);
    }
    free(sized);
}

/* False after a sentence that says why there are none. */
static bool has_thirds(struct pdnn_report_question *q, struct thirds *thirds) {
    find_thirds(q, thirds);
    bool has = thirds->small.n >= 3 && thirds->large.n >= 3;
    if (!has)
        pdnn_report_say(
            q, PDNN_CANNOT_BE_TOLD,
            "Models that ran on both platforms with a small %s: %zu, with a large one: %zu; at least 3 of each "
            "are needed.",
            q->claim->what, thirds->small.n, thirds->large.n);
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
        pdnn_report_ratio(text[0], pdnn_mean_exp(pdnn_mean_interval(&thirds->small)), PDNN_REPORT_NAMED),
        thirds->small.n, q->claim->what,
        pdnn_report_ratio(text[1], pdnn_mean_exp(pdnn_mean_interval(&thirds->large)), " ("), thirds->large.n,
        pdnn_report_ratio(text[2], pdnn_mean_exp(pdnn_mean_difference(&thirds->small, &thirds->large)),
                          " ("));
}

/* Whether small models run faster on one side and large ones on the other. Takes, as the next two, `network`,
 * and `size`, the column of its models' size, which is `what`; without it, their minibatch. */
static void sides_change(struct pdnn_report_question *q) {
    struct thirds thirds;
    if (!has_thirds(q, &thirds))
        return;
    int sides =
        faster_side(pdnn_mean_interval(&thirds.small)) * faster_side(pdnn_mean_interval(&thirds.large));
    say_thirds(q, pdnn_report_judge(q, sides<0, sides> 0), &thirds);
}

static void lead_grows(struct pdnn_report_question *q) {
    struct thirds thirds;
    if (!has_thirds(q, &thirds))
        return;
    struct pdnn_mean all = speed_ups(q->sides->pairs, q->claim->network);
    struct pdnn_mean_interval change = pdnn_mean_difference(&thirds.small, &thirds.large);
    int faster = faster_side(pdnn_mean_interval(&all));
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
    say_thirds(q, pdnn_report_judge(q, faster_side(change) != 0 && !same, same), &thirds);
}

/* Utilization: each side's rate over its own peak. Takes `network` and `factor`. */
static void uses_more(struct pdnn_report_question *q) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    struct pdnn_mean mean = {.n = 0};
    for (size_t i = 0; i < pairs->pairs.n_rows; i++) {
        double peak[PDNN_SIDES];
        for (int side = 0; side < PDNN_SIDES; side++)
            peak[side] = pdnn_selection_value(pdnn_comparison_side(pairs, side), pairs->at[i][side],
                                              PDNN_RESULT_PCT_OF_PEAK);
        if (is_of(pairs, i, q->claim->network) && peak[PDNN_SIDE_A] > 0 && peak[PDNN_SIDE_B] > 0)
            pdnn_mean_add(&mean, log(peak[PDNN_SIDE_B] / peak[PDNN_SIDE_A]), pdnn_pair_half(pairs, i));
    }
    pdnn_report_conclude(q, &mean,
                         pdnn_arena_printf(q->arena, "The utilization on %s over that on %s is",
                                           q->sides->name[PDNN_SIDE_B], q->sides->name[PDNN_SIDE_A]),
                         "models");
}

/* Speed-ups of B over A by kind of op: per model the mean over its ops of a kind, so that each model counts
 * once. */
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
static void read_op_kinds(const struct pdnn_report_question *q, struct pdnn_mean kinds[OP_KINDS]) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    struct pdnn_arena arena = {0};
    for (size_t pair = 0; pair < pairs->pairs.n_rows; pair++) {
        struct pdnn_mean own[OP_KINDS] = {{.n = 0}};
        pdnn_arena_reset(&arena);
        const struct pdnn_pair_ops ops = pdnn_pair_ops(pairs, pair, q->sides->readers, &arena);
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

static void memory_bound_gain_more(struct pdnn_report_question *q) {
    struct pdnn_mean kinds[OP_KINDS] = {{.n = 0}};
    read_op_kinds(q, kinds);
    struct pdnn_mean_interval change = pdnn_mean_difference(&kinds[COMPUTE_BOUND], &kinds[MEMORY_BOUND]);
    struct pdnn_mean_interval each[OP_KINDS];
    for (size_t k = 0; k < OP_KINDS; k++)
        each[k] = pdnn_mean_exp(pdnn_mean_interval(&kinds[k]));
    if (isnan(change.at)) {
        pdnn_report_say(
            q, PDNN_CANNOT_BE_TOLD,
            "Models with products bound by compute: %zu, with products bound by memory: %zu; at least 3 of "
            "each are needed.",
            kinds[COMPUTE_BOUND].n, kinds[MEMORY_BOUND].n);
        return;
    }
    struct pdnn_mean all = speed_ups(q->sides->pairs, NULL);
    int faster = faster_side(pdnn_mean_interval(&all));
    bool more = faster > 0 ? change.low > 0 : faster < 0 && change.high < 0;
    bool less = faster > 0 ? change.high < 0 : faster < 0 && change.low > 0;
    char text[OP_KINDS][PDNN_REPORT_RATIO], lookups[192] = "";
    if (!isnan(each[LOOKUP].at))
        snprintf(lookups, sizeof lookups, "; lookups of embeddings: %s, %zu models)",
                 pdnn_report_ratio(text[LOOKUP], each[LOOKUP], " ("), kinds[LOOKUP].n);
    pdnn_report_say(
        q, pdnn_report_judge(q, more, less),
        "Speed-up of %s over %s: products bound by memory %s, geometric mean of %zu models), products "
        "bound by compute %s, %zu models)%s.",
        q->sides->name[PDNN_SIDE_B], q->sides->name[PDNN_SIDE_A],
        pdnn_report_ratio(text[MEMORY_BOUND], each[MEMORY_BOUND], PDNN_REPORT_NAMED), kinds[MEMORY_BOUND].n,
        pdnn_report_ratio(text[COMPUTE_BOUND], each[COMPUTE_BOUND], " ("), kinds[COMPUTE_BOUND].n, lookups);
}

/* The library that all models of a side ran on, with its version, as in environment.yaml; empty if there were
 * several or none is known. */
static void software_of(const struct pdnn_report_question *q, int side, struct pdnn_str *version) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    int column[PDNN_SIDES];
    char key[64];
    pdnn_comparison_setting(pairs, PDNN_SETTING_BACKEND, column);
    const char *backend = pdnn_comparison_get(pairs, 0, side, column[side]);
    for (size_t i = 1; i < pairs->pairs.n_rows; i++) {
        if (strcmp(pdnn_comparison_get(pairs, i, side, column[side]), backend) != 0)
            return;
    }
    snprintf(key, sizeof key, "backend_%.40s", backend);
    pdnn_environment_get(pairs->directory[side], key, version);
}

/* As strverscmp: -1, 0 or 1 by the numbers of the first that has any, "oneDNN 2.6.3" below "oneDNN 3.5". */
static int compare_versions(const char *a, const char *b) {
    a += strcspn(a, "0123456789");
    b += strcspn(b, "0123456789");
    while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
        long x = strtol(a, NULL, 10), y = strtol(b, NULL, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        a += *a == '.';
        b += *b == '.';
    }
    return 0;
}

/* 1 if B has the newer version of one library on one machine, -1 if A has; 0 after a sentence that says why
 * there is no newer one. */
static int newer_side(struct pdnn_report_question *q, char *names[PDNN_SIDES]) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    int newer = 0;
    for (int side = 0; side < PDNN_SIDES; side++) {
        struct pdnn_str version = {0};
        software_of(q, side, &version);
        names[side] = pdnn_arena_strdup(q->arena, pdnn_str_text(&version));
        pdnn_str_finish(&version);
        char *detail = strstr(names[side], " (");
        if (detail)
            *detail = 0;
    }
    if (pairs->n_across)
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "The two differ in their settings.");
    else if (!*names[PDNN_SIDE_A] || !*names[PDNN_SIDE_B])
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "The version of a library is not known.");
    else if (!is_same_machine(pairs))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "The two are different machines.");
    else if (!(newer = compare_versions(names[PDNN_SIDE_B], names[PDNN_SIDE_A])))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "Both ran %s.", names[PDNN_SIDE_A]);
    return newer;
}

static void newer_is_faster(struct pdnn_report_question *q) {
    char *names[PDNN_SIDES];
    int newer = newer_side(q, names);
    if (!newer)
        return;
    struct pdnn_mean all = {.n = 0};
    for (size_t i = 0; i < q->sides->pairs->pairs.n_rows; i++)
        pdnn_mean_add(&all, newer * log(pdnn_pair_ratio(q->sides->pairs, i)),
                      pdnn_pair_half(q->sides->pairs, i));
    pdnn_report_conclude(q, &all,
                         pdnn_arena_printf(q->arena, "From %s to %s the speed of models is multiplied by",
                                           names[newer < 0], names[newer > 0]),
                         "models");
}

/* The newer version's gain on one pair, with its interval. */
static struct pdnn_mean_interval gain_of(const struct pdnn_comparison *pairs, size_t pair, int newer) {
    double ratio = pdnn_pair_ratio(pairs, pair);
    double low = pdnn_table_number(&pairs->pairs, pair, PDNN_PAIR_LOW);
    double high = pdnn_table_number(&pairs->pairs, pair, PDNN_PAIR_HIGH);
    return newer > 0 ? (struct pdnn_mean_interval){ratio, low, high}
                     : (struct pdnn_mean_interval){1 / ratio, 1 / high, 1 / low};
}

/* By what the gain is at least; a pair without an interval comes last, and among these the ratio counts. */
static bool is_greater(struct pdnn_mean_interval gain, struct pdnn_mean_interval than) {
    if (isnan(gain.low) || isnan(than.low))
        return isnan(gain.low) == isnan(than.low) ? gain.at > than.at : isnan(than.low);
    return gain.low > than.low;
}

/* Whether the greatest gain is clearly above 2; it is not if no model's can be. */
static void newer_doubles_some(struct pdnn_report_question *q) {
    static const double factor = 2;
    char *names[PDNN_SIDES];
    int newer = newer_side(q, names);
    const struct pdnn_comparison *pairs = q->sides->pairs;
    size_t best = 0;
    bool none = true, some = false;
    if (!newer)
        return;
    for (size_t i = 0; i < pairs->pairs.n_rows; i++) {
        struct pdnn_mean_interval gain = gain_of(pairs, i, newer);
        some = some || gain.low > factor;
        none = none && gain.high < factor; /* not without an interval */
        if (is_greater(gain, gain_of(pairs, best, newer)))
            best = i;
    }
    struct pdnn_mean_interval most = gain_of(pairs, best, newer);
    char text[PDNN_REPORT_RATIO];
    pdnn_report_say(q, pdnn_report_judge(q, some, none),
                    "Of %zu model%s, the greatest gain from %s to %s is a factor of %s): %s.",
                    pairs->pairs.n_rows, pairs->pairs.n_rows == 1 ? "" : "s", names[newer < 0],
                    names[newer > 0], pdnn_report_ratio(text, most, PDNN_REPORT_NAMED),
                    pdnn_table_text(&pairs->pairs, best, PDNN_PAIR_ID));
}

const struct pdnn_report_claim pdnn_report_claims_of_pairs[] = {
    {5, "Matrix products bound by memory gain more from the faster platform than those bound by compute.",
     memory_bound_gain_more,
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
     .network = pdnn_report_is_convolutional, .few = "Such models with a utilization on both platforms",
     .rule = PDNN_BEYOND, .factor = 2},
    {10, "One platform uses at least three times as much of its peak on recurrent networks.", uses_more,
     .tells = "The same recurrent networks on two platforms with roofs.", .network = pdnn_report_is_recurrent,
     .few = "Such models with a utilization on both platforms", .rule = PDNN_BEYOND, .factor = 3},
    {11, "One platform gains more than the other from wider embeddings of recurrent networks.", size_changes,
     .tells = "The same recurrent networks with several embeddings on two platforms.", .what = "embedding",
     .network = pdnn_report_is_recurrent, .size = "embedding", .factor = 1.1},
    {12, "A newer version of the library makes some models at least twice as fast.", newer_doubles_some,
     .tells = "The same sweep on one machine with two versions of the library."},
    {14, "Every newer version of the library makes models faster.", newer_is_faster,
     .tells = "The same sweep on one machine with two versions of the library.",
     .few = "Models that ran on both", .factor = 1},
};

const size_t pdnn_report_n_claims_of_pairs =
    sizeof pdnn_report_claims_of_pairs / sizeof *pdnn_report_claims_of_pairs;
