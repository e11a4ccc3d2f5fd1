#!/usr/bin/env python3
"""Lists of operators as models: `operator: conv2d, rows: {file: ...}`, from lines of benchdnn and of DeepBench.

Usage: shapes_test.py PARADNN [TEST...]."""

import csv
import os

from program import Case, main

SPEC = "sweep: shapes\nrun: {{mode: infer, threads: 1}}\nmodels: [{{operator: {}, rows: {{file: shapes.txt}}}}]\n"
# By operator: text, and what of the ids is in order.
GOOD = {
    "conv2d": [
        ("mb1_ic3ih224iw224_oc64oh112ow112_kh7kw7_sh2sw2_ph3pw3_n\"conv1\"\n", ["batch=1,input=3,output=64,height=224,width=224,kernel_h=7,kernel_w=7,stride_h=2,stride_w=2,"
                                                                             "padding_h=3,padding_w=3,end_h=3,end_w=3,groups=1,dilation_h=1,dilation_w=1"]),
        # Squares, a minibatch of two, and padding that follows from the output.
        ("ic8ih10oc4oh10kh3n\"a\" ic8ih10oc4kh3\n", ["batch=2,input=8,output=4,height=10,width=10,kernel_h=3,kernel_w=3,stride_h=1,stride_w=1,padding_h=1,padding_w=1,end_h=1", "padding_h=0"]),
        ("g4ic8ih10oc4kh3dh1\n", ["groups=4,dilation_h=2,dilation_w=2"]),
        ("mb1ic3iw16oc4kw5sw2\n", ["height=1,width=16,kernel_h=1,kernel_w=5,stride_h=1,stride_w=2"]),
        ("mb1ic3ih9oc4oh5kh2sh2ph0\n", ["padding_h=0,padding_w=0,end_h=1,end_w=1"]),
        ("# a comment\n--conv --mode=P --dt=bf16:bf16:bf16 --mb=7 ic3ih9oc4kh2\n--reset ic3ih9oc4kh2 --pool mb1ic3ih9kh2\n", ["batch=7.*dtype=bf16", "batch=2,"]),
        ("std::vector<a> b = {\n    std::make_tuple(700, 161, 1, 4, 32, 20, 5, 1, 0, 2, 3),\n};\n",
         ["batch=4,input=1,output=32,height=161,width=700,kernel_h=5,kernel_w=20,stride_h=3,stride_w=2,padding_h=0,padding_w=1"]),
        ("batch,input,output,height\n1,3,4,9\n", ["batch=1,input=3,output=4,height=9,width=9"]),
    ],
    "dense": [("ic2id3oc5\nic2id3ih1oc5\nic2id3ih2iw1oc5\n", ["input=54,", "input=6,", "input=12,"]), ("./benchdnn --ip ic2oc5\nbenchdnn --ip ic3oc5\n", ["input=2,", "input=3,"]),
              # A driver begins anew, and what goes backward is left out.
              ("--ip --mb=7 --dt=bf16 ic2oc5\n--ip ic3oc5\n", ["batch=7.*dtype=bf16", "batch=2,input=3.*threads=1$"]),
              ("--ip --dt=bf16:f32:bf16 --dir=BWD_W ic2oc5\n--dt=f32 --dir=FWD_B ic3oc5\n", ["input=3,"]),
              ("--ip mb4ic8oc3n\"x\" ic2ih3oc5\n--conv ic3ih9oc4kh2\n", ["batch=4,input=8,output=3", "batch=2,input=18,output=5"])],
    "matmul": [("10x30:30x20\n--stag=ba 4x3x2:4x2x5:4x3x5n\"x\"\n--reset --strides=6x3x1:20x1x4:6x2x1 5x2x3:5x3x4\n",
                ["batch=1,m=10,n=20,k=30,transpose_a=no,transpose_b=no", "batch=4,m=3,n=5,k=2,transpose_a=yes", "batch=5,m=2,n=4,k=3,transpose_a=no,transpose_b=yes"]),
               ("1760,16,1760,0,1\n35 8457 2560 T N\n", ["m=16,n=1760,k=1760,transpose_a=yes,transpose_b=no", "m=8457,n=35,k=2560,transpose_a=no,transpose_b=yes"]),
               # A matrix is no number, whatever follows it.
               ("2x3:3x4 \n 2x3:3x5\t# a comment\n2x3:3x6n\"a,b\"\n", ["m=2,n=4,k=3", "n=5", "n=6"]),
               ("16,7,8,false,false # a comment\n", ["m=7,n=16,k=8"]),
               ("a = {std::make_tuple(1, 2, 3, false, false), std::make_tuple(4, 5, 6, true, false), // std::make_tuple(9)\n};\n", ["m=2,n=1,k=3", "m=5,n=4,k=6"])],
    "rnn": [("--rnn --t=7 --l=1 --direction=right2left --with-peephole=false l3t3mb4sic5\n--rnn --prop=BWD_DW sic5\n", ["steps=7,batch=4"]),
            ("--rnn --alg=VANILLA_GRU t3mb4sic5slc6dhc5\n--alg=VANILLA_LSTM l1t3mb4sic5\n", ["cell=gru,steps=3,batch=4,input=6,hidden=5", "cell=lstm,steps=3,batch=4,input=5,hidden=5"]),
            ("# hidden batch steps cell\n1760, 16, 50, \"vanilla\"\n512,16,25,lstm\n", ["cell=rnn,steps=50,batch=16,input=1760,hidden=1760", "cell=lstm,steps=25,batch=16,input=512,hidden=512"])],
}
BAD = [
    ("conv2d", "\n--cnov ic3ih9oc4kh2\n", "shapes.txt:2:1: benchdnn has no driver --cnov, did you mean 'conv'?"),
    ("conv2d", "ic3ih9xx4\n", "shapes.txt:1:1: 'ic3ih9xx4' is no descriptor of --conv: it goes wrong at 'xx4'"),
    ("conv2d", "ic3ih9oc\n", "shapes.txt:1:1: 'ic3ih9oc' is no descriptor of --conv: it goes wrong at 'oc'"),
    ("conv2d", "mb1 ic3ih9oc4kh2\n", "shapes.txt:1:1: 'mb1': a convolution needs ic, ih, oc and kh, and a stride above 0: ic3ih8oc4kh3"),
    ("conv2d", "ic3ih9oc4oh20kh2\n", "shapes.txt:1:1: 'ic3ih9oc4oh20kh2': oh and ow do not follow from ih, kh, sh, ph and dh; leave them out"),
    ("conv2d", "ic3ih2oc4kh5\n", "shapes.txt:1:1: 'ic3ih2oc4kh5': the kernel is larger than the image with its padding"),
    ("conv2d", "g2ic3ih9oc4kh2\n", "shapes.txt:1:1: 'g2ic3ih9oc4kh2': g has to divide ic and oc"),
    ("conv2d", "ic3id9ih9oc4kh2\n", "shapes.txt:1:1: 'ic3id9ih9oc4kh2': an image has two dimensions, h and w"),
    ("conv2d", "--dt=u8:s8:u8 ic3ih9oc4kh2\n", "shapes.txt:1:15: elements are u8:s8:u8, and a row's are all f32, bf16 or f16"),
    ("conv2d", "  --batch=other\n", "shapes.txt:1:3: --batch names another file, give that one: rows: {file: ...}"),
    ("conv2d", "--mb=x ic3ih9oc4kh2\n", "shapes.txt:1:1: '--mb=x' is no number, expected --mb=64"),
    ("rnn", "--t=1,2 sic5\n", "shapes.txt:1:1: '--t=1,2' is no number, expected --t=64"),
    ("rnn", "--direction=concat sic5\n", "shapes.txt:1:1: '--direction=concat': a row has --direction=left2right alone"),
    ("rnn", "--with-projection=true sic5\n", "shapes.txt:1:1: '--with-projection=true': a row has --with-projection=false alone"),
    ("rnn", "--rnn --with-peephole=true,false sic5\n", "shapes.txt:1:7: '--with-peephole=true,false': a row has --with-peephole=false alone"),
    ("matmul", "--stag=ab,ba 2x3:3x4\n", "shapes.txt:1:1: '--stag=ab,ba' is a list, and a row has one layout"),
    ("matmul", "--strides=1x2:3x1:2x1,2x1:2x1:2x1 2x3:3x4\n", "shapes.txt:1:1: '--strides=1x2:3x1:2x1,2x1:2x1:2x1' is a list, and a row has one layout"),
    ("matmul", "a = make_tuple(1, 2, 3, 0, 0), make_tuple(4, 5);\n", "shapes.txt:1:43: expected a line of DeepBench's list: m, n, k, a_t, b_t"),
    ("conv2d", "--pool mb1ic3ih9kh2\n", "shapes.yaml:3:42: shapes.txt: has no line of conv2d, which benchdnn calls --conv"),
    ("conv2d", "1,2,3\n", "shapes.txt:1:1: expected a line of DeepBench's list: w, h, c, n, k, filter_w, filter_h, pad_w, pad_h, wstride, hstride"),
    ("conv2d", "9,9,3,1,4,5,5,0,0,0,1\n", "shapes.txt:1:1: a convolution needs ic, ih, oc and kh, and a stride above 0: ic3ih8oc4kh3"),
    ("matmul", "4x3:4x5\n", "shapes.txt:1:1: '4x3:4x5' is no product, expected MxK:KxN, or with as many in both before it: BxMxK:BxKxN"),
    ("matmul", "2x4x3:1x3x5\n", "shapes.txt:1:1: '2x4x3:1x3x5' is no product, expected MxK:KxN, or with as many in both before it: BxMxK:BxKxN"),
    ("dense", "mb4ic8\n", "shapes.txt:1:1: 'mb4ic8': a dense layer needs ic and oc: mb64ic1024oc1000"),
    ("dense", "4,3,2\n", "shapes.txt:1:1: DeepBench has no such list"),
    ("rnn", "l2t3mb4sic5\n", "shapes.txt:1:1: 'l2t3mb4sic5': a row is one layer without projection: l1, and no dic"),
    ("rnn", "--alg=LBR_AUGRU t3mb4sic5\n", "shapes.txt:1:1: '--alg=LBR_AUGRU' is no cell, expected VANILLA_RNN, VANILLA_LSTM, VANILLA_GRU or LBR_GRU"),
    ("rnn", "t3mb4\n", "shapes.txt:1:1: 't3mb4': a recurrent layer needs sic, or slc and dhc: t50mb64sic512"),
    ("conv", "ic3ih9oc4kh2\n", "shapes.yaml:3:21: unknown operator 'conv', expected conv2d, dense, matmul or rnn"),
]


