/* What the sections of the page share. Text from tables reaches it through pdnn_html_text and
 * pdnn_html_json_text only. */
#ifndef RESULTS_REPORT_PAGE_H
#define RESULTS_REPORT_PAGE_H

#include "results/figures/picture.h"
#include "results/compare/sides.h"
#include "results/query/selection.h"
#include "results/claims/claim.h"
#include "results/table/escape.h"
#include "results/table/write.h"

struct pdnn_report_source {
    const char *directory, *name;     /* name: the last part of its path, made distinct */
    const char *progress;             /* what is said of a sweep that is not done, or NULL */
    struct pdnn_selection selection;  /* its rows that ended ok, and those that did not */
    struct pdnn_roof_rows *roof_rows; /* empty: none */
    char *environment;                /* text of environment.yaml; empty: none */
};

/* A row's number is its place in `all`, also for the script. */
struct pdnn_report_page {
    const char *const *only; /* what the rows are chosen by */
    size_t n_only;
    struct pdnn_arena arena;
    struct pdnn_selection all; /* of all sources, whether or not they ended ok */
    const char **name;         /* by row of the results: what people call it (pdnn_selection_names) */
    size_t n_failed;
    struct pdnn_report_source *source; /* data.n_sources of them */
    const char **family;               /* in the order of their letters */
    size_t n_families;
    struct pdnn_selection *of_family;   /* all rows of each */
    struct pdnn_comparison *comparison; /* data.n_pairs of them */
    struct pdnn_sides sides;            /* of these; {0} where there is none */
    const char *across;                 /* what the only one's sides differ in; NULL: they are sources */
    const char **paired;                /* the directories of the comparisons, 1 + data.n_pairs of them */
    struct pdnn_claim_data data;
    struct pdnn_str why_no_pairs; /* of sources that cannot be compared with the first: a line each */
};

/* Appends a table's columns and rows (NULL: all), if there are any, with a caption (NULL: none). It scrolls
 * by itself where it is wider than the page. */
void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, const size_t *columns, size_t n_columns,
                         const char *caption, ...) __attribute__((format(printf, 6, 7)));

#define PDNN_REPORT_ALL ((size_t)-1)

/* The request for a picture of a source, or of all. */
struct pdnn_plot_request pdnn_report_plot(const struct pdnn_report_page *page, size_t source);

/* Appends a figure: the bytes of `paradnn plot KIND` with this request, and that command; before it, where
 * what --value names is highest and lowest; or why it draws nothing. Nothing where no model ended ok. */
void pdnn_report_put_figure(const struct pdnn_report_page *page, const char *kind,
                            struct pdnn_plot_request request, struct pdnn_str *out);

/* A section is results/report/<name>.c with its pdnn_section_<name>, and one word in the root meson.build,
 * whose order is that of the page. */
struct pdnn_report_section {
    const char *title;
    /* Appends what is said, drawn and listed, or nothing where the tables have nothing for it. */
    void (*put)(const struct pdnn_report_page *page, struct pdnn_str *out);
};

/* Joins each other source with the first, or in a single one the rows of two backends, instruction sets or
 * thread counts. That nothing can be joined is not an error. */
enum pdnn_status pdnn_report_comparison_open(struct pdnn_report_page *page, struct pdnn_err *err);

/* page.css and page.js as embed.py makes them during the build, and the hashes ("sha256-...") with which the
 * page's Content-Security-Policy names them: nothing else can style the page or run in it. */
extern const char pdnn_report_css[], pdnn_report_css_hash[], pdnn_report_js[], pdnn_report_js_hash[];

/* The rows as JSON for the script; see data.c for the form. */
void pdnn_report_put_data(const struct pdnn_report_page *page, struct pdnn_str *out);

#endif
