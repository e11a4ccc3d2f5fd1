/* The worker's main loop: reads requests from the driver's socket and answers them. */
#ifndef RUNTIME_WORKER_SERVE_H
#define RUNTIME_WORKER_SERVE_H

/* Serves until the driver closes the connection; returns the process's exit status. */
int pdnn_worker_serve(int fd);

#endif
