/* What other hardware would bring: the models of every source projected onto roofs of which one is changed,
 * and Amdahl's limits of the parts that take the most time. */
#include "results/whatif/projection.h"
#include "results/report/page.h"

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
    struct pdnn_arena arena;
    struct pdnn_hardware_projection made[N_CHANGES];
};

/* The changes have the same families, in the same order. */
static void put_speedups(struct pdnn_str *out, struct source *s) {
    size_t shown[2 + N_CHANGES] = {0, PDNN_PROJECTED_FAMILY_INSTANCES}; /* behind the family */
    struct pdnn_table *table = &s->made[0].families;
    table->column[PDNN_PROJECTED_FAMILY_INSTANCES].def.title = "models";
    for (size_t k = 0; k < N_CHANGES; k++) {
        shown[2 + k] =
            pdnn_table_add_column(table, &(struct pdnn_column_def){.name = changes[k].title,
                                                                   .kind = PDNN_KIND_NUMBER,
                                                                   .show = PDNN_SHOW_FIXED,
                                                                   .decimals = 2,
                                                                   .help = "geometric mean of speed-ups"});
        for (size_t row = 0; row < table->n_rows; row++)
            pdnn_table_set_number(
                table, row, shown[2 + k],
                pdnn_table_number(&s->made[k].families, row, PDNN_PROJECTED_FAMILY_SPEEDUP));
    }
    pdnn_html_put_table(out, table, NULL, shown, 2 + N_CHANGES,
                        "%s: geometric mean of the projected speed-up if one thing changed.", s->of->name);
}

static void put_limits(struct pdnn_str *out, const struct source *s) {
    static const size_t columns[] = {PDNN_PROJECTED_LIMIT_FAMILY, PDNN_PROJECTED_LIMIT_KIND,
                                     PDNN_PROJECTED_LIMIT_INSTANCES, PDNN_PROJECTED_LIMIT_SHARE,
                                     PDNN_PROJECTED_LIMIT_LIMIT};
    const struct pdnn_table *limits = &s->made[0].limits;
    struct pdnn_row_list rows = {0};
    for (size_t row = 0; row < limits->n_rows; row++)
        if (pdnn_table_number(limits, row, PDNN_PROJECTED_LIMIT_LIMIT) >= LEAST_LIMIT)
            pdnn_rows_add(&rows, row);
    pdnn_html_put_table(out, limits, &rows, columns, sizeof columns / sizeof *columns,
                        "%s: how many times as fast a step could be if a part took no time, "
                        "from %.1f on.",
                        s->of->name, LEAST_LIMIT);
    pdnn_rows_finish(&rows);
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    for (size_t i = 0; i < page->data.n_sources; i++) {
        struct source s = {.of = &page->source[i]};
        const struct pdnn_selection *all = &s.of->selection;
        struct pdnn_selection chosen = *all; /* a view of it */
        struct pdnn_hardware hardware;
        const struct pdnn_projection_request request = {&chosen, page->data.readers, s.of->roof_rows,
                                                        &hardware, NULL};
        struct pdnn_err why = {0};
        if (!page->data.readers[i].table.n_rows || !s.of->roof_rows->count || !all->count)
            continue;
        chosen.count = all->count < MODELS_MAX ? all->count : MODELS_MAX;
        chosen.row = pdnn_arena_alloc(&s.arena, chosen.count, sizeof *chosen.row);
        for (size_t k = 0; k < chosen.count; k++)
            chosen.row[k] = all->row[k * all->count / chosen.count];
        for (size_t k = 0; k < N_CHANGES && why.status == PDNN_OK; k++)
            if (pdnn_hardware_parse(&hardware, &changes[k].request, &s.arena, &why) == PDNN_OK)
                pdnn_project(&request, &s.made[k], &why);
        if (why.status == PDNN_OK) {
            if (all->count > MODELS_MAX)
                pdnn_html_put(out, "<p>%s: from %s models.</p>\n", s.of->name,
                              pdnn_arena_printf(&s.arena, "%d of %zu", MODELS_MAX, all->count));
            put_speedups(out, &s);
            put_limits(out, &s);
        } else {
            pdnn_html_put(out, "<p>%s: %s</p>\n", s.of->name, why.text);
        }
        for (size_t k = 0; k < N_CHANGES; k++)
            pdnn_hardware_projection_finish(&s.made[k]);
        pdnn_arena_finish(&s.arena);
    }
    if (out->length)
        pdnn_str_printf(
            out, "<p>Projected, not measured: every op keeps its measured efficiency under the changed "
                 "roofs. <code>paradnn project</code> takes any change.</p>\n");
}

const struct pdnn_report_section pdnn_section_projection = {.title = "Other hardware", .put = put};
