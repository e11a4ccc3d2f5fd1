#include "results/figures/file.h"
#include "base/paths/target.h"
#include "results/table/csv.h"
#include "results/table/write.h"
#include "results/figures/gnuplot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pdnn_plot_formats[] = {"svg", "png", "csv", NULL};

static bool is_format(const char *word) {
    const char *const *format = pdnn_plot_formats;
    while (*format && strcmp(*format, word) != 0)
        format++;
    return *format != NULL;
}

static enum pdnn_status output_path(const struct pdnn_plot_request *request, const char *kind,
                                    const char *extension, char path[PDNN_PLOT_PATH], struct pdnn_err *err) {
    int written;
    if (request->output) {
        size_t length = strlen(request->output);
        const char *end = length > 4 ? request->output + length - 4 : "";
        if (*end == '.' && is_format(end + 1))
            length -= 4;
        written = snprintf(path, PDNN_PLOT_PATH, "%.*s%s", (int)length, request->output, extension);
    } else {
        written = snprintf(path, PDNN_PLOT_PATH, "%s/%s%s", request->directory[0], kind, extension);
    }
    if (written < 0 || written >= PDNN_PLOT_PATH)
        return pdnn_fail(err, PDNN_INVALID, "the path of the picture is too long");
    return PDNN_OK;
}

/* Draws into memory first, so that a picture which fails leaves the old one. */
static enum pdnn_status draw_one(const struct pdnn_plot_parts *parts, const char *terminal,
                                 const struct pdnn_target *target, struct pdnn_err *err) {
    struct pdnn_str script = {0};
    char *picture = NULL;
    size_t length = 0;
    pdnn_gnuplot_text(&script, "TERMINAL", terminal);
    pdnn_str_append(&script, pdnn_str_text(parts->variables), parts->variables->length);
    pdnn_str_append(&script, parts->embedded, strlen(parts->embedded));
    enum pdnn_status status = pdnn_gnuplot_run(&script, &picture, &length, err);
    pdnn_str_finish(&script);
    if (status != PDNN_OK)
        return status == PDNN_IO ? pdnn_wrap(err, "%s", target->path) : status;
    status = pdnn_target_write(target, picture, length, err);
    free(picture);
    return status;
}

/* A path that the user named may be a link; a link in a result directory may come from somebody else and is
 * replaced. */
static enum pdnn_status open_target(const struct pdnn_plot_request *request, const char *kind,
                                    const char *extension, struct pdnn_target *target, struct pdnn_err *err) {
    char path[PDNN_PLOT_PATH];
    if (request->output && pdnn_target_is_stream(request->output))
        return pdnn_target_open(target, request->output, err);
    if (output_path(request, kind, extension, path, err) != PDNN_OK)
        return err->status;
    return request->output ? pdnn_target_open(target, path, err) : pdnn_target_open_own(target, path, err);
}

static const struct format {
    enum pdnn_plot_format format;
    const char *terminal, *extension;
} formats[] = {
    {PDNN_PLOT_SVG, "svg", ".svg"}, {PDNN_PLOT_PNG, "pngcairo", ".png"}, {PDNN_PLOT_CSV, NULL, ".csv"}};

enum { FORMATS = sizeof formats / sizeof *formats };

static bool is_wanted(enum pdnn_plot_format wanted, const struct format *format) {
    return wanted == format->format || (wanted == PDNN_PLOT_BOTH && format->terminal);
}

static enum pdnn_status write_files(const struct pdnn_plot_request *request,
                                    const struct pdnn_plot_parts *parts, struct pdnn_plot_result *result,
                                    struct pdnn_err *err) {
    struct pdnn_target target[FORMATS];
    enum pdnn_status status = PDNN_OK;
    bool is_stream = request->output && pdnn_target_is_stream(request->output);
    enum pdnn_plot_format wanted =
        is_stream && request->format == PDNN_PLOT_BOTH ? PDNN_PLOT_SVG : request->format;
    for (size_t i = 0; i < FORMATS; i++) {
        target[i].fd = -1;
        if (status == PDNN_OK && is_wanted(wanted, &formats[i]))
            status = open_target(request, parts->kind, formats[i].extension, &target[i], err);
    }
    for (size_t i = 0; i < FORMATS; i++) {
        if (status == PDNN_OK && is_wanted(wanted, &formats[i])) {
            status = formats[i].terminal ? draw_one(parts, formats[i].terminal, &target[i], err)
                                         : pdnn_target_write(&target[i], pdnn_str_text(&result->data),
                                                             result->data.length, err);
            if (!is_stream)
                memcpy(result->path[result->n_paths++], target[i].path, sizeof target[i].path);
        }
        pdnn_target_close(&target[i]);
    }
    return status;
}

enum pdnn_status pdnn_plot_write(const struct pdnn_plot_request *request, const struct pdnn_plot_parts *parts,
                                 struct pdnn_plot_result *result, struct pdnn_err *err) {
    struct pdnn_table_writer writer = {.out = &result->data,
                                       .format = PDNN_FORMAT_CSV,
                                       .columns = parts->columns,
                                       .n_columns = parts->n_columns};
    result->n_paths = 0;
    result->data = (struct pdnn_str){0};
    if (request->format == PDNN_PLOT_CSV) {
        pdnn_table_write(&writer, parts->data, NULL);
        pdnn_table_write_end(&writer);
        if (!request->output)
            return PDNN_OK;
    }
    enum pdnn_status status = write_files(request, parts, result, err);
    pdnn_str_finish(&result->data);
    return status;
}

enum pdnn_status pdnn_plot_select(const struct pdnn_plot_request *request, struct pdnn_selection *selection,
                                  struct pdnn_err *err) {
    return pdnn_selection_open_all(selection, request->directory, request->n_directories, request->only,
                                   request->n_only, err);
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
