#include "cli/fit_text.h"
#include "base/memory.h"
#include "base/visible.h"
#include "base/fill.h"
#include "cli/terminal.h"
#include "results/table/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const titles[PDNN_FIT_MODEL_COUNT] = {
    [PDNN_FIT_LINEAR] = "linear, z-scores",
    [PDNN_FIT_LOG] = "linear in logarithms, z-scores",
    [PDNN_FIT_POWER] = "power law",
};

/* A line below the first one of a fit, filled to the terminal, unless it is empty; frees it. */
static void append_line(struct pdnn_str *out, struct pdnn_str *line) {
    size_t width = pdnn_terminal_width(STDOUT_FILENO);
    if (!line->length)
        return;
    pdnn_str_printf(out, "  ");
    pdnn_fill_text(out, pdnn_str_text(line), 4, width ? width : SIZE_MAX);
    pdnn_str_finish(line);
}

static void append_quality(struct pdnn_str *out, const struct pdnn_fit *fit) {
    char family[PDNN_VISIBLE_TEXT], what[PDNN_VISIBLE_TEXT];
    struct pdnn_str no_value = {0}, no_cell = {0}, quality = {0};
    pdnn_str_printf(out, "%s: %s of %zu instances, %s\n", pdnn_visible(family, fit->family),
                    pdnn_visible(what, fit->what), fit->n_rows, titles[fit->model]);
    if (fit->no_value)
        pdnn_str_printf(&no_value, "left out: %zu without %s", fit->no_value, pdnn_visible(what, fit->what));
    if (fit->no_cell)
        pdnn_str_printf(&no_cell, "left out: %zu without a number that varies among the others",
                        fit->no_cell);
    pdnn_str_printf(&quality, "R2 %.3f, adjusted %.3f, ", fit->r2, fit->r2_adjusted);
    if (isnan(fit->r2_leave_one_out))
        pdnn_str_printf(&quality, "leave-one-out not available: some instance alone determines a weight");
    else
        pdnn_str_printf(&quality, "leave-one-out %.3f", fit->r2_leave_one_out);
    append_line(out, &no_value);
    append_line(out, &no_cell);
    append_line(out, &quality);
}

struct heavy {
    double heaviness;
    const struct pdnn_fit_term *term;
};

/* A factor weighs its logarithm. */
static struct heavy weigh(const struct pdnn_fit *fit, const struct pdnn_fit_term *term) {
    bool is_factor = fit->model == PDNN_FIT_POWER && *term->baseline;
    return (struct heavy){fabs(is_factor ? log(term->weight) : term->weight), term};
}

/* Heaviest first, equal ones in the order of the table. */
static int lighter(const void *a, const void *b) {
    const struct heavy *one = a, *other = b;
    if (one->heaviness != other->heaviness)
        return one->heaviness < other->heaviness ? 1 : -1;
    return (one->term > other->term) - (one->term < other->term);
}

static void add_weight(struct pdnn_sheet *table, double weight, double low, double high) {
    pdnn_sheet_cell(table, "%.4g", weight);
    pdnn_sheet_cell(table, "%.4g", low);
    pdnn_sheet_cell(table, "%.4g", high);
}

