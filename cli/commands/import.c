#include "base/visible.h"
#include "cli/print/console.h"
#include "cli/args/registry.h"
#include "results/import/importer.h"

#include <math.h>
#include <stdio.h>

#define NAME(word)     #word,
#define FUNCTION(word) pdnn_import_##word,
static const char *const formats[] = {PDNN_IMPORTERS(NAME) NULL};
static enum pdnn_status (*const importers[])(const struct pdnn_import_request *request,
                                             struct pdnn_import_result *result,
                                             struct pdnn_err *err) = {PDNN_IMPORTERS(FUNCTION)};

static const char *const paragraphs[] = {
    "Makes a result directory of a JSON file that ParaDnn shipped, so that compare, fit and plot work on "
    "the platforms of its paper. FILE is one object of lists: labels, params, fl, flops, intensity, "
    "step_per_sec and example_per_sec for the models that ran, err_jobs and states for the others.",
    "A label such as layer_32-node_512-input_8000-output_200-bs_1024 becomes an instance. What labels do "
    "not say has its default, except that threads is 1: --set gives it, and must give the block of "
    "convolutional networks and the cell of recurrent ones. States become statuses: OOM is oom, and what "
    "did not finish is interrupted.",
    "Costs and rates in results.csv are those of the instance at the file's step time, as in a sweep; "
    "imported.csv has the file's own numbers. Their FLOP include the first layer's gradient of the data, "
    "which no program needs. Files of TPUs have FLOP of one shard of 8: --shards 8. How the file's "
    "parameters and FLOP compare with the instances' is printed; a ratio far from 1 means that a setting is "
    "wrong.",
    "A label, state or number that cannot be mapped leaves its model out: how many, and why, is said at the end, "
    "and the exit status is 1. If that leaves none, nothing is written.",
    NULL,
};

static const struct pdnn_option_def options[] = {
    {"output", 'o', "DIR", NULL, false, "the new result directory (required)"},
    {"from", 0, "FORMAT", formats, false, "what FILE is (default: paradnn_json)"},
    {"set", 0, "PARAMETER=VALUE", NULL, true,
     "a hyper-parameter or run setting that labels do not say, "
     "for example --set dtype=bf16; may be repeated"},
    {"shards", 0, "N", NULL, false, "multiply FLOP and rates by N (default: 1)"},
    {"host", 0, "NAME", NULL, false, "name of the platform (default: the file's name without its extension)"},
    {"software", 0, "NAME", NULL, false,
     "what ran the models, with its version, for example 'TensorFlow 1.12': the key `version` of pictures"},
};

static const struct pdnn_example examples[] = {
    {"paradnn import gpu_fc.json -o gpu.results", "fully connected models on the paper's GPU"},
    {"paradnn import tpu_resnet.json -o tpu.results --shards 8 --set block=bottleneck --set dtype=bf16",
     "on its TPU"},
    {"paradnn compare fc.results gpu.results", "this machine against it"},
};

static void print_summary(const struct pdnn_import_result *result, const char *output) {
    char shown[PDNN_VISIBLE_TEXT];
    char outcomes[PDNN_OUTCOMES_TEXT];
    size_t count = 0;
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        count += result->counts[outcome];
    fprintf(stderr, "%zu instances:%s", count, pdnn_outcomes_format(result->counts, outcomes));
    if (!isnan(result->flop_ratio))
        fprintf(stderr, "\nthe file's over the instances', median: parameters %.3g, FLOP of a step %.3g",
                result->params_ratio, result->flop_ratio);
    fprintf(stderr, "\ntables: %s/results.csv, imported.csv\n", pdnn_visible(shown, output));
    if (result->mislabeled)
        fprintf(
            stderr,
            "paradnn: %zu of %zu instances that ran have other numbers of parameters than the models that "
            "their labels name, so their rates mean nothing (flag mislabeled)\n",
            result->mislabeled, result->counts[PDNN_OUTCOME_OK]);
    if (!result->left_out)
        return;
    fprintf(stderr, "paradnn: %zu of %zu labels are left out%s:\n%s", result->left_out,
            count + result->left_out, result->left_out > PDNN_IMPORT_REASONS ? ", the first of them" : "",
            pdnn_str_text(&result->reasons));
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_import_result result = {0};
    struct pdnn_import_request request = {
        .path = arguments->operands[0],
        .output = pdnn_argument(arguments, "output"),
        .shards = 1,
        .host = pdnn_argument(arguments, "host"),
        .software = pdnn_argument(arguments, "software"),
        .version = PDNN_VERSION,
    };
    if (!request.output)
        return pdnn_fail(err, PDNN_INVALID, "import needs the new directory, give -o DIR");
    if (pdnn_argument_number(arguments, "shards", 1, 1 << 20, &request.shards, err) != PDNN_OK)
        return err->status;
    request.set = pdnn_argument_all(arguments, "set", &request.n_set);
    enum pdnn_status status = importers[pdnn_argument_choice(arguments, "from", 0)](&request, &result, err);
    if (status == PDNN_OK)
        print_summary(&result, request.output);
    *arguments->some_failed = result.left_out > 0;
    pdnn_str_finish(&result.reasons);
    return status;
}

const struct pdnn_command_def pdnn_command_import = {
    .name = "import",
    .group = PDNN_COMMANDS_FILES,
    .summary = "Makes a result directory of a file that ParaDnn shipped.",
    .operands = "FILE",
    PDNN_COMMAND_TEXTS,
    .prints_nothing = true,
    .run = run,
};
