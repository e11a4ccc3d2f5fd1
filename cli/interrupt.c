#define _POSIX_C_SOURCE 200809L
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* The program's only variable that changes after start-up: a signal handler has nowhere else to write. */
static volatile int signals;

static void count_signal(int number) {
    (void)number;
    signals = signals + 1;
}

/* Batch systems send the same signal more than once: that is no impatience. */
static void note_signal(int number) {
    (void)number;
    if (!signals)
        signals = 1;
}

const volatile int *pdnn_interrupt_watch(void) {
    /* Without SA_RESTART: a signal ends the wait for a worker's answer. */
    struct sigaction action = {.sa_handler = count_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = note_signal;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    /* nohup has it ignored. */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return &signals;
}
