#!/usr/bin/env python3
"""What a new user types: names, files and options that are nearly right. Each works, or one line says what to write.

Usage: tried_test.py PARADNN"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import needs  # pylint: disable=wrong-import-position

PARADNN = os.path.abspath(sys.argv[1])

FILES = {
    "fc.yaml": "run: {mode: infer}\nmodels:\n  - fc: {layers: [1, 2], nodes: 8, input: 4, output: 2, batch: 2}\n  - rnn: {length: 3}\n",
    "net.yaml": "models: [{resnet50: {batch: 1}}]\n",
    "bare.yaml": "models:\n  - fc:\n",
    "two.yaml": "models: [{paper-min: }]\n",
    "words.yaml": "models: [resnet50]\n",
    "numbers.yaml": "models: [fc: {nodes: 1e3, input: 4Ki, output: 4k}]\n",
    "yes.yaml": "models: [bert-base: {pooler: true}]\n",
    "map.yaml": "models: {fc: {layers: 2}}\n",
    "nodes.yaml": "nodes: 128\nmodels: [fc: {}]\n",
    "threads.yaml": "models: [fc: {threads: 1}]\n",
    "rounds.yaml": "run: {rounds: 3}\nmodels: [fc: {}]\n",
    "zip.yaml": "run: {threads: 1}\nmodels: [{fc: {nodes: [64, 128, 64], batch: [16, 16, 32]}, zip: [[nodes, batch]]}]\n",
    "rows.yaml": "models:\n  - fc: {layers: [1, 2]}\n    rows: {columns: [nodes, batch, threads], values: [[64, 16, 1], [64, 32, 1], [64, 16, 1]]}\n",
    "shapes/spec.yaml": "run: {threads: 1}\nmodels: [{fc: {layers: 1}, rows: {file: some.csv}}]\n",
    "shapes/fewer.yaml": "run: {threads: 1}\nmodels: [{fc: {layers: 1}, rows: {file: some.csv, columns: [batch]}, where: batch > 16}]\n",
    "shapes/wrong.yaml": "models: [{fc: {layers: 1}, rows: {file: some.csv, columns: [btch]}}]\n",
    "shapes/cell.yaml": "models: [{fc: {}, rows: {file: cell.csv}}]\n",
    "shapes/some.csv": "\ufeffnodes, batch,mode\r\n64,16,\"infer\"\r\n\r\n64,32,train\r\n",
    "shapes/floats.yaml": "run: {threads: 1}\nmodels: [{bert-base: {}, rows: {file: floats.csv, columns: [layers, batch, pooler]}}]\n",
    "shapes/floats.csv": "\"\",\"layers\",\"batch\",\"pooler\"\n\"1\",2.0,1E+01,TRUE\n\"2\",3,4.0,False\n",
    "shapes/cell.csv": "nodes,batch\n64,16\n64,x\n",
    "merge.yaml": "run: {threads: 1}\nmodels:\n  - fc: &a {layers: 1, nodes: 8}\n  - fc: &b {<<: *a, nodes: 16, batch: 2}\n"
                  "  - fc: {batch: 4, <<: [*b, {nodes: 32, input: 7}]}\n",
    "mark.yaml": "\ufeffrun: {threads: 1}\nmodels:\n  - fc: {layers: 3}\n",
    "marked.yaml": "\ufeffmodles: []\n",
    "fc.results/spec.yaml": "models: [fc: {}]\n",
    "fc.results/results.csv": "id,status\n",
}

RESNET = r"cnn/block=bottleneck,blocks=3-4-6-3,.*,batch=%d,"

# Arguments, what stdin holds, and what is printed: to stdout if it works, else the one line on stderr.
WORKS = [
    ("help", "", r"\AUsage: paradnn COMMAND .*  sweep "),
    ("--help", "", r"\AUsage: paradnn COMMAND "),
    ("help run", "", r"\AUsage: paradnn run "),
    ("help help", "", r"\AUsage: paradnn help "),
    ("--help run", "", r"\AUsage: paradnn run "),
    ("help spec", "", r"\A# Specs\n"),
    ("version", "", r"\Aparadnn \d+\.\d+\.\d+\nonednn "),
    ("-V", "", r"\Aparadnn \d"),
    ("list resnet50,batch=1,threads=1", "", RESNET % 1),
    ("list bert-base,length=512,threads=1", "", r"transformer/architecture=encoder,.*,length=512,"),
    ("list fc,nodes=128,threads=1", "", r"fc/layers=4,nodes=128,"),
    ("list net.yaml --set run.threads=1", "", RESNET % 1),
    ("list net.yaml --set models.0.resnet50.batch=2 --set run.threads=1", "", RESNET % 2),
    ("list words.yaml --set models.0.resnet50.batch=2 --set run.threads=1", "", RESNET % 2),
    ("list numbers.yaml", "", r"nodes=1000,input=4096,output=4000,"),
    ("list fc,dtype=int8,threads=1", "", r" unsupported  fc/"),
    ("list fc,dtype=int8,mode=infer,threads=1", "", r" MiB +fc/"),
    ("list fc/nodes=2Ki,threads=1", "", r"fc/layers=4,nodes=2048,"),
    ("list yes.yaml", "", r"pooler=yes,[^\n]*\n\Z"),
    ("list -", FILES["fc.yaml"], r"fc/layers=1,nodes=8,.*\n.*fc/layers=2,nodes=8,"),
    ("list - resnet50", FILES["fc.yaml"], r"fc/layers=1,.*\n.*\n.*rnn/.*\n.*cnn/block=bottleneck,"),
    ("list --count - --set run.mode=train", FILES["fc.yaml"], r"\Ainstances .*\n +3 "),
    ("list zip.yaml", "", r"nodes=64,[^\n]*batch=16,[^\n]*\n[^\n]*nodes=128,[^\n]*batch=16,[^\n]*\n[^\n]*nodes=64,[^\n]*batch=32,[^\n]*\n\Z"),
    ("list rows.yaml", "", r"layers=1,nodes=64,[^\n]*batch=16,[^\n]*\n[^\n]*layers=1,nodes=64,[^\n]*batch=32,[^\n]*\n[^\n]*layers=2,[^\n]*batch=16"
     r"[^\n]*\n[^\n]*layers=2,[^\n]*batch=32,[^\n]*\n\Z"),
    ("list shapes/spec.yaml", "", r"status  id\n[^\n]*batch=16,[^\n]*mode=infer,[^\n]*\n[^\n]*batch=32,activation=relu,threads=1\n\Z"),
    ("list shapes/fewer.yaml", "", r"filtered  fc/layers=1,[^\n]*batch=16,[^\n]*\n[^\n]*batch=32,activation=relu,threads=1\n\Z"),
    ("list shapes/floats.yaml", "", r"layers=2,[^\n]*batch=10,[^\n]*pooler=yes,[^\n]*\n[^\n]*layers=3,[^\n]*batch=4,[^\n]*pooler=no,"),
    ("list merge.yaml", "", r"layers=1,nodes=8,input=2000,[^\n]*\n[^\n]*layers=1,nodes=16,input=2000,[^\n]*batch=2,[^\n]*\n"
     r"[^\n]*layers=1,nodes=16,input=7,[^\n]*batch=4,[^\n]*\n\Z"),
    ("list mark.yaml", "", r"fc/layers=3,[^\n]*\n\Z"),
    ("list -", FILES["mark.yaml"], r"fc/layers=3,[^\n]*\n\Z"),
    ("families resnet50", "", r"hyper-parameter +block "),
    ("columns gflops", "", r"results +gflops "),
    ("columns preempted", "", r"flags +preempted +.*What to do: "),
]
WRONG = [
    ("fc.yaml", "fc.yaml is a spec, not a command: 'paradnn sweep fc.yaml' runs it, 'paradnn list fc.yaml' lists it"),
    ("fc.yml", "unknown command 'fc.yml', did you mean 'fc.yaml'?"),
    ("resnet50", "resnet50 is a model, not a command: 'paradnn run resnet50' measures it, 'paradnn families resnet50' explains it"),
    ("fc.results", "fc.results is a directory, not a command: try 'paradnn report fc.results'"),
    ("sweeep fc.yaml", "unknown command 'sweeep', did you mean 'sweep'?"),
    ("bench fc.yaml", "unknown command 'bench', see 'paradnn help'"),
    ("list fc --csv", "list: unknown option '--csv', did you mean '--format csv'?"),
    ("plot roofline fc.results --svg", "plot: unknown option '--svg', did you mean '--format svg'?"),
    ("--versoin", "unknown option '--versoin', did you mean '--version'?"),
    ("help fc", "fc is a model, not a command: 'paradnn run fc' measures it, 'paradnn families fc' explains it"),
    ("help swep", "unknown command 'swep', did you mean 'sweep'?"),
    ("list fc.yml", "fc.yml: No such file or directory, did you mean 'fc.yaml'?"),
    ("list fc.yalm", "fc.yalm: No such file or directory, did you mean 'fc.yaml'?"),
    ("list bert", "unknown model 'bert', did you mean 'bert-base' or 'bert-large'?"),
    ("list ResNet50", "unknown model 'ResNet50', did you mean 'resnet50'?"),
    ("list paper-min", "'paper-min': paper-min is a preset of fc and rnn, write fc:paper-min or rnn:paper-min"),
    ("list fc:resnet50", "'fc:resnet50': fc has no preset 'resnet50', did you mean 'cnn:resnet50'?"),
    ("list two.yaml", "two.yaml:1:11: paper-min is a preset of fc and rnn, write fc: {preset: paper-min} or rnn: {preset: paper-min}"),
    ("list map.yaml", "map.yaml:1:9: models takes a list with an entry per model (- fc: {...}), not a map"),
    ("list nodes.yaml", "nodes.yaml:1:1: unknown key 'nodes' in a spec, it is a hyper-parameter of fc"),
    ("list threads.yaml", "threads.yaml:1:15: unknown key 'threads' in fc, it belongs under run"),
    ("list rounds.yaml", "rounds.yaml:1:7: unknown key 'rounds' in run, it belongs under measure"),
    ("list fc.yaml --set nodes=128",
     "--set nodes=128: unknown key 'nodes' in a spec, it is a hyper-parameter of fc: --set models.0.fc.nodes=128"),
    ("list fc.yaml --set batch=1", "--set batch=1: unknown key 'batch' in a spec, it is a hyper-parameter of many families: --set models.0.fc.batch=1, likewise models.1"),
    ("list fc.yaml --set rnn.length=9", "--set rnn.length=9: models are set one by one: --set models.1.rnn.length=9"),
    ("list fc.yaml --set threads=1",
     "--set threads=1: unknown key 'threads' in a spec, it belongs under run: --set run.threads=1"),
    ("list fc.yaml --set cache=cold",
     "--set cache=cold: unknown key 'cache' in a spec, it belongs under measure: --set measure.cache=cold"),
    ("run fc --threads 1", "run: unknown option '--threads', it belongs under run: --set run.threads=VALUE"),
    ("run fc --batch 1", "run: unknown option '--batch', it is a hyper-parameter of many families: "
     "write MODEL,batch=VALUE for an ID, --set models.0.MODEL.batch=VALUE for a SPEC"),
    ("import gpu_fc.json --threads 1", "import: unknown option '--threads', it is a parameter: --set threads=VALUE"),
    ("import gpu_fc.json --nodes=1", "import: unknown option '--nodes=1', it is a parameter: --set nodes=VALUE"),
    ("import gpu_fc.json --rounds=1", "import: unknown option '--rounds=1', see 'paradnn import --help'"),
    ("list fc.yaml --set threads.1=2", "--set threads.1=2: unknown key 'threads' in a spec, it belongs under run: --set run.threads=VALUE"),
    ("list fc.yaml --set nodes.1=2", "--set nodes.1=2: models are set one by one: --set models.0.fc.nodes=2"),
    ("list fc nodes=128", "'nodes=128': a model comes first, such as fc,nodes=128"),
    ("run threads=1", "'threads=1': a family or preset comes before key=value, see 'paradnn families'"),
    ("sweep fc.yaml --budget 45s", "sweep: unknown option '--budget', it belongs under limits: --set limits.budget=VALUE"),
    ("list fc.results", "fc.results: is a result directory, its spec is fc.results/spec.yaml"),
    ("run fc.results/results.csv", "fc.results/results.csv: is a table, expected a spec or an ID"),
    ("list shapes/wrong.yaml", "shapes/wrong.yaml:1:61: shapes/some.csv has no column 'btch'"),
    ("list shapes/cell.yaml", "shapes/cell.csv:3:4: batch is 'x', expected a whole number"),
    ("list marked.yaml", "marked.yaml:1:1: unknown key 'modles' in a spec, did you mean 'models'?"),
    ("list loop.yaml", "loop.yaml: Too many levels of symbolic links"),
    ("list fc/layers=\u200b2", "'fc/layers=\\u200b2': layers is '\\u200b2', expected a whole number"),
    ("list - -", "'-' is given twice, and there is one standard input"),
    ("list -", "stdin:1:1: empty, a spec has at least `models`"),
    ("sweep -", "stdin:1:1: empty, a spec has at least `models`"),
    ("breakdown fc.yaml", "breakdown: fc.yaml is a spec, expected a directory such as 'paradnn sweep fc.yaml' writes, "
     "did you mean 'fc.results'?"),
    ("report net.yaml", "report: net.yaml is a spec, expected a directory such as 'paradnn sweep net.yaml' writes"),
    ("plot roofline fc.result", "fc.result: No such file or directory, did you mean 'fc.results'?"),
    ("plot fc.results roofline", "plot: roofline comes first: paradnn plot roofline fc.results"),
    ("report fc.results/results.csv", "report: fc.results/results.csv is a file, expected its directory: fc.results"),
    ("compare resnet50 fc.results",
     "compare: resnet50 is a model, expected a directory such as 'paradnn sweep resnet50 -o DIR' writes"),
    ("status nowhere", "nowhere: No such file or directory"),
    ("merge fc.yaml -o all.results", "merge: fc.yaml is a spec, expected a directory such as 'paradnn sweep fc.yaml' writes, "
     "did you mean 'fc.results'?"),
    ("columns nosiy", "unknown table, column or value 'nosiy', did you mean 'noisy'?"),
]


class Tried(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        for name, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(self.directory, name)), exist_ok=True)
            with open(os.path.join(self.directory, name), "w", encoding="utf-8", newline="") as file:
                file.write(text)

        os.symlink("loop.yaml", os.path.join(self.directory, "loop.yaml"))

    def paradnn(self, arguments, stdin=""):
        kept = needs.quiet()
        return subprocess.run([PARADNN, *arguments.split()], input=stdin, capture_output=True, text=True, cwd=self.directory,
                              env={**kept, "LC_ALL": "C", "PARADNN_NO_CACHE": "1"}, check=False)

    def files(self):
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(self.directory) for name in names)

    def test_works(self):
        for arguments, stdin, expected in WORKS:
            with self.subTest(arguments):
                done = self.paradnn(arguments, stdin)
                self.assertEqual((done.returncode, done.stderr if "--count" not in arguments else ""), (0, ""))
                self.assertTrue(re.search(expected, done.stdout, re.S), done.stdout)

    def test_long_tables(self):
        """As many rows, and as long a list, as a range has values: published tables have 8,539 and 14,000."""
        rows = [(at % 127 + 1, at // 127 + 1) for at in range(14000)]
        with open(os.path.join(self.directory, "long.csv"), "w", encoding="utf-8") as file:
            file.write("layers,nodes,input,output,batch,a,b,c,d\n" + "".join(f"{a},{b},{a},{b},7,8,9,{a},3\n" for a, b in rows))
        specs = {"table.yaml": "models: [{fc: {}, rows: {file: long.csv, columns: [layers, nodes, input, output, batch]}}]\n",
                 "list.yaml": "models: [fc: {nodes: [" + ", ".join(map(str, range(1, 14001))) + "]}]\n",
                 "range.yaml": "models: [fc: {nodes: {from: 1, to: 14000, plus: 1}}]\n",
                 "values.yaml": "models: [{fc: {}, rows: {columns: [layers, nodes], values: " + str([list(row) for row in rows]) + "}}]\n"}
        for name, spec in specs.items():
            with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
                file.write(spec)
            done = self.paradnn(f"list --count {name}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\n +14000 ", name)

    def test_closed_directories(self):
        """Each command that reads a directory says why it cannot, also for one within; root is let in everywhere, so it becomes nobody."""
        nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
        os.chmod(self.directory, 0o755)
        shutil.copytree(os.path.join(self.directory, "fc.results"), os.path.join(self.directory, "closed", "fc.results"))
        os.chmod(os.path.join(self.directory, "closed"), 0)
        self.addCleanup(os.chmod, os.path.join(self.directory, "closed"), 0o755)
        for command in ("status", "breakdown", "plot roofline", "compare fc.results", "report", "fit", "project --compute 2", "scale --nodes 2", "merge -o new", "prune"):
            for name in ("closed", "closed/fc.results"):
                done = subprocess.run([PARADNN, *command.split(), name], capture_output=True, text=True, cwd=self.directory, env=needs.quiet(), **nobody)
                self.assertEqual((done.returncode, done.stderr), (2, f"paradnn: {name}: Permission denied\n"), command)
        for command, message in (("data show closed", "closed/dataset.txt: Permission denied"), ("ops --operators closed", "closed/operators.csv: cannot be read: Permission denied"),
                                 ("project fc.results --onto closed", "Permission denied")):
            done = subprocess.run([PARADNN, *command.split()], capture_output=True, text=True, cwd=self.directory, env=needs.quiet(), **nobody)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_links_that_lead_nowhere(self):
        """What -o names, or a command reads, is said with where it leads."""
        for link, target in (("gone", "nowhere"), ("far.csv", "none/far.csv")):
            os.symlink(target, os.path.join(self.directory, link))
        with open(os.path.join(self.directory, "some.csv"), "w", encoding="utf-8") as file:
            file.write("nodes,ms\n8,1\n")
        for arguments, link, target in (
                ("sweep fc -o gone", "gone", "nowhere"), ("sweep fc --join -o gone", "gone", "nowhere"),
                ("data make rows gone", "gone", "nowhere"), ("import some.csv --model fc --map nodes=nodes --map time=ms:ms -o gone", "gone", "nowhere"),
                ("status gone", "gone", "nowhere"), ("ceilings -o far.csv", "far.csv", "none/far.csv")):
            done = self.paradnn(arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertEqual(done.stderr.splitlines()[-1], f"paradnn: {link}: is a link to {target}: No such file or directory", arguments)
        self.assertEqual(self.paradnn("data make rows real --features 2 --count 2").returncode, 0)
        os.symlink("real", os.path.join(self.directory, "good"))
        self.assertIn("has files already", self.paradnn("data make rows good").stderr)

    def test_wrong(self):
        before = self.files()
        for arguments, expected in WRONG:
            with self.subTest(arguments):
                done = self.paradnn(arguments)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"paradnn: {expected}\n"))
        self.assertEqual(self.files(), before)

    def test_sweep_from_stdin_needs_a_directory(self):
        spec = "models: [fc: {layers: 1}]\n"
        done = self.paradnn("sweep -", spec)
        self.assertEqual((done.returncode, done.stderr),
                         (2, "paradnn: neither an ID nor a pipe names a directory, give -o DIR\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
