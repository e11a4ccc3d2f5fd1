/* What a model consists of, as its backend runs it: distinct operators, each with the cache state that it
 * finds inside the model. Models share operators, so a time measured for one serves the others. */
#ifndef RUNTIME_PROTOCOL_OPERATOR_H
#define RUNTIME_PROTOCOL_OPERATOR_H

#include "runtime/protocol/request.h"
#include "runtime/protocol/visit.h"

enum { PDNN_OPERATOR_KEY_TEXT = 1536 };

/* Steps of one model that take the same time. */
struct pdnn_operator {
    /* Everything that its time depends on besides the machine and its software, as one line:
     * "onednn threads=2 isa=default dense/forward/64x8:8x8:64x8 [onednn:brgemm ab] 2048@64KiB 256@4MiB ..."
     * In brackets the implementation; then each operand's bytes, "b16" for images in blocks of 16 channels,
     * and how much other data the model touches between its last use and this one (runtime/plan/reuse.h);
     * "=0" for an operand in the memory of operand 0, "*" after one
     * that its last use wrote. */
    char key[PDNN_OPERATOR_KEY_TEXT];
    uint32_t op;    /* the row of ops.csv that it is part of: index into the visit's ops */
    uint32_t runs;  /* in one step of the model */
    uint64_t bytes; /* of its operands */
};

/* Operators of a model that can be wanted beside another; later ones are measured when they are asked for. */
enum { PDNN_OPERATOR_WANTED_MAX = 4096 };

/* Asks for the measurement of one operator, and of others if that takes little more. */
struct pdnn_operator_request {
    struct pdnn_request request; /* of the model that has it; its rules are for the operator */
    char key[PDNN_OPERATOR_KEY_TEXT];
    unsigned char wanted[PDNN_OPERATOR_WANTED_MAX / 8]; /* a bit for each operator, as they were listed */
};

static inline bool pdnn_operator_is_wanted(const struct pdnn_operator_request *request, size_t number) {
    return number < PDNN_OPERATOR_WANTED_MAX && (request->wanted[number / 8] >> number % 8 & 1);
}

/* Part of the answer. */
struct pdnn_operator_time {
    uint32_t number; /* of the operator, as they were listed */
    double ns, min_ns, mad_ns;
};

#endif
