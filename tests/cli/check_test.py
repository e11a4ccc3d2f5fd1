#!/usr/bin/env python3
"""paradnn check: what passes, what is skipped, and what it prints.

Usage: check_test.py PARADNN [TEST...]"""

import re

from program import Case, environment, main, table



class Check(Case):
    ID = "fc/layers=2,nodes=64,input=20,output=10,batch=16,threads=1"

    def all_pass(self, *arguments):
        """On as many threads as there are cores, which may have other things to do."""
        done = self.paradnn("check", *arguments, env=environment(OMP_WAIT_POLICY="passive"))
        count = len([name for name in arguments if "/" in name])
        self.assertRegex(done.stderr, rf"(\A|\n){count} passed, 0 failed, 0 skipped\n\Z", done.stdout)

    def test_check_passes(self):
        for backend in ("onednn", "openblas"):
            with self.subTest(backend):
                done = self.paradnn("check", self.ID, "--backend", backend, expect=0)
                self.assertRegex(done.stdout, r"\APASS  fc/.*,threads=1\n" if backend == "onednn" else rf"\APASS  fc/.*,backend={backend},threads=1\n")
                self.assertEqual(done.stderr, "1 passed, 0 failed, 0 skipped\n")

    def test_check_passes_where_terms_cancel(self):
        speech = "deepspeech2/hidden=8,layers=1,frames=41,characters=5,labels=2,batch=2"
        translation = "gnmt/hidden=8,layers=2,vocabulary=20,source=4,target=5,batch=3"
        ids = [f"{model},backend={backend},mode={mode}" for mode in ("train", "infer")
               for model, backend in ((speech, "onednn"), (translation, "onednn"), (translation, "openblas"))]
        self.all_pass(*ids)

    def test_check_of_16_bit(self):
        """What the unit tests of 16 bits do not have."""
        models = ("fc/layers=2,nodes=24,input=20,output=10,batch=8", "cnn/block=residual,image=32,batch=2,filters=4",
                  "rnn/cell=gru,embedding=16,length=4,vocabulary=20,batch=4,bidirectional=yes",
                  "gnmt/hidden=8,layers=2,vocabulary=20,source=4,target=5,batch=3",
                  "transformer/layers=1,hidden=32,heads=4,ffn=48,length=8,batch=2,vocabulary=50,fuse=blocks")
        ids = [f"{model},dtype={dtype},mode={mode},backend={backend}" for model in models for dtype in ("bf16", "f16")
               for mode in ("infer", "train") for backend in ("onednn", "reference")]
        speech = "deepspeech2/hidden=8,layers=1,frames=41,characters=5,labels=2,batch=2,dtype="
        ids += [speech + "bf16,mode=train", speech + "f16,mode=infer"]
        self.all_pass(*ids, "--allow-slow")

    def test_check_of_networks(self):
        """Op by op, as whole steps in 16 bits, or of gradients that cancel, cannot be compared (the unit test backends_networks)."""
        cancels = ("sd_unet/widths=8-16,repeats=1,heads=2,groups=2,text=3,tokens=3,image=4,batch=2", "shufflenet_v2/widths=4-6-8-5,repeats=1-2-1,image=32,output=3,batch=2",
                   "mlp_mixer/layers=2,hidden=6,patch=2,image=4,output=3,batch=2")
        others = ("mobilenet_v1/width=0.1,image=32,output=3,batch=2", "mobilenet_v2/width=0.1,image=32,output=3,batch=2", "mobilenet_v3/width=0.1,image=32,output=3,batch=2",
                  "efficientnet/width=0.1,depth=0.5,image=32,output=3,batch=2", "regnet/depths=1,widths=8,group=4,image=32,output=3,batch=2",
                  "resnext/blocks=1,filters=8,groups=2,base=16,image=32,output=3,batch=2", "convnext/depths=1-2,widths=4-6,image=16,output=3,batch=2",
                  "squeezenet/stem=4,kernel=3,width=0.125,image=32,output=3,batch=2", "densenet/blocks=1-2-1,growth=4,filters=4,image=32,output=3,batch=2",
                  "unet/depth=2,filters=4,image=16,output=3,batch=2", "minigo/board=3,blocks=1,filters=4,units=3,planes=2,batch=2",
                  "retinanet/height=32,width=32,classes=2,anchors=2,blocks=1,filters=2,channels=4,batch=1",
                  "mask_rcnn/height=32,width=32,classes=2,regions=4,masks=4,blocks=1,filters=2,channels=4,units=3,batch=1",
                  "vit/layers=1,hidden=6,heads=3,patch=2,image=4,output=3,batch=2", "dit/layers=1,hidden=8,heads=2,image=4,classes=5,batch=2",
                  "swin/depths=2-1,hidden=4,head=2,window=2,patch=1,image=8,output=3,batch=2", "llama/layers=1,hidden=8,heads=2,ffn=6,experts=4,active=2,length=4,vocabulary=5,batch=2",
                  "llama/layers=1,hidden=8,heads=2,kv_heads=1,ffn=6,length=4,vocabulary=5,batch=2,qk_norm=yes", "mamba/layers=1,hidden=8,states=3,length=4,vocabulary=5,batch=2",
                  "t5/layers=1,hidden=4,heads=2,width=3,ffn=6,buckets=4,distance=5,length=5,target=4,vocabulary=7,batch=2",
                  "whisper/layers=1,hidden=4,heads=2,frames=4,mels=3,length=3,vocabulary=5,batch=2", "graphsage/layers=2,hidden=3,features=4,fanout=2,output=3,batch=2",
                  "ncf/users=9,items=7,factors=4,mlp=5-3,input=6,batch=2")
        decoders = ("llama/layers=1,hidden=8,heads=2,kv_heads=1,ffn=6,vocabulary=5,batch=2,context=4", "mamba/layers=1,hidden=8,states=3,vocabulary=5,batch=2",
                    "t5/layers=1,hidden=4,heads=2,width=3,ffn=6,buckets=4,distance=5,length=5,vocabulary=7,batch=2,context=3",
                    "whisper/layers=1,hidden=4,heads=2,frames=4,vocabulary=5,batch=2,context=3")
        types = ("bf16", "f16")
        ids = [f"{model},mode=train,fuse={fuse}" for model in cancels for fuse in ("none", "blocks")]
        ids += [f"{model},mode={mode},dtype={dtype},fuse=blocks" for model in cancels + others for mode in ("infer", "train") for dtype in types]
        ids += [f"{model},phase=decode,mode=infer,dtype={dtype},fuse=blocks" for model in decoders for dtype in types]
        self.all_pass(*ids, "--allow-slow")

    def test_check_of_algorithms_that_do_not_always_apply(self):
        """Winograd is for some convolutions of a network; int8 without VNNI is described and then cannot be set up."""
        with open("/proc/cpuinfo") as info:
            if "avx512bw" not in info.read().split():
                self.skipTest("needs AVX-512")
        int8 = "cnn/block=plain,blocks=1-2,filters=16,image=32,output=3,batch=2,mode=infer,dtype=int8,isa=avx512_core"
        self.all_pass(int8)
        for model in ("residual,blocks=1", "plain,blocks=2-1"):
            for mode in ("infer", "train"):
                done = self.paradnn("check", f"cnn/block={model},filters=16,image=32,batch=2,output=2,mode={mode},algorithm=winograd", expect=0)
                self.assertRegex(done.stderr, r"(\A|\n)1 passed, 0 failed, 0 skipped\n\Z", done.stdout)

    def test_check_passes_where_all_of_a_result_cancels(self):
        """The gradient through a normalization of a single value is 0, whatever comes in."""
        transformer = "transformer/hidden=1,heads=1,layers=1,length=4,batch=2,vocabulary=8"
        self.all_pass("cnn/block=residual,blocks=1,filters=8,image=32,batch=1,output=2", transformer, transformer + ",fuse=blocks",
                      "deepspeech2/hidden=1,layers=1,frames=41,characters=5,labels=2,batch=1")

    def test_want_of_memory_is_no_failure(self):
        """There is room for both plans and, unless the worker has some to spare, none for the copies that the comparison
        needs beside them."""
        model = "fc/layers=1,nodes=8192,input=8192,batch=1,output=1,mode=infer,threads=1"
        limit, lacks = 500 << 20, re.compile(r"SKIP .* needs (\d+) bytes, the limit is (\d+)")
        done = self.paradnn("check", model, "--set", f"limits.memory={limit >> 10}KiB", expect=0)
        self.assertRegex(done.stdout, lacks)
        while found := lacks.search(done.stdout):  # the implementation is chosen anew, and needs what it needs
            limit += int(found[1]) - int(found[2]) + (1 << 20)
            done = self.paradnn("check", model, "--set", f"limits.memory={limit >> 10}KiB", expect=0)
        self.assertRegex(done.stdout, r"\A(SKIP  fc/.*: out of memory for the check\n\Z|PASS)")
        self.assertRegex(done.stderr, r"\A(0 passed, 0 failed, 1|1 passed, 0 failed, 0) skipped")

    def test_check_csv(self):
        done = self.paradnn("check", self.ID, "--format", "csv", expect=0)
        rows = table(done.stdout)
        self.assertEqual({row["status"] for row in rows}, {"pass"})
        self.assertTrue(all(float(row["error"]) <= float(row["tolerance"]) for row in rows))

    def test_check_says_what_it_skips_and_that_nothing_was_compared(self):
        done = self.paradnn("check", self.ID, "--max-flop", "1000", expect=0)
        self.assertRegex(done.stdout, r"\ASKIP  fc/.*: .*FLOP, more than the 1.00 kFLOP of --max-flop\n\Z")
        self.assertEqual(done.stderr, "0 passed, 0 failed, 1 skipped: nothing was compared\n")


if __name__ == "__main__":
    main(1)
