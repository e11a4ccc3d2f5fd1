/* In a few lines what every source is and how well it did; then every claim, checked for every source or for
 * both. */
#include "base/memory.h"
#include "base/units.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/store/tables.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What can be told first, then in the order of table 1 after what is not in it, and of the sources. Claims of
 * the text come in the order of the list. */
static int compare_findings(const void *a, const void *b) {
    const struct pdnn_report_finding *one = a, *other = b;
    bool x = one->verdict == PDNN_CANNOT_BE_TOLD, y = other->verdict == PDNN_CANNOT_BE_TOLD;
    if (x != y)
        return x ? 1 : -1;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

enum pdnn_status pdnn_report_find(struct pdnn_report_page *page, struct pdnn_err *err) {
    const size_t n_claims = pdnn_report_n_claims + pdnn_report_n_claims_of_pairs;
    struct pdnn_report_finding *made =
        pdnn_arena_alloc(&page->arena, n_claims * page->n_sources, sizeof *made);
    struct pdnn_report_question question = {
        .times = &page->times, .sides = &page->sides, .arena = &page->arena, .err = err};
    size_t count = 0;
    for (size_t k = 0; k < n_claims; k++) {
        const bool is_of_pairs = k >= pdnn_report_n_claims;
        const struct pdnn_report_claim *claim =
            is_of_pairs ? &pdnn_report_claims_of_pairs[k - pdnn_report_n_claims] : &pdnn_report_claims[k];
        bool is_of_both = false;
        for (size_t s = 0; s < page->n_sources && !is_of_both; s++, count++) {
            struct pdnn_report_finding *finding = &made[count];
            *finding = (struct pdnn_report_finding){.number = claim->number,
                                                    .order = count,
                                                    .claim = claim->text,
                                                    .source = is_of_pairs ? PDNN_REPORT_BOTH : s};
            question.claim = claim;
            question.rows = is_of_pairs ? NULL : &page->source[s].selection;
            question.finding = finding;
            claim->check(&question);
            if (question.status != PDNN_OK)
                return question.status;
            if (finding->verdict == PDNN_CANNOT_BE_TOLD && !finding->tells)
                finding->tells = claim->tells;
            is_of_both = finding->source == PDNN_REPORT_BOTH;
        }
    }
    qsort(made, count, sizeof *made, compare_findings);
    page->findings = made;
    page->n_findings = count;
    return PDNN_OK;
}

/* Rows with this among the words of a column. */
static size_t count(const struct pdnn_selection *rows, enum pdnn_result_column column, const char *word) {
    size_t n = 0;
    for (size_t at = 0; at < rows->count; at++)
        n += strstr(pdnn_selection_word(rows, at, column), word) != NULL;
    return n;
}

/* The values of rows, sorted, and the rows with the least and the greatest. */
struct values {
    double *value;
    size_t n, least, greatest;
};

/* PDNN_RESULT_TIME_NS_MEDIAN: half of its interval, in %. */
static double value_of(const struct pdnn_selection *rows, size_t at, enum pdnn_result_column column) {
    return column == PDNN_RESULT_TIME_NS_MEDIAN ? pdnn_selection_half_pct(rows, at)
                                                : pdnn_selection_value(rows, at, column);
}

static struct values collect(const struct pdnn_selection *rows, enum pdnn_result_column column,
                             double *room) {
    struct values found = {.value = room};
    for (size_t at = 0; at < rows->count; at++) {
        double value = value_of(rows, at, column);
        if (!isfinite(value))
            continue;
        if (!found.n || value < value_of(rows, found.least, column))
            found.least = at;
        if (!found.n || value > value_of(rows, found.greatest, column))
            found.greatest = at;
        found.value[found.n++] = value;
    }
    pdnn_sort(found.value, found.n);
    return found;
}

static void put_number(struct pdnn_str *out, double value, int digits, const char *unit) {
    pdnn_html_number(out, value, digits, "");
    pdnn_str_printf(out, "%s", unit);
}

static void put_fact(struct pdnn_str *out, const struct pdnn_report_source *source, const char *key,
                     const char *unit, const char **between) {
    struct pdnn_str value = {0};
    pdnn_environment_value(source->environment, key, &value);
    if (value.length) {
        pdnn_str_printf(out, "%s", *between);
        pdnn_html_text(out, value.text);
        pdnn_str_printf(out, "%s", unit);
        *between = ", ";
    }
    pdnn_str_finish(&value);
}

/* "AMD EPYC, 2 cores, oneDNN 2.6.3, f32 528 GFLOP/s, DRAM 86 GB/s" */
static void put_platform(struct pdnn_str *out, const struct pdnn_report_source *source) {
    const struct pdnn_selection *rows = &source->selection;
    const int threads = pdnn_results_setting(&rows->results, PDNN_SETTING_THREADS),
              dtype = pdnn_results_setting(&rows->results, PDNN_SETTING_DTYPE),
              backend = pdnn_results_setting(&rows->results, PDNN_SETTING_BACKEND);
    const bool is_one = backend >= 0 && rows->count && !rows->key[backend].varies;
    bool used[PDNN_DTYPE_COUNT] = {[PDNN_F32] = dtype < 0};
    struct pdnn_roofs roofs;
    int64_t usual = 1; /* threads that most models ran on */
    const char *between = ": ";
    char library[64];
    for (size_t at = 0; at < rows->count; at++)
        for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++)
            used[k] = used[k] || strcmp(pdnn_selection_get(rows, at, dtype), pdnn_dtype_name(k)) == 0;
    if (threads >= 0 && rows->count)
        pdnn_parse_i64(rows->key[threads].usual ? rows->key[threads].usual
                                                : pdnn_selection_get(rows, 0, threads),
                       &usual);
    pdnn_roofs_init(&roofs, source->ceilings, usual);
    snprintf(library, sizeof library, "backend_%.40s", is_one ? pdnn_selection_get(rows, 0, backend) : "");
    put_fact(out, source, "cpu", "", &between);
    put_fact(out, source, "cores_usable", " cores", &between);
    put_fact(out, source, library, "", &between);
    for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++) {
        if (used[k] && roofs.peak_gflops[k] > 0) {
            pdnn_str_printf(out, "%s%s ", between, pdnn_dtype_name(k));
            put_number(out, roofs.peak_gflops[k], 4, " GFLOP/s");
            between = ", ";
        }
    }
    if (roofs.n_levels) {
        const struct pdnn_roof_level *last = &roofs.level[roofs.n_levels - 1];
        pdnn_str_printf(out, "%s", between);
        pdnn_html_text(out, last->name);
        pdnn_str_printf(out, " ");
        put_number(out, last->gbs, 3, " GB/s");
    }
}

