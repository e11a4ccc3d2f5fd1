/* Errors: one status code and one message, passed up by the function that fails. Nothing
 * here prints or exits. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum pdnn_status {
    PDNN_OK = 0,
    PDNN_INVALID,     /* the user's input is wrong: spec, option, id, file */
    PDNN_UNSUPPORTED, /* a result, not a failure: this backend, library or processor cannot do it */
    PDNN_OVERFLOW,    /* a count does not fit its type */
    PDNN_NO_MEMORY,   /* an allocation failed */
    PDNN_TOO_BIG,     /* a result: more memory than the limit allows; nothing was allocated */
    PDNN_IO,          /* a system call on a file or process failed */
    PDNN_BUSY,        /* somebody else is writing there; later it may work */
    PDNN_INTERRUPTED, /* a signal asked to stop */
    PDNN_INTERNAL,    /* a library returned something its documentation rules out */
    PDNN_STATUS_COUNT
};

#define PDNN_ERR_TEXT 1024

/* Owned by the caller, who starts it as {0} and reads it after a non-zero return. */
struct pdnn_err {
    enum pdnn_status status;
    char text[PDNN_ERR_TEXT];
};

/* Sets status and text and returns the status, so that `return pdnn_fail(...)` is the
 * idiom. err may be NULL. */
enum pdnn_status pdnn_fail(struct pdnn_err *err, enum pdnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "where: " in front of the text and returns err's status, or PDNN_INTERNAL if err is NULL. */
enum pdnn_status pdnn_wrap(struct pdnn_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
