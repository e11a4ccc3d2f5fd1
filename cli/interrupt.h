/* SIGINT and SIGTERM as a counter that long jobs poll. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

/* Installs the handlers; from then on signals are counted and no longer end the process. */
const volatile int *pdnn_interrupt_watch(void);

#endif
