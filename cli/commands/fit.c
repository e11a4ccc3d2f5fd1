#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "results/compare/compared.h"
#include "results/fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char description[] =
    "Linear regression of a column of results.csv, or of a ratio, on hyper-parameters and run settings, one fit per "
    "family: which of them the machine rewards. Prints each weight with its 95 % interval, R2, R2 adjusted for the "
    "number of terms, R2 of predicting each instance from all others, and the outliers: rows so far off that only 1 "
    "table in 20 has one by chance.\n\n"
    "The linear model is that of the ParaDnn paper: ordinary least squares on z-scores, without interactions. A "
    "weight of 0.5 means that the value rises by half its standard deviation when the hyper-parameter rises by one of "
    "its own. The log model does the same on logarithms; the power model fits value = constant * product of "
    "hyper-parameter ^ weight. Words become one term each, set against the first one in the table; in the power model "
    "their weights are factors.\n\n"
    "Intervals assume independent errors of equal size. Terms that are constant, or a combination of terms before "
    "them, have no weight and are named. VIF is the factor by which correlation with other terms inflates the "
    "weight's variance.\n\n"
    "With several RESULTS, or with --across, the ratio of step times is fitted as `paradnn compare` computes it, that "
    "of the first over each other one: above 1 the other is faster. Instances whose status is not ok, or without a ratio, are left out.";

