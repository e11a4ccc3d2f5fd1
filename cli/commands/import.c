#include "base/paths/target.h"
#include "base/visible.h"
#include "cli/print/output.h"
#include "gen/onnx/family.h"
#include "results/import/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char description[] =
    "Makes a result directory of a CSV or JSON file, so that compare, fit, plot and report work on other "
    "platforms. JSON is a list of objects, one a row, lines of objects, or an object of lists. --map says what a column holds: a "
    "hyper-parameter or run setting, model (a family, a preset or an id), label (ParaDnn's, instead), host (the "
    "platform), state (why it did not run), time (with ns, us, ms or s), steps_per_s, examples_per_s, or the file's own params, "
    "step_flop_count, gflops and intensity_flop_per_byte (k, M, G or T multiply).\n\n"
    "Without --map, FILE is one that ParaDnn shipped: lists of labels, params, fl, flops, intensity, "
    "step_per_sec and example_per_sec for the models that ran, err_jobs and states for the others. --set gives "
    "what labels do not say, and must give the block of convolutional networks and the cell of recurrent ones. "
    "Files of TPUs have FLOP of one shard of 8: --shards 8.\n\n"
    "Costs and rates in results.csv are those of the instance at the file's step time, as in a sweep; "
    "imported.csv has the file's own numbers. How its parameters and FLOP compare with the instances' is "
    "printed: a ratio far from 1 means that a setting is wrong, but ParaDnn's FLOP include the first layer's "
    "gradient of the data. With roofs, each byte of a step comes from where a whole step's bytes fit.\n\n"
    "Rows of one instance are samples of one row of results.csv. "
    "A row that cannot be mapped, that lacks a value, or whose time and rates contradict each other by more than 3 % is left out: how many, and why, is said at the end, "
    "and the exit status is 1. If that leaves none, nothing is written.\n\n"
    "Of FILE.onnx, import makes a family: a YAML file to read and change, whose axes are the file's free dimensions. "
    "Commands take FILE.onnx itself as well, as in 'paradnn run FILE.onnx,batch=8'.";

static const char *const losses[] = {"softmax_cross_entropy", "none", NULL};

