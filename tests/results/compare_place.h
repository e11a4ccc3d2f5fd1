/* Directories of results that tests of comparisons write, and the comparison of them. */
#ifndef TESTS_RESULTS_COMPARE_PLACE_H
#define TESTS_RESULTS_COMPARE_PLACE_H

#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/compare/compare.h"
#include "results/compare/settle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 256 };

static char place[] = "/tmp/pdnn_test_compare_XXXXXX", directory[PDNN_SIDES][PATH_ROOM];

#define HEADER                                                                                               \
    "id,family,nodes,batch,backend,threads,status,reason,params,time_ns_median,ci_low_ns,ci_high_ns\n"

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(place, '_') + 1, "XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char path[sizeof directory + 32];
    for (int side = 0; side < PDNN_SIDES; side++) {
        static const char *const files[] = {"results.csv", "ops.csv", "journal.csv", "journal-ops.csv",
                                            "environment.yaml"};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(path, sizeof path, "%s/%s", directory[side], files[i]);
            unlink(path);
        }
        rmdir(directory[side]);
    }
    return rmdir(place);
}

static void write_side(int side, const char *text) {
    char path[sizeof directory + 16];
    struct pdnn_err err = {0};
    snprintf(directory[side], PATH_ROOM, "%s/%c", place, 'a' + side);
    mkdir(directory[side], 0777);
    snprintf(path, sizeof path, "%s/results.csv", directory[side]);
    if (pdnn_file_replace(path, text, strlen(text), &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

/* What the directories are read into: a and, unless one is enough, b. */
static struct pdnn_selection joined;

static enum pdnn_status make(struct pdnn_comparison *comparison, int n_sides, const char *across,
                             struct pdnn_err *err) {
    const char *const directories[] = {directory[0], directory[1]};
    if (pdnn_selection_open_all(&joined, directories, (size_t)n_sides, NULL, 0, err) != PDNN_OK)
        return err->status;
    return pdnn_comparison_make(comparison, &joined, n_sides > 1, across, err) == PDNN_OK
               ? pdnn_comparison_settle(comparison, err)
               : err->status;
}

static void open_comparison(struct pdnn_comparison *comparison, int n_sides, const char *across) {
    struct pdnn_err err = {0};
    if (make(comparison, n_sides, across, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static void close_comparison(struct pdnn_comparison *comparison) {
    pdnn_comparison_close(comparison);
    pdnn_selection_close(&joined);
}

#endif
