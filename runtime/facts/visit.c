#include "runtime/facts/visit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcome_names[PDNN_OUTCOME_COUNT] = {
    [PDNN_OUTCOME_OK] = "ok",
    [PDNN_OUTCOME_FILTERED] = "filtered",
    [PDNN_OUTCOME_UNSUPPORTED] = "unsupported",
    [PDNN_OUTCOME_OOM_PREDICTED] = "oom_predicted",
    [PDNN_OUTCOME_OOM] = "oom",
    [PDNN_OUTCOME_TIMEOUT] = "timeout",
    [PDNN_OUTCOME_CRASH] = "crash",
    [PDNN_OUTCOME_INVALID] = "invalid",
    [PDNN_OUTCOME_NUMERIC_ERROR] = "numeric_error",
    [PDNN_OUTCOME_INTERRUPTED] = "interrupted",
};

static const char *const stop_names[PDNN_STOP_COUNT] = {
    [PDNN_STOP_PRECISION] = "precision",
    [PDNN_STOP_MAX_TIME] = "max_time",
    [PDNN_STOP_SAMPLES] = "samples",
    [PDNN_STOP_TIME_LIMIT] = "time_limit",
};

/* Row i names the bit 1 << i. */
static const char *const flag_names[PDNN_FLAG_COUNT] = {
    "above_roof", "noisy", "drift", "preempted", "short", "ref", "throttled", "slow", "odd_speed", "untried",
};

/* Index of the name with this length, or count. */
static size_t find_name(const char *const *names, size_t count, const char *name, size_t length) {
    size_t i = 0;
    while (i < count && (strlen(names[i]) != length || memcmp(names[i], name, length) != 0))
        i++;
    return i;
}

const char *pdnn_outcome_name(enum pdnn_outcome outcome) {
    return outcome_names[outcome];
}

enum pdnn_outcome pdnn_outcome_find(const char *name) {
    return (enum pdnn_outcome)find_name(outcome_names, PDNN_OUTCOME_COUNT, name, strlen(name));
}

const char *pdnn_stop_name(enum pdnn_stop stop) {
    return stop_names[stop];
}

enum pdnn_stop pdnn_stop_find(const char *name) {
    return (enum pdnn_stop)find_name(stop_names, PDNN_STOP_COUNT, name, strlen(name));
}

const char *pdnn_flags_format(unsigned flags, char buffer[PDNN_FLAGS_TEXT]) {
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < PDNN_FLAG_COUNT; i++) {
        if (flags & (1u << i))
            used += (size_t)snprintf(buffer + used, PDNN_FLAGS_TEXT - used, "%s%s", used ? "|" : "",
                                     flag_names[i]);
    }
    return buffer;
}

unsigned pdnn_flags_parse(const char *text) {
    unsigned flags = 0;
    while (*text) {
        size_t length = strcspn(text, "|");
        size_t i = find_name(flag_names, PDNN_FLAG_COUNT, text, length);
        if (i < PDNN_FLAG_COUNT)
            flags |= 1u << i;
        text += length + (text[length] == '|');
    }
    return flags;
}

void pdnn_visit_finish(struct pdnn_visit *visit) {
    if (!visit)
        return;
    free(visit->ops);
    visit->ops = NULL;
    visit->n_ops = 0;
}