/* What is said of the values of all rows, and which of the two models at the ends is named. */
static const struct {
    enum pdnn_result_column column;
    const char *says, *of;
    bool names_greatest;
} ranges[] = {
    {PDNN_RESULT_PCT_OF_PEAK, "FLOP rates are", "of the measured peak; most", true},
    {PDNN_RESULT_PCT_OF_ROOF, "Given what bounds each, they reach", "of their roofs; farthest below", false},
};

static void put_summary(struct pdnn_str *out, const struct pdnn_report_page *page, size_t s, double *room) {
    const struct pdnn_report_source *source = &page->source[s];
    const struct pdnn_selection *rows = &source->selection;
    const size_t n_rows = rows->count + rows->left_out;
    pdnn_str_printf(out, "<li><b>");
    pdnn_html_text(out, source->name);
    pdnn_str_printf(out, "</b>");
    put_platform(out, source);
    const size_t compute = count(rows, PDNN_RESULT_BOUND, "compute"),
                 memory = count(rows, PDNN_RESULT_BOUND, "memory"),
                 overhead = count(rows, PDNN_RESULT_BOUND, "overhead");
    pdnn_str_printf(out, "<ul><li>%zu of %zu models ended ok", rows->count, n_rows);
    if (compute + memory + overhead)
        pdnn_str_printf(out, ": %zu are bound by compute, %zu by memory, %zu by overhead", compute, memory,
                        overhead);
    pdnn_str_printf(out,
                    rows->count && !(compute + memory + overhead) ? "; what bounds them is not known." : ".");
    pdnn_str_printf(out, rows->left_out ? " <a href=\"#failures\">What did not run</a></li>\n" : "</li>\n");
    if (source->progress) {
        pdnn_str_printf(out, "<li>");
        pdnn_html_text(out, source->progress);
        pdnn_str_printf(out, ".</li>\n");
    }
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct values found = collect(rows, ranges[i].column, room);
        if (!found.n)
            continue;
        pdnn_str_printf(out, "<li>%s ", ranges[i].says);
        put_number(out, found.value[0], 3, " to ");
        put_number(out, found.value[found.n - 1], 3, " %, median ");
        put_number(out, pdnn_quantile_sorted(found.value, found.n, 0.5), 3, " % ");
        pdnn_str_printf(out, "%s: ", ranges[i].of);
        pdnn_report_put_model(out, page, rows, ranges[i].names_greatest ? found.greatest : found.least);
        pdnn_str_printf(out, ".</li>\n");
    }
    struct values found = collect(rows, PDNN_RESULT_TIME_NS_MEDIAN, room);
    if (found.n) {
        pdnn_str_printf(out, "<li>Half of the 95 %% intervals of step times are within \xc2\xb1 ");
        put_number(out, pdnn_quantile_sorted(found.value, found.n, 0.5), 2, " %");
        pdnn_str_printf(out, "; %zu models are noisy.</li>\n", count(rows, PDNN_RESULT_ROW_FLAGS, "noisy"));
    }
    pdnn_str_printf(out, "</ul></li>\n");
}

