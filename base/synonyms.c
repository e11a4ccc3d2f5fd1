#include "base/synonyms.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* A word may stand for several of ours, of which a model has one. */
static const struct {
    const char *ours, *theirs;
} rows[] = {
    {"layers", "num_layers"},
    {"layers", "n_layers"},
    {"layers", "n_layer"},
    {"layers", "num_hidden_layers"},
    {"layers", "depth"},
    {"length", "seq_len"},
    {"length", "seqlen"},
    {"length", "seq_length"},
    {"length", "sequence_length"},
    {"length", "max_length"},
    {"length", "max_seq_len"},
    {"length", "timesteps"},
    {"positions", "n_ctx"},
    {"positions", "n_positions"},
    {"positions", "max_position_embeddings"},
    {"vocabulary", "vocab_size"},
    {"vocabulary", "n_vocab"},
    {"vocabulary", "vocab"},
    {"heads", "n_head"},
    {"heads", "n_heads"},
    {"heads", "num_heads"},
    {"heads", "num_attention_heads"},
    {"hidden", "hidden_size"},
    {"nodes", "hidden_size"},
    {"hidden", "hidden_dim"},
    {"nodes", "hidden_dim"},
    {"hidden", "d_model"},
    {"hidden", "n_embd"},
    {"nodes", "units"},
    {"hidden", "units"},
    {"nodes", "neurons"},
    {"nodes", "width"},
    {"filters", "width"},
    {"embedding", "embedding_size"},
    {"embedding", "embedding_dim"},
    {"ffn", "intermediate_size"},
    {"ffn", "dim_feedforward"},
    {"ffn", "ffn_dim"},
    {"ffn", "d_ff"},
    {"ffn", "n_inner"},
    {"types", "type_vocab_size"},
    {"predictions", "max_predictions_per_seq"},
    {"output", "num_classes"},
    {"output", "n_classes"},
    {"output", "classes"},
    {"output", "out_features"},
    {"output", "output_size"},
    {"input", "in_features"},
    {"input", "input_size"},
    {"image", "input_size"},
    {"image", "image_size"},
    {"image", "img_size"},
    {"image", "resolution"},
    {"filters", "channels"},
    {"filters", "num_filters"},
    {"kernel", "kernel_size"},
    {"activation", "hidden_act"},
    {"activation", "activation_function"},
    {"batch", "batch_size"},
    {"batch", "batchsize"},
    {"batch", "minibatch"},
    {"batch", "bs"},
    {"dropout", "dropout_rate"},
    {"threads", "num_threads"},
    {"threads", "n_threads"},
    {"threads", "nthreads"},
    {"threads", "cores"},
    {"dtype", "precision"},
    {"dtype", "datatype"},
    {"f32", "float"},
    {"f32", "float32"},
    {"f32", "fp32"},
    {"f32", "single"},
    {"f16", "float16"},
    {"f16", "fp16"},
    {"f16", "half"},
    {"bf16", "bfloat16"},
    {"int8", "i8"},
    {"int8", "s8"},
    {"int8", "u8"},
    {"infer", "inference"},
    {"infer", "eval"},
    {"infer", "forward"},
    {"train", "training"},
    {"gelu_tanh", "gelu_new"},
    {"gelu_tanh", "gelu_fast"},
    {"gelu_tanh", "gelu_pytorch_tanh"},
    {"rounds", "iterations"},
    {"rounds", "repetitions"},
    {"rounds", "repeats"},
    {"time", "timeout"},
};

static int plain(char letter) {
    return letter == '-' ? '_' : tolower((unsigned char)letter);
}

static bool is_same(const char *a, const char *b) {
    while (*a && plain(*a) == plain(*b)) {
        a++;
        b++;
    }
    return plain(*a) == plain(*b);
}

const char *pdnn_synonym(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_same(word, rows[i].theirs))
            continue;
        for (size_t k = 0; k < count; k++)
            if (strcmp(words[k], rows[i].ours) == 0)
                return words[k];
    }
    return NULL;
}
