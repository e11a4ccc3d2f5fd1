#include "base/visible.h"
#include "cli/fit_text.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "results/analysis/compare.h"
#include "results/analysis/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paragraphs[] = {
    "Linear regression of a column of results.csv, or of a ratio, on hyper-parameters and run settings, one "
    "fit per family: which of them the machine rewards. Prints each weight with its 95 % interval, R2, R2 "
    "adjusted for the number of terms, R2 of predicting each instance from all others, and the outliers.",
    "The linear model is that of the ParaDnn paper: ordinary least squares on z-scores, without "
    "interactions. A weight of 0.5 means that the value rises by half its standard deviation when the "
    "hyper-parameter rises by one of its own. The log model does the same on logarithms; the power model "
    "fits value = constant * product of hyper-parameter ^ weight. Words become one term each, set against "
    "the first one in the table; in the power model their weights are factors.",
    "Intervals assume independent errors of equal size. Terms that are constant, or a combination of terms "
    "before them, have no weight and are named. VIF is the factor by which correlation with other terms "
    "inflates the weight's variance. An outlier is so far off that only 1 table in 20 has such a row by "
    "chance.",
    "With a second RESULTS, or with --across, the ratio of step times is fitted as `paradnn compare` "
    "computes it: the time of the first over that of the second, so above 1 the second is faster. Instances "
    "without a ratio are left out.",
    "RESULTS is the directory that a sweep wrote. Instances whose status is not ok are left out. `paradnn "
    "columns fit` and `paradnn columns residuals` explain what --format csv prints.",
    NULL,
};

static const char *const models[] = {"linear", "log", "power", NULL}; /* as in enum pdnn_fit_model */

static const struct pdnn_option_def options[] = {
    {"value", 'v', "COLUMN", NULL, false,
     "fit this column of results.csv (default: pct_of_peak, the utilization, or gflops where no instance has "
     "it; for the power model time_ns_median)"},
    {"on", 0, "COLUMNS", NULL, false,
     "fit it on these columns, joined by commas (default: every hyper-parameter and run setting)"},
    {"across", 'a', "KEYS", NULL, false,
     "fit the ratio across these settings, as in compare: backend, or threads=1:2"},
    {"model", 'm', "MODEL", models, false, "linear, log or power (default: linear and log)"},
    PDNN_OPTION_ONLY,
    {"residuals", 0, NULL, NULL, false, "list every instance with its fitted value instead"},
    PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
    {"paradnn fit fc.results", "whether batch, width or depth decides how much of the machine is used"},
    {"paradnn fit fc.results --model power --on layers,nodes,batch",
     "time = c * layers^a * nodes^b * batch^c"},
    {"paradnn fit fc.results --value gflops --only mode=train", "what decides the rate of training"},
    {"paradnn fit fc.results --across threads=1:2", "which models gain from a second thread"},
};

enum { ON_MAX = 64, ON_TEXT = 4096 };

struct command {
    struct pdnn_selection own;
    struct pdnn_comparison comparison;      /* for a ratio */
    const struct pdnn_selection *selection; /* one of the two tables that are open */
    const double *ratios;                   /* by position; NULL: a column is fitted */
    const bool *chosen;
    struct pdnn_arena arena;
    struct pdnn_str out;
    const char *on[ON_MAX];
    char on_text[ON_TEXT];
    size_t n_on;
    const char *value; /* NULL: the model's own */
    const char *usual; /* that of the linear and the log model */
    bool csv, residuals, started;
    size_t fitted; /* number of fits shown */
};

