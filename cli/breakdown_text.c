#include "cli/breakdown_text.h"
#include "base/units.h"
#include "base/visible.h"
#include "base/fill.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "results/table/sheet.h"
#include "results/analysis/roofline.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static size_t screen_width(void) {
    return pdnn_terminal_width(STDOUT_FILENO);
}

/* Columns without room are named below the last table only. */
static void format_table(struct pdnn_sheet *table, struct pdnn_str *out, bool is_last) {
    const struct pdnn_sheet_layout layout = pdnn_sheet_arrange(table, screen_width());
    pdnn_sheet_titles(table, &layout, out);
    pdnn_sheet_rows(table, &layout, out);
    pdnn_str_append(out, "\n", 1);
    if (is_last)
        pdnn_sheet_note(table, &layout, screen_width(), out);
    pdnn_sheet_finish(table);
}

/* One column per key, then the given ones. Returns the number of columns. */
static size_t put_columns(struct pdnn_sheet_column *columns, const struct pdnn_by_list *by,
                          const struct pdnn_sheet_column *more, size_t n_more) {
    for (size_t k = 0; k < by->count; k++)
        columns[k] = (struct pdnn_sheet_column){pdnn_by_name(by->by[k]), PDNN_ALIGN_WRAP};
    memcpy(columns + by->count, more, n_more * sizeof *more);
    return by->count + n_more;
}

static void add_keys(struct pdnn_sheet *table, const struct pdnn_by_list *by,
                     const struct pdnn_share *share) {
    for (size_t k = 0; k < by->count; k++)
        pdnn_sheet_cell(table, "%s", share->key[by->by[k]]);
}

static void add_count(struct pdnn_sheet *table, uint64_t count) {
    if (count == PDNN_ABSENT)
        pdnn_sheet_cell(table, "%s", "");
    else
        pdnn_sheet_cell(table, "%" PRIu64, count);
}

/* A count with an SI prefix; an empty cell for 0. */
static void add_si(struct pdnn_sheet *table, uint64_t count, const char *unit) {
    char text[PDNN_UNIT_TEXT];
    bool is_some = count && count != PDNN_ABSENT;
    pdnn_sheet_cell(table, "%s", is_some ? pdnn_format_si(text, (double)count, unit) : "");
}

static void add_ns(struct pdnn_sheet *table, double ns) {
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_cell(table, "%s", isnan(ns) ? "" : pdnn_format_ns(text, ns));
}

static void add_share(struct pdnn_sheet *table, const struct pdnn_by_list *by,
                      const struct pdnn_share *share) {
    const struct pdnn_op_sum *work = &share->work;
    struct pdnn_str most = {0};
    add_keys(table, by, share);
    add_count(table, work->count);
    add_ns(table, work->time_ns);
    pdnn_sheet_number(table, work->share_pct, 1, "");
    add_si(table, work->in_bounds_flop_count, "FLOP");
    add_si(table, work->byte_count, "B");
    pdnn_sheet_number(table, work->gflops, 1, "");
    pdnn_sheet_number(table, work->bw_gbs, 1, "");
    pdnn_report_pct_of_roof(table, work->pct_of_roof);
    /* Above the roofs the time lost is not 0 but unknown. */
    bool known = share->lost_ns > 0 || !(work->pct_of_roof > PDNN_ABOVE_ROOF_PCT);
    pdnn_sheet_number(table, known ? share->lost_pct : NAN, 1, "");
    if (share->most) {
        pdnn_report_op(&most, share->most);
        pdnn_str_printf(&most, ": %.1f", share->most_lost_pct);
    }
    pdnn_sheet_cell(table, "%s", pdnn_str_text(&most));
    pdnn_str_finish(&most);
}