static const struct pdnn_option_def options[] = {
    {"value", 'v', "COLUMN",
     .help =
         "fit this column of results.csv, or of an import's own table, as imported.gflops (default: pct_of_peak, the utilization, or gflops where no instance has "
         "it; for the power model time_ns_median)"},
    {"on", 0, "COLUMNS",
     .help = "fit it on these columns, joined by commas (default: every hyper-parameter and run setting)"},
    {"across", 'a', "KEYS",
     .help = "fit the ratio across these settings, as in compare: backend, threads=1:2 or 1:2:4"},
    {"model", 'm', "MODEL", .choices = pdnn_fit_models,
     .help = "linear, log or power (default: linear and log)"},
    PDNN_OPTION_ONLY,
    {"residuals", .help = "list every instance with its fitted value instead"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn fit fc.results", "whether batch, width or depth decides how much of the machine is used"},
    {"paradnn fit fc.results --model power --on layers,nodes,batch",
     "time = c * layers^a * nodes^b * batch^c"},
    {"paradnn fit fc.results --value gflops --only mode=train", "what decides the rate of training"},
    {"paradnn fit fc.results --across threads=1:2", "which models gain from a second thread"},
};

struct command {
    struct pdnn_comparisons compared; /* or only the selection, where no ratio is fitted */
    struct pdnn_table terms, residuals;
};

/* What the ratios of one of several comparisons are called: "ratio to zen5". */
static const char *name_ratio(const struct pdnn_comparison *of, struct pdnn_str *name) {
    pdnn_str_printf(name, "ratio to %s",
                    pdnn_comparison_has_two(of) ? of->selection.results.name[of->source[PDNN_SIDE_B]]
                                                : of->label[PDNN_SIDE_B]);
    return pdnn_str_text(name);
}

/* The ratios of each comparison. What cannot be fitted is an error only if nothing else can be. */
static enum pdnn_status fit_ratios(struct command *c, struct pdnn_fit_request request, const bool *models,
                                   struct pdnn_str *notes, struct pdnn_err *err) {
    struct pdnn_err first = {0};
    for (size_t i = 0; i < c->compared.n; i++) {
        struct pdnn_str name = {0};
        request.comparison = &c->compared.of[i];
        request.selection = &request.comparison->selection;
        request.what = c->compared.n > 1 ? name_ratio(request.comparison, &name) : NULL;
        struct pdnn_err why = {0};
        if (pdnn_fit_all(&request, models, &c->terms, &c->residuals, notes, &why) != PDNN_OK &&
            first.status == PDNN_OK)
            first = why;
        pdnn_str_finish(&name);
    }
    if (c->terms.n_rows && first.status == PDNN_INVALID)
        return PDNN_OK;
    *err = first;
    return first.status;
}

/* Opens the table of one directory, or platforms side by side, and fits. */
static enum pdnn_status fit(struct command *c, const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const char *model = pdnn_argument(arguments, "model"), *across = pdnn_argument(arguments, "across");
    struct pdnn_fit_request request = {.what = pdnn_argument(arguments, "value"),
                                       .on = pdnn_argument(arguments, "on")};
    struct pdnn_compare_request sides = {
        .directories = arguments->operands, .n_directories = arguments->n_operands, .across = across};
    struct pdnn_str notes = {0};
    bool models[PDNN_FIT_MODEL_COUNT];
    for (int m = 0; m < PDNN_FIT_MODEL_COUNT; m++)
        models[m] = model ? strcmp(model, pdnn_fit_models[m]) == 0 : m != PDNN_FIT_POWER;
    const bool is_ratio = arguments->n_operands > 1 || across,
               is_usual = !is_ratio && !request.what && !models[PDNN_FIT_POWER];
    sides.only = pdnn_argument_all(arguments, "only", &sides.n_only);
    if (is_ratio && request.what)
        return pdnn_fail(err, PDNN_INVALID, "a ratio is fitted, so --value cannot be given");
    enum pdnn_status status = is_ratio ? pdnn_comparisons_open(&c->compared, &sides, err)
                                       : pdnn_cli_select(arguments, 1, &c->compared.selection, NULL, err);
    if (status != PDNN_OK)
        return status;
    request.selection = &c->compared.selection;
    if (is_ratio)
        pdnn_cli_tell_pair_gaps(&c->compared);
    status = is_ratio ? fit_ratios(c, request, models, &notes, err)
                      : pdnn_fit_all(&request, models, &c->terms, &c->residuals, &notes, err);
    const char *usual = pdnn_selection_utilization(request.selection);
    if (status == PDNN_OK && is_usual && strcmp(usual, "pct_of_peak") != 0)
        fprintf(stderr, "no instance has pct_of_peak, so %s is fitted\n", usual);
    if (status == PDNN_OK)
        fputs(pdnn_str_text(&notes), stderr);
    pdnn_str_finish(&notes);
    return status;
}

/* "fc: pct_of_peak of 16 instances, linear: R2 0.997, adjusted 0.996, leave-one-out 0.994; left out: ..." */
static void append_head(struct pdnn_str *out, const struct pdnn_table *terms, size_t row) {
    const char *value = pdnn_table_text(terms, row, PDNN_FIT_VALUE);
    uint64_t no_value = pdnn_table_count(terms, row, PDNN_FIT_NO_VALUE);
    uint64_t no_cell = pdnn_table_count(terms, row, PDNN_FIT_NO_CELL);
    double left_out = pdnn_table_number(terms, row, PDNN_FIT_R2_LEAVE_ONE_OUT);
    struct pdnn_str line = {0};
    pdnn_str_printf(&line, "%s: %s of %" PRIu64 " instances, %s: R2 %.3f, adjusted %.3f, ",
                    pdnn_table_text(terms, row, PDNN_FIT_FAMILY), value,
                    pdnn_table_count(terms, row, PDNN_FIT_ROWS), pdnn_table_text(terms, row, PDNN_FIT_MODEL),
                    pdnn_table_number(terms, row, PDNN_FIT_R2),
                    pdnn_table_number(terms, row, PDNN_FIT_R2_ADJUSTED));
    if (isnan(left_out))
        pdnn_str_printf(&line, "leave-one-out not available: some instance alone determines a weight");
    else
        pdnn_str_printf(&line, "leave-one-out %.3f", left_out);
    if (no_value)
        pdnn_str_printf(&line, "; left out: %" PRIu64 " without %s", no_value, value);
    if (no_cell)
        pdnn_str_printf(&line, "; left out: %" PRIu64 " without a number that varies among the others",
                        no_cell);
    pdnn_line_append(out, &line, 2, SIZE_MAX);
}

/* The heaviest first, then the constant, then terms without a weight. A factor weighs its logarithm. */
static double heaviness(const struct pdnn_table *terms, size_t row) {
    double weight = pdnn_table_number(terms, row, PDNN_FIT_WEIGHT);
    bool is_factor =
        strcmp(pdnn_table_text(terms, row, PDNN_FIT_MODEL), pdnn_fit_models[PDNN_FIT_POWER]) == 0 &&
        !pdnn_table_is_empty(terms, row, PDNN_FIT_BASELINE);
    if (isnan(weight))
        return -2;
    return pdnn_table_is_empty(terms, row, PDNN_FIT_VIF) ? -1 : fabs(is_factor ? log(weight) : weight);
}

static double distance(const struct pdnn_table *residuals, size_t row) {
    return fabs(pdnn_table_number(residuals, row, PDNN_RESIDUALS_STUDENTIZED));
}

/* Descending; rows that are alike stay in their order. */
static void sort_by(struct pdnn_row_list *rows, const struct pdnn_table *table,
                    double (*key)(const struct pdnn_table *, size_t)) {
    for (size_t i = 1; i < rows->count; i++) {
        size_t row = rows->at[i], k = i;
        for (; k && key(table, rows->at[k - 1]) < key(table, row); k--)
            rows->at[k] = rows->at[k - 1];
        rows->at[k] = row;
    }
}

static void append_outliers(struct pdnn_str *out, const struct command *c, size_t term) {
    enum { SHOWN = 10 };
    static const size_t columns[] = {PDNN_RESIDUALS_ACTUAL, PDNN_RESIDUALS_FITTED, PDNN_RESIDUALS_STUDENTIZED,
                                     PDNN_RESIDUALS_ID};
    struct pdnn_row_list rows = {0};
    for (size_t i = 0; i < c->residuals.n_rows; i++)
        if (pdnn_table_count(&c->residuals, i, PDNN_RESIDUALS_OUTLIER) &&
            strcmp(pdnn_table_text(&c->residuals, i, PDNN_RESIDUALS_FAMILY),
                   pdnn_table_text(&c->terms, term, PDNN_FIT_FAMILY)) == 0 &&
            strcmp(pdnn_table_text(&c->residuals, i, PDNN_RESIDUALS_VALUE),
                   pdnn_table_text(&c->terms, term, PDNN_FIT_VALUE)) == 0 &&
            strcmp(pdnn_table_text(&c->residuals, i, PDNN_RESIDUALS_MODEL),
                   pdnn_table_text(&c->terms, term, PDNN_FIT_MODEL)) == 0)
            pdnn_rows_add(&rows, i);
    sort_by(&rows, &c->residuals, distance);
    size_t count = rows.count;
    rows.count = count < SHOWN ? count : SHOWN;
    if (count) {
        pdnn_str_printf(out, "Outliers:\n");
        pdnn_table_show(out, &c->residuals, &rows, columns, sizeof columns / sizeof *columns);
    }
    if (count > SHOWN)
        pdnn_str_printf(out, "and %zu more outliers: --residuals\n", count - SHOWN);
    pdnn_rows_finish(&rows);
}

static void print_fits(const struct command *c) {
    static const size_t keys[] = {PDNN_FIT_FAMILY, PDNN_FIT_VALUE, PDNN_FIT_MODEL};
    static const size_t columns[] = {PDNN_FIT_TERM, PDNN_FIT_BASELINE, PDNN_FIT_WEIGHT, PDNN_FIT_CI_LOW,
                                     PDNN_FIT_VIF,  PDNN_FIT_STATE,    PDNN_FIT_WITH};
    struct pdnn_groups fits = pdnn_groups_make(&c->terms, NULL, keys, sizeof keys / sizeof *keys);
    struct pdnn_str out = {0};
    for (size_t i = 0; i < fits.count; i++) {
        struct pdnn_row_list *terms = &fits.group[i];
        pdnn_str_append(&out, "\n", i > 0);
        append_head(&out, &c->terms, terms->at[0]);
        sort_by(terms, &c->terms, heaviness);
        pdnn_table_show(&out, &c->terms, terms, columns, sizeof columns / sizeof *columns);
        append_outliers(&out, c, terms->at[0]);
    }
    pdnn_text_print(&out, false);
    pdnn_groups_finish(&fits);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    char shown[PDNN_SIDES][PDNN_VISIBLE_TEXT];
    struct command c = {.compared = {.n = 0}};
    const struct pdnn_selection *own = &c.compared.selection;
    const bool residuals = pdnn_argument(arguments, "residuals");
    pdnn_table_init(&c.terms, &pdnn_fit_def);
    pdnn_table_init(&c.residuals, &pdnn_residuals_def);
    enum pdnn_status status = fit(&c, arguments, err);
    if (status == PDNN_OK && (residuals || !pdnn_wants_text(arguments)))
        status = pdnn_table_print(residuals ? &c.residuals : &c.terms, arguments, err);
    else if (status == PDNN_OK)
        print_fits(&c);
    for (size_t i = 0; i < c.compared.n && status == PDNN_OK; i++) {
        const struct pdnn_comparison *of = &c.compared.of[i];
        fprintf(stderr, "ratios of %s over %s: %zu; %zu instances have none\n",
                pdnn_visible(shown[PDNN_SIDE_A], of->label[PDNN_SIDE_A]),
                pdnn_visible(shown[PDNN_SIDE_B], of->label[PDNN_SIDE_B]), of->pairs.n_rows,
                of->unpaired.n_rows);
    }
    if (status == PDNN_OK && !c.compared.n && own->left_out)
        fprintf(stderr, "%zu instances; left out %zu that did not end ok\n", own->count, own->left_out);
    pdnn_table_finish(&c.terms);
    pdnn_table_finish(&c.residuals);
    pdnn_comparisons_close(&c.compared);
    return status;
}

PDNN_COMMAND(fit, PDNN_COMMANDS_LOOK, "RESULTS...",
             "Says which hyper-parameters decide utilization, time or a ratio.", .run = run,
             .reads_directories = true);
