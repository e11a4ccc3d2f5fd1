#!/usr/bin/env python3
"""Completion: what the program offers for each word, and what bash, zsh and fish make of it where they are installed.

Usage: completion_test.py PARADNN COMPLETION, the latter being the directory of the shells' functions."""

import os
import pty
import re
import shutil
import subprocess
import sys

from program import PARADNN, Case, main, needs

COMPLETION = os.path.abspath(sys.argv[2])

# What is typed, with what each shell must then offer: whole words.
TYPED = {
    "paradnn sw": {"sweep"},
    "paradnn s": {"scale", "sweep", "submit", "status", "seqpoint"},
    "paradnn sweep --ou": {"--output"},
    "paradnn sweep --set run.mode=": {"run.mode=infer", "run.mode=train"},
    "paradnn sweep --set=measure.order=s": {"--set=measure.order=shuffled"},
    "paradnn sweep --set limits.ti": {"limits.time="},
    "paradnn help spe": {"spec"},
    "paradnn run resnet50,batch=1,mode=t": {"resnet50,batch=1,mode=train"},
    "paradnn run cnn:resnet1": {"cnn:resnet18", "cnn:resnet101", "cnn:resnet152"},
    "paradnn run cnn:resnet18,mode=t": {"cnn:resnet18,mode=train"},
    "paradnn list net.yaml,wid": {"net.yaml,width="},
    "paradnn run ./net.yaml,width=3,mode=t": {"./net.yaml,width=3,mode=train"},
    "paradnn list my.yaml,wid": set(),
    "paradnn run rnn/cell=l": {"rnn/cell=lstm", "rnn/cell=lbr_gru"},
    "paradnn ops conv_": {"conv_transpose2d"},
    "paradnn ops conc": {"concat"},
    "paradnn ops resnet1": {"resnet18", "resnet101", "resnet152"},
    "paradnn list my": {"my.yaml", "my-other.yml"},
    "paradnn plot rooflin": {"roofline"},
    "paradnn plot roofline on": {"one.results/"},
    "paradnn plot roofline one.results --color bat": {"batch"},
    "paradnn plot roofline my": set(),
    "paradnn plot span my": {"my.yaml", "my-other.yml"},
    "paradnn plot boxes one.results on": {"one.results/"},
    "paradnn plot heatmap resnet1": {"resnet18", "resnet101", "resnet152"},
    "paradnn plot nothing on": {"one.results/"},
    "paradnn report -o my": {"my.yaml", "my-other.yml", "my.txt"},
    "paradnn sweep --ceilings=ro": {"--ceilings=roofs.csv"},
    "paradnn merge -o tw": {"two.results/"},
    "paradnn compare one.results two.results --by group,p": {"group,pass"},
    "paradnn fit one.results --only family=gn": {"family=gnmt"},
    "paradnn fit one.results --only mode=train,bidir": {"mode=train,bidirectional="},
    "paradnn families gn": {"gnmt"},
    "paradnn families alexn": {"alexnet"},
    "paradnn plot breakdown one.results --by categ": {"category"},
    "paradnn plot heatmap one.results --by thr": {"threads"},
    "paradnn columns journal-": {"journal-ops"},
    "paradnn columns preem": {"preempted"},
    "paradnn columns pct_of_p": {"pct_of_peak"},
    "paradnn columns pool_w": {"pool_window"},
    "paradnn import --model resnet1": {"resnet18", "resnet101", "resnet152"},
    "paradnn import --model fc": {"fc"},
    "paradnn import --map steps_": {"steps_per_s="},
    "paradnn import --map=steps": {"--map=steps_per_s="},
    "paradnn list --shard-base ": {"0", "1"},
    "paradnn ceilings --threads a": {"all"},
    "paradnn compose --columns bri": {"brief"},
    "paradnn fit --on batch,nod": {"batch,nodes"},
    "paradnn data make im": {"images"},
    "paradnn project one.results --compute 2,bf": {"2,bf16="},
    "paradnn project one.results --bandwidth=L3=2,DR": {"--bandwidth=L3=2,DRAM="},
    "paradnn sweep --shard au": {"auto/"},
}

BASH = r"""
source "$1/paradnn"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=(paradnn) COMP_CWORD=1
_paradnn
printf '%s\n' "${COMPREPLY[@]}"
"""