class Shapes(Case):
    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
            file.write(text)

    def rows(self, *arguments):
        return list(csv.DictReader(self.paradnn(*arguments, "--format", "csv", expect=0).stdout.splitlines()))

    def test_lists_become_rows(self):
        for operator, texts in GOOD.items():
            self.write("shapes.yaml", SPEC.format(operator))
            for text, expected in texts:
                with self.subTest(text):
                    self.write("shapes.txt", text)
                    ids = [row["id"] for row in self.rows("list", "shapes.yaml")]
                    self.assertEqual(len(ids), len(expected), ids)
                    for name, part in zip(ids, expected):
                        self.assertRegex(name, rf"\A{operator}_op@[0-9a-f]{{8}}/.*{part}")

    def test_bad_lines(self):
        for operator, text, message in BAD:
            with self.subTest(text):
                self.write("shapes.yaml", SPEC.format(operator))
                self.write("shapes.txt", text)
                self.assertEqual(self.paradnn("list", "shapes.yaml", expect=2).stderr, f"paradnn: {message}\n")

    def test_what_export_writes_comes_back(self):
        """The convolutions of ResNet-50, each shape once, and the dense layer: a comment counts them, which makes its published FLOP."""
        text = self.paradnn("export", "cnn:resnet50,batch=1,mode=infer", "--to", "benchdnn", expect=0).stdout
        self.write("shapes.txt", text)
        self.write("shapes.yaml", SPEC.format("conv2d") + "  \n")
        convolutions = self.rows("list", "shapes.yaml")
        counts = [int(line.split(", ")[1].split()[0]) for line in text.splitlines() if line.startswith("# conv2d forward, ")]
        self.write("shapes.yaml", SPEC.format("dense"))
        dense = self.rows("list", "shapes.yaml")
        self.assertEqual((len(convolutions), sum(counts), len(dense)), (23, 53, 1))
        self.assertEqual(sum(count * int(row["flop_count"]) for count, row in zip(counts, convolutions)) + int(dense[0]["flop_count"]), 2 * 4089184256)

    def test_shapes_go_into_rows(self):
        self.write("shapes.yaml", "run: {mode: infer}\nmodels: [{operator: dense, input: [3, 4]}]\n")
        self.assertEqual(self.paradnn("list", "shapes.yaml", expect=2).stderr,
                         "paradnn: shapes.yaml:2:28: shapes of an operator go into rows: {columns: [input], values: [[...]]}\n")

    def test_types_of_a_list_are_its_own(self):
        """What no line says is the run's; f32 that a line says is not dropped for it."""
        self.write("shapes.yaml", SPEC.format("dense").replace("mode: infer", "mode: infer, dtype: bf16"))
        self.write("shapes.txt", "--ip ic2oc5\n")
        self.assertIn(",dtype=bf16", self.rows("list", "shapes.yaml")[0]["id"])
        for text in ("--ip --dt=f32 ic2oc5\n", "--ip ic2oc5\n--ip --dt=bf16 ic3oc5\n"):
            self.write("shapes.txt", text)
            self.assertEqual(self.paradnn("list", "shapes.yaml", expect=2).stderr, "paradnn: shapes.yaml:3:41: rows has a column dtype, which is given values elsewhere, too\n")

    def test_training_comes_back_forward(self):
        for dtype in ("f32", "bf16"):
            shapes = []
            for mode in ("train", "infer"):
                self.write("shapes.txt", self.paradnn("export", f"cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3,mode={mode},dtype={dtype}", "--to", "benchdnn", expect=0).stdout)
                self.write("shapes.yaml", SPEC.format("conv2d"))
                shapes.append(sorted(row["id"] for row in self.rows("list", "shapes.yaml")))
            self.assertEqual(*shapes)

    def test_a_list_is_a_sweep(self):
        """Which its record repeats without the list."""
        self.write("shapes.txt", "4x3:3x5\n6x7:7x2\n")
        self.write("shapes.yaml", SPEC.format("matmul").replace("models", "measure: {rounds: 1, max_time: 1ms, min_samples: 3, probe: off}\nmodels"))
        self.paradnn("sweep", "shapes.yaml", "-o", "out", "--ceilings", "roofs.csv", expect=0)
        rows = self.rows("results", "out")
        self.assertEqual(sorted((row["m"], row["n"], row["k"], row["status"]) for row in rows), [("4", "5", "3", "ok"), ("6", "2", "7", "ok")])
        os.remove(os.path.join(self.directory, "shapes.txt"))
        self.assertEqual(sorted(row["id"] for row in self.rows("list", "out/spec.yaml")), sorted(row["id"] for row in rows))

    def test_operators_stand_beside_families(self):
        self.write("tiny.yaml", "family: tiny\naxes: {batch: {default: 4, range: 1..64}}\ninputs: {x: {shape: [batch, 16]}}\nops: [{relu, from: x}]\n")
        self.write("all.yaml", "run: {mode: infer, threads: 1}\nfamilies: [tiny.yaml]\nmodels:\n  - tiny: {}\n  - {operator: dense, rows: {columns: [input], values: [[3], [4]]}}\n"
                               "  - {operator: dense, rows: {columns: [batch], values: [[3]]}}\n  - rnn: {length: 3}\n")
        self.assertEqual([row["id"].split("/")[0].split("@")[0] for row in self.rows("list", "all.yaml")], ["tiny", "dense_op", "dense_op", "dense_op", "rnn"])


if __name__ == "__main__":
    main(1)
