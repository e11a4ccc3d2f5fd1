/* SIGINT and SIGTERM as a count that long jobs look at. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

/* Installs the handlers; from then on signals are counted instead of ending the process. */
const volatile int *pdnn_interrupt_watch(void);

#endif
