/* What every source is and how well it did; then every claim, checked for every source or for both. */
#include "base/memory.h"
#include "base/units.h"
#include "results/query/gaps.h"
#include "results/report/page.h"
#include "results/store/tables.h"
#include "base/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The published observations that can be told, then those that cannot; in the order of table 1, then what is
 * not in it. */
static void put_claims(const struct pdnn_report_page *page, struct pdnn_str *out) {
    size_t verdicts[PDNN_VERDICT_COUNT] = {0};
    struct pdnn_table findings;
    pdnn_table_init(&findings, &pdnn_claims_report_def);
    pdnn_claims_check(&page->data, &pdnn_source_claims, &findings, verdicts);
    pdnn_claims_check(&page->data, &pdnn_pair_claims, &findings, verdicts);
    findings.column[PDNN_CLAIM_TEXT].def.title = "published observation";
    findings.column[PDNN_CLAIM_VERDICT].def.title = "here";
    findings.column[PDNN_CLAIM_NUMBERS].def.title = "why";
    findings.column[PDNN_CLAIM_COMPARED].def.title = "would tell";
    for (int told = 1; told >= 0; told--) {
        size_t shown[PDNN_CLAIM_REPORT_COLUMNS] = {PDNN_CLAIM_NUMBER, PDNN_CLAIM_TEXT}, n = 2;
        struct pdnn_row_list rows = {0};
        if (page->data.n_sources > 1)
            shown[n++] = PDNN_CLAIM_SOURCE;
        shown[n++] = PDNN_CLAIM_VERDICT;
        shown[n++] = PDNN_CLAIM_NUMBERS;
        if (!told)
            shown[n++] = PDNN_CLAIM_COMPARED;
        for (size_t row = 0; row < findings.n_rows; row++)
            if (pdnn_table_is_empty(&findings, row, PDNN_CLAIM_COMPARED) == told)
                pdnn_rows_add(&rows, row);
        pdnn_rows_sort(&rows, &findings, &(struct pdnn_sort_key){PDNN_CLAIM_NUMBER, false}, 1);
        if (!told)
            pdnn_str_printf(out, "<details><summary>%zu that these tables cannot tell</summary>", rows.count);
        pdnn_html_put_table(
            out, &findings, &rows, shown, n,
            told ? "What was published about other machines, and what these tables say. Numbers "
                   "are those of table 1 in Wang, Wei and Brooks (2020)."
                 : "Why not, and which data would tell.");
        pdnn_str_printf(out, told ? "" : "</details>\n");
        pdnn_rows_finish(&rows);
    }
    pdnn_table_finish(&findings);
}

/* Rows with this among the words of a column. */
static size_t count(const struct pdnn_selection *rows, enum pdnn_result_column column, const char *word) {
    size_t n = 0;
    for (size_t at = 0; at < rows->count; at++)
        n += strstr(pdnn_selection_word(rows, at, column), word) != NULL;
    return n;
}

/* Rows with this bound alone. */
static size_t count_bound(const struct pdnn_selection *rows, const char *name) {
    size_t n = 0;
    for (size_t at = 0; at < rows->count; at++)
        n += strcmp(pdnn_selection_word(rows, at, PDNN_RESULT_BOUND), name) == 0;
    return n;
}

/* Of such rows nothing is said. */
static const char *const doubtful[] = {"above_roof", "unusable"};

/* pdnn_roof_is_known does not hold. */
static bool is_vague(const struct pdnn_selection *rows, size_t at) {
    return pdnn_selection_value(rows, at, PDNN_RESULT_ROOF_HIGH) >
           PDNN_ROOF_KNOWN * pdnn_selection_value(rows, at, PDNN_RESULT_ROOF_LOW);
}

/* The values of the other rows, sorted, and the rows with the least and the greatest. Intervals are also
 * those of unusable rows. */
struct values {
    double *value;
    size_t n, least, greatest;
};

/* PDNN_RESULT_TIME_NS_MEDIAN: half of its interval, in %. */
static double value_of(const struct pdnn_selection *rows, size_t at, enum pdnn_result_column column) {
    const double value = pdnn_selection_value(rows, at, column),
                 below = value - pdnn_selection_value(rows, at, PDNN_RESULT_CI_LOW_NS),
                 above = pdnn_selection_value(rows, at, PDNN_RESULT_CI_HIGH_NS) - value;
    return column == PDNN_RESULT_TIME_NS_MEDIAN ? fmax(below, above) / value * 100 : value;
}

