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

static void do_nothing(int number) {
    (void)number;
}

/* A handler, since children would inherit that the signal is ignored. */
void pdnn_interrupt_survive_readers(void) {
    struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
}

const volatile int *pdnn_interrupt_watch(void) {
    static const int asked[] = {SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};

    /* Without SA_RESTART: a signal ends the wait for a worker's answer. */
    struct sigaction action = {.sa_handler = count_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = note_signal;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        sigaction(asked[i], &action, NULL);
    pdnn_interrupt_survive_readers();
    /* nohup has it ignored. */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return &signals;
}
