/* What other hardware would bring: the models of every source projected onto roofs of which one is changed,
 * and Amdahl's limits of the parts that take the most time. */
#include "results/analysis/means.h"
#include "results/analysis/projection.h"
#include "results/report/html.h"
#include "results/report/sections.h"

#include <math.h>
#include <string.h>

/* Every graph is built once for each change: a large sweep is represented by this many of its rows, evenly
 * spread. */
enum { MODELS_MAX = 200 };

#define LEAST_LIMIT 1.1

static const struct {
    const char *title;
    struct pdnn_hardware_request request;
} changes[] = {
    {"compute x 2", {.compute = "2"}},
    {"memory bandwidth x 2", {.bandwidth = "2"}},
    {"caches x 2", {.cache = "2"}},
    {"overhead x 0.5", {.overhead = "0.5"}},
};

enum { N_CHANGES = sizeof changes / sizeof *changes };

struct source {
    const struct pdnn_report_source *of;
    struct pdnn_selection chosen; /* a view of the page's */
    struct pdnn_ops_reader *readers;
    struct pdnn_arena arena;
    struct pdnn_hardware_projection made[N_CHANGES];
};

static enum pdnn_status project(struct source *s, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_selection_ops_open(&s->chosen, &s->readers, err);
    for (size_t i = 0; status == PDNN_OK && i < N_CHANGES; i++) {
        struct pdnn_hardware hardware;
        status = pdnn_hardware_parse(&hardware, &changes[i].request, err);
        const struct pdnn_projection_request request = {&s->chosen, s->readers, s->of->ceilings, &hardware,
                                                        NULL};
        if (status == PDNN_OK)
            status = pdnn_project(&request, &s->arena, &s->made[i], err);
        pdnn_hardware_finish(&hardware);
    }
    return status;
}

/* The geometric mean over a family's models. */
static double mean_of(const struct pdnn_hardware_projection *made, const char *family, size_t *count) {
    struct pdnn_mean mean = {0};
    for (size_t i = 0; i < made->n_models; i++) {
        if (strcmp(made->model[i].family, family) == 0)
            pdnn_mean_add(&mean, log(made->model[i].speedup), 0);
    }
    *count = mean.n;
    return pdnn_mean_geometric(&mean);
}

static void put_speedups(struct pdnn_str *out, const struct source *s) {
    pdnn_str_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table><caption>");
    pdnn_html_text(out, s->of->name);
    pdnn_str_printf(out,
                    ": geometric mean of the projected speed-up if one thing changed.</caption><thead><tr>"
                    "<th>family</th><th>models</th>");
    for (size_t i = 0; i < N_CHANGES; i++)
        pdnn_str_printf(out, "<th>%s</th>", changes[i].title);
    pdnn_str_printf(out, "</tr></thead><tbody>\n");
    const struct pdnn_hardware_projection *first = &s->made[0];
    for (size_t i = 0; i < first->n_models; i++) {
        const char *family = first->model[i].family;
        size_t before = 0, count;
        while (before < i && strcmp(first->model[before].family, family) != 0)
            before++;
        if (before < i)
            continue;
        mean_of(first, family, &count);
        pdnn_str_printf(out, "<tr>");
        pdnn_html_cell(out, family);
        pdnn_str_printf(out, "<td>%zu</td>", count);
        for (size_t k = 0; k < N_CHANGES; k++)
            pdnn_str_printf(out, "<td>%.2f</td>", mean_of(&s->made[k], family, &count));
        pdnn_str_printf(out, "</tr>\n");
    }
    pdnn_str_printf(out, "</tbody></table></div>\n");
}

static void put_limits(struct pdnn_str *out, const struct source *s) {
    const struct pdnn_hardware_projection *made = &s->made[0];
    bool any = false;
    for (size_t i = 0; i < made->n_limits; i++) {
        const struct pdnn_projected_limit *limit = &made->limit[i];
        if (!(limit->limit[PDNN_HARDWARE_MEASURED] >= LEAST_LIMIT))
            continue;
        if (!any) {
            pdnn_str_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table><caption>");
            pdnn_html_text(out, s->of->name);
            pdnn_str_printf(out,
                            ": how many times as fast a measured step could be if a part took no time, "
                            "from %.1f on.</caption><thead><tr><th>family</th><th>part</th>"
                            "<th>models</th><th>%% of the step</th><th>limit</th></tr></thead><tbody>\n",
                            LEAST_LIMIT);
        }
        any = true;
        pdnn_str_printf(out, "<tr>");
        pdnn_html_cell(out, limit->family);
        pdnn_html_cell(out, limit->kind);
        pdnn_str_printf(out, "<td>%zu</td><td>%.1f</td><td>%.2f</td></tr>\n", (size_t)limit->instances,
                        limit->share_pct[PDNN_HARDWARE_MEASURED], limit->limit[PDNN_HARDWARE_MEASURED]);
    }
    if (any)
        pdnn_str_printf(out, "</tbody></table></div>\n");
}

/* At most MODELS_MAX of the rows, evenly spread. */
static void choose(struct source *s, const struct pdnn_selection *all) {
    s->chosen = *all;
    s->chosen.count = all->count < MODELS_MAX ? all->count : MODELS_MAX;
    s->chosen.row = pdnn_arena_alloc(&s->arena, s->chosen.count + 1, sizeof *s->chosen.row);
    for (size_t i = 0; i < s->chosen.count; i++)
        s->chosen.row[i] = all->row[i * all->count / s->chosen.count];
}

enum pdnn_status pdnn_report_put_projections(const struct pdnn_report_page *page, struct pdnn_str *out,
                                             struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    bool any = false;
    for (size_t i = 0; i < page->rows.n_sources && status == PDNN_OK; i++) {
        struct source s = {.of = &page->rows.source[i]};
        struct pdnn_err why = {0};
        if (!page->times.present || !s.of->ceilings->count || !page->selection[i].count)
            continue;
        choose(&s, &page->selection[i]);
        enum pdnn_status made = project(&s, &why);
        if (made == PDNN_OK) {
            if (!any)
                pdnn_html_section(out, "projection", "What other hardware would bring");
            any = true;
            if (page->selection[i].count > MODELS_MAX)
                pdnn_str_printf(out, "<p>From %d of %zu models.</p>\n", MODELS_MAX, page->selection[i].count);
            put_speedups(out, &s);
            put_limits(out, &s);
        } else if (made != PDNN_INVALID && made != PDNN_IO) {
            status = pdnn_fail(err, made, "%s", why.text);
        }
        pdnn_selection_ops_close(&s.chosen, s.readers);
        pdnn_arena_finish(&s.arena);
    }
    if (any) {
        pdnn_str_printf(
            out, "<p>Projected, not measured: every op keeps its measured efficiency under the changed "
                 "roofs. <code>paradnn project</code> takes any change.</p>\n");
        pdnn_html_section_end(out);
    }
    return status;
}