/* Reorders are what a backend adds to the model, so their number is reported even if it is 0. */
static void append_reorders(struct pdnn_str *out, const struct pdnn_by_list *by,
                            const struct pdnn_share *shares, size_t n_shares) {
    size_t i = 0;
    /* Otherwise reorders are spread over several rows, or over none. */
    bool by_kind = by->count == 1 && by->by[0] <= PDNN_BY_GROUP;
    while (i < n_shares && strcmp(shares[i].key[by->by[0]], "reorder") != 0)
        i++;
    if (!n_shares)
        pdnn_str_printf(out, ", no ops recorded");
    else if (by_kind && i == n_shares)
        pdnn_str_printf(out, ", no reorders");
    else if (by_kind)
        pdnn_str_printf(out, ", %" PRIu64 " reorder%s: %.2g %% of it", shares[i].work.count,
                        shares[i].work.count == 1 ? "" : "s", shares[i].work.share_pct);
    pdnn_str_append(out, "\n", 1);
}

/* Appends a line with values from tables, filled to the terminal, and frees it. */
static void append_line(struct pdnn_str *out, struct pdnn_str *line, size_t indent, const char *end) {
    struct pdnn_str shown = {0};
    pdnn_visible_append(&shown, pdnn_str_text(line), line->length, "");
    if (shown.length)
        pdnn_fill_text(out, pdnn_str_text(&shown), indent, screen_width() ? screen_width() : SIZE_MAX);
    pdnn_str_append(out, end, strlen(end));
    pdnn_str_finish(&shown);
    pdnn_str_finish(line);
}

/* "new.results: " in front of an id where there are several directories and the axes do not say which. */
static void append_directory(struct pdnn_str *out, const struct pdnn_selection *selection, size_t at,
                             const struct pdnn_axes *axes) {
    char name[PDNN_VISIBLE_TEXT];
    int results = pdnn_csv_find(&selection->results, PDNN_SEVERAL_RESULTS);
    bool said = selection->n_directories == 1;
    for (size_t k = 0; axes && k < axes->count; k++)
        said = said || axes->column[k] == results;
    if (!said)
        pdnn_str_printf(out, "%s: ", pdnn_visible(name, pdnn_selection_get(selection, at, results)));
}

static void append_head(struct pdnn_str *out, const struct pdnn_selection *selection, size_t at) {
    char step[PDNN_UNIT_TEXT];
    struct pdnn_str line = {0};
    append_directory(&line, selection, at, NULL);
    pdnn_str_printf(&line, "%s", pdnn_selection_get(selection, at, selection->id));
    append_line(out, &line, 2, "");
    pdnn_str_printf(out, "  %s per step%s", pdnn_format_ns(step, pdnn_selection_step_ns(selection, at)),
                    pdnn_selection_extrapolated(selection, at) ? ", extrapolated" : "");
}

void pdnn_breakdown_text(struct pdnn_str *out, const struct pdnn_selection *selection, size_t at,
                         const struct pdnn_by_list *by, const struct pdnn_share *shares, size_t n_shares) {
    static const struct pdnn_sheet_column measured[] = {
        {"ops", PDNN_ALIGN_RIGHT | PDNN_SPARE(5)},
        {"time", PDNN_ALIGN_RIGHT},
        {"% of step", PDNN_ALIGN_RIGHT},
        {"FLOP", PDNN_ALIGN_RIGHT | PDNN_SPARE(6)},
        {"bytes", PDNN_ALIGN_RIGHT | PDNN_SPARE(7)},
        {"GFLOP/s", PDNN_ALIGN_RIGHT | PDNN_SPARE(3)},
        {"GB/s", PDNN_ALIGN_RIGHT | PDNN_SPARE(4)},
        {"% of roof", PDNN_ALIGN_RIGHT},
        {"would save at roof, % of step", PDNN_ALIGN_RIGHT},
        {"most of that in", PDNN_ALIGN_WRAP | PDNN_SPARE(1)},
    };
    enum { N_MEASURED = sizeof measured / sizeof *measured };
    struct pdnn_sheet_column columns[PDNN_BY_COUNT + N_MEASURED];
    const struct pdnn_share *most = pdnn_shares_most(shares, n_shares);
    struct pdnn_sheet table;
    append_head(out, selection, at);
    append_reorders(out, by, shares, n_shares);
    if (most) {
        struct pdnn_str line = {0};
        pdnn_report_most(&line, most);
        pdnn_str_printf(&line, "; shape %s", most->most->shape);
        pdnn_str_printf(out, "  ");
        append_line(out, &line, 2, "");
    }
    pdnn_str_append(out, "\n", 1);
    pdnn_sheet_init(&table, columns, put_columns(columns, by, measured, N_MEASURED));
    for (size_t i = 0; i < n_shares; i++)
        add_share(&table, by, &shares[i]);
    format_table(&table, out, at + 1 == selection->count);
}

