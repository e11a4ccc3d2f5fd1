/* How wide the screen is that a person reads on. */
#ifndef CLI_PRINT_TERMINAL_H
#define CLI_PRINT_TERMINAL_H

#include <stddef.h>

/* The number of columns of the terminal behind fd, or 0 if it is not a terminal. */
size_t pdnn_terminal_width(int fd);

#endif
