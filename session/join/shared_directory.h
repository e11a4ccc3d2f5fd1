/* The directory of a joined sweep, before anybody works in it. */
#ifndef SESSION_JOIN_SHARED_DIRECTORY_H
#define SESSION_JOIN_SHARED_DIRECTORY_H

#include "base/err.h"

/* Makes DIR with what all share, or checks that the sweep there has this spec. text: as spec.yaml has it. */
enum pdnn_status pdnn_join_make_directory(const char *directory, const char *text, struct pdnn_err *err);

/* PDNN_INVALID if the directory is that of a joined sweep that was not merged: a sweep of one process there
 * would measure everything once more. */
enum pdnn_status pdnn_join_check_alone(const char *directory, struct pdnn_err *err);

#endif
