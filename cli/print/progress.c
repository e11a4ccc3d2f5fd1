#define _DEFAULT_SOURCE /* struct winsize */
#include "cli/print/progress.h"

#include "base/fill.h"
#include "base/clock.h"
#include "runtime/driver/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_CELLS = 24, DETAIL_ROOM = 30 };

static const uint64_t terminal_gap_ns = UINT64_C(100000000), log_gap_ns = UINT64_C(10000000000);

size_t pdnn_terminal_width(int fd) {
    struct winsize size;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

void pdnn_progress_init(struct pdnn_progress *progress, FILE *stream) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    size_t width = term && strcmp(term, "dumb") == 0 ? 0 : pdnn_terminal_width(fileno(stream));
    *progress = (struct pdnn_progress){.stream = stream, .width = width};
    progress->color = width && !(no_color && *no_color);
}

void pdnn_progress_line(struct pdnn_str *out, double fraction, const char *detail, size_t width) {
    fraction = fraction > 1 ? 1 : fraction > 0 ? fraction : 0;
    size_t start = out->length;
    if (width >= BAR_CELLS + DETAIL_ROOM) {
        char bar[BAR_CELLS + 1];
        size_t full = (size_t)(fraction * BAR_CELLS);
        memset(bar, '#', full);
        memset(bar + full, ' ', BAR_CELLS - full);
        bar[BAR_CELLS] = 0;
        pdnn_str_printf(out, "[%s] ", bar);
    }
    pdnn_str_printf(out, "%3d %%  %s", (int)(fraction * 100), detail);
    if (width > 2 && out->length - start > width) {
        out->length = start + width - 2;
        while (out->length > start && ((unsigned char)out->text[out->length] & 0xc0) == 0x80)
            out->length--;
        pdnn_str_append(out, "..", 2);
    }
}

/* In a terminal that became narrower, the bar takes several lines by now. */
static void wipe(struct pdnn_progress *progress) {
    size_t width = pdnn_terminal_width(fileno(progress->stream));
    progress->width = width ? width : progress->width;
    if (progress->cells > progress->width)
        fprintf(progress->stream, "\r\033[%zuA\033[J", (progress->cells - 1) / progress->width);
    else
        fputs("\r\033[K", progress->stream);
    progress->cells = 0;
}

void pdnn_progress_show(struct pdnn_progress *progress, double fraction, const char *detail) {
    uint64_t now = pdnn_clock_ns();
    if (progress->quiet)
        return;
    if (progress->last_ns && now - progress->last_ns < (progress->width ? terminal_gap_ns : log_gap_ns))
        return;
    progress->last_ns = now;
    if (!progress->width) {
        fprintf(progress->stream, "%3d %%  %s\n", (int)(fraction * 100), detail);
        return;
    }
    struct pdnn_str line = {0};
    wipe(progress);
    pdnn_progress_line(&line, fraction, detail, progress->width - 1);
    fprintf(progress->stream, "%s%s%s", progress->color ? "\033[36m" : "", pdnn_str_text(&line),
            progress->color ? "\033[0m" : "");
    fflush(progress->stream);
    progress->cells = line.length;
    pdnn_str_finish(&line);
}

static void print_preface(struct pdnn_progress *progress) {
    struct pdnn_str text = {0}, filled = {0};
    if (!progress->preface || !*progress->preface)
        return;
    pdnn_str_printf(&text, "not repeated below: %s", progress->preface);
    pdnn_fill_text(&filled, pdnn_str_text(&text), 2, progress->width ? progress->width : SIZE_MAX);
    pdnn_progress_clear(progress);
    fputs(pdnn_str_text(&filled), progress->stream);
    progress->preface = NULL;
    pdnn_str_finish(&text);
    pdnn_str_finish(&filled);
}

void pdnn_progress_show_visits(void *bar, const struct pdnn_sweep_progress *visits) {
    struct pdnn_progress *progress = bar;
    if (!visits->visits_planned || progress->quiet)
        return;
    print_preface(progress);
    char left[PDNN_DURATION_TEXT] = "", detail[PDNN_ID_TEXT + 128];
    if (visits->eta_seconds >= 0)
        pdnn_duration_format(left, visits->eta_seconds);
    snprintf(detail, sizeof detail, "%zu of %zu visits%s%s%s  %s", visits->visits_done,
             visits->visits_planned, *left ? ", " : "", left, *left ? " left" : "",
             visits->label ? visits->label : "");
    pdnn_progress_show(progress, (double)visits->visits_done / (double)visits->visits_planned, detail);
}

void pdnn_progress_clear(struct pdnn_progress *progress) {
    if (!progress->cells)
        return;
    wipe(progress);
    fflush(progress->stream);
}