static struct values collect(const struct pdnn_selection *rows, enum pdnn_result_column column,
                             double *room) {
    struct values found = {.value = room};
    for (size_t at = 0; at < rows->count; at++) {
        double value = value_of(rows, at, column);
        const char *flags = pdnn_selection_word(rows, at, PDNN_RESULT_ROW_FLAGS);
        if (!isfinite(value) || strstr(flags, doubtful[0]) ||
            (column == PDNN_RESULT_PCT_OF_ROOF && is_vague(rows, at)) ||
            (column != PDNN_RESULT_TIME_NS_MEDIAN && strstr(flags, doubtful[1])))
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
    pdnn_digits_append(out, value, digits);
    pdnn_str_printf(out, "%s", unit);
}

static void add_fact(struct pdnn_str *facts, const struct pdnn_report_source *source, const char *key,
                     const char *unit) {
    struct pdnn_str value = {0};
    pdnn_environment_value(source->environment, key, &value);
    if (value.length)
        pdnn_str_printf(facts, "%s%s%s", facts->length ? ", " : "", value.text, unit);
    pdnn_str_finish(&value);
}

/* "f32 528 GFLOP/s", or with what it ranges over, "DRAM 86 GB/s (54 to 102)". */
static void add_roof(struct pdnn_str *facts, const char *name, const double of[3], int digits,
                     const char *unit) {
    pdnn_str_printf(facts, "%s%s ", facts->length && facts->text[facts->length - 1] != ' ' ? ", " : "", name);
    put_number(facts, of[0], digits, unit);
    if (!(of[1] < of[2]))
        return;
    pdnn_str_printf(facts, " (");
    put_number(facts, of[1], digits, " to ");
    put_number(facts, of[2], digits, ")");
}

/* The most threads that a row ran with. */
static int64_t most_threads(const struct pdnn_selection *rows) {
    const int threads = pdnn_results_setting(&rows->results, PDNN_SETTING_THREADS);
    int64_t most = 0, value = 0;
    for (size_t at = 0; threads >= 0 && at < rows->count; at++)
        if (pdnn_parse_i64(pdnn_selection_get(rows, at, threads), &value) && value > most)
            most = value;
    return most;
}

/* "AMD EPYC, 2 cores, oneDNN 2.6.3; on 2 threads f32 528 GFLOP/s, DRAM 86 GB/s" */
static void put_platform(struct pdnn_str *out, const struct pdnn_report_source *source) {
    const struct pdnn_selection *rows = &source->selection;
    const int backend = pdnn_results_setting(&rows->results, PDNN_SETTING_BACKEND);
    const int64_t threads = most_threads(rows);
    struct pdnn_str facts = {0};
    struct pdnn_roofs roofs, low, high;
    char library[64];
    pdnn_roofs_init(&roofs, source->roof_rows, threads);
    pdnn_roofs_range(source->roof_rows, threads, &low, &high);
    add_fact(&facts, source, "cpu", "");
    add_fact(&facts, source, "cores_usable", " cores");
    if (backend >= 0 && rows->count && !pdnn_selection_key(rows, backend)->varies) {
        snprintf(library, sizeof library, "backend_%.40s", pdnn_selection_get(rows, 0, backend));
        add_fact(&facts, source, library, "");
    }
    if (threads && roofs.n_levels)
        pdnn_str_printf(&facts, "%son %" PRId64 " thread%s ", facts.length ? "; " : "", threads,
                        threads == 1 ? "" : "s");
    for (enum pdnn_dtype k = 0; k < PDNN_DTYPE_COUNT; k++)
        if (roofs.peak_gflops[k] > (k == PDNN_F32 ? 0 : roofs.peak_gflops[PDNN_F32]))
            add_roof(&facts, pdnn_dtype_name(k),
                     (const double[]){roofs.peak_gflops[k], low.peak_gflops[k], high.peak_gflops[k]}, 4,
                     " GFLOP/s");
    if (roofs.n_levels) {
        const size_t last = roofs.n_levels - 1;
        add_roof(&facts, roofs.level[last].name,
                 (const double[]){roofs.level[last].gbs, low.level[last].gbs, high.level[last].gbs}, 3,
                 " GB/s");
    }
    pdnn_html_put(out, "<li><b>%s</b>%s%s", source->name, facts.length ? ": " : "", pdnn_str_text(&facts));
    pdnn_str_finish(&facts);
}

/* Appends a row's name, with its id as what a pointer shows. */
static void put_model(struct pdnn_str *out, const struct pdnn_report_page *page,
                      const struct pdnn_selection *rows, size_t at) {
    pdnn_html_put(out, "<code title=\"%s\">%s</code>", pdnn_selection_get(rows, at, rows->id),
                  page->name[rows->row[at]]);
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

static void put_gaps(struct pdnn_str *out, const struct pdnn_selection *rows) {
    struct pdnn_gaps gaps;
    struct pdnn_str text = {0};
    pdnn_gaps_find(rows, &gaps);
    pdnn_gaps_say(&gaps, rows, &text);
    if (text.length)
        pdnn_html_put(out, "<li>%s.</li>\n", text.text);
    pdnn_str_finish(&text);
}

static void put_summary(struct pdnn_str *out, const struct pdnn_report_page *page, size_t s, double *room) {
    const struct pdnn_report_source *source = &page->source[s];
    const struct pdnn_selection *rows = &source->selection;
    put_platform(out, source);
    const size_t compute = count_bound(rows, "compute"), memory = count_bound(rows, "memory"),
                 overhead = count_bound(rows, "overhead"), undecided = count(rows, PDNN_RESULT_BOUND, "|"),
                 bound = compute + memory + overhead + undecided;
    const size_t n = rows->count + rows->left_out, n_noisy = count(rows, PDNN_RESULT_ROW_FLAGS, "noisy");
    pdnn_str_printf(out, "<ul>");
    put_gaps(out, rows);
    pdnn_str_printf(out, "<li>%zu of %zu %s ended ok", rows->count, n, n == 1 ? "model" : "models");
    if (bound)
        pdnn_str_printf(out, ": %zu %s bound by compute, %zu by memory, %zu by overhead", compute,
                        compute == 1 ? "is" : "are", memory, overhead);
    if (undecided)
        pdnn_str_printf(out, ", %zu by one or another, which the range of the roofs does not tell",
                        undecided);
    pdnn_str_printf(out, rows->count && !bound ? "; what bounds them is not known." : ".");
    pdnn_str_printf(out, rows->left_out ? " <a href=\"#failures\">What did not run</a></li>\n" : "</li>\n");
    if (source->progress)
        pdnn_html_put(out, "<li>%s.</li>\n", source->progress);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct values found = collect(rows, ranges[i].column, room);
        if (found.n < PDNN_SAMPLE_LEAST)
            continue;
        pdnn_str_printf(out, "<li>%s ", ranges[i].says);
        put_number(out, found.value[0], 3, " to ");
        put_number(out, found.value[found.n - 1], 3, " %, median ");
        put_number(out, pdnn_quantile_sorted(found.value, found.n, 0.5), 3, " % ");
        pdnn_str_printf(out, "%s: ", ranges[i].of);
        put_model(out, page, rows, ranges[i].names_greatest ? found.greatest : found.least);
        pdnn_str_printf(out, ".</li>\n");
    }
    for (size_t k = 0; k < 2; k++) {
        const size_t found = count(rows, PDNN_RESULT_ROW_FLAGS, doubtful[k]);
        const char *what = k ? "unusable" : found == 1 ? "above its roof" : "above their roof";
        if (found)
            pdnn_str_printf(out, "<li>%zu %s %s and left out here.</li>\n", found,
                            found == 1 ? "model is" : "models are", what);
    }
    size_t vague = 0;
    for (size_t at = 0; at < rows->count; at++)
        vague += is_vague(rows, at);
    if (vague)
        pdnn_str_printf(
            out,
            "<li>The roof of %zu %s is not known within a factor of %.1f: how far below it %s is not "
            "said.</li>\n",
            vague, vague == 1 ? "model" : "models", PDNN_ROOF_KNOWN, vague == 1 ? "it is" : "they are");
    struct values found = collect(rows, PDNN_RESULT_TIME_NS_MEDIAN, room);
    if (found.n >= PDNN_SAMPLE_LEAST) {
        pdnn_str_printf(out, "<li>Half of the 95 %% intervals of step times are within \xc2\xb1 ");
        put_number(out, pdnn_quantile_sorted(found.value, found.n, 0.5), 2, " %");
        pdnn_str_printf(out, "; %zu %s noisy.</li>\n", n_noisy, n_noisy == 1 ? "model is" : "models are");
    }
    pdnn_str_printf(out, "</ul></li>\n");
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    double *room = pdnn_alloc(page->all.count + 1, sizeof *room);
    pdnn_str_printf(out, "<ul>");
    for (size_t s = 0; s < page->data.n_sources; s++)
        put_summary(out, page, s, room);
    free(room);
    pdnn_str_printf(out, "</ul>\n");
    put_claims(page, out);
}

const struct pdnn_report_section pdnn_section_findings = {.title = "Findings", .put = put};
