#include "base/str.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "results/plots/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paragraphs[] = {
    "RESULTS is the directory that a sweep wrote. "
    "gnuplot draws the pictures; the paths of the files are printed.",
    NULL,
};

static const char *const formats[] = {"svg", "png", NULL};

static const struct pdnn_option_def options[] = {
    {"color", 'c', "COLUMN", NULL, false,
     "roofline: color the points by this column of results.csv (default: bound)"},
    {"by", 'b', "KEYS", NULL, false,
     "breakdown: divide bars by category, group, pass, layer, op or a combination (default: group)"},
    {"across", 'a', "KEYS", NULL, false,
     "breakdown: order bars by these hyper-parameters or run settings, one set for each combination of the "
     "others"},
    {"only", 0, "KEY=VALUE", NULL, true,
     "breakdown: only instances with this hyper-parameter, run setting, family or id; may be repeated"},
    {"output", 'o', "FILE", NULL, false,
     "write to FILE, with .svg and .png as its extension (default: RESULTS/KIND); a device or a pipe gets one "
     "picture as it is, SVG unless --format is png"},
    {"format", 0, "FORMAT", formats, false, "write only svg or only png (default: both)"},
};

static const struct pdnn_example examples[] = {
    {"paradnn plot roofline fc.results --color batch", "the roofline of a sweep, one color per batch size"},
    {"paradnn plot breakdown bert.results --across batch",
     "where a training step spends its time, one bar per batch size"},
};

static bool kind(size_t index, const char **name, const char **help) {
    const struct pdnn_plot_def *plot = pdnn_plots[index];
    *name = plot ? plot->name : NULL;
    *help = plot ? plot->help : NULL;
    return plot != NULL;
}

static enum pdnn_status unknown_kind(const char *kind, struct pdnn_err *err) {
    enum { KINDS_MAX = 32 };
    const char *names[KINDS_MAX];
    size_t count = 0;
    for (const struct pdnn_plot_def *const *plot = pdnn_plots; *plot && count < KINDS_MAX; plot++)
        names[count++] = (*plot)->name;
    const char *nearest = pdnn_nearest_word(kind, names, count);
    if (nearest)
        return pdnn_fail(err, PDNN_INVALID, "unknown plot '%s', did you mean '%s'?", kind, nearest);
    return pdnn_fail(err, PDNN_INVALID, "unknown plot '%s', see 'paradnn plot --help'", kind);
}

static bool is_in(const char *word, const char *const *words) {
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* An option that the picture does not read is an error; it is not ignored. */
static enum pdnn_status check_options(const struct pdnn_arguments *arguments,
                                      const struct pdnn_plot_def *plot, struct pdnn_err *err) {
    static const char *const common[] = {"output", "format", NULL};
    for (size_t i = 0; i < arguments->n_values; i++) {
        const char *name = options[arguments->values[i].option].name;
        if (!is_in(name, common) && !is_in(name, plot->options))
            return pdnn_fail(err, PDNN_INVALID, "plot %s has no option --%s", plot->name, name);
    }
    return PDNN_OK;
}

static enum pdnn_status report(const struct pdnn_plot_def *plot, const struct pdnn_plot_result *result,
                               struct pdnn_err *err) {
    struct pdnn_str paths = {0};
    for (int i = 0; i < result->n_paths; i++)
        pdnn_str_printf(&paths, "%s\n", result->path[i]);
    if (pdnn_text_print(&paths, true, err) != PDNN_OK)
        return err->status;
    fprintf(stderr, "%d %s", result->drawn, plot->drawn);
    if (result->left_out)
        fprintf(stderr, ", %d %s left out", result->left_out, plot->left_out_as);
    fputc('\n', stderr);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    const struct pdnn_plot_def *plot = pdnn_plot_find(arguments->operands[0]);
    if (!plot)
        return unknown_kind(arguments->operands[0], err);
    if (check_options(arguments, plot, err) != PDNN_OK)
        return err->status;
    const char *format = pdnn_argument(arguments, "format"), **only = NULL;
    struct pdnn_plot_request request = {
        .directory = arguments->operands[1],
        .color = pdnn_argument(arguments, "color"),
        .by = pdnn_argument(arguments, "by"),
        .across = pdnn_argument(arguments, "across"),
        .output = pdnn_argument(arguments, "output"),
        .format = !format                      ? PDNN_PLOT_BOTH
                  : strcmp(format, "svg") == 0 ? PDNN_PLOT_SVG
                                               : PDNN_PLOT_PNG,
    };
    struct pdnn_plot_result result = {0};
    enum pdnn_status status = pdnn_argument_all(arguments, "only", &only, &request.n_only, err);
    request.only = only;
    if (status == PDNN_OK)
        status = plot->draw(&request, &result, err);
    free(only);
    if (status == PDNN_OK)
        status = report(plot, &result, err);
    return status;
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
