#include "base/str.h"
#include "cli/args/registry.h"
#include "cli/costs.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "results/figures/picture.h"

#include <stdio.h>
#include <string.h>

static const char description[] =
    "Several RESULTS are read as one table, in which `results` and `version`, the software of environment.yaml, are "
    "keys like threads; speedup, op_speedup, boxes and weights compare with the first. The paths of the files are "
    "printed. A SPEC or an ID in place of RESULTS is drawn by its costs alone, and nothing runs: boxes, heatmap, span and "
    "weights show such columns (see `paradnn list`; default: intensity_flop_per_byte, of span params), in files of the "
    "working directory. A picture for a paper takes the width of its column and the size of its font: `--width 85mm --font-size "
    "8 -o x.pdf`. PNG and PDF need a build with cairo; TEX is a picture of the LaTeX package pgf.";

static const char *const none[] = {"none", NULL};

static const struct pdnn_option_def options[] = {
    {"x", 'x', "COLUMN", .help = "what the horizontal axis is: a column of results.csv; of a heat map a key"},
    {"y", 'y', "KEY", .help = "what the vertical axis is: a hyper-parameter or a run setting"},
    {"value", 'v', "COLUMN", .help = "the column of results.csv that is shown"},
    {"color", 'c', "COLUMN", .help = "color the points by this column of results.csv"},
    {"by", 'b', "PARTS|KEYS", .help = "what divides a picture into parts: see its kind"},
    {"across", 'a', "KEYS",
     .help =
         "breakdown: order bars by these hyper-parameters or run settings, one set for each combination of the "
         "others; scaling: the key that counts workers; speedup, op_speedup, boxes, weights and heatmap: what "
         "differs, as in `paradnn compare`"},
    PDNN_OPTIONS_HARDWARE,
    PDNN_OPTIONS_DISTRIBUTION,
    PDNN_OPTION_ONLY,
    {"output", 'o', "FILE",
     .help =
         "write to FILE; its extension is the format, or without one .svg and .png are added (default: "
         "RESULTS/KIND, of a SPEC KIND); a device or a pipe gets one picture as it is, SVG unless --format says otherwise"},
    {"format", 0, "FORMAT", .choices = pdnn_plot_formats,
     .help =
         "write only this (default: svg and png); csv: the data behind the picture, on standard output or in the "
         "file that --output names"},
    {"width", 'W', "LENGTH", .help = "how wide the picture is, as in 85mm, 8.5cm, 3.3in or 240pt"},
    {"height", 'H', "LENGTH", .help = "how high it is, unless its contents need more"},
    {"font-size", 0, "POINTS", .kind = PDNN_OPTION_NUMBER, .least = 4, .most = 40,
     .help = "the size of its letters (default: 11.25)"},
    {"xrange", 0, "LOW:HIGH",
     .help = "the ends of the horizontal axis, if it has numbers; either may be left out"},
    {"yrange", 0, "LOW:HIGH", .help = "the same of the vertical axis"},
    {"title", 0, "WORD", .choices = none, .help = "leave out the title and the line below it"},
    {"caption", 0, "WORD", .choices = none, .help = "leave out the text below"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn plot roofline fc.results --color batch", "the roofline of a sweep, one color per batch size"},
    {"paradnn plot span sweeps/paper-fc.yaml --value flop_count", "what a sweep spans, before it runs"},
    {"paradnn plot breakdown bert.results --across batch",
     "where a training step spends its time, one bar per batch size"},
};

static bool takes_specs(const char *kind) {
    const struct pdnn_plot_def *plot = pdnn_plot_find(kind);
    return plot && plot->takes_costs;
}

static bool kind(size_t index, const char **name, const char **help) {
    const struct pdnn_plot_def *plot = pdnn_plots[index];
    *name = plot ? plot->name : NULL;
    *help = plot ? plot->help : NULL;
    return plot != NULL;
}

/* An option that the picture does not read is an error, which says those that it has; it is not ignored. */
static enum pdnn_status check_options(const struct pdnn_arguments *arguments,
                                      const struct pdnn_plot_def *plot, struct pdnn_err *err) {
    static const char *const range[] = {"xrange", "yrange"}, *const axis[] = {"horizontal", "vertical"};
    struct pdnn_str taken = {0};
    for (size_t k = 0; k < 2; k++)
        if (plot->no_range[k] && pdnn_argument(arguments, range[k]))
            return pdnn_fail(err, PDNN_INVALID, "plot %s has no --%s: its %s axis %s", plot->name, range[k],
                             axis[k], plot->no_range[k]);
    for (const char *const *option = plot->options; *option; option++)
        pdnn_str_printf(&taken, "%s,", *option);
    for (size_t k = 0; k < 2; k++)
        pdnn_str_printf(&taken, "%s%s", plot->no_range[k] ? "" : range[k], plot->no_range[k] ? "" : ",");
    pdnn_str_printf(&taken, "output,format,width,height,font-size,title,caption");
    enum pdnn_status status = pdnn_arguments_only(arguments, plot->name, pdnn_str_text(&taken), err);
    pdnn_str_finish(&taken);
    return status;
}

/* Prints the data, or the paths of the files. */
static void report(const struct pdnn_plot_def *plot, struct pdnn_plot_result *result) {
    for (int i = 0; i < result->n_paths; i++)
        pdnn_str_printf(&result->data, "%s\n", result->path[i]);
    pdnn_text_print(&result->data, true);
    fprintf(stderr, "%zu %s", result->drawn, plot->drawn);
    if (result->left_out)
        fprintf(stderr, ", %zu %s left out", result->left_out, plot->left_out_as);
    if (result->outside)
        fprintf(stderr, ", %zu outside of the ranges", result->outside);
    fputc('\n', stderr);
}

/* Specs in place of directories: their costs, in a picture that goes to the working directory. */
static enum pdnn_status select_costs(struct pdnn_plot_request *request, const struct pdnn_plot_def *plot,
                                     struct pdnn_selection *costs, struct pdnn_err *err) {
    size_t n_specs = 0;
    for (size_t i = 0; i < request->n_directories; i++)
        n_specs += pdnn_operand_is_spec(request->directory[i]);
    if (!n_specs)
        return PDNN_OK;
    if (n_specs < request->n_directories)
        return pdnn_fail(err, PDNN_INVALID,
                         "plot %s draws result directories, or the costs of specs, not both", plot->name);
    if (request->across)
        return pdnn_fail(err, PDNN_INVALID, "--across compares step times, and of a spec nothing ran");
    if (pdnn_costs_select(costs, request->directory, n_specs, request->only, request->n_only, err) != PDNN_OK)
        return err->status;
    request->selection = costs;
    request->directory = costs->results.directory;
    request->n_directories = 1;
    if (!request->output && (!request->format || strcmp(request->format, "csv") != 0))
        request->output = plot->name;
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const struct pdnn_plot_def *plot = pdnn_plot_find(arguments->operands[0]);
    if (check_options(arguments, plot, err) != PDNN_OK)
        return err->status;
    struct pdnn_plot_result result = {0};
    struct pdnn_plot_request request = {
        .directory = arguments->operands + 1,
        .n_directories = arguments->n_operands - 1,
        .x = pdnn_argument(arguments, "x"),
        .y = pdnn_argument(arguments, "y"),
        .value = pdnn_argument(arguments, "value"),
        .color = pdnn_argument(arguments, "color"),
        .by = pdnn_argument(arguments, "by"),
        .across = pdnn_argument(arguments, "across"),
        .output = pdnn_argument(arguments, "output"),
        .format = pdnn_argument(arguments, "format"),
        .width = pdnn_argument(arguments, "width"),
        .height = pdnn_argument(arguments, "height"),
        .font_size = pdnn_argument_number(arguments, "font-size", 0),
        .x_range = pdnn_argument(arguments, "xrange"),
        .y_range = pdnn_argument(arguments, "yrange"),
        .no_title = pdnn_argument(arguments, "title"),
        .no_caption = pdnn_argument(arguments, "caption"),
        .hardware = pdnn_cli_hardware(arguments),
        .distribution = pdnn_cli_distribution(arguments),
    };
    if (plot->takes_one && request.n_directories > 1)
        return pdnn_fail(err, PDNN_INVALID,
                         "plot %s draws one result directory, not %zu: each has a picture of its own",
                         plot->name, request.n_directories);
    request.only = pdnn_argument_all(arguments, "only", &request.n_only);
    struct pdnn_selection costs = {.count = 0};
    enum pdnn_status status = select_costs(&request, plot, &costs, err);
    if (status == PDNN_OK)
        status = pdnn_picture_make(plot, &request, &result, err);
    if (status == PDNN_OK)
        report(plot, &result);
    pdnn_selection_close(&costs);
    return status;
}

PDNN_COMMAND(plot, PDNN_COMMANDS_LOOK, "KIND RESULTS|SPEC...", "Draws a picture from the tables of a sweep.",
             .run = run, .reads_directories = true, .takes_specs = takes_specs, .kind = kind);