/* "layers,nodes" into the command's own text. */
static enum pdnn_status parse_on(struct command *c, const char *text, struct pdnn_err *err) {
    if (!text)
        return PDNN_OK;
    if (snprintf(c->on_text, sizeof c->on_text, "%s", text) >= (int)sizeof c->on_text)
        return pdnn_fail(err, PDNN_INVALID, "--on: the text is too long");
    for (char *at = c->on_text; at;) {
        char *comma = strchr(at, ',');
        if (c->n_on == ON_MAX)
            return pdnn_fail(err, PDNN_INVALID, "--on names more than %d columns", ON_MAX);
        c->on[c->n_on++] = at;
        if (comma)
            *comma++ = 0;
        at = comma;
    }
    return PDNN_OK;
}

/* The table of one directory, or two platforms side by side. */
static enum pdnn_status open_tables(struct command *c, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    struct pdnn_compare_request request = {.directory = {arguments->operands[0]},
                                           .across = pdnn_argument(arguments, "across")};
    const char **only = NULL;
    pdnn_argument_all(arguments, "only", &only, &request.n_only);
    enum pdnn_status status = PDNN_OK;
    bool is_ratio = arguments->n_operands > 1 || request.across;
    request.only = only;
    if (arguments->n_operands > 1)
        request.directory[PDNN_SIDE_B] = arguments->operands[1];
    if (is_ratio && c->value)
        status = pdnn_fail(err, PDNN_INVALID, "a ratio is fitted, so --value cannot be given");
    else {
        if (is_ratio)
            status = pdnn_comparison_open(&c->comparison, &request, err);
        else
            status = pdnn_selection_open(&c->own, arguments->operands[0], only, request.n_only, err);
    }
    free(only);
    if (status != PDNN_OK)
        return status;
    c->selection = is_ratio ? pdnn_comparison_side(&c->comparison, PDNN_SIDE_A) : &c->own;
    c->usual = pdnn_selection_utilization(c->selection);
    if (is_ratio)
        pdnn_fit_ratios(&c->comparison, &c->arena, &c->ratios, &c->chosen);
    return PDNN_OK;
}

static void show(struct command *c, const struct pdnn_fit *fit) {
    const struct pdnn_columns *columns = c->residuals ? &pdnn_residuals_columns : &pdnn_fit_columns;
    if (!c->csv && !c->residuals) {
        pdnn_fit_text(&c->out, fit);
        return;
    }
    if (!c->started)
        pdnn_columns_header(columns, &c->out);
    c->started = true;
    for (size_t i = 0; c->residuals && i < fit->n_rows; i++)
        pdnn_columns_row(columns, &(struct pdnn_fit_line){fit, NULL, &fit->row[i]}, &c->out);
    for (size_t i = 0; !c->residuals && i < fit->n_terms; i++)
        pdnn_columns_row(columns, &(struct pdnn_fit_line){fit, &fit->term[i], NULL}, &c->out);
    if (!c->residuals && fit->model == PDNN_FIT_POWER)
        pdnn_columns_row(columns, &(struct pdnn_fit_line){fit, NULL, NULL}, &c->out);
}

static enum pdnn_status fit_family(struct command *c, const char *family, enum pdnn_fit_model model,
                                   struct pdnn_err *err) {
    struct pdnn_fit_request request = {.selection = c->selection,
                                       .values = c->ratios,
                                       .chosen = c->chosen,
                                       .what = c->ratios                 ? "ratio"
                                               : c->value                ? c->value
                                               : model == PDNN_FIT_POWER ? "time_ns_median"
                                                                         : c->usual,
                                       .family = family,
                                       .on = c->on,
                                       .n_on = c->n_on,
                                       .model = model};
    struct pdnn_fit fit;
    if ((!c->ratios &&
         pdnn_fit_values(c->selection, request.what, &c->arena, &request.values, err) != PDNN_OK) ||
        pdnn_fit(&request, &c->arena, &fit, err) != PDNN_OK)
        return err->status;
    show(c, &fit);
    c->fitted++;
    return PDNN_OK;
}

