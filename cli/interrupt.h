/* The signals that end a long job, as a number that it polls: 0; 1 after SIGINT, or after any number of
 * SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU and SIGHUP, which batch systems and terminals send; one more after each
 * further SIGINT. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

/* Installs the handlers; from then on these signals no longer end the process. */
const volatile int *pdnn_interrupt_watch(void);

/* After this, a write to a pipe that nobody reads any more fails like any other: progress that cannot be
 * written is no reason to end. */
void pdnn_interrupt_survive_readers(void);

#endif