static void append_weights(struct pdnn_str *out, const struct pdnn_fit *fit) {
    static const struct pdnn_sheet_column columns[] = {
        {"  term", PDNN_ALIGN_WRAP}, {"weight", PDNN_ALIGN_RIGHT}, {"95 % from", PDNN_ALIGN_RIGHT},
        {"to", PDNN_ALIGN_RIGHT},    {"VIF", PDNN_ALIGN_RIGHT},
    };
    struct pdnn_sheet table;
    struct heavy *heavy = pdnn_alloc(fit->n_terms + 1, sizeof *heavy);
    size_t count = 0;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < fit->n_terms; i++) {
        if (fit->term[i].state == PDNN_TERM_FITTED)
            heavy[count++] = weigh(fit, &fit->term[i]);
    }
    if (count)
        qsort(heavy, count, sizeof *heavy, lighter);
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_fit_term *term = heavy[i].term;
        const char *against = strchr(term->baseline, '=');
        pdnn_sheet_cell(&table, "  %s%s%s", term->name, against ? " against " : "",
                        against ? against + 1 : "");
        add_weight(&table, term->weight, term->low, term->high);
        pdnn_sheet_number(&table, term->inflation, 1, "");
    }
    free(heavy);
    if (fit->model == PDNN_FIT_POWER) {
        pdnn_sheet_cell(&table, "  constant");
        add_weight(&table, fit->constant, fit->constant_low, fit->constant_high);
        pdnn_sheet_cell(&table, "-");
    }
    pdnn_sheet_format(&table, pdnn_terminal_width(STDOUT_FILENO), out);
    pdnn_sheet_finish(&table);
}

/* Constant terms on one line, each of the others with its reason. */
static void append_others(struct pdnn_str *out, const struct pdnn_fit *fit) {
    char name[PDNN_VISIBLE_TEXT], with[PDNN_VISIBLE_TEXT];
    struct pdnn_str constant = {0};
    for (size_t i = 0; i < fit->n_terms; i++) {
        if (fit->term[i].state == PDNN_TERM_CONSTANT)
            pdnn_str_printf(&constant, "%s%s",
                            constant.length ? ", " : "constant: ", pdnn_visible(name, fit->term[i].name));
    }
    append_line(out, &constant);
    for (const struct pdnn_fit_term *term = fit->term; term < fit->term + fit->n_terms; term++) {
        const char *shown = pdnn_visible(name, term->name);
        struct pdnn_str line = {0};
        if (term->state == PDNN_TERM_COLLINEAR)
            pdnn_str_printf(&line, "collinear: %s, a combination of %s", shown,
                            *term->with ? pdnn_visible(with, term->with)
                                        : "the constant and the words before it");
        else if (term->state == PDNN_TERM_NO_LOGARITHM)
            pdnn_str_printf(&line, "left out: %s, which is not always positive", shown);
        else if (term->state == PDNN_TERM_WORDS)
            pdnn_str_printf(&line, "left out: %s, which has more than %d words", shown,
                            PDNN_DESIGN_WORDS_MAX);
        append_line(out, &line);
    }
}

static int farther(const void *a, const void *b) {
    const struct pdnn_fit_row *const *one = a, *const *other = b;
    double x = fabs((*one)->studentized), y = fabs((*other)->studentized);
    return x != y ? (x < y) - (x > y) : (*one > *other) - (*one < *other);
}

static void append_outliers(struct pdnn_str *out, const struct pdnn_fit *fit) {
    enum { SHOWN = 10 };
    const struct pdnn_fit_row **outlier = pdnn_alloc(fit->outliers + 1, sizeof *outlier);
    char id[PDNN_VISIBLE_TEXT];
    size_t count = 0;
    for (size_t i = 0; i < fit->n_rows; i++) {
        if (fit->row[i].outlier)
            outlier[count++] = &fit->row[i];
    }
    if (count)
        qsort(outlier, count, sizeof *outlier, farther);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        struct pdnn_str line = {0};
        pdnn_str_printf(&line, "outlier: %.4g, %+.1f standard deviations from the fitted %.4g, %s",
                        outlier[i]->value, outlier[i]->studentized, outlier[i]->fitted,
                        pdnn_visible(id, outlier[i]->id));
        append_line(out, &line);
    }
    if (count > SHOWN)
        pdnn_str_printf(out, "  and %zu more outliers: --residuals\n", count - SHOWN);
    free(outlier);
}

void pdnn_fit_text(struct pdnn_str *out, const struct pdnn_fit *fit) {
    pdnn_str_append(out, "\n", out->length ? 1 : 0);
    append_quality(out, fit);
    append_weights(out, fit);
    append_others(out, fit);
    append_outliers(out, fit);
}
