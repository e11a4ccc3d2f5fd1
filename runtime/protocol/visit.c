#include "runtime/protocol/visit.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct pdnn_word pdnn_outcome_words[PDNN_OUTCOME_COUNT + 1] = {
    [PDNN_OUTCOME_OK] = {"ok", "measured: at least one visit went well", ""},
    [PDNN_OUTCOME_FILTERED] = {"filtered",
                               "a where expression, which reason quotes, excludes it; it never runs",
                               "change `where` if it should run"},
    [PDNN_OUTCOME_UNSUPPORTED] =
        {"unsupported",
         "the backend, its library or the processor cannot run it; reason says what is missing",
         "choose another backend, dtype, isa or algorithm; if only a fast path is missing, --allow-slow runs "
         "it"},
    [PDNN_OUTCOME_OOM_PREDICTED] =
        {"oom_predicted", "its tensors need more than limits.memory, so nothing was allocated",
         "raise limits.memory if the machine has more; otherwise take a smaller minibatch or, in training, "
         "checkpoint: layer"},
    [PDNN_OUTCOME_OOM] = {"oom", "it ran out of memory, or the kernel killed its worker for lack of memory",
                          "stop what else uses memory, or lower limits.memory so that it is predicted; then "
                          "run again with --retry"},
    [PDNN_OUTCOME_TIMEOUT] = {"timeout", "a visit took longer than limits.time",
                              "raise limits.time and run again with --retry"},
    [PDNN_OUTCOME_CRASH] = {"crash", "the process that measured it died; reason has the signal",
                            "try it alone with 'paradnn run ID'; if it dies again, report it"},
    [PDNN_OUTCOME_INVALID] =
        {"invalid",
         "its values contradict each other, or ask for what the machine lacks, such as more threads "
         "than cores; reason says which",
         "correct the spec"},
    [PDNN_OUTCOME_NUMERIC_ERROR] =
        {"numeric_error", "a result was infinite or not a number",
         "compare its ops with the reference with 'paradnn check ID'; f16 overflows where bf16 does not"},
    [PDNN_OUTCOME_UNPREDICTED] =
        {"unpredicted",
         "its time could not be composed, since one of its operators could not be measured; reason says which",
         "run it with 'paradnn sweep' into the same directory, or raise limits.time or limits.memory and compose "
         "into a new one"},
    [PDNN_OUTCOME_INTERRUPTED] = {"interrupted",
                                  "a signal, the budget or the end of the job came before its first visit",
                                  "run the same command again, which goes on with what is missing"},
};

const struct pdnn_word pdnn_stop_words[PDNN_STOP_COUNT + 1] = {
    [PDNN_STOP_PRECISION] = {"precision",
                             "the quartiles of its samples lay within measure.precision of their median", ""},
    [PDNN_STOP_MAX_TIME] = {"max_time", "its share of measure.max_time was spent",
                            "if the row is noisy, raise measure.max_time"},
    [PDNN_STOP_SAMPLES] = {"samples", "it could hold no more samples", ""},
    [PDNN_STOP_TIME_LIMIT] =
        {"time_limit",
         "another sample would not have fitted into limits.time, or into what was left of the "
         "budget or the job",
         "raise limits.time, or limits.budget"},
};

