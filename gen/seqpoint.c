#include "gen/seqpoint.h"

#include "gen/language.h"

#include <stddef.h>

const char *const pdnn_samplers[] = {"sorted", "bucket", "shuffled", "stream", NULL};
const char *const pdnn_seqpoint_keys[] = {"source", "target", "sum", "maximum", "both", NULL};
const char *const pdnn_seqpoint_statistics[] = {"length", "flop", "time", NULL};

static enum pdnn_status read_text(const struct pdnn_key_def *key, const struct pdnn_yaml *value, void *target,
                                  struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_scalar(value, key->name, err);
    if (status == PDNN_OK)
        *(const char **)((char *)target + key->offset) = value->text;
    return status;
}

static const struct pdnn_key_def seqpoint_keys[] = {
    {PDNN_KEY("lengths", read_text, struct pdnn_spec_seqpoint, lengths), .values = "a file or a distribution",
     .absent = "an error of `paradnn seqpoint`",
     .help =
         "lengths of the examples: a file, from the spec's directory, with one, or source and target, per line; "
         "librispeech-clean-100, librispeech-clean-360, librispeech-other-500, librispeech-dev-clean, "
         "iwslt15-en-vi, azure-chat, azure-code; uniform:LOW-HIGH, lognormal:MU,SIGMA or "
         "histogram:LOW-HIGH=COUNT,...",
     .example = "iwslt15-en-vi"},
    {PDNN_KEY("examples", pdnn_key_read_i64, struct pdnn_spec_seqpoint, examples), PDNN_KEY_RANGE(1, 1 << 24),
     .absent = "as many as the data set has", .help = "examples in the epoch", .example = "33328"},
    {PDNN_KEY("sampler", pdnn_key_read_word, struct pdnn_spec_seqpoint, sampler), .words = pdnn_samplers,
     .fallback = "bucket",
     .help = "how batches are formed: sorted by length; shuffled, sorted within shards and shuffled again "
             "(GNMT's); shuffled; or streams of equal length (a language model's)",
     .example = "sorted"},
    {PDNN_KEY("multiple", pdnn_key_read_i64, struct pdnn_spec_seqpoint, multiple), PDNN_KEY_RANGE(1, 1 << 16),
     .fallback = "1", .help = "padded lengths are rounded up to a multiple of this", .example = "8"},
    {PDNN_KEY("longest", pdnn_key_read_i64, struct pdnn_spec_seqpoint, longest), PDNN_KEY_RANGE(1, 1 << 24),
     .absent = "no limit", .help = "examples with a longer source or target, in steps, are left out",
     .example = "80"},
    {PDNN_KEY("shard_batches", pdnn_key_read_i64, struct pdnn_spec_seqpoint, shard_batches),
     PDNN_KEY_RANGE(1, 1 << 24), .fallback = "80", .help = "sampler bucket: batches per shard",
     .example = "40"},
    {PDNN_KEY("frames_per_second", pdnn_key_read_i64, struct pdnn_spec_seqpoint, frames_per_second),
     PDNN_KEY_RANGE(1, 100000), .absent = "the model's own",
     .help = "steps of the model per second of audio, for lengths in seconds", .example = "25"},
    {PDNN_KEY("key", pdnn_key_read_word, struct pdnn_spec_seqpoint, key), .words = pdnn_seqpoint_keys,
     .fallback = "source", .help = "the sequence length of an iteration with two", .example = "sum"},
    {PDNN_KEY("statistic", pdnn_key_read_word, struct pdnn_spec_seqpoint, statistic),
     .words = pdnn_seqpoint_statistics, .fallback = "flop",
     .help = "what SeqPoints are chosen by; time is that of the ground truth", .example = "time"},
    {PDNN_KEY("unique_max", pdnn_key_read_i64, struct pdnn_spec_seqpoint, unique_max),
     PDNN_KEY_RANGE(1, 1 << 20), .fallback = "10",
     .help = "up to this many distinct lengths, each is a SeqPoint", .example = "20"},
    {PDNN_KEY("bins", pdnn_key_read_i64, struct pdnn_spec_seqpoint, bins), PDNN_KEY_RANGE(1, 1 << 20),
     .fallback = "5", .help = "bins of equal width to begin with", .example = "10"},
    {PDNN_KEY("error", pdnn_key_read_percent, struct pdnn_spec_seqpoint, error), .fallback = "1%",
     .help = "one bin more while the projected statistic is further off", .example = "0.5%"},
    {PDNN_KEY("sample", pdnn_key_read_i64, struct pdnn_spec_seqpoint, sample), PDNN_KEY_RANGE(4, 1 << 20),
     .fallback = "40",
     .help = "iterations of the model-assisted estimate; with target_error, those to begin with",
     .example = "20"},
    {PDNN_KEY("target_error", pdnn_key_read_percent, struct pdnn_spec_seqpoint, target_error),
     .absent = "`sample` iterations",
     .help = "run iterations until half the model-assisted interval is within this", .example = "0.5%"},
};

const struct pdnn_key_table pdnn_epoch_keys = {
    .name = "seqpoint", PDNN_KEY_ROWS(seqpoint_keys), .place = pdnn_key_place};
