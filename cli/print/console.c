#include "cli/print/console.h"

#include "base/visible.h"
#include "base/fill.h"
#include "cli/interrupt.h"
#include "cli/print/progress.h"
#include "results/table/escape.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void warn(void *user, const char *text) {
    char shown[PDNN_VISIBLE_TEXT];
    pdnn_progress_clear(user);
    fprintf(stderr, "paradnn: %s\n", pdnn_visible(shown, text));
}

static void note(void *user, const char *text) {
    const struct pdnn_progress *bar = user;
    char shown[PDNN_VISIBLE_TEXT];
    if (bar->quiet)
        return;
    pdnn_progress_clear(user);
    fprintf(stderr, "%s\n", pdnn_visible(shown, text));
}

static void show_roofs(void *user, double fraction, int64_t threads, double seconds_left) {
    char detail[96], left[PDNN_DURATION_TEXT];
    snprintf(detail, sizeof detail, "measuring the roofs at %" PRId64 " thread%s, %s left", threads,
             threads == 1 ? "" : "s", pdnn_duration_format(left, seconds_left));
    pdnn_progress_show(user, fraction, detail);
}

static void show_work(void *user, const char *what, size_t done, size_t all, double seconds_left) {
    char detail[160], left[PDNN_DURATION_TEXT] = "";
    if (seconds_left >= 0)
        pdnn_duration_format(left, seconds_left);
    snprintf(detail, sizeof detail, "%zu of %zu %s%s%s%s", done, all, what, *left ? ", " : "", left,
             *left ? " left" : "");
    pdnn_progress_show(user, all ? (double)done / (double)all : 0, detail);
}

/* A new bar, so that the next job prints its first line at once. */
static void end_bar(void *user) {
    struct pdnn_progress *bar = user, before = *bar;
    pdnn_progress_clear(bar);
    pdnn_progress_init(bar, stderr);
    bar->quiet = before.quiet;
    bar->preface = before.preface;
}

static const volatile int *watch(void *user) {
    (void)user;
    return pdnn_interrupt_watch();
}

void pdnn_console_say(const char *text) {
    struct pdnn_str out = {0};
    size_t width = pdnn_terminal_width(STDERR_FILENO);
    while (*text) {
        struct pdnn_str line = {0};
        size_t length = strcspn(text, "\n");
        bool is_command = strncmp(text, "next:", 5) == 0;
        pdnn_visible_append(&line, text, length, "");
        pdnn_fill_text(&out, pdnn_str_text(&line), 2, width && !is_command ? width : SIZE_MAX);
        pdnn_str_finish(&line);
        text += length + (text[length] != 0);
    }
    fputs(pdnn_str_text(&out), stderr);
    pdnn_str_finish(&out);
}

void pdnn_word_append(struct pdnn_str *out, const char *text) {
    char shown[PDNN_VISIBLE_TEXT];
    pdnn_str_printf(out, "%s", *text == '-' ? "./" : "");
    pdnn_shell_quote(out, pdnn_visible(shown, text));
}

void pdnn_next_append(struct pdnn_str *out, const char *format, const char *path) {
    pdnn_str_printf(out, "next:   paradnn ");
    for (; *format; format++) {
        if (*format == '*')
            pdnn_word_append(out, path);
        else
            pdnn_str_append(out, format, 1);
    }
}

struct pdnn_session_hooks pdnn_console_hooks(struct pdnn_progress *bar) {
    pdnn_progress_init(bar, stderr);
    return (struct pdnn_session_hooks){bar,       warn,    note, show_roofs, pdnn_progress_show_visits,
                                       show_work, end_bar, watch};
}

const char *pdnn_outcomes_format(const size_t counts[PDNN_OUTCOME_COUNT], char text[PDNN_OUTCOMES_TEXT]) {
    size_t length = 0;
    *text = 0;
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        if (counts[outcome])
            length +=
                (size_t)snprintf(text + length, PDNN_OUTCOMES_TEXT - length, "%s %zu %s", length ? "," : "",
                                 counts[outcome], pdnn_outcome_name((enum pdnn_outcome)outcome));
    return text;
}

void pdnn_tally_append(struct pdnn_str *out, const struct pdnn_tally *tally) {
    char outcomes[PDNN_OUTCOMES_TEXT];
    const char *separator = "; ";
    pdnn_str_printf(out, "%zu instances:%s", tally->instances, pdnn_outcomes_format(tally->counts, outcomes));
    for (int stage = 0; stage < PDNN_STAGE_COUNT; stage++) {
        bool is_shown = stage == PDNN_STAGE_OTHER ? tally->stage[stage] > 0
                                                  : tally->stage[PDNN_STAGE_DONE] < tally->instances;
        if (is_shown)
            pdnn_str_printf(out, "%s%zu %s", separator, tally->stage[stage],
                            stage == PDNN_STAGE_OTHER ? "of another spec" : pdnn_stage_names[stage]);
        separator = is_shown ? ", " : separator;
    }
}
