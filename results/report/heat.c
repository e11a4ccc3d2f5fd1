/* Heat maps as in the papers: utilization over two keys, a map per source and family, from
 * results/query/grid. The script draws any other pair of axes with the same means and bins. */
#include "results/query/grid.h"
#include "results/report/html.h"
#include "results/report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_PIXELS = 30, NUMBER_PIXELS = 30 };

/* Over more than this, colors follow the logarithm. */
static const double wide_range = 10;

struct heat_map {
    const struct pdnn_report_source *source;
    const char *family, *value; /* value: the column that is averaged */
    struct pdnn_grid grid;
    const struct pdnn_grid_cell *cell; /* of its only panel; NULL: nothing to draw */
    double least, greatest;            /* of the colors: of the family on all sources */
};

/* From pale yellow through green to dark blue, whose lightness falls all the way, so that it reads in grey.
 */
static unsigned shade(double share) {
    static const double stops[][3] = {{253, 244, 191}, {127, 205, 187}, {44, 127, 184}, {12, 44, 100}};
    double at = fmin(fmax(share, 0), 1) * 3;
    int low = at >= 3 ? 2 : (int)at;
    unsigned rgb = 0;
    for (int k = 0; k < 3; k++)
        rgb = rgb << 8 | (unsigned)lround(stops[low][k] + (at - low) * (stops[low + 1][k] - stops[low][k]));
    return rgb;
}

/* 0 to 1; the script has the same rule. */
static double share_of(const struct heat_map *map, double mean) {
    double least = map->least, greatest = map->greatest;
    if (map->grid.geometric && greatest > wide_range * least)
        return log(mean / least) / log(greatest / least);
    return greatest > 0 ? mean / greatest : 0;
}

static void put_rectangle(struct pdnn_str *out, const double at[2], const double size[2], unsigned color) {
    pdnn_str_printf(out, "<rect class=\"cell\" x=\"");
    pdnn_html_pixel(out, at[0]);
    pdnn_str_printf(out, "\" y=\"");
    pdnn_html_pixel(out, at[1]);
    pdnn_str_printf(out, "\" width=\"");
    pdnn_html_pixel(out, size[0] - 1);
    pdnn_str_printf(out, "\" height=\"");
    pdnn_html_pixel(out, size[1] - 1);
    pdnn_str_printf(out, "\" fill=\"#%06x\"/>", color);
}

/* A cross in a white cell where all its models failed, a small one in the corner where some did. */
static void put_cell(struct pdnn_str *out, const struct heat_map *map, const struct pdnn_grid_cell *cell,
                     const double at[2], const double size[2]) {
    double share = cell->models ? share_of(map, cell->mean) : 0;
    const char *css = cell->models && share > 0.5 ? "on-dark" : "on-light";
    struct pdnn_str text = {0};
    if (!cell->models && !cell->failed)
        return;
    put_rectangle(out, at, size, cell->models ? shade(share) : 0xffffffU);
    if (cell->models)
        pdnn_html_number(&text, cell->mean, 3, "");
    else
        pdnn_str_printf(&text, "\xc3\x97");
    if (size[0] >= NUMBER_PIXELS)
        pdnn_html_label(out, at[0] + size[0] / 2, at[1] + size[1] / 2 + 4, PDNN_HTML_MIDDLE, css,
                        pdnn_str_text(&text));
    if (cell->models && cell->failed)
        pdnn_html_label(out, at[0] + size[0] - 3, at[1] + 10, PDNN_HTML_END, css, "\xc3\x97");
    pdnn_str_finish(&text);
}

