#include "runtime/host/counters.h"

#include "runtime/host/host_files.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
    int code; /* 0: comes from no errno */
    const char *text;
} rows[PDNN_COUNTERS_COUNT] = {
    [PDNN_COUNTERS_OFF] = {0, "off"},
    [PDNN_COUNTERS_ALL] = {0, "cycles and instructions, those in the kernel too"},
    [PDNN_COUNTERS_USER] = {0, "cycles and instructions, but for those in the kernel"},
    [PDNN_COUNTERS_ABSENT] = {ENOENT, "the processor shows none, as in most virtual machines"},
    [PDNN_COUNTERS_FORBIDDEN] = {EACCES, "the kernel does not allow them to this user"},
    [PDNN_COUNTERS_FILTERED] = {EPERM,
                                "a filter of system calls, such as a container's, does not allow them"},
    [PDNN_COUNTERS_UNSUPPORTED] = {ENOSYS, "the kernel was built without them"},
    [PDNN_COUNTERS_FILES] = {EMFILE, "they need two open files a thread, more than the limit (ulimit -Hn)"},
    [PDNN_COUNTERS_BUSY] = {EBUSY, "another program has them for itself"},
    [PDNN_COUNTERS_FAILED] = {0, "the kernel refuses them for a reason that is not known here"},
    [PDNN_COUNTERS_SHARED] = {0,
                              "other programs had them for part of the time, and counts are never scaled up"},
    [PDNN_COUNTERS_APART] = {0, "the clock by cycles and that by additions differ by more than 10 %"},
    [PDNN_COUNTERS_LATE] = {0, "limits.time left no room for the steps that are counted"},
    [PDNN_COUNTERS_RANKS] = {0, "steps of several ranks are not counted"},
};

bool pdnn_counters_are_missing(enum pdnn_counters counters) {
    return counters >= PDNN_COUNTERS_ABSENT;
}

enum pdnn_counters pdnn_counters_of(int code) {
    for (enum pdnn_counters i = PDNN_COUNTERS_ABSENT; i < PDNN_COUNTERS_COUNT; i++)
        if (rows[i].code == code && code)
            return i;
    /* Hardware without the means for one event or the other. */
    return code == EOPNOTSUPP || code == ENODEV ? PDNN_COUNTERS_ABSENT : PDNN_COUNTERS_FAILED;
}

/* The level is below zero where everything is allowed. */
void pdnn_counters_describe(enum pdnn_counters counters, const char *root, struct pdnn_str *out) {
    static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
    char *level = counters == PDNN_COUNTERS_FORBIDDEN || counters == PDNN_COUNTERS_USER
                      ? pdnn_hostfiles_read(root, path)
                      : NULL;
    pdnn_str_printf(out, "%s", rows[counters].text);
    if (level)
        pdnn_str_printf(out, " (kernel.perf_event_paranoid is %ld)", strtol(level, NULL, 10));
    free(level);
}
