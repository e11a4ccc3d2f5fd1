#include "cli/console.h"

#include "base/visible.h"
#include "cli/interrupt.h"

#include <inttypes.h>
#include <stdio.h>

static void warn(void *user, const char *text) {
    char shown[PDNN_VISIBLE_TEXT];
    pdnn_progress_clear(user);
    fprintf(stderr, "paradnn: %s\n", pdnn_visible(shown, text));
}

static void note(void *user, const char *text) {
    char shown[PDNN_VISIBLE_TEXT];
    pdnn_progress_clear(user);
    fprintf(stderr, "%s\n", pdnn_visible(shown, text));
}

static void show_roofs(void *user, double fraction, int64_t threads) {
    char detail[96];
    snprintf(detail, sizeof detail, "measuring the roofs at %" PRId64 " thread%s", threads,
             threads == 1 ? "" : "s");
    pdnn_progress_show(user, fraction, detail);
}

static void show_visits(void *user, const struct pdnn_sweep_progress *progress) {
    pdnn_progress_show_visits(user, progress);
}

/* A new bar, so that the next job prints its first line at once. */
static void end_bar(void *user) {
    pdnn_progress_clear(user);
    pdnn_progress_init(user, stderr);
}

static const volatile int *watch(void *user) {
    (void)user;
    return pdnn_interrupt_watch();
}

struct pdnn_session_hooks pdnn_console_hooks(struct pdnn_progress *bar) {
    pdnn_progress_init(bar, stderr);
    return (struct pdnn_session_hooks){bar, warn, note, show_roofs, show_visits, end_bar, watch};
}