static void put_axis_name(struct pdnn_str *out, const struct pdnn_grid_axis *axis, double x, double y,
                          enum pdnn_html_anchor anchor) {
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s%s", axis->name, axis->binned ? ", each to the next" : "");
    pdnn_html_label(out, x, y, anchor, "", pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

static void put_cells(struct pdnn_str *out, const struct heat_map *map, const struct pdnn_html_chart *chart) {
    const struct pdnn_grid *grid = &map->grid;
    const double size[2] = {(chart->right - chart->left) / (double)grid->x.count,
                            (chart->bottom - chart->top) / (double)grid->y.count};
    for (size_t y = 0; y < grid->y.count; y++) {
        double at[2] = {chart->left, chart->bottom - size[1] * (double)(y + 1)};
        pdnn_html_label(out, chart->left - 6, at[1] + size[1] / 2 + 4, PDNN_HTML_END, "tick",
                        grid->y.step[y]);
        for (size_t x = 0; x < grid->x.count; x++, at[0] += size[0])
            put_cell(out, map, &map->cell[x + grid->x.count * y], at, size);
    }
    for (size_t x = 0; x < grid->x.count; x++)
        pdnn_html_label(out, chart->left + size[0] * ((double)x + 0.5), chart->bottom + 16, PDNN_HTML_MIDDLE,
                        "tick", grid->x.step[x]);
    put_axis_name(out, &grid->x, (chart->left + chart->right) / 2, chart->bottom + 36, PDNN_HTML_MIDDLE);
    put_axis_name(out, &grid->y, chart->left, chart->top - 10, PDNN_HTML_START);
}

static void put_caption(struct pdnn_str *out, const struct heat_map *map, bool has_sources) {
    const struct pdnn_grid *grid = &map->grid;
    pdnn_str_printf(out, "%s", map->family);
    if (has_sources)
        pdnn_str_printf(out, ", %s", map->source->name);
    pdnn_str_printf(out, ": %s, the %s mean of the models with these values, %zu in all. ",
                    strcmp(map->value, "gflops") == 0 ? "GFLOP/s" : "FLOP rate in % of the measured peak",
                    grid->geometric ? "geometric" : "arithmetic", grid->models);
    if (grid->failed)
        pdnn_str_printf(out, "A cross: all failed; a small one: some did, %zu in all. ", grid->failed);
    pdnn_str_printf(out, "Empty: no model.");
}

/* Where the cells begin: right of the longest name. The script has the same rule. */
static double left_of(const struct heat_map *map) {
    size_t longest = 0;
    for (size_t y = 0; y < map->grid.y.count; y++) {
        size_t length = strlen(map->grid.y.step[y]);
        longest = length > longest ? length : longest;
    }
    return fmax(64, 16 + 7 * (double)longest);
}

static void put_map(struct pdnn_str *out, const struct heat_map *map, size_t number, bool has_sources) {
    char id[32];
    struct pdnn_str title = {0}, caption = {0};
    double height = CELL_PIXELS * (double)map->grid.y.count;
    snprintf(id, sizeof id, "heat%zu", number);
    pdnn_str_printf(&title, "Utilization of %s over %s and %s", map->family, map->grid.x.name,
                    map->grid.y.name);
    struct pdnn_html_chart chart = {
        id, pdnn_str_text(&title), 860, height + 80, left_of(map), 850, 30, height + 30};
    pdnn_html_chart(out, &chart, "");
    put_cells(out, map, &chart);
    put_caption(&caption, map, has_sources);
    pdnn_html_chart_end(out, pdnn_str_text(&caption));
    pdnn_str_finish(&title);
    pdnn_str_finish(&caption);
}

/* No grid where fewer than two keys vary, or no model has a utilization. */
static void find_grid(const struct pdnn_report_page *page, size_t source, struct pdnn_arena *arena,
                      struct heat_map *map) {
    struct pdnn_selection selection;
    const struct pdnn_axes no_keys = {.count = 0};
    struct pdnn_grid_request request = {.selection = &selection, .keys = &no_keys, .x = -1};
    const struct pdnn_selection *all = &page->source[source].selection;
    pdnn_selection_part(all, all->family, map->family, &selection);
    map->value = pdnn_selection_utilization(&selection);
    request.value = pdnn_results_named(&selection.results, map->value);
    request.x = pdnn_grid_choose_axis(&selection, -1);
    request.y = pdnn_grid_choose_axis(&selection, request.x);
    if (request.x >= 0 && request.y >= 0 && request.value >= 0 &&
        pdnn_grid(&request, arena, &map->grid, &(struct pdnn_err){0}) == PDNN_OK)
        map->cell = map->grid.panel[0].cell;
    pdnn_selection_close(&selection);
}

/* Whether one scale of colors can serve both maps. */
static bool is_comparable(const struct heat_map *one, const struct heat_map *other) {
    return one->cell && other->cell && strcmp(one->value, other->value) == 0 &&
           one->grid.geometric == other->grid.geometric;
}

/* The sources' maps of one family, in the same colors where they show the same. */
static void put_family(const struct pdnn_report_page *page, size_t family, bool *any, struct pdnn_str *out) {
    struct heat_map map[2];
    struct pdnn_arena arena = {0};
    for (size_t s = 0; s < page->n_sources; s++) {
        map[s] = (struct heat_map){.source = &page->source[s], .family = page->family[family]};
        find_grid(page, s, &arena, &map[s]);
        map[s].least = map[s].grid.least;
        map[s].greatest = map[s].grid.greatest;
    }
    if (page->n_sources == 2 && is_comparable(&map[0], &map[1])) {
        map[0].least = map[1].least = fmin(map[0].least, map[1].least);
        map[0].greatest = map[1].greatest = fmax(map[0].greatest, map[1].greatest);
    }
    for (size_t s = 0; s < page->n_sources; s++) {
        if (!map[s].cell)
            continue;
        if (!*any) {
            pdnn_html_section(out, "heat", "Heat maps");
            pdnn_str_printf(out, "<div id=\"heat-any\" hidden></div>\n");
        }
        *any = true;
        put_map(out, &map[s], s * page->n_families + family, page->n_sources > 1);
    }
    pdnn_arena_finish(&arena);
}

void pdnn_report_put_heat_maps(const struct pdnn_report_page *page, struct pdnn_str *out) {
    bool any = false;
    for (size_t family = 0; family < page->n_families; family++)
        put_family(page, family, &any, out);
    if (any)
        pdnn_html_section_end(out);
}
