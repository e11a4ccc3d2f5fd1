#define _DEFAULT_SOURCE /* struct winsize */
#include "cli/print/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

size_t pdnn_terminal_width(int fd) {
    struct winsize size;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}
