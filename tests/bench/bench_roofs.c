/* How well measurements of one machine agree on the roofs of ops: for every distinct op of the instances in
 * DIRECTORY/results.csv, how far apart its roofs are by the given files of paradnn ceilings, and whether
 * level and bound are the same. Measures nothing.
 *
 * Usage: bench_roofs DIRECTORY CEILINGS.csv CEILINGS.csv... */
#include "base/stats.h"
#include "models/build.h"
#include "models/op.h"
#include "results/query/results.h"
#include "results/rows/roofline.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 16, OPS_MAX = 1 << 20, PATH_TEXT = 4096 };

/* Ops that have the level and the bound in the first file. */
struct group {
    char name[2 * PDNN_LEVEL_TEXT];
    size_t count, other_level, other_bound;
    double *apart; /* of the longest roof over the shortest, by op */
};

static struct group groups[4 * PDNN_ROOF_LEVELS];
static size_t n_groups;

static struct group *group_named(const char *name) {
    size_t at = 0;
    while (at < n_groups && strcmp(groups[at].name, name) != 0)
        at++;
    if (at == n_groups) {
        n_groups++;
        snprintf(groups[at].name, sizeof groups[at].name, "%s", name);
        groups[at].apart = calloc(OPS_MAX, sizeof *groups[at].apart);
    }
    return &groups[at];
}

static void add_op(const struct pdnn_placement *places, size_t n_files) {
    char name[2 * PDNN_LEVEL_TEXT];
    double least = places[0].roof_ns, most = least;
    bool other_level = false, other_bound = false;
    for (size_t k = 1; k < n_files; k++) {
        least = fmin(least, places[k].roof_ns);
        most = fmax(most, places[k].roof_ns);
        other_level = other_level || strcmp(places[k].roof_level, places[0].roof_level) != 0;
        other_bound = other_bound || places[k].bound != places[0].bound;
    }
    snprintf(name, sizeof name, "%s, %s", places[0].roof_level, pdnn_bound_name(places[0].bound));
    for (int of_all = 0; of_all < 2 && least > 0; of_all++) {
        struct group *group = group_named(of_all ? "all" : name);
        if (group->count == OPS_MAX)
            return;
        group->apart[group->count++] = most / least - 1;
        group->other_level += other_level;
        group->other_bound += other_bound;
    }
}

static enum pdnn_status add_instance(const char *id, const struct pdnn_roof_rows *roof_rows, size_t n_files,
                                     struct pdnn_arena *arena, struct pdnn_err *err) {
    struct pdnn_place_input *inputs[FILES_MAX];
    struct pdnn_roofs roofs[FILES_MAX];
    struct pdnn_instance instance;
    struct pdnn_graph graph;
    if (pdnn_instance_parse(id, &instance, err) != PDNN_OK ||
        pdnn_instance_graph(&instance, arena, &graph, err) != PDNN_OK)
        return err->status;
    bool is_cold = instance.setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    double gflops = INFINITY, gbs = INFINITY;
    for (size_t k = 0; k < n_files; k++) {
        pdnn_roofs_init(&roofs[k], &roof_rows[k], roof_rows[0].row[0].threads);
        gflops = fmin(gflops, roofs[k].probe_gflops);
        gbs = fmin(gbs, roofs[k].probe_gbs);
        if (pdnn_graph_inputs(&graph, &roofs[k], is_cold, &inputs[k], err) != PDNN_OK)
            return err->status;
    }
    for (size_t node = 0; node < graph.n_nodes; node++) {
        struct pdnn_placement places[FILES_MAX];
        for (size_t k = 0; k < n_files; k++) {
            inputs[k][node].speed =
                (struct pdnn_speed){gflops / roofs[k].probe_gflops, gbs / roofs[k].probe_gbs};
            pdnn_place(&roofs[k], &inputs[k][node], &places[k]);
        }
        add_op(places, n_files);
    }
    return PDNN_OK;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_groups(void) {
    printf("| level, bound | ops | apart, median %% | 90 %% | worst | another level | another bound |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n_groups; i++) {
        const struct group *group = &groups[i];
        if (!group->count)
            continue;
        qsort(group->apart, group->count, sizeof *group->apart, compare);
        printf("| %s | %zu | %.1f | %.1f | %.1f | %zu | %zu |\n", group->name, group->count,
               100 * group->apart[group->count / 2], 100 * group->apart[group->count * 9 / 10],
               100 * group->apart[group->count - 1], group->other_level, group->other_bound);
    }
}

int main(int argc, char **argv) {
    struct pdnn_roof_rows *roof_rows = calloc(FILES_MAX, sizeof *roof_rows);
    size_t n_files = argc < 4 ? 0 : (size_t)argc - 2;
    struct pdnn_err err = {0};
    if (!n_files || n_files > FILES_MAX || !roof_rows) {
        fprintf(stderr, "usage: bench_roofs DIRECTORY CEILINGS.csv CEILINGS.csv...\n");
        return 2;
    }
    for (size_t k = 0; k < n_files; k++) {
        if (pdnn_roof_rows_read(argv[k + 2], NULL, &roof_rows[k], &err) != PDNN_OK)
            goto out;
    }
    struct pdnn_results results;
    if (pdnn_results_open(&results, (const char *const *)&argv[1], 1, NULL, &err) != PDNN_OK)
        goto out;
    for (size_t i = 0; i < results.table.n_rows && err.status == PDNN_OK; i++) {
        struct pdnn_arena arena = {0};
        add_instance(pdnn_results_text(&results, i, results.at[PDNN_RESULT_ID]), roof_rows, n_files, &arena,
                     &err);
        pdnn_arena_finish(&arena);
    }
    print_groups();
out:
    if (err.status != PDNN_OK)
        fprintf(stderr, "%s\n", err.text);
    return err.status != PDNN_OK;
}
