/* What the page is made of, and its sections. */
#ifndef RESULTS_REPORT_PAGE_H
#define RESULTS_REPORT_PAGE_H

#include "results/figures/plot.h"
#include "results/query/selection.h"
#include "results/claims/claims.h"

struct pdnn_report_source {
    const char *directory;
    const char *name;                /* the last part of its path, made distinct */
    const char *progress;            /* what is said of a sweep that is not done, or NULL */
    struct pdnn_selection selection; /* its rows that ended ok, and those that did not */
    struct pdnn_ceilings *ceilings;  /* empty: none */
    char *environment;               /* text of environment.yaml; empty: none */
};

/* A row's number is its place in `all`, also for the script. */
struct pdnn_report_page {
    const char *const *only; /* what the rows are chosen by */
    size_t n_only;
    struct pdnn_arena arena;
    struct pdnn_selection all; /* of all sources, whether or not they ended ok */
    size_t n_failed;
    struct pdnn_report_source source[2];
    size_t n_sources;
    const char **family; /* in the order of their letters */
    size_t n_families;
    struct pdnn_selection *of_family; /* all rows of each */
    struct pdnn_report_op_times times;
    struct pdnn_comparison comparison; /* if sides.pairs */
    struct pdnn_report_sides sides;
    char across[128]; /* what the sides of one source differ in, as for --across; "": two sources */
    char why_no_pairs[PDNN_ERR_TEXT]; /* where there are two sources without pairs */
    struct pdnn_report_finding *findings;
    size_t n_findings;
};

/* Appends the label of a row of any of the selections as code, with its id as what a pointer shows. */
void pdnn_report_put_model(struct pdnn_str *out, const struct pdnn_report_page *page,
                           const struct pdnn_selection *rows, size_t at);

/* Checks all claims. */
enum pdnn_status pdnn_report_find(struct pdnn_report_page *page, struct pdnn_err *err);

/* Appends a picture of one source, or of both, as `paradnn plot KIND` draws it; the rest of the request is
 * the picture's own. Where there is none, a sentence says why, and it returns false. */
bool pdnn_report_put_figure(const struct pdnn_report_page *page, const char *kind, size_t source,
                            struct pdnn_plot_request request, struct pdnn_str *out);

/* A section is a row in the list of report.c: pictures of a kind, or results/report/<file>.c. */
struct pdnn_report_section {
    const char *anchor, *name, *title; /* name: in the navigation */
    /* Appends what is below the title, or nothing where the tables have nothing for it; NULL: pictures. */
    enum pdnn_status (*put)(const struct pdnn_report_page *page, struct pdnn_str *out, struct pdnn_err *err);
    const char *kind; /* of the pictures, one for each source */
    bool is_of_both;  /* or one for both, over the same axes and in the same colors */
};

extern const struct pdnn_report_section pdnn_section_findings, pdnn_section_comparison, pdnn_section_models,
    pdnn_section_ops, pdnn_section_projection, pdnn_section_epoch, pdnn_section_failures,
    pdnn_section_machine, pdnn_section_environment;

/* Joins the two sources, or in a single one the rows of two backends, instruction sets or thread counts. That
 * nothing can be joined is not an error. Afterwards pdnn_report_comparison_close. */
enum pdnn_status pdnn_report_comparison_open(struct pdnn_report_page *page, struct pdnn_err *err);
void pdnn_report_comparison_close(struct pdnn_report_page *page);

/* The rows as JSON for the script; see data.c for the form. */
void pdnn_report_put_data(const struct pdnn_report_page *page, struct pdnn_str *out);

#endif