/* Row i names the bit 1 << i. */
const struct pdnn_word pdnn_flag_words[PDNN_FLAG_COUNT + 1] = {
    {"above_roof",
     "more than 5 % faster than its roof: the roof was measured while the machine was slower, or caches held "
     "more than their sizes suggest",
     "do not trust its pct_of_roof; measure again into a new directory with --no-cache while nothing else "
     "runs"},
    {"noisy", "half its interval is wider than five times measure.precision",
     "raise measure.rounds and run again, which adds the missing visits; keep other programs off the machine"},
    {"drift",
     "the later half of its visits, or of the samples in most visits, differs from the earlier by more than "
     "5 %",
     "look for a processor that heats up or for other programs; more rounds spread it evenly"},
    {"preempted",
     "in most visits, its threads had less than 85 % of their cores' time: other programs took the rest",
     "stop the other programs, or leave them a core with run.threads or taskset"},
    {"short", "a sample took less than 1000 readings of the clock, so reading it shows in the time",
     "take a larger minibatch or model; small differences between these rows mean nothing"},
    {"ref", "a library ran code that it calls ref: plain loops for what it has no fast kernel for",
     "find the op by its implementation in ops.csv; try another backend, algorithm or dtype"},
    {"throttled", "the processor reported throttling, thermal or by power, during a visit",
     "cool the machine or lower its clock limit, and measure again"},
    {"slow",
     "ops without a fast path for the dtype ran in a library's reference code or on f32 copies, since "
     "--allow-slow was given",
     "do not read it as the speed of the dtype on this processor"},
    {"odd_speed",
     "its probes differ from those beside the roofs by more than a factor of 4, so one of them was held up; "
     "its roof is not scaled",
     "measure again into a new directory with --no-cache while nothing else runs"},
    {"untried", "limits.memory left no room to try the implementations of some op, so the usual one ran",
     "raise limits.memory to have the fastest one chosen"},
    {"composed", "the model did not run: its time is the sum of its operators' times",
     "'paradnn compose --validate' says how far such sums are off; 'paradnn sweep' into the same directory runs "
     "the model"},
    {"predicted",
     "some of its operators' times are not measured but interpolated between operators of other sizes",
     "compose it again with a larger budget, which measures them, or run it with 'paradnn sweep' into the same "
     "directory"},
    {"settled",
     "a composed time: from all rounds of operators together; p10 and p90 are the limits of its interval, if "
     "models ran to find it",
     "'paradnn compose --calibrate N' runs models for that"},
    {"quota", "a control group's quota stopped its threads during a visit, so times are those of the quota",
     "ask for whole cores (cpu.max, --cpus), or take fewer with run.threads"},
    {"mislabeled",
     "imported: the file's number of parameters differs by more than 5 %, or its FLOP or their rate by more than a "
     "factor of two, from that of the model that its label names, so the row's rates may be of neither",
     "correct the labels in the file, or what --set says; --shards for FLOP of one core of several"},
    {"unplaced",
     "it ran faster than its probes say the machine was, so they were held up: the roof of that moment is not "
     "known, and the row has no place under it",
     "measure again while nothing else runs"},
    {"unusable",
     "its interval is wider than a factor of three: its time says nothing; varied says what differed between its "
     "visits",
     "stop the other programs and run again with more measure.rounds, or measure again into a new directory"},
    {"moved",
     "its threads were more than 1.5 times as far apart in some visits as in others (handoff_ns): the host of a "
     "virtual machine, or the kernel, placed them on other cores; far_pct is the part of the visits in which "
     "they were far",
     "compare only visits of one state, as 'paradnn compare' does where both sides have three of it; more "
     "measure.rounds give more of each"},
    {"other_choices",
     "in paired order, some visit ran other choices among implementations than the visit beside it, which should "
     "share them: another build of the library refused what was chosen",
     "verdicts leave these pairs out; more measure.rounds give others, since choices are made anew once"},
};

bool pdnn_distances_differ(double least_ns, double most_ns) {
    static const double limit = 1.5;
    return least_ns > 0 && most_ns > limit * least_ns;
}

/* Index of the row with a name of this length, or count. */
static size_t find_name(const struct pdnn_word *words, size_t count, const char *name, size_t length) {
    size_t i = 0;
    while (i < count && (strlen(words[i].name) != length || memcmp(words[i].name, name, length) != 0))
        i++;
    return i;
}

const char *pdnn_outcome_name(enum pdnn_outcome outcome) {
    return pdnn_outcome_words[outcome].name;
}

enum pdnn_outcome pdnn_outcome_find(const char *name) {
    return (enum pdnn_outcome)find_name(pdnn_outcome_words, PDNN_OUTCOME_COUNT, name, strlen(name));
}

const char *pdnn_stop_name(enum pdnn_stop stop) {
    return pdnn_stop_words[stop].name;
}

const char *pdnn_flags_format(unsigned flags, char buffer[PDNN_FLAGS_TEXT]) {
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < PDNN_FLAG_COUNT; i++) {
        if (flags & (1u << i))
            used += (size_t)snprintf(buffer + used, PDNN_FLAGS_TEXT - used, "%s%s", used ? "|" : "",
                                     pdnn_flag_words[i].name);
    }
    return buffer;
}

unsigned pdnn_flags_parse(const char *text) {
    unsigned flags = 0;
    const char *name;
    for (size_t length; (name = pdnn_part_next(&text, "|", &length));) {
        size_t i = find_name(pdnn_flag_words, PDNN_FLAG_COUNT, name, length);
        flags |= i < PDNN_FLAG_COUNT ? 1u << i : 0;
    }
    return flags;
}

void pdnn_extra_traffic_add(struct pdnn_extra_traffic *sum, const struct pdnn_extra_traffic *more) {
    sum->read_bytes += more->read_bytes;
    sum->written_bytes += more->written_bytes;
    sum->set_bytes = more->set_bytes > sum->set_bytes ? more->set_bytes : sum->set_bytes;
}

void pdnn_visit_finish(struct pdnn_visit *visit) {
    if (!visit)
        return;
    free(visit->ops);
    visit->ops = NULL;
    visit->n_ops = 0;
}