static const struct pdnn_option_def options[] = {
    {"output", 'o', "DIR", .help = "the new result directory, or the file of a family (required)"},
    {"loss", 0, "KIND", .choices = losses,
     .help =
         "of a network in training: of a result (rows, classes), or none (default: softmax_cross_entropy)"},
    {"map", 0, "KEY=COLUMN", .repeats = true,
     .help = "what a column holds, for example --map time=latency:ms; may be repeated"},
    {"model", 0, "MODEL", .help = "the family, preset or id of all rows, where no column says it"},
    {"set", 0, "PARAMETER=VALUE", .repeats = true,
     .help = "a hyper-parameter or run setting that no column says, or a size of a network's free dimension, "
             "for example --set dtype=bf16; may be repeated"},
    {"shards", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = 1 << 20,
     .help = "multiply FLOP and rates by N (default: 1)"},
    {"host", 0, "NAME",
     .help =
         "the platform, one of the file's if it has several (default: the file's, or its name without the extension)"},
    {"software", 0, "NAME",
     .help =
         "what ran the models, with its version, for example 'TensorFlow 1.12': the key `version` of pictures"},
    {"ceilings", 0, "FILE", .help = "the platform's roofs, as `paradnn ceilings` writes them"},
    {"peak", 0, "N", .needs = "bandwidth", .excludes = "ceilings",
     .help = "its peak in GFLOP/s, instead, or one for each dtype, f32=14900,bf16=312000; needs --bandwidth"},
    {"bandwidth", 0, "N", .kind = PDNN_OPTION_NUMBER, .least = 1e-6, .most = 1e12, .needs = "peak",
     .help = "of its memory in GB/s"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn import gpu_fc.json -o gpu.results", "fully connected models on the paper's GPU"},
    {"paradnn import tpu_resnet.json -o tpu.results --shards 8 --set block=bottleneck --set dtype=bf16",
     "on its TPU"},
    {"paradnn import fc.csv -o a.results --model fc --map nodes=width --map batch=batch --map time=latency:ms "
     "--peak 14900 --bandwidth 900",
     "any table, with roofs"},
    {"paradnn compare fc.results gpu.results", "this machine against it"},
    {"paradnn import resnet18.onnx -o resnet18.yaml", "a network, as a family"},
};

/* Of how many shards FLOP are one's that are so many times the instances'; ParaDnn's are of one pass more
 * than ours. 1: of all, or of two, which multiply-adds that count once look like. */
static int shards_of(double ratio) {
    int shards = 1;
    while (ratio * shards < 0.9 && shards < 1 << 16)
        shards *= 2;
    return shards > 2 && ratio * shards <= 1.25 ? shards : 1;
}

/* What the file says of instances that it cannot be true of. */
static void print_doubts(const struct pdnn_import_result *result, bool is_sharded) {
    const int shards = is_sharded ? 1 : shards_of(result->flop_ratio);
    if (result->mislabeled)
        fprintf(stderr,
                "paradnn: %zu of %zu instances that ran have other numbers of parameters than the models "
                "named, so their rates mean nothing (flag mislabeled)\n",
                result->mislabeled, result->counts[PDNN_OUTCOME_OK]);
    if (result->far)
        fprintf(
            stderr,
            "paradnn: %zu of %zu instances that ran have less than half or more than twice the FLOP of the models "
            "named, or such a rate of them (flag mislabeled)\n",
            result->far, result->counts[PDNN_OUTCOME_OK]);
    if (shards > 1)
        fprintf(stderr,
                "paradnn: the file seems to count the FLOP of one core of %d: --shards %d multiplies them\n",
                shards, shards);
}

static void print_summary(const struct pdnn_import_result *result, const char *output, bool is_sharded) {
    char shown[PDNN_VISIBLE_TEXT];
    struct pdnn_str outcomes = {0};
    const size_t count = pdnn_outcomes_append(&outcomes, result->counts);
    fputs(pdnn_str_text(&outcomes), stderr);
    pdnn_str_finish(&outcomes);
    if (!isnan(result->params_ratio) || !isnan(result->flop_ratio))
        fprintf(stderr, "\nthe file's over the instances', median:");
    if (!isnan(result->params_ratio))
        fprintf(stderr, " parameters %.2f", result->params_ratio);
    if (!isnan(result->flop_ratio))
        fprintf(stderr, "%s FLOP of a step %.2f", isnan(result->params_ratio) ? "" : ",", result->flop_ratio);
    if (result->elsewhere)
        fprintf(stderr, "\n%zu rows of other platforms", result->elsewhere);
    if (result->repetitions)
        fprintf(stderr, "\n%zu row%s that repeat%s an instance: samples of its row", result->repetitions,
                result->repetitions > 1 ? "s" : "", result->repetitions > 1 ? "" : "s");
    if (result->apart.length)
        fprintf(stderr, "; no --map names %s, in which they differ", pdnn_str_text(&result->apart));
    fprintf(stderr, "\ntables: %s/results.csv, imported.csv\n", pdnn_visible(shown, output));
    print_doubts(result, is_sharded);
    if (!result->left_out)
        return;
    fprintf(stderr, "paradnn: %zu of %zu instances are left out%s:\n%s", result->left_out,
            count + result->left_out, result->left_out > PDNN_IMPORT_REASONS ? ", the first of them" : "",
            pdnn_str_text(&result->reasons));
}

/* A network as a family's file. */
static enum pdnn_status import_network(const struct pdnn_arguments *arguments, const char *output,
                                       struct pdnn_err *err) {
    static const char *const others[] = {"map",      "model",    "shards", "host",
                                         "software", "ceilings", "peak",   NULL};
    struct pdnn_onnx_request request = {.loss = pdnn_argument(arguments, "loss")};
    struct pdnn_onnx_summary summary;
    struct pdnn_target target = {.fd = -1};
    char *text = NULL, shown[PDNN_VISIBLE_TEXT];
    size_t length;
    request.set = pdnn_argument_all(arguments, "set", &request.n_set);
    for (const char *const *other = others; *other; other++)
        if (pdnn_argument(arguments, *other))
            return pdnn_fail(err, PDNN_INVALID, "--%s is for tables, %s is a network", *other,
                             arguments->operands[0]);
    enum pdnn_status status = pdnn_target_open(&target, output, err);
    if (status == PDNN_OK)
        status = pdnn_onnx_text(arguments->operands[0], &request, &text, &length, &summary, err);
    if (status == PDNN_OK)
        status = pdnn_target_write(&target, text, length, err);
    if (status == PDNN_OK)
        fprintf(stderr, "%zu nodes became %zu operators, %zu free dimension%s\nfamily: %s\n", summary.nodes,
                summary.entries, summary.axes, summary.axes == 1 ? " is an axis" : "s are axes",
                pdnn_visible(shown, output));
    if (status == PDNN_OK && summary.may_be_folded)
        fprintf(
            stderr,
            "paradnn: its convolutions have biases and no normalization: if the export folded that into them, "
            "torch.onnx.export with training=TrainingMode.TRAINING and do_constant_folding=False keeps it\n");
    free(text);
    pdnn_target_close(&target);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const bool is_network = pdnn_onnx_is_name(arguments->operands[0]);
    struct pdnn_import_result result = {0};
    struct pdnn_import_request request = {
        .path = arguments->operands[0],
        .output = pdnn_argument(arguments, "output"),
        .shards = pdnn_argument_whole(arguments, "shards", 1),
        .host = pdnn_argument(arguments, "host"),
        .software = pdnn_argument(arguments, "software"),
        .model = pdnn_argument(arguments, "model"),
        .roof_rows = pdnn_argument(arguments, "ceilings"),
        .peak = pdnn_argument(arguments, "peak"),
        .bandwidth_gbs = pdnn_argument_number(arguments, "bandwidth", 0),
        .version = PDNN_VERSION,
    };
    if (!request.output)
        return pdnn_fail(err, PDNN_INVALID, "import needs a name for what it makes, give -o %s",
                         is_network ? "FILE" : "DIR");
    if (is_network)
        return import_network(arguments, request.output, err);
    if (pdnn_argument(arguments, "loss"))
        return pdnn_fail(err, PDNN_INVALID, "--loss is for networks, %s is a table", request.path);
    request.map = pdnn_argument_all(arguments, "map", &request.n_map);
    request.set = pdnn_argument_all(arguments, "set", &request.n_set);
    enum pdnn_status status = pdnn_import(&request, &result, err);
    if (status == PDNN_OK)
        print_summary(&result, request.output, request.shards > 1);
    *arguments->some_failed = result.left_out > 0;
    pdnn_import_result_finish(&result);
    return status;
}

PDNN_COMMAND(import, PDNN_COMMANDS_FILES, "FILE",
             "Makes a result directory of somebody else's table, or a family of an ONNX file.", .run = run,
             .prints_nothing = true);
