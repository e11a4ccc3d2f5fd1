/* Building blocks for the forward graphs of families: layers with their weights and initial values. The
 * models themselves are in the families' files. A sequence of T steps is a matrix (T*N, C) with step t of
 * sequence n in row t*N + n; T steps, N sequences, C units. Errors stick in the graph. */
#ifndef MODELS_FAMILIES_NET_H
#define MODELS_FAMILIES_NET_H

#include "models/cell.h"
#include "models/graph.h"
#include "models/instance.h"

/* A graph being built. */
struct pdnn_net {
    struct pdnn_graph *graph;
    int64_t batch; /* N */
    int64_t dropout_percent;
    bool train;
};

struct pdnn_net pdnn_net_init(const struct pdnn_instance *instance, struct pdnn_graph *graph, int64_t batch,
                              int64_t dropout_percent);

/* Names the layer of the next nodes; `stem` must be static text. */
void pdnn_net_layer(struct pdnn_net *net, const char *stem, int64_t index);

/* The step's data, with values in [-1, 1]. */
uint32_t pdnn_net_input(struct pdnn_net *net, int rank, const int64_t *dim);

/* Columns of a matrix, or channels of images. */
int64_t pdnn_net_width(const struct pdnn_net *net, uint32_t x);

/* A table (vocabulary, width), and the rows of it (steps*N, width) for word ids drawn as `kind`. */
uint32_t pdnn_net_table(struct pdnn_net *net, int64_t vocabulary, int64_t width);
uint32_t pdnn_net_embed(struct pdnn_net *net, uint32_t table, int64_t steps, enum pdnn_fill_kind kind);

/* Gathers one row of a matrix (a table or an activation) per id; the ids have this fill. They have the shape
 * that the fill expects: (R), or (N, R) for R rows of each sequence. */
uint32_t pdnn_net_gather(struct pdnn_net *net, uint32_t matrix, int rank, const int64_t *dim,
                         struct pdnn_fill fill);

/* Returns x itself if nothing is dropped: in inference, or at 0 percent. */
uint32_t pdnn_net_dropout(struct pdnn_net *net, uint32_t x);

/* A state of one value that counts the steps of an op with dropout. */
uint32_t pdnn_net_counter(struct pdnn_net *net);

struct pdnn_recurrent {
    enum pdnn_cell cell;
    int64_t hidden;
    bool two_biases; /* per gate */
};

/* One layer in one direction. Returns (T*N, hidden). */
uint32_t pdnn_net_recurrent(struct pdnn_net *net, uint32_t x, const struct pdnn_recurrent *layer,
                            bool reverse);

/* Weights before a ReLU (He et al. 2015): keeps the variance of a deep stack. */
struct pdnn_fill pdnn_net_relu_fill(int64_t inputs);

/* A dense layer with bias and such weights, on rows or on images. */
uint32_t pdnn_net_hidden(struct pdnn_net *net, uint32_t x, int64_t units);

/* linear: y = x w^T; dense: the same with a bias; bias: only the bias, for a layer with
 * this number of inputs. */
uint32_t pdnn_net_linear(struct pdnn_net *net, uint32_t x, int64_t units);
uint32_t pdnn_net_dense(struct pdnn_net *net, uint32_t x, int64_t units);
uint32_t pdnn_net_bias(struct pdnn_net *net, uint32_t y, int64_t inputs);

uint32_t pdnn_net_concat(struct pdnn_net *net, uint32_t a, uint32_t b);
uint32_t pdnn_net_add(struct pdnn_net *net, uint32_t a, uint32_t b);

/* Returns a context (T*N, C) for every query (T*N, C) from the source (S*N, C): projections of both without
 * bias, one bias for the queries, normalized additive attention. */
uint32_t pdnn_net_attend(struct pdnn_net *net, uint32_t query, uint32_t source);

/* Batch normalization of a matrix's columns or of channels; training uses minibatch statistics. */
uint32_t pdnn_net_normalize(struct pdnn_net *net, uint32_t x);

/* Step t of all sequences: (N, C). */
uint32_t pdnn_net_step(struct pdnn_net *net, uint32_t x, int64_t t);

/* Ends the graph: in inference the logits are its result, in training they get a loss. With one row per
 * example, each has one label. */
void pdnn_net_classify(struct pdnn_net *net, uint32_t logits);

/* Adds such labels and the loss of the logits, for a graph that has several. */
uint32_t pdnn_net_loss(struct pdnn_net *net, uint32_t logits);

/* The same as pdnn_net_classify for sequences, which have labels up to a random length; a matrix with one row
 * per sequence has one label per row. */
void pdnn_net_finish(struct pdnn_net *net, uint32_t logits);

/* The same with CTC: up to `labels` labels per sequence; class 0 of the logits is the blank. */
void pdnn_net_finish_ctc(struct pdnn_net *net, uint32_t logits, int64_t labels);

#endif