static void add_step(struct pdnn_sheet *table, const struct pdnn_selection *selection, size_t at) {
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_cell(table, "%s%s", pdnn_selection_extrapolated(selection, at) ? "~" : "",
                    pdnn_format_ns(text, pdnn_selection_step_ns(selection, at)));
}

/* Columns [first, first + count) of the matrix, under the given titles. */
static void fill_across(struct pdnn_sheet *table, const struct pdnn_across *across, size_t first,
                        size_t count) {
    const struct pdnn_share_matrix *matrix = across->matrix;
    for (size_t k = 0; k < across->by->count; k++)
        pdnn_sheet_cell(table, "%s", k ? "" : "time of a step");
    for (size_t c = first; c < first + count; c++)
        add_step(table, across->selection, across->series->at[c]);
    for (size_t r = 0; r < matrix->n_rows; r++) {
        add_keys(table, across->by, &matrix->row[r]);
        for (size_t c = first; c < first + count; c++) {
            const struct pdnn_share *share = pdnn_share_matrix_at(matrix, r, c);
            pdnn_sheet_number(table, share ? share->work.share_pct : NAN, 1, " %");
        }
    }
}

/* As many of the columns as fit the terminal, at least one; returns how many. */
static size_t append_across(struct pdnn_str *out, const struct pdnn_across *across, size_t first,
                            size_t count, const struct pdnn_sheet_column *titles) {
    struct pdnn_sheet_column columns[PDNN_SHEET_COLUMNS_MAX];
    struct pdnn_sheet table;
    for (;; count--) {
        pdnn_sheet_init(&table, columns, put_columns(columns, across->by, titles, count));
        fill_across(&table, across, first, count);
        if (count == 1 || pdnn_sheet_fits(&table, screen_width()))
            break;
        pdnn_sheet_finish(&table);
    }
    format_table(&table, out, true);
    return count;
}

void pdnn_across_text(struct pdnn_str *out, const struct pdnn_across *across) {
    struct pdnn_sheet_column titles[PDNN_SHEET_COLUMNS_MAX];
    size_t count = across->series->count, most = PDNN_SHEET_COLUMNS_MAX - across->by->count;
    struct pdnn_str head = {0}, raw = {0};
    append_directory(&head, across->selection, across->series->at[0], across->axes);
    pdnn_selection_pattern(across->selection, across->series->at[0], across->axes, &head);
    pdnn_str_printf(&head, ": parts in %% of the step");
    append_line(out, &head, 2, "\n");
    for (size_t first = 0, put; first < count; first += put) {
        size_t n = count - first < most ? count - first : most;
        struct pdnn_str values[PDNN_SHEET_COLUMNS_MAX] = {{0}};
        for (size_t c = 0; c < n; c++) {
            size_t at = across->series->at[first + c];
            if (!c) {
                pdnn_selection_names(across->selection, across->axes, &values[c]);
                pdnn_str_append(&values[c], "=", 1);
            }
            pdnn_selection_values(across->selection, at, across->axes, &raw);
            pdnn_visible_append(&values[c], pdnn_str_text(&raw), raw.length, "");
            pdnn_str_clear(&raw);
            titles[c] = (struct pdnn_sheet_column){pdnn_str_text(&values[c]), PDNN_ALIGN_RIGHT};
        }
        put = append_across(out, across, first, n, titles);
        for (size_t c = 0; c < n; c++)
            pdnn_str_finish(&values[c]);
    }
    pdnn_str_finish(&raw);
}

