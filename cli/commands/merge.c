#include "base/visible.h"
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "session/merge/merge.h"

#include <stdio.h>

static const char description[] =
    "Makes one result directory of several: shards of a sweep, directories that workers joined, earlier runs of the "
    "same spec. A DIR with parts/ stands for all of its parts.\n\n"
    "A visit that is in several directories is merged once. An instance that several hosts measured keeps the visits "
    "of the host with most of them that are ok; if they are equally many, of the first host by name. Each such "
    "instance is named. Every row is placed under the roofs of its own host; ceilings.csv and hosts.csv say which is "
    "which.\n\n"
    "Directories of different specs, unless --union is given, or of one host with different setups, are refused, with "
    "the difference named. Nothing in DIR changes, and OUT is either complete or not there; it must not exist, unless "
    "it is a DIR with parts/, which then has the tables beside its parts.\n\n"
    "Exit status 1: some instances of the spec are not done: open, each named on stderr, or begun, with fewer visits "
    "than the spec asks for.";

static const struct pdnn_option_def options[] = {
    {"output", 'o', "OUT", .help = "the new result directory (required)"},
    {"union",
     .help =
         "merge directories of different specs, too: the new spec is all of theirs, with the seed, measure and limits of "
         "one of them"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn merge shard-*.results -o fc.results", "one directory of all shards"},
    {"paradnn merge --union job-*.results -o all.results", "one of jobs that had a spec each"},
    {"paradnn merge fc.results -o fc.results", "the tables of a directory that workers joined"},
};

static void print_summary(const struct pdnn_merge_result *result, const char *output) {
    char shown[PDNN_VISIBLE_TEXT];
    struct pdnn_str tally = {0};
    fprintf(stderr, "%zu visits from %zu director%s", result->visits, result->directories,
            result->directories == 1 ? "y" : "ies");
    if (result->hosts > 1)
        fprintf(stderr, " on %zu hosts", result->hosts);
    if (result->copies)
        fprintf(stderr, ", %zu copies dropped", result->copies);
    if (result->left_out)
        fprintf(stderr, ", %zu of other hosts left out", result->left_out);
    pdnn_tally_append(&tally, &result->tally);
    const char *path = pdnn_visible(shown, output);
    fprintf(stderr, "\n%s\ntables: %s/results.csv, %s/ops.csv\n", pdnn_str_text(&tally), path, path);
    pdnn_str_finish(&tally);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_merge_result result;
    struct pdnn_progress bar;
    const struct pdnn_session_hooks hooks = pdnn_progress_hooks(&bar);
    const struct pdnn_merge_request request = {
        .sources = arguments->operands,
        .n_sources = arguments->n_operands,
        .output = pdnn_argument(arguments, "output"),
        .is_union = pdnn_argument(arguments, "union"),
        .hooks = &hooks,
    };
    if (!request.output)
        return pdnn_fail(err, PDNN_INVALID, "merge needs the new directory, give -o OUT");
    enum pdnn_status status = pdnn_merge(&request, &result, err);
    if (status == PDNN_OK)
        print_summary(&result, request.output);
    *arguments->some_failed = result.tally.stage[PDNN_STAGE_DONE] < result.tally.instances;
    return status;
}

PDNN_COMMAND(merge, PDNN_COMMANDS_FILES, "DIR...", "Makes one result directory of several.", .run = run,
             .reads_directories = true, .prints_nothing = true);
