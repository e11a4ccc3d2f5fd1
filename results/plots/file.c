#include "results/plots/file.h"
#include "base/file.h"
#include "results/tables/csv.h"
#include "results/plots/gnuplot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pdnn_status output_path(const struct pdnn_plot_request *request, const char *kind,
                                    const char *extension, char path[PDNN_PLOT_PATH], struct pdnn_err *err) {
    int written;
    if (request->output) {
        size_t length = strlen(request->output);
        const char *end = length > 4 ? request->output + length - 4 : "";
        if (strcmp(end, ".svg") == 0 || strcmp(end, ".png") == 0)
            length -= 4;
        written = snprintf(path, PDNN_PLOT_PATH, "%.*s%s", (int)length, request->output, extension);
    } else {
        written = snprintf(path, PDNN_PLOT_PATH, "%s/%s%s", request->directory, kind, extension);
    }
    if (written < 0 || written >= PDNN_PLOT_PATH)
        return pdnn_fail(err, PDNN_INVALID, "the path of the picture is too long");
    return PDNN_OK;
}

/* Draws into memory first, so that a picture which fails leaves the old one. A path that the user named may
 * be a link or a device; a link in a result directory may come from somebody else and is replaced. */
static enum pdnn_status draw_one(const struct pdnn_str *variables, const char *embedded, const char *terminal,
                                 const char *path, bool is_named, struct pdnn_err *err) {
    struct pdnn_str script = {0};
    char *picture = NULL;
    size_t length = 0;
    pdnn_gnuplot_text(&script, "TERMINAL", terminal);
    pdnn_str_append(&script, pdnn_str_text(variables), variables->length);
    pdnn_str_append(&script, embedded, strlen(embedded));
    script.failed = script.failed || variables->failed;
    enum pdnn_status status = pdnn_gnuplot_run(&script, &picture, &length, err);
    pdnn_str_finish(&script);
    if (status != PDNN_OK)
        return status == PDNN_IO ? pdnn_wrap(err, "%s", path) : status;
    status = is_named ? pdnn_file_write(path, picture, length, err)
                      : pdnn_file_replace(path, picture, length, err);
    free(picture);
    return status;
}

enum pdnn_status pdnn_plot_write(const struct pdnn_plot_request *request, const char *kind,
                                 const struct pdnn_str *variables, const char *embedded,
                                 struct pdnn_plot_result *result, struct pdnn_err *err) {
    static const struct {
        enum pdnn_plot_format format;
        const char *terminal, *extension;
    } formats[] = {{PDNN_PLOT_SVG, "svg", ".svg"}, {PDNN_PLOT_PNG, "pngcairo", ".png"}};
    result->n_paths = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (request->format != PDNN_PLOT_BOTH && request->format != formats[i].format)
            continue;
        char *path = result->path[result->n_paths++];
        enum pdnn_status status = output_path(request, kind, formats[i].extension, path, err);
        if (status == PDNN_OK)
            status = draw_one(variables, embedded, formats[i].terminal, path, request->output != NULL, err);
        if (status != PDNN_OK)
            return status;
    }
    return PDNN_OK;
}

const char *pdnn_plot_directory_name(const char *directory, int *length) {
    size_t end = strlen(directory);
    while (end > 1 && directory[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && directory[start - 1] != '/')
        start--;
    *length = (int)(end - start);
    return directory + start;
}

void pdnn_plot_number(struct pdnn_str *script, double value, const char *after) {
    if (isnan(value))
        pdnn_str_append(script, "NaN", 3);
    pdnn_number_format(script, value, PDNN_DIGITS_EXACT);
    pdnn_str_append(script, after, strlen(after));
}

void pdnn_plot_variable(struct pdnn_str *script, const char *name, double value) {
    pdnn_str_printf(script, "%s = ", name);
    pdnn_plot_number(script, value, "\n");
}