/* One fit; why it cannot be made goes to `notes`, once. */
static enum pdnn_status try_family(struct command *c, const char *family, enum pdnn_fit_model model,
                                   struct pdnn_str *notes, struct pdnn_err *err) {
    struct pdnn_err one = {.status = PDNN_OK};
    if (fit_family(c, family, model, &one) == PDNN_OK)
        return PDNN_OK;
    if (one.status != PDNN_INVALID) {
        *err = one;
        return err->status;
    }
    char buffer[PDNN_VISIBLE_TEXT];
    const char *shown = pdnn_visible(buffer, one.text);
    if (!strstr(pdnn_str_text(notes), shown))
        pdnn_str_printf(notes, "%s\n", shown);
    return PDNN_OK;
}

/* What cannot be fitted is an error only if nothing else can be. */
static enum pdnn_status fit_all(struct command *c, const char *model, struct pdnn_err *err) {
    const char *const *families;
    size_t n_families;
    struct pdnn_str notes = {0};
    pdnn_fit_families(c->selection, &c->arena, &families, &n_families);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < n_families; i++) {
        for (int m = 0; status == PDNN_OK && m < PDNN_FIT_MODEL_COUNT; m++) {
            if (model ? strcmp(model, models[m]) == 0 : m != PDNN_FIT_POWER)
                status = try_family(c, families[i], (enum pdnn_fit_model)m, &notes, err);
        }
    }
    const char *text = pdnn_str_text(&notes);
    bool is_usual = !c->ratios && !c->value && (!model || strcmp(model, models[PDNN_FIT_POWER]) != 0);
    if (status == PDNN_OK && c->fitted && is_usual && strcmp(c->usual, "pct_of_peak") != 0)
        fprintf(stderr, "no instance has pct_of_peak, so %s is fitted\n", c->usual);
    if (status == PDNN_OK && c->fitted)
        fputs(text, stderr);
    else if (status == PDNN_OK && *text)
        status = pdnn_fail(err, PDNN_INVALID, "%.*s", (int)strcspn(text, "\n"), text);
    else if (status == PDNN_OK)
        status = pdnn_fail(err, PDNN_INVALID, "no instance ended ok, so there is nothing to fit");
    pdnn_str_finish(&notes);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    char shown[PDNN_SIDES][PDNN_VISIBLE_TEXT];
    struct command c = {.csv = pdnn_wants_csv(arguments),
                        .residuals = pdnn_argument(arguments, "residuals") != NULL,
                        .value = pdnn_argument(arguments, "value")};
    enum pdnn_status status = parse_on(&c, pdnn_argument(arguments, "on"), err);
    if (status == PDNN_OK)
        status = open_tables(&c, arguments, err);
    if (status == PDNN_OK)
        status = fit_all(&c, pdnn_argument(arguments, "model"), err);
    if (status == PDNN_OK)
        pdnn_text_print(&c.out, c.csv);
    if (status == PDNN_OK && c.ratios)
        fprintf(stderr, "ratios of %s over %s: %zu; %zu instances have none\n",
                pdnn_visible(shown[PDNN_SIDE_A], c.comparison.label[PDNN_SIDE_A]),
                pdnn_visible(shown[PDNN_SIDE_B], c.comparison.label[PDNN_SIDE_B]), c.comparison.pairs.n_rows,
                c.comparison.unpaired.n_rows);
    else if (status == PDNN_OK && c.own.left_out)
        fprintf(stderr, "%zu instances; left out %zu that did not end ok\n", c.own.count, c.own.left_out);
    pdnn_str_finish(&c.out);
    pdnn_selection_close(&c.own);
    if (c.comparison.n_directories)
        pdnn_comparison_close(&c.comparison);
    pdnn_arena_finish(&c.arena);
    return status;
}

const struct pdnn_command_def pdnn_command_fit = {
    .name = "fit",
    .summary = "Says which hyper-parameters decide utilization, time or a ratio.",
    .operands = "RESULTS [RESULTS]",
    .min_operands = 1,
    .max_operands = 2,
    .reads_directories = true,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
