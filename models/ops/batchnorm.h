/* The attributes and coefficients of batchnorm. */
#ifndef MODELS_OPS_BATCHNORM_H
#define MODELS_OPS_BATCHNORM_H

/* 1: statistics of the minibatch, and running ones updated; 0: the running ones. */
enum { PDNN_BATCHNORM_TRAIN };

enum { PDNN_BATCHNORM_EPSILON, PDNN_BATCHNORM_MOMENTUM };

#endif
