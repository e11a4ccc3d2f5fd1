#include "results/compare/builds.h"

#include "results/store/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The build that a side of a pair ran; empty where nothing says it. */
static void find_build(const struct pdnn_comparison *comparison, size_t pair, int side,
                       const char *environment, struct pdnn_str *build) {
    struct pdnn_str key = {0};
    pdnn_str_printf(&key, PDNN_FACT_LIBRARY,
                    pdnn_comparison_setting(comparison, pair, side, PDNN_SETTING_LIBRARY),
                    pdnn_comparison_setting(comparison, pair, side, PDNN_SETTING_BACKEND));
    pdnn_str_clear(build);
    pdnn_environment_value(environment, pdnn_str_text(&key), build);
    pdnn_str_finish(&key);
}

void pdnn_builds_say(const struct pdnn_comparison *comparison, struct pdnn_str *out) {
    char *environment[PDNN_SIDES] = {NULL};
    struct pdnn_str build[PDNN_SIDES] = {{0}};
    bool is_same = comparison->pairs.n_rows > 0;
    for (int side = 0; side < PDNN_SIDES; side++)
        pdnn_environment_read(comparison->directory[side], &environment[side], NULL);
    for (size_t pair = 0; is_same && pair < comparison->pairs.n_rows; pair++) {
        const char *name[PDNN_SIDES];
        for (int side = 0; side < PDNN_SIDES; side++) {
            name[side] = pdnn_comparison_setting(comparison, pair, side, PDNN_SETTING_LIBRARY);
            find_build(comparison, pair, side, environment[side] ? environment[side] : "", &build[side]);
        }
        is_same = strcmp(name[PDNN_SIDE_A], name[PDNN_SIDE_B]) != 0 && build[PDNN_SIDE_A].length &&
                  strcmp(build[PDNN_SIDE_A].text, pdnn_str_text(&build[PDNN_SIDE_B])) == 0;
    }
    if (is_same)
        pdnn_str_printf(out, "Both sides ran the same build of the library (A/A): what differs is noise.");
    for (int side = 0; side < PDNN_SIDES; side++) {
        pdnn_str_finish(&build[side]);
        free(environment[side]);
    }
}
