/* The sections of the page, in the order in which the report puts them. */
#ifndef RESULTS_REPORT_PAGE_H
#define RESULTS_REPORT_PAGE_H

#include "results/rows/roofline.h"
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
    char why_no_pairs[PDNN_ERR_TEXT]; /* where there are two sources without pairs */
    struct pdnn_report_finding *findings;
    size_t n_findings;
};

/* Appends the label of a row of any of the selections as code, with its id as what a pointer shows. */
void pdnn_report_put_model(struct pdnn_str *out, const struct pdnn_report_page *page,
                           const struct pdnn_selection *rows, size_t at);

/* Checks all claims. */
enum pdnn_status pdnn_report_find(struct pdnn_report_page *page, struct pdnn_err *err);

/* The roofs for the number of threads that most models of the source ran on, with the peaks of the dtypes
 * that they ran in. */
struct pdnn_report_roofs {
    struct pdnn_roofs of;
    int64_t threads;
};
struct pdnn_report_roofs pdnn_report_find_roofs(const struct pdnn_report_page *page, size_t source);

/* Each appends a section, or nothing where the tables have nothing for it. */
void pdnn_report_put_findings(const struct pdnn_report_page *page, struct pdnn_str *out);
void pdnn_report_put_machine(const struct pdnn_report_page *page, struct pdnn_str *out);
/* The roofline of every source, the filters that the script fills, and the table of rows. */
void pdnn_report_put_models(const struct pdnn_report_page *page, struct pdnn_str *out);
void pdnn_report_put_roofline(const struct pdnn_report_page *page, size_t source, struct pdnn_str *out);
/* A heat map per family and source, over the axes that `paradnn plot heatmap` would choose. */
void pdnn_report_put_heat_maps(const struct pdnn_report_page *page, struct pdnn_str *out);
/* Boxes of utilization per family and source: 2, 9, 50, 91 and 98 %. */
void pdnn_report_put_boxes(const struct pdnn_report_page *page, struct pdnn_str *out);
void pdnn_report_put_op_times(const struct pdnn_report_page *page, struct pdnn_str *out);
/* Joins the two sources, or in a single one the rows of two backends, instruction sets or thread counts. That
 * nothing can be joined is not an error. Afterwards pdnn_report_comparison_close. */
enum pdnn_status pdnn_report_comparison_open(struct pdnn_report_page *page, struct pdnn_err *err);
void pdnn_report_comparison_close(struct pdnn_report_page *page);
/* Where there are two sources or pairs. */
enum pdnn_status pdnn_report_put_comparison(const struct pdnn_report_page *page, struct pdnn_str *out,
                                            struct pdnn_err *err);
/* The weights of every family's hyper-parameters. */
enum pdnn_status pdnn_report_put_weights(const struct pdnn_report_page *page, struct pdnn_str *out,
                                         struct pdnn_err *err);
/* Of every source with ops and roofs: projected speed-ups, and limits by part of the model. */
enum pdnn_status pdnn_report_put_projections(const struct pdnn_report_page *page, struct pdnn_str *out,
                                             struct pdnn_err *err);
/* Of every source with a seqpoint.csv: its iterations by length. */
enum pdnn_status pdnn_report_put_epochs(const struct pdnn_report_page *page, struct pdnn_str *out,
                                        struct pdnn_err *err);
void pdnn_report_put_failures(const struct pdnn_report_page *page, struct pdnn_str *out);
void pdnn_report_put_environment(const struct pdnn_report_page *page, struct pdnn_str *out);
/* The rows as JSON for the script; see data.c for the form. */
void pdnn_report_put_data(const struct pdnn_report_page *page, struct pdnn_str *out);

#endif
