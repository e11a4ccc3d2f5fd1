#!/usr/bin/env python3
"""Writes a decoder of given sizes with seeded weights for llama.cpp; started by contenders.py.

Usage: gguf_model.py FILE TYPE LAYERS HIDDEN HEADS KV_HEADS FFN WORDS CONTEXT
       gguf_model.py facts
TYPE: f32, bf16 or q8_0, of the matrices; vectors are f32. The output's weights are the embedding. No vocabulary is in it."""

import json
import shutil
import sys

sys.dont_write_bytecode = True

import gguf  # noqa: E402: after dont_write_bytecode
import numpy  # noqa: E402


def write(path, word, *sizes):
    layers, hidden, heads, kv_heads, ffn, words, context = map(int, sizes)
    kind = gguf.GGMLQuantizationType[word.upper()]
    draw, width = numpy.random.default_rng(1), hidden // heads
    file = gguf.GGUFWriter(path, "llama", use_temp_file=True)
    file.add_block_count(layers)
    file.add_embedding_length(hidden)
    file.add_head_count(heads)
    file.add_head_count_kv(kv_heads)
    file.add_feed_forward_length(ffn)
    file.add_vocab_size(words)
    file.add_context_length(context)
    file.add_rope_dimension_count(width)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_tokenizer_model("no_vocab")
    file.add_file_type(gguf.LlamaFileType[{"f32": "ALL_F32"}.get(word, f"MOSTLY_{word.upper()}")])

    def matrix(name, rows, columns):
        values = draw.random((rows, columns), dtype=numpy.float32)
        values = (values - 0.5) * (2 / columns ** 0.5)
        file.add_tensor(f"{name}.weight", values if word == "f32" else gguf.quantize(values, kind), raw_dtype=kind)

    def norm(name):
        file.add_tensor(f"{name}.weight", numpy.ones(hidden, numpy.float32))

    matrix("token_embd", words, hidden)
    for layer in range(layers):
        block = f"blk.{layer}."
        norm(block + "attn_norm")
        for name, rows in (("q", heads), ("k", kv_heads), ("v", kv_heads)):
            matrix(f"{block}attn_{name}", rows * width, hidden)
        matrix(block + "attn_output", hidden, hidden)
        norm(block + "ffn_norm")
        matrix(block + "ffn_gate", ffn, hidden)
        matrix(block + "ffn_up", ffn, hidden)
        matrix(block + "ffn_down", hidden, ffn)
    norm("output_norm")
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


if __name__ == "__main__":
    if sys.argv[1] == "facts":
        print(json.dumps({"bench": shutil.which("llama-bench") or sys.exit("Error: no llama-bench on the path")}))
    else:
        write(*sys.argv[1:])