/* The first findings that can be told, or those that cannot; each with why, and with what would tell. */
static void put_finding_rows(const struct pdnn_report_page *page, size_t first, size_t end,
                             const char *caption, struct pdnn_str *out) {
    static const char *const words[PDNN_VERDICT_COUNT] = {"yes", "no", "unknown"};
    const char *const one[] = {"no.", "published observation", "here", "why", NULL};
    const char *const two[] = {"no.", "published observation", "source", "here", "why", NULL};
    pdnn_html_table(out, "findings", caption, page->n_sources > 1 ? two : one);
    for (size_t i = first; i < end; i++) {
        const struct pdnn_report_finding *finding = &page->findings[i];
        pdnn_str_printf(out, "<tr><td>");
        if (finding->number)
            pdnn_str_printf(out, "%d", finding->number);
        pdnn_str_printf(out, "</td>");
        pdnn_html_cell(out, finding->claim);
        if (page->n_sources > 1)
            pdnn_html_cell(out,
                           finding->source == PDNN_REPORT_BOTH ? "both" : page->source[finding->source].name);
        pdnn_str_printf(out, "<td class=\"%s\">%s</td><td>", words[finding->verdict],
                        pdnn_verdict_name(finding->verdict));
        pdnn_html_text(out, finding->sentence);
        if (finding->tells) {
            pdnn_str_printf(out, " <i>Would tell:</i> ");
            pdnn_html_text(out, finding->tells);
        }
        pdnn_str_printf(out, "</td></tr>\n");
    }
    pdnn_html_table_end(out);
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    double *room = pdnn_alloc(page->all.count + 1, sizeof *room);
    size_t told = 0;
    while (told < page->n_findings && page->findings[told].verdict != PDNN_CANNOT_BE_TOLD)
        told++;
    pdnn_str_printf(out, "<ul>");
    for (size_t s = 0; s < page->n_sources; s++)
        put_summary(out, page, s, room);
    free(room);
    pdnn_str_printf(out, "</ul>\n");
    if (told)
        put_finding_rows(
            page, 0, told,
            "What was published about other machines, and what these tables say. Numbers are those of "
            "table 1 in Wang, Wei and Brooks (2020).",
            out);
    pdnn_str_printf(out, "<details><summary>%zu that these tables cannot tell</summary>",
                    page->n_findings - told);
    put_finding_rows(page, told, page->n_findings, "Why not, and which data would tell.", out);
    pdnn_str_printf(out, "</details>\n");
}

const struct pdnn_report_section pdnn_section_findings = {.title = "Findings", .put = put};
