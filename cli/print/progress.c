#define _DEFAULT_SOURCE /* struct winsize */
#include "cli/print/progress.h"

#include "base/clock.h"
#include "base/fill.h"
#include "base/units.h"
#include "base/visible.h"
#include "runtime/driver/sweep/sweep.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_CELLS = 24, DETAIL_ROOM = 30 };

static const uint64_t terminal_gap_ns = UINT64_C(100000000), log_gap_ns = UINT64_C(10000000000);

size_t pdnn_terminal_width(int fd) {
    struct winsize size;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void pdnn_progress_line(struct pdnn_str *out, double fraction, const char *detail, size_t width) {
    static const char full[] = "########################", empty[] = "                        ";
    fraction = fraction > 1 ? 1 : fraction > 0 ? fraction : 0;
    const int cells = (int)(fraction * BAR_CELLS);
    size_t start = out->length;
    if (width >= BAR_CELLS + DETAIL_ROOM)
        pdnn_str_printf(out, "[%.*s%.*s] ", cells, full, BAR_CELLS - cells, empty);
    pdnn_str_printf(out, "%3d %%  %s", (int)(fraction * 100), detail);
    if (width > 2 && out->length - start > width) {
        out->length = start + width - 2;
        while (out->length > start && ((unsigned char)out->text[out->length] & 0xc0) == 0x80)
            out->length--;
        pdnn_str_append(out, "..", 2);
    }
}

/* A bar that prints its first line at once. */
static void begin(struct pdnn_progress *bar) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bar->width = term && strcmp(term, "dumb") == 0 ? 0 : pdnn_terminal_width(STDERR_FILENO);
    bar->color = bar->width && !(no_color && *no_color);
    bar->last_ns = 0;
}

/* Wipes the bar, so that other lines can be written. In a terminal that became narrower, it takes several
 * lines by now. */
static void clear(struct pdnn_progress *bar) {
    if (!bar->cells)
        return;
    size_t width = pdnn_terminal_width(STDERR_FILENO);
    bar->width = width ? width : bar->width;
    if (bar->cells > bar->width)
        fprintf(stderr, "\r\033[%zuA\033[J", (bar->cells - 1) / bar->width);
    else
        fputs("\r\033[K", stderr);
    fflush(stderr);
    bar->cells = 0;
}

/* Shows that `fraction` is done: what, the time that is left if that is known (>= 0), and the label, cut to
 * the width. Writes at most every 10 s, on a terminal every 0.1 s. */
static void show(struct pdnn_progress *bar, double fraction, const char *what, double seconds_left,
                 const char *label) {
    const uint64_t now_ns = pdnn_clock_ns(), gap_ns = bar->width ? terminal_gap_ns : log_gap_ns;
    char left[PDNN_DURATION_TEXT] = "", detail[PDNN_ID_TEXT + 128];
    struct pdnn_str line = {0};
    if (bar->quiet || (bar->last_ns && now_ns - bar->last_ns < gap_ns))
        return;
    bar->last_ns = now_ns;
    if (seconds_left >= 0)
        pdnn_duration_format(left, seconds_left);
    snprintf(detail, sizeof detail, "%s%s%s%s%s", what, *left ? ", " : "", left, *left ? " left" : "", label);
    if (!bar->width) {
        fprintf(stderr, "%3d %%  %s\n", (int)(fraction * 100), detail);
        return;
    }
    clear(bar);
    pdnn_progress_line(&line, fraction, detail, bar->width - 1);
    fprintf(stderr, "%s%s%s", bar->color ? "\033[36m" : "", pdnn_str_text(&line),
            bar->color ? "\033[0m" : "");
    fflush(stderr);
    bar->cells = line.length;
    pdnn_str_finish(&line);
}

static void print(struct pdnn_progress *bar, const char *prefix, const char *text) {
    char shown[PDNN_VISIBLE_TEXT];
    clear(bar);
    fprintf(stderr, "%s%s\n", prefix, pdnn_visible(shown, text));
}

static void warn(void *bar, const char *text) {
    print(bar, "paradnn: ", text);
}

static void note(void *user, const char *text) {
    const struct pdnn_progress *bar = user;
    if (!bar->quiet)
        print(user, "", text);
}

void pdnn_progress_tell(struct pdnn_progress *bar, bool has_roofs) {
    if (bar->tell && !bar->quiet && !bar->has_told) {
        clear(bar);
        bar->tell(bar->session, has_roofs);
    }
    bar->has_told = true;
}

static void show_roofs(void *bar, double fraction, int64_t threads, double seconds_left) {
    char what[64];
    pdnn_progress_tell(bar, true);
    snprintf(what, sizeof what, "measuring the roofs at %" PRId64 " thread%s", threads,
             threads == 1 ? "" : "s");
    show(bar, fraction, what, seconds_left, "");
}

static void show_work(void *bar, const char *name, size_t done, size_t all, double seconds_left) {
    char what[128];
    pdnn_progress_tell(bar, false);
    snprintf(what, sizeof what, "%zu of %zu %s", done, all, name);
    show(bar, all ? (double)done / (double)all : 0, what, seconds_left, "");
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

static void print_preface(struct pdnn_progress *bar) {
    struct pdnn_str text = {0};
    if (!bar->preface || !*bar->preface)
        return;
    pdnn_str_printf(&text, "not repeated below: %s\n", bar->preface);
    clear(bar);
    pdnn_console_say(pdnn_str_text(&text));
    bar->preface = NULL;
    pdnn_str_finish(&text);
}

static void show_visits(void *user, const struct pdnn_sweep_progress *visits) {
    struct pdnn_progress *bar = user;
    char what[64], label[PDNN_ID_TEXT];
    if (!visits->visits_planned || bar->quiet)
        return;
    if (visits->visits_done < visits->visits_planned)
        pdnn_progress_tell(bar, false);
    print_preface(bar);
    snprintf(what, sizeof what, "%zu of %zu visits", visits->visits_done, visits->visits_planned);
    snprintf(label, sizeof label, "  %s", visits->label ? visits->label : "");
    show(bar, (double)visits->visits_done / (double)visits->visits_planned, what, visits->eta_seconds, label);
}

static void end_bar(void *bar) {
    clear(bar);
    begin(bar);
}

/* The program's only variable that changes after start-up: a signal handler has nowhere else to write. */
static volatile int signals;

/* Batch systems send the same signal more than once: that is no impatience. */
static void note_signal(int number) {
    if (number == SIGINT || (number != SIGPIPE && !signals))
        signals = signals + 1;
}

/* A handler, since children would inherit that the signal is ignored. */
void pdnn_interrupt_survive_readers(void) {
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
}

const volatile int *pdnn_interrupt_watch(void) {
    static const int asked[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
    /* Without SA_RESTART: a signal ends the wait for a worker's answer. */
    struct sigaction action = {.sa_handler = note_signal}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        sigaction(asked[i], &action, NULL);
    pdnn_interrupt_survive_readers();
    /* nohup has it ignored. */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return &signals;
}

static const volatile int *watch(void *bar) {
    (void)bar;
    return pdnn_interrupt_watch();
}

struct pdnn_session_hooks pdnn_progress_hooks(struct pdnn_progress *bar) {
    *bar = (struct pdnn_progress){.cells = 0};
    begin(bar);
    return (struct pdnn_session_hooks){bar, warn, note, show_roofs, show_visits, show_work, end_bar, watch};
}
