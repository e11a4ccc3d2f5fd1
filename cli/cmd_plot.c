#include "base/str.h"
#include "cli/registry.h"
#include "results/plot.h"

#include <stdio.h>
#include <string.h>

static const char *const paragraphs[] = {
    "RESULTS is the directory that a sweep wrote. The pictures are drawn by gnuplot; the paths of the files "
    "are "
    "printed.",
    NULL,
};

static const char *const formats[] = {"svg", "png", NULL};

static const struct pdnn_option_def options[] = {
    {"color", 'c', "COLUMN", NULL, false, "color the points by this column of results.csv (default: bound)"},
    {"output", 'o', "FILE", NULL, false,
     "write to FILE, with .svg and .png as its extension (default: RESULTS/KIND)"},
    {"format", 0, "FORMAT", formats, false, "write only svg or only png (default: both)"},
};

static const struct pdnn_example examples[] = {
    {"paradnn plot roofline fc.results --color batch", "the roofline of a sweep, one color per batch size"},
};

static bool kind(size_t index, const char **name, const char **help) {
    *name = pdnn_plots[index].name;
    *help = pdnn_plots[index].help;
    return *name != NULL;
}

static enum pdnn_status unknown_kind(const char *kind, struct pdnn_err *err) {
    enum { KINDS_MAX = 32 };
    const char *names[KINDS_MAX];
    size_t count = 0;
    for (const struct pdnn_plot_def *plot = pdnn_plots; plot->name && count < KINDS_MAX; plot++)
        names[count++] = plot->name;
    const char *nearest = pdnn_nearest_word(kind, names, count);
    if (nearest)
        return pdnn_fail(err, PDNN_INVALID, "unknown plot '%s', did you mean '%s'?", kind, nearest);
    return pdnn_fail(err, PDNN_INVALID, "unknown plot '%s', see 'paradnn plot --help'", kind);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    const struct pdnn_plot_def *plot = pdnn_plot_find(arguments->operands[0]);
    if (!plot)
        return unknown_kind(arguments->operands[0], err);
    const char *format = pdnn_argument(arguments, "format");
    struct pdnn_plot_request request = {
        .directory = arguments->operands[1],
        .color = pdnn_argument(arguments, "color"),
        .output = pdnn_argument(arguments, "output"),
        .format = !format                      ? PDNN_PLOT_BOTH
                  : strcmp(format, "svg") == 0 ? PDNN_PLOT_SVG
                                               : PDNN_PLOT_PNG,
    };
    struct pdnn_plot_result result = {0};
    if (plot->draw(&request, &result, err) != PDNN_OK)
        return err->status;
    for (int i = 0; i < result.n_paths; i++)
        printf("%s\n", result.path[i]);
    fprintf(stderr, "%d points", result.points);
    if (result.left_out)
        fprintf(stderr, ", %d rows without a rate left out", result.left_out);
    fputc('\n', stderr);
    return PDNN_OK;
}

const struct pdnn_command_def pdnn_command_plot = {
    .name = "plot",
    .summary = "Draws a picture from the tables of a sweep.",
    .operands = "KIND RESULTS",
    .min_operands = 2,
    .max_operands = 2,
    .paragraphs = paragraphs,
    .kind = kind,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