void pdnn_gemms_text(struct pdnn_str *out, const struct pdnn_selection *selection, size_t at,
                     const struct pdnn_gemm *gemms, size_t n_gemms) {
    static const struct pdnn_sheet_column columns[] = {
        {"M x N x K", PDNN_ALIGN_LEFT},
        {"batch", PDNN_ALIGN_RIGHT | PDNN_SPARE(5)},
        {"count", PDNN_ALIGN_RIGHT | PDNN_SPARE(6)},
        {"time", PDNN_ALIGN_RIGHT},
        {"% of step", PDNN_ALIGN_RIGHT},
        {"FLOP/byte", PDNN_ALIGN_RIGHT | PDNN_SPARE(4)},
        {"GFLOP/s", PDNN_ALIGN_RIGHT},
        {"GB/s", PDNN_ALIGN_RIGHT | PDNN_SPARE(3)},
        {"% of roof", PDNN_ALIGN_RIGHT},
        {"group", PDNN_ALIGN_WRAP | PDNN_SPARE(1)},
        {"passes", PDNN_ALIGN_WRAP | PDNN_SPARE(2)},
    };
    struct pdnn_sheet table;
    append_head(out, selection, at);
    pdnn_str_printf(out, "%s\n\n", n_gemms ? "" : ", no matrix products");
    if (!n_gemms)
        return;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n_gemms; i++) {
        const struct pdnn_gemm_shape *shape = &gemms[i].shape;
        const struct pdnn_op_sum *work = &gemms[i].work;
        pdnn_sheet_cell(&table, "%" PRId64 " x %" PRId64 " x %" PRId64, shape->m, shape->n, shape->k);
        pdnn_sheet_cell(&table, "%" PRId64, shape->batch);
        add_count(&table, work->count);
        add_ns(&table, work->time_ns);
        pdnn_sheet_number(&table, work->share_pct, 1, "");
        pdnn_sheet_number(&table, work->intensity_flop_per_byte, 1, "");
        pdnn_sheet_number(&table, work->gflops, 1, "");
        pdnn_sheet_number(&table, work->bw_gbs, 1, "");
        pdnn_report_pct_of_roof(&table, work->pct_of_roof);
        pdnn_sheet_cell(&table, "%s", gemms[i].groups);
        pdnn_sheet_cell(&table, "%s", gemms[i].passes);
    }
    format_table(&table, out, at + 1 == selection->count);
}

void pdnn_study_text(struct pdnn_str *out, const struct pdnn_selection *selection,
                     const struct pdnn_study_line *lines, size_t n_lines) {
    const struct pdnn_axes none = {.count = 0};
    struct pdnn_str usual = {0};
    for (size_t i = 0; i < n_lines; i++) {
        enum { CLAIM_COLUMN = 13 };
        const struct pdnn_study_line *line = &lines[i];
        struct pdnn_str text = {0};
        pdnn_str_printf(out, "%-*s", CLAIM_COLUMN, pdnn_verdict_name(line->verdict));
        pdnn_str_printf(&text, "%s: ", line->claim);
        bool both = *line->compared && *line->where;
        if (line->verdict == PDNN_VERDICT_NOT_COVERED)
            pdnn_str_printf(&text, "needs %s", line->compared);
        else
            pdnn_str_printf(&text, "%s", line->numbers);
        if (line->verdict != PDNN_VERDICT_NOT_COVERED && (*line->compared || *line->where))
            pdnn_str_printf(&text, " (%s%s%s)", line->compared, both ? "; " : "", line->where);
        append_line(out, &text, CLAIM_COLUMN, "");
    }
    pdnn_selection_usual(selection, &none, &usual);
    if (usual.length)
        pdnn_str_printf(&usual, " unless stated otherwise");
    append_line(out, &usual, 2, "");
}