# What is typed in a terminal before TAB, with the arguments that the command must then get.
NAMES = {
    r"paradnn plot roofline odd\ ": ["plot", "roofline", "odd & | name.results/"],
    "paradnn plot roofline 'odd ": ["plot", "roofline", "odd & | name.results/"],
    r"paradnn sweep --ceilings=my\ r": ["sweep", "--ceilings=my roofs.csv"],
    'paradnn sweep --ceilings "my r': ["sweep", "--ceilings", "my roofs.csv"],
    r"paradnn sweep -o odd\ \&": ["sweep", "-o", "odd & | name.results/"],
    "paradnn list 'run.ya": ["list", "run.yaml"],
    "paradnn sweep --set 'run.mode=i": ["sweep", "--set", "run.mode=infer"],
    "paradnn run cnn:resnet18,mode=t": ["run", "cnn:resnet18,mode=train"],
}
BASH_SETUP = r"""
PS1='GO>'
bind 'set enable-bracketed-paste off'
source %s/paradnn
paradnn() { if [ "$1" = --complete ]; then command paradnn "$@"; else printf '<%%s>' "$@" && echo END; fi; }
"""

# A terminal in which a line is typed; the key after TAB shows what became of it.
ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "source $2/setup"
zpty -r -m z out '*GO>*'
zpty -w -n z "$1"$'\t\x18'
zpty -r -m z out '*>END*'
print -r -- "$out"
"""
ZSH_SETUP = r"""
PS1='GO>' RPROMPT= COLUMNS=500
fpath=(%s $fpath)
autoload -Uz compinit; compinit -u -D
zstyle ':completion:*' verbose no
bindkey '^I' complete-word
finish() { print -r -- "
LINE<$BUFFER>END"; exit }
zle -N finish; bindkey '^X' finish
"""

FISH = "source $argv[1]/paradnn.fish; complete -C $argv[2]"


class Completion(Case):
    FILES = dict.fromkeys(("my.yaml", "my-other.yml", "my.txt", "roofs.csv"), "") | {
        "net.yaml": "{family: net, axes: {width: {default: 8, range: 1..64}, batch: {default: 4, range: 1..64}}, "
                    "inputs: {x: {shape: [batch, 16]}}, ops: [{dense: {out: width}, from: x}]}"}

    def setUp(self):
        super().setUp()
        for name in ("one.results", "two.results", "bin"):
            os.mkdir(self.path(name))
        os.symlink(PARADNN, self.path("bin", "paradnn"))
        self.environment = {**os.environ, "PATH": f"{self.directory}/bin:{os.environ['PATH']}", "HOME": self.directory, "LC_ALL": "C.UTF-8",
                            "TERM": "dumb"}

    def run_in(self, command):
        done = subprocess.run(command, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def ask(self, *words):
        """The files that are offered, and the candidates with their help."""
        files, *lines = self.run_in([PARADNN, "--complete", *words]).splitlines()
        return files, dict(line.split("\t") for line in lines)

    def commands(self):
        return self.ask("")[1]

    def test_commands_are_those_of_help(self):
        listed = self.run_in([PARADNN, "--help"]).split("\nTo start with:\n")[1].split("\nSPEC is")[0]
        self.assertEqual(list(self.commands()), re.findall(r"^  (\w+) ", listed, re.M))
        self.assertEqual(self.ask("--man", "")[1], self.commands())

    def test_options_are_those_of_help(self):
        for command in self.commands():
            options = self.run_in([PARADNN, command, "--help"]).split("\nOptions:\n")[1].split("\nExamples:\n")[0]
            listed = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", options, re.M)
            self.assertEqual(list(self.ask(command, "--")[1]), listed, command)

    def test_every_argument_has_a_row(self):
        """An operand or an option's argument that the tables of completion do not know offers nothing, not even files."""
        with open(os.path.join(os.path.dirname(COMPLETION), os.pardir, "cli", "args", "complete.c"), encoding="utf-8") as file:
            rows = re.findall(r'^    \{"([^"]+)", "(?:none|files|directories|specs)",', file.read(), re.M)
        known = {name for row in rows for name in row.split(",")}
        self.assertGreater(len(known), 15)
        for command in self.commands():
            text = self.run_in([PARADNN, command, "--help"])
            operands = re.search(r"^Usage: paradnn \w+ ?(.*?) ?\[OPTION\]", text).group(1)
            used = {name.strip("[].").split("|")[0] for name in operands.split()}
            used |= set(re.findall(r"^  (?:-\w, )?--[a-z-]+ (\S+)", text, re.M))
            used = {name for name in used if name and name not in known}
            # Those with a list of words need no row, and what only the user knows has none.
            self.assertLessEqual(used, {"ENCODING", "FORMAT", "SAMPLER", "STATISTIC", "ACTION", "KIND", "0|1", "BYTES", "FACTOR",
                                        "LENGTH", "LINK", "N", "NUMBERS", "NAME", "PERCENT", "POINTS", "SECONDS", "SIZE",
                                        "TIME", "WORD", "LOW:HIGH"}, command)

    def test_option_is_offered_once_unless_it_repeats(self):
        offered = self.ask("sweep", "--output", "x", "--set", "seed=1", "-")[1]
        self.assertNotIn("--output", offered)
        self.assertIn("--set", offered)

    def test_only_keys_that_apply_are_offered(self):
        offered = self.ask("run", "cnn/block=plain,")[1]
        self.assertIn("cnn/block=plain,kernel=", offered)
        self.assertNotIn("cnn/block=plain,block=", offered)
        self.assertNotIn("cnn/block=residual,kernel=", self.ask("run", "cnn/block=residual,")[1])

    def test_words_after_the_dashes_are_not_ours(self):
        self.assertEqual(self.ask("submit", "a.yaml", "--", "--w"), ("none", {}))

    def test_nothing_is_offered_for_nonsense(self):
        for words in ((), ("nosuch", ""), ("run", "fc/nosuch=1,"), ("sweep", "--nosuch", "-"), ("run", "fc/" + "x" * 5000 + ",")):
            files = self.run_in([PARADNN, "--complete", *words]).splitlines()[0]
            self.assertIn(files, ("none", "specs"))

    def shell(self, name):
        if not shutil.which(name):
            self.skipTest(needs.say(name))

    def test_bash(self):
        self.shell("bash")
        for typed, expected in TYPED.items():
            with self.subTest(typed):
                found = self.run_in(["bash", "--norc", "-c", BASH, "bash", COMPLETION, typed]).split()
                # Bash replaces what follows the last = or :.
                kept = len(re.match(r"(?:.*[=:])?", typed.split(" ")[-1]).group())
                self.assertEqual(set(found), {word[kept:] for word in expected})

    def test_bash_quotes_names(self):
        self.shell("bash")
        os.mkdir(self.path("odd & | name.results"))
        for name in ("my roofs.csv", "run.yaml", "setup"):
            self.write(name, BASH_SETUP % COMPLETION if name == "setup" else "")
        for typed, expected in NAMES.items():
            try:
                ours, terminal = pty.openpty()
            except OSError as error:
                self.skipTest(f"no pseudo-terminals here: {error}")
            with subprocess.Popen(["bash", "--rcfile", "setup", "-i"], cwd=self.directory, env=self.environment, stdin=terminal, stdout=terminal,
                                  stderr=terminal, start_new_session=True) as child:
                os.close(terminal)
                out = b""
                os.write(ours, typed.encode() + b"\t\n")
                while b"END" not in out.replace(b"echo END", b""):
                    out += os.read(ours, 4096)
                os.write(ours, b"exit\n")
                child.wait()
            os.close(ours)
            with self.subTest(typed):
                got = re.findall(r"<([^>]*)>", out.decode().replace("GO>", "").replace("\r", ""))
                self.assertEqual(got, expected, out)

    def test_fish(self):
        self.shell("fish")
        for typed, expected in TYPED.items():
            with self.subTest(typed):
                lines = self.run_in(["fish", "--no-config", "-c", FISH, COMPLETION, typed]).splitlines()
                self.assertEqual({line.split("\t")[0] for line in lines}, expected)

    def test_zsh(self):
        self.shell("zsh")
        self.write("setup", ZSH_SETUP % COMPLETION)
        for typed, expected in TYPED.items():
            with self.subTest(typed):
                out = self.run_in(["zsh", "-f", "-c", ZSH, "zsh", typed, self.directory]).replace("\r", "").replace("\a", "").replace("GO>", " ")
                line = re.search(r"LINE<(.*)>END", out).group(1)
                before = typed[: typed.rindex(" ") + 1]
                if not expected:
                    self.assertEqual(line, typed)
                elif len(expected) == 1:
                    self.assertEqual(line.rstrip(), before + min(expected))
                else:
                    self.assertEqual(line, before + os.path.commonprefix(sorted(expected)))
                    listed = out.split(typed, 1)[1].split("LINE<")[0].split()
                    self.assertEqual(set(listed) - set(line.split()), expected)


if __name__ == "__main__":
    main(2)
