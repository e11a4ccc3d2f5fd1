#include "results/epochs/shipped_lengths.h"

#include <string.h>

#define LIBRISPEECH                                                                                          \
    "LibriSpeech (Panayotov et al., ICASSP 2015, CC BY 4.0), in seconds: the manifest statistics of "        \
    "k2-fsa/icefall"
#define PERTURBED LIBRISPEECH ", with copies at 0.9 and 1.1 times the speed"
#define AZURE                                                                                                \
    "Azure LLM inference trace of 2023 (Patel et al., Splitwise, ISCA 2024, CC BY 4.0); context and "        \
    "generated tokens are taken as independent, outside the 5th and 99th percentile as those"

/* One length, in seconds. */
#define SECONDS(...)                                                                                         \
    .columns = 1, .is_in_seconds = true,                                                                     \
    .source = {15, {0, .001, .005, .01, .05, .1, .25, .5, .75, .9, .95, .99, .995, .999, 1}, {__VA_ARGS__}}
#define AZURE_PROBABILITIES .05, .25, .5, .75, .9, .95, .99

const struct pdnn_shipped_lengths pdnn_shipped_lengths[] = {
    {.name = "librispeech-clean-100",
     .help = "100 hours of read speech, 28,539 utterances",
     .from = PERTURBED,
     .examples = 28539,
     SECONDS(1.3, 1.9, 2.2, 2.5, 4.2, 6.4, 11.4, 13.8, 15.3, 16.7, 17.3, 18.1, 18.4, 18.8, 27.2)},
    {.name = "librispeech-clean-360",
     .help = "360 hours of read speech, 104,014 utterances",
     .from = PERTURBED,
     .examples = 104014,
     SECONDS(1.0, 1.8, 2.2, 2.5, 4.2, 6.2, 11.2, 13.7, 15.3, 16.6, 17.3, 18.1, 18.4, 18.8, 33.0)},
    {.name = "librispeech-other-500",
     .help = "500 hours of harder read speech, 148,688 utterances",
     .from = PERTURBED,
     .examples = 148688,
     SECONDS(0.8, 1.7, 2.1, 2.3, 3.5, 5.0, 9.8, 13.4, 15.1, 16.5, 17.2, 18.1, 18.4, 18.9, 31.0)},
    {.name = "librispeech-dev-clean",
     .help = "5 hours of read speech for validation, 2,703 utterances",
     .from = LIBRISPEECH,
     .examples = 2703,
     SECONDS(1.4, 1.6, 1.8, 1.9, 2.4, 2.7, 3.8, 5.9, 9.3, 13.3, 16.4, 23.8, 28.5, 32.3, 32.6)},
    {.name = "iwslt15-en-vi",
     .help = "English talks and their Vietnamese translations, 133,317 sentence pairs",
     .from = "IWSLT 2015 en-vi, in words: English log-normal, fitted to tst2012 and tst2013 (2,821 pairs), "
             "Vietnamese by regression on it (correlation 0.95)",
     .examples = 133317,
     .columns = 2,
     .mu = 2.772,
     .sigma = 0.635,
     .slope = 1.2,
     .intercept = 0.7,
     .residual = 4.6},
    {.name = "azure-chat",
     .help = "requests to a conversational service, context and generated tokens, 19,366 of them",
     .from = AZURE,
     .examples = 19366,
     .columns = 2,
     .source = {7, {AZURE_PROBABILITIES}, {181, 396, 1020, 1189, 2734, 4083, 4142}},
     .target = {7, {AZURE_PROBABILITIES}, {41, 85, 129, 395, 424, 451, 601}}},
    {.name = "azure-code",
     .help = "requests to a service that completes code, context and generated tokens, 8,819 of them",
     .from = AZURE,
     .examples = 8819,
     .columns = 2,
     .source = {7, {AZURE_PROBABILITIES}, {75, 578, 1469, 2745, 5186, 7302, 7436}},
     .target = {7, {AZURE_PROBABILITIES}, {6, 9, 13, 24, 55, 90, 252}}},
};
const size_t pdnn_n_shipped_lengths = sizeof pdnn_shipped_lengths / sizeof pdnn_shipped_lengths[0];

const struct pdnn_shipped_lengths *pdnn_shipped_lengths_find(const char *name) {
    for (size_t i = 0; i < pdnn_n_shipped_lengths; i++) {
        if (strcmp(pdnn_shipped_lengths[i].name, name) == 0)
            return &pdnn_shipped_lengths[i];
    }
    return NULL;
}
