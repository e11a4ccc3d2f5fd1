/* What `paradnn fit` prints as CSV. */
#include "results/analysis/fit.h"
#include "results/table/csv.h"

#include <math.h>

static const struct pdnn_fit_line *line_of(const void *row) {
    return row;
}

static void get_family(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    pdnn_str_printf(cell, "%s", line_of(row)->fit->family);
}

static void get_value(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    pdnn_str_printf(cell, "%s", line_of(row)->fit->what);
}

static void get_model(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    pdnn_str_printf(cell, "%s", pdnn_fit_model_name(line_of(row)->fit->model));
}

static void get_state(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_fit_term *term = line_of(row)->term;
    pdnn_str_printf(cell, "%s", pdnn_term_state_name(term ? term->state : PDNN_TERM_FITTED));
}

static void get_term(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_fit_term *term = line_of(row)->term;
    const char *constant = column->offset == offsetof(struct pdnn_fit_term, name) ? "constant" : "";
    const char *const *field = term ? (const void *)((const char *)term + column->offset) : &constant;
    pdnn_str_printf(cell, "%s", *field);
}

static void put_field(const struct pdnn_column *column, const void *fields, struct pdnn_str *cell) {
    const double *number = (const void *)((const char *)fields + column->offset);
    pdnn_number_format(cell, *number, column->digits);
}

/* The constant of a power law takes its weight and its interval from the fit. */
static void get_weight(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_fit_line *line = row;
    const struct pdnn_fit_term constant = {.weight = line->fit->constant,
                                           .low = line->fit->constant_low,
                                           .high = line->fit->constant_high,
                                           .std_error = NAN,
                                           .inflation = NAN};
    put_field(column, line->term ? line->term : &constant, cell);
}

static void get_fit(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    put_field(column, line_of(row)->fit, cell);
}

static void get_fit_count(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const size_t *count = (const void *)((const char *)line_of(row)->fit + column->offset);
    pdnn_str_printf(cell, "%zu", *count);
}

static void get_id(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    pdnn_str_printf(cell, "%s", line_of(row)->row->id);
}

static void get_row(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    put_field(column, line_of(row)->row, cell);
}

static void get_outlier(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    pdnn_str_printf(cell, "%d", line_of(row)->row->outlier);
}

#define WORD(getter) PDNN_COLUMN_WORD, .get = getter
#define TERM(field)  PDNN_COLUMN_WORD, .offset = offsetof(struct pdnn_fit_term, field), .get = get_term
#define NUMBER(type, field)                                                                                  \
    PDNN_COLUMN_NUMBER, .offset = offsetof(struct type, field), .digits = PDNN_DIGITS_EXACT
#define WEIGHT(field) NUMBER(pdnn_fit_term, field), .get = get_weight
#define FIT(field)    NUMBER(pdnn_fit, field), .get = get_fit
#define COUNT(field)  PDNN_COLUMN_COUNT, .offset = offsetof(struct pdnn_fit, field), .get = get_fit_count
#define ROW(field)    NUMBER(pdnn_fit_row, field), .get = get_row
#define HEAD                                                                                                 \
    {"family", "", WORD(get_family), .help = "model family"},                                                \
        {"value", "", WORD(get_value), .help = "what is fitted: a column of results.csv, or a ratio"}, {     \
        "fit_model", "", WORD(get_model),                                                                    \
            .help = "linear: z-scores; log: z-scores of logarithms; power: value = constant * product of "   \
                    "number ^ weight"                                                                        \
    }

static const struct pdnn_column fit_columns[] = {
    HEAD,
    {"term", "", TERM(name),
     .help = "hyper-parameter or run setting; with one of its words, for those that are words; "
             "or the constant of a power law"},
    {"baseline", "", TERM(baseline), .help = "what a word is set against: the first one in the table"},
    {"state", "", WORD(get_state), .help = "fitted, constant, collinear, no logarithm or too many words"},
    {"collinear_with", "", TERM(with), .help = "collinear: the terms it is a combination of"},
    {"weight", "", WEIGHT(weight),
     .help =
         "linear and log: standard deviations of the value per standard deviation of the term; power: the "
         "exponent of a number, the factor of a word"},
    {"ci_low", "", WEIGHT(low),
     .help = "lower end of its 95 % interval, for independent errors of equal size"},
    {"ci_high", "", WEIGHT(high), .help = "upper end of that interval"},
    {"std_error", "", WEIGHT(std_error), .help = "its standard error; power: of the logarithm of a factor"},
    {"vif", "ratio", WEIGHT(inflation),
     .help = "variance inflation: 1 if no other term correlates with this one"},
    {"rows", "rows", COUNT(n_rows), .help = "instances fitted"},
    {"no_value", "rows", COUNT(no_value), .help = "instances left out that lack the value"},
    {"no_cell", "rows", COUNT(no_cell),
     .help = "instances left out that lack a number which varies among the others"},
    {"outliers", "rows", COUNT(outliers), .help = "see the table of residuals"},
    {"r2", "ratio", FIT(r2), .help = "part of the variance explained; for log and power, of the logarithm's"},
    {"r2_adjusted", "ratio", FIT(r2_adjusted), .help = "the same, with a price on every term"},
    {"r2_leave_one_out", "ratio", FIT(r2_leave_one_out),
     .help = "the same for predicting each row from all others; empty if a row alone determines a weight"},
};

static const struct pdnn_column residuals_columns[] = {
    HEAD,
    {"id", "", WORD(get_id), .help = "the instance"},
    {"actual", "", ROW(value), .help = "its value"},
    {"fitted", "", ROW(fitted), .help = "what the fit gives, in the same unit"},
    {"leverage", "ratio", ROW(leverage),
     .help = "how much of the fitted value is its own: 1 if it alone determines a weight"},
    {"studentized", "", ROW(studentized),
     .help = "residual over its standard deviation as estimated from all other rows"},
    {"outlier", "", PDNN_COLUMN_COUNT, .get = get_outlier,
     .help = "1: so far off that only 1 table in 20 has such a row by chance"},
};

const struct pdnn_columns pdnn_fit_columns = {"fit", fit_columns, sizeof fit_columns / sizeof *fit_columns};
const struct pdnn_columns pdnn_residuals_columns = {"residuals", residuals_columns,
                                                    sizeof residuals_columns / sizeof *residuals_columns};
