#include "base/memory.h"
#include "base/paths/target.h"
#include "cli/print/output.h"
#include "results/report/report.h"
#include "session/status.h"

#include <stdio.h>
#include <stdlib.h>

static const char description[] =
    "Writes one HTML file about the tables of a sweep, or of several: which of the published observations hold here, "
    "how the others compare with the first, a column each, a table of all models, and figures, each with the `paradnn plot` that draws it. It needs no "
    "network and no other file. Figures print as they are; in a browser, models can be filtered, sorted and chosen in "
    "the picture, and the address keeps the view. The same tables give the same file.";

static const struct pdnn_option_def options[] = {
    PDNN_OPTION_ONLY,
    {"output", 'o', "FILE", .help = "write to FILE (default: report.html in the first RESULTS)"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn report fc.results", "fc.results/report.html"},
    {"paradnn report avx2.results avx512.results -o isa.html",
     "two sweeps on one page; more are compared with the first"},
};

/* A file that the user named may be a link; one in a result directory may come from somebody else. */
static enum pdnn_status open_target(const struct pdnn_arguments *arguments, struct pdnn_target *target,
                                    struct pdnn_err *err) {
    const char *output = pdnn_argument(arguments, "output");
    char path[PDNN_TARGET_TEXT];
    if (output)
        return pdnn_target_open(target, output, err);
    if (snprintf(path, sizeof path, "%s/report.html", arguments->operands[0]) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", arguments->operands[0]);
    return pdnn_target_open_own(target, path, err);
}

/* What is said of a directory whose sweep is not done; one without a journal to tell has none. */
static void find_progress(const char *directory, struct pdnn_str *out) {
    struct pdnn_status_report found;
    if (pdnn_status_read(directory, &found, &(struct pdnn_err){0}) != PDNN_OK)
        return;
    if (found.tally.stage[PDNN_STAGE_DONE] < found.tally.instances || found.tally.stage[PDNN_STAGE_OTHER])
        pdnn_tally_append(out, &found.tally);
    pdnn_leases_close(&found.leases);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const size_t n = arguments->n_operands;
    struct pdnn_target target = {.fd = -1};
    struct pdnn_str html = {0}, line = {0}, *progress = pdnn_alloc(n, sizeof *progress);
    const char **said = pdnn_alloc(n, sizeof *said);
    struct pdnn_report_request request = {
        .directories = arguments->operands, .n_directories = n, .progress = said};
    request.only = pdnn_argument_all(arguments, "only", &request.n_only);
    for (size_t i = 0; i < n; i++) {
        find_progress(arguments->operands[i], &progress[i]);
        said[i] = progress[i].length ? pdnn_str_text(&progress[i]) : NULL;
    }
    enum pdnn_status status =
        open_target(arguments, &target, err) != PDNN_OK || pdnn_report(&request, &html, err) != PDNN_OK
            ? err->status
            : pdnn_target_write(&target, html.text, html.length, err);
    if (status == PDNN_OK && target.fd < 0) {
        pdnn_str_printf(&line, "%s\n", target.path);
        pdnn_text_print(&line, true);
    }
    pdnn_target_close(&target);
    pdnn_str_finish(&html);
    for (size_t i = 0; i < n; i++)
        pdnn_str_finish(&progress[i]);
    free(progress);
    free(said);
    return status;
}

PDNN_COMMAND(report, PDNN_COMMANDS_FIRST, "RESULTS...",
             "Writes one HTML page about a sweep, or about several.", .run = run, .reads_directories = true);
