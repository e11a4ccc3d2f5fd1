#!/usr/bin/env python3
"""The rules a machine can check: who includes whom, header guards, lengths, formatting, forbidden words.

Usage: style.py ROOT CHECK, where CHECK is one of the functions below without `check_`; style.py ROOT ratchet --lower writes today's
lower counts into tests/ratchet.txt."""

import os
import re
import shutil
import subprocess
import sys

import needs

# Each room and what it may include, as in the design; a folder within a room belongs to it unless it is a room of its own.
OUTSIDE_FACTS = ["runtime/protocol", "runtime/host", "models", "base"]
PROGRAMS = ["runtime/backend", "runtime/kernels", *OUTSIDE_FACTS]
MEASURING = ["runtime/measure", "runtime/plan", "runtime/distributed", *PROGRAMS]
STORED = ["results/table", "results/store", "results/rows"]
ANALYSES = [*STORED, "results/stats", "results/query", "results/compare", "results/fit", "results/whatif", "results/epochs"]
RESULTS = {
    "results/table": [],
    "results/store": ["results/table"],
    "results/rows": ["results/table", "results/store"],
    "results/stats": [],
    "results/query": [*STORED, "results/stats"],
    "results/compare": [*STORED, "results/stats", "results/query", "results/whatif"],
    "results/fit": [*STORED, "results/stats", "results/query", "results/compare"],
    "results/whatif": [*STORED, "results/stats", "results/query"],
    "results/epochs": ["results/table", "results/store", "results/stats"],
    "results/import": STORED,
    "results/figures": ANALYSES,
    "results/claims": ANALYSES,
    "results/report": [*ANALYSES, "results/claims", "results/figures"],
}
SESSION = ["session"]
MAY_INCLUDE = {
    "base": [],
    "models": ["base"],
    "gen": ["models", "base"],
    "runtime/host": ["models", "base"],
    "runtime/protocol": ["runtime/host", "models", "base"],
    "runtime/data": ["base"],
    "runtime/kernels": ["base"],
    "runtime/backend": PROGRAMS,
    "runtime/distributed": MEASURING,
    "runtime/lowering": ["runtime/distributed", *PROGRAMS],
    **{"runtime/backends/" + name: ["runtime/lowering", "runtime/plan", "runtime/distributed", *PROGRAMS] for name in ("reference", "onednn", "openblas")},
    "runtime/plan": PROGRAMS,
    "runtime/measure": ["runtime/plan", *PROGRAMS],
    "runtime/roofs": MEASURING,
    "runtime/infeed": ["runtime/data", "runtime/plan", *PROGRAMS],
    "runtime/worker": ["runtime/infeed", "runtime/roofs", "runtime/data", *MEASURING],
    "runtime/driver": OUTSIDE_FACTS,
    **{room: [*below, *OUTSIDE_FACTS] for room, below in RESULTS.items()},
    **{room: ["gen", "runtime/driver", *ANALYSES, "runtime/data", *OUTSIDE_FACTS] for room in SESSION},
    "cli": [*SESSION, *RESULTS, "runtime/driver", "runtime/data", "gen", *OUTSIDE_FACTS],
}
HARD_LINES = 700
FOLDER_UNITS = 17
MACHINE_PATHS = re.compile(r"/work/|/farm/|/home/[a-z]|/tmp/bash")
LEFT_OPEN = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
GOTO = re.compile(r"\bgoto\s+(\w+)")

# Definitions, which start at the beginning of a line. A kernel's public function is in its macro (runtime/kernels/simd/kernel.h).
DEFINITIONS = {
    "struct": r"^(?:struct|union)\s+(\w+)\s*\{",
    "enum": r"^enum\s+(\w+)\s*\{",
    "typedef": r"^typedef\b[^;{]*?\b(\w+)\s*(?:__attribute__.*)?;",
    "macro": r"^[ \t]*#[ \t]*define[ \t]+(\w+)",
    "function": r"^(?!typedef\b|return\b|else\b|PDNN_KERNEL|PDNN_ROOF)([A-Za-z_][\w \t\n*]*?)\b(?:PDNN_HERE\()?(\w+)\)?\([^;{}]*\)\s*\{",
    "kernel": r"^PDNN_(?:KERNEL|KERNEL_VALUE|ROOF)\((?:[^,()]*,\s*)?(\w+),\s*\(",
}
OBJECT = r"^(?:const\s+)?(?:struct\s|enum\s|char\b|bool\b|double\b|size_t\b|u?int\d+_t\b)[\w\s*]*?\b(pdnn_\w+)(?:\[[^\]]*\])*\s*="
# Different words for one thing; the house style is the first of each.
SYNONYMS = [("create", "open", "new", "make"), ("destroy", "close", "free", "delete")]

# Source lines are budgeted by these rooms, runtime's one by one.
BUDGETED = ("base", "models", "gen", "runtime", "results", "session", "cli")
BUDGETED_SOURCES = (".c", ".h", ".py", ".css", ".js", ".inc")
RATCHET = "tests/ratchet.txt"
OUTSIDE = ("results/", "session/", "cli/")  # of the worker, and of what it links
CIRCLES = ("base/", "models/", "gen/", "runtime/", *OUTSIDE)  # rooms where files form no circles by call either
TABLES = ("results/table/", "results/store/", "results/query/filter", "results/query/results_reader", "results/query/shares")
# Old mechanisms that one table and one figure engine replace: where each is looked for, but not in which rooms, and what it looks like;
# a pattern of None counts files.
OLD_MECHANISMS = {
    "hand_filled_cells": (OUTSIDE, TABLES, (".c",), r"\bpdnn_sheet_(?:cell|number)\("),
    "hand_made_layouts": (OUTSIDE, TABLES, (".c",), r"\bstruct pdnn_sheet_column\b"),
    "csv_lookups": (OUTSIDE, TABLES, (".c",), r"\bpdnn_(?:csv_find|columns_find|results_find|results_column)\("),
    "csv_puts": (OUTSIDE, TABLES, (".c",), r"\bpdnn_csv_append\("),
    "put_data": (OUTSIDE, (), (".c",), r"\bput_data\("),
    "text_files": (OUTSIDE, (), ("_text.c",), None),
    "column_files": (OUTSIDE, (), ("_columns.c",), None),
    "former_names": (("models/", "gen/", "runtime/", *OUTSIDE), (), (".c", ".h"), r"(?:\.|->)was\b|\*was\b"),
    # The driver's worker.c tells a worker that ended for want of memory, which is a row and no check of an allocation.
    "memory_checks": (("runtime/driver/", *OUTSIDE), ("runtime/driver/worker/worker.c",), (".c", ".h"), r"NO_MEMORY\b"),
    "looked_up_by_reference": (("runtime/",), ("runtime/backends/onednn/library/",), (".c",), r'str(?:cmp|str)\([^;]*"ref(?:erence)?"'),
    "mutable_statics": (("runtime/",), (), (".c",), r"(?m)^static (?!const\b|inline\b|_Thread_local\b)(?:volatile )?(?:struct \w+|unsigned char|float|MPI_\w+) \*?\w+;"),
    "drawing_in_the_page": (OUTSIDE, (), (".js",), r"\bsvgEl\(|createElementNS\(|getContext\("),
}


class Skip(Exception):
    """The check needs something that is missing."""


def files(root, *endings):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode != 0:
        sys.exit(f"style: git cannot list the files: {listed.stderr}")
    return [name for name in listed.stdout.split() if name.endswith(endings) and os.path.exists(os.path.join(root, name))]


def lines(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read().splitlines()


def room_of(name):
    rooms = [room for room in MAY_INCLUDE if name.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def check_layering(root):
    bad = []
    for name in files(root, ".c", ".h"):
        room = room_of(name)
        if not room:
            continue
        for number, line in enumerate(lines(root, name), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            target = match and room_of(match.group(1))
            if not target:
                if match and match.group(1) != "lists.h":
                    bad.append(f"{name}:{number}: includes {match.group(1)}: give the path from the root")
                continue
            where = f"{name}:{number}: {room} must not include {match.group(1)}"
            if target != room and target not in MAY_INCLUDE[room]:
                bad.append(where)
            elif os.path.dirname(match.group(1)) == "models/ops" and room not in ("models", "runtime/backends/reference"):
                bad.append(where + ", which is of the reference")
    return bad


def circles_of(uses):
    """The strongly connected sets of more than one node, by Tarjan's algorithm; uses: node -> set of nodes."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(uses.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(uses):
        if node not in index:
            visit(node)
    return found


def uses_of(root, places):
    """What each unit of files (x.c and x.h) in these places uses of others, by include, and by name of a public function or object. What
    a registry lists is not used by name."""
    texts = {name: without_comments("\n".join(lines(root, name))) for name in files(root, ".c", ".h") if name.startswith(places)}
    unit = {name: os.path.splitext(name)[0] for name in texts}
    home, uses = {}, {}
    for name, text in texts.items():
        found = [found for kind, found in definitions(name, text) if kind == "function"] + re.findall(OBJECT, text, re.M)
        home.update({word: unit[name] for word in found if name.endswith(".c") and word.startswith("pdnn_")})
    for name, text in texts.items():
        used = [unit[other] for other in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M) if other in unit]
        words = re.findall(r"\bpdnn_\w+", re.sub(r'"(?:\\.|[^"\\])*"', "", text)) if name.endswith(".c") else []
        uses.setdefault(unit[name], set()).update(used, (home[word] for word in words if word in home))
    return {name: others - {name} for name, others in uses.items()}


def check_circles(root):
    """No unit of files uses itself through others: by include in all folders, and by call too in rooms, where a unit is x.c and x.h alone."""
    names = files(root, ".c", ".h")
    stems = {os.path.splitext(name)[0] for name in names}

    def unit_of(name):
        """A file that is named after another (stream.c, stream_loops.h) is a part of it."""
        stem = os.path.splitext(name)[0]
        words = stem.split("_")
        shorter = ["_".join(words[:count]) for count in range(1, len(words))]
        return next((short for short in shorter if short in stems), stem)

    uses = {}
    for name in names:
        for line in lines(root, name):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match and match.group(1) in names and unit_of(match.group(1)) != unit_of(name):
                uses.setdefault(unit_of(name), set()).add(unit_of(match.group(1)))
    return [f"these {how} each other: {', '.join(circle)}"
            for how, found in (("include", uses), ("use", uses_of(root, CIRCLES))) for circle in circles_of(found)]


def check_guards(root):
    bad = []
    for name in files(root, ".h"):
        guard = re.sub(r"[/.\-]", "_", name).upper()
        text = "\n".join(lines(root, name))
        templated = re.search(r"once (per|for each)", text.split("*/")[0], re.I)
        if not templated and f"#ifndef {guard}\n#define {guard}" not in text:
            bad.append(f"{name}: the guard is not {guard}")
        if not text.startswith("/* "):
            bad.append(f"{name}: does not open with a paragraph on what it is")
    return bad


def check_length(root):
    bad = []
    for name in files(root, ".c", ".h"):
        count = len(lines(root, name))
        if count > HARD_LINES:
            bad.append(f"{name}: {count} lines, the limit is {HARD_LINES}")
    return bad


def check_words(root):
    bad = []
    for name in files(root, ".c", ".h", ".inc", ".py", ".build", ".md", ".yaml", ".in"):
        if name == "tests/style.py":
            continue
        for number, line in enumerate(lines(root, name), 1):
            if MACHINE_PATHS.search(line):
                bad.append(f"{name}:{number}: a path of one machine")
            if LEFT_OPEN.search(line):
                bad.append(f"{name}:{number}: left open: {line.strip()}")
            if name.endswith((".c", ".h")) and line.rstrip() != line:
                bad.append(f"{name}:{number}: trailing space")
    return bad


def check_folders(root):
    """A folder of a room has about fifteen units (x.c and x.h) besides those that a list in meson.build names: one job, not a heap."""
    listed = listed_words(root)
    units = {}
    for name in files(root, ".c", ".h"):
        folder, stem = os.path.split(os.path.splitext(name)[0])
        if room_of(name) and stem not in listed:
            units.setdefault(folder, set()).add(stem)
    return [f"{folder}: {len(found)} units, the limit is {FOLDER_UNITS}" for folder, found in units.items() if len(found) > FOLDER_UNITS]


def check_language(root):
    """One `out:` label and no other goto; libraries never print or exit; no alloca, no variable-length arrays by malloca."""
    bad = []
    prints = re.compile(r"\b(printf|puts|putchar|fprintf|perror|exit|abort|alloca)\s*\(")
    for name in files(root, ".c"):
        room = room_of(name)
        for number, line in enumerate(lines(root, name), 1):
            code = re.sub(r'"(\\.|[^"\\])*"|//.*|/\*.*', "", line)
            match = GOTO.search(code)
            if match and match.group(1) != "out":
                bad.append(f"{name}:{number}: goto {match.group(1)}")
            if room and room != "cli" and prints.search(code):
                bad.append(f"{name}:{number}: only cli/ prints or exits: {line.strip()}")
    return bad


def families_of(root):
    listed = re.search(r"^families = \[(.*?)\]", "\n".join(lines(root, "meson.build")), re.M | re.S)
    return re.findall(r"'(\w+)'", listed.group(1))


def check_families(root):
    """Only a file of models/zoo names a family or the parameter that is the minibatch; everything else asks the family's row.

    A table may have a row or column with that name, {"batch", ...; as an argument or in a list of names, it counts as a comparison."""
    call = re.compile(r'\w\s*\([^;{]*"(?:%s)"' % "|".join(families_of(root)))
    minibatch = re.compile(r'(?<!= )\{"batch", ')
    bad = []
    for name in files(root, ".c", ".h"):
        if not room_of(name) or name.startswith("gen/family/"):
            continue
        for number, line in enumerate(lines(root, name), 1):
            code = re.sub(r'/\*.*|PDNN_ROW_\w+\("\w+"', "", line)
            if call.search(code):
                bad.append(f"{name}:{number}: knows a family by its name: {line.strip()}")
            if '"batch"' in minibatch.sub("", code):
                bad.append(f"{name}:{number}: knows the minibatch by its name: {line.strip()}")
    return bad


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: re.sub(r"[^\n]", "", match.group(0)), text, flags=re.S)


def definitions(name, text):
    """(kind, name) of what could clash with other files: everything in a header; in a .c file what has the prefix or is not static."""
    for kind, pattern in DEFINITIONS.items():
        for match in re.finditer(pattern, text, re.M):
            found = match.groups()[-1]
            is_static = kind != "kernel" and not found.lower().startswith("pdnn_")
            if kind == "function":
                is_static = "static" in match.group(1) or "PDNN_INLINE" in match.group(1)
            if name.endswith(".h") or not is_static:
                yield ("function" if kind == "kernel" else kind), found
    for match in re.finditer(r"^enum(?:\s+\w+)?\s*\{([^}]*)\}", text, re.M):
        for found in re.findall(r"(?:^|,)\s*(\w+)", match.group(1)):
            if name.endswith(".h") or found.startswith("PDNN_"):
                yield "constant", found


def one_word_each(found):
    """The name with synonyms replaced by the first of their group, without underscores."""
    words = found.split("_")
    for group in SYNONYMS:
        words = [group[0] if word in group else word for word in words]
    return "".join(words)


def check_names(root):
    """Different files do not define two things of one kind with the same name, nor functions whose names are synonyms. Files whose names
    differ only in a number (v2.c, v3.c) are alternatives and may; so may programs, each with its main or its fuzz target, and guards."""
    places, meanings = {}, {}
    for name in files(root, ".c", ".h"):
        slot = re.sub(r"\d", "", name)
        for kind, found in definitions(name, without_comments("\n".join(lines(root, name)))):
            if found in ("main", "LLVMFuzzerTestOneInput") or (kind == "macro" and found.startswith("_")):
                continue
            places.setdefault((kind, found), {}).setdefault(slot, name)
            if kind == "function":
                meanings.setdefault(one_word_each(found), {})[found] = name
    bad = [f"{kind} {found} is defined in {' and '.join(sorted(at.values()))}" for (kind, found), at in places.items() if len(at) > 1]
    for names in meanings.values():
        if len(names) > 1:
            bad.append("one name for one thing: " + ", ".join(f"{found} in {at}" for found, at in sorted(names.items())))
    return sorted(bad)


def listed_words(root):
    """What the lists in meson.build name, each a file of a kind: ops, families, commands and so on."""
    return {word for words in re.findall(r"^\w+ = \[(.*?)\]", "\n".join(lines(root, "meson.build")), re.M | re.S) for word in re.findall(r"'(\w+)'", words)}


def named_and_missing(root, folder, text, names):
    """What a README names as a file and that is no path from its folder, the one around it or the root, nor the end of another file's: words in the
    first column of a table of files, and those elsewhere that end like a source or begin with a folder."""
    tables = re.findall(r"^\| file \|.*\n((?:\|.*\n)*)", text, re.M)
    cells = {word for table in tables for cell in re.findall(r"^\|([^|]*)\|", table, re.M) for word in re.findall(r"`([\w/.-]+)`", cell)}
    there = set(names) | {os.path.splitext(name)[0] for name in names}

    def is_path(word):
        first = "/" in word and word.split("/")[0]
        return word in cells or re.search(r"\w\.(c|h|py|inc|sh)$", word) or (first and any(os.path.isdir(os.path.join(root, place, first)) for place in (folder, "")))

    for word in sorted({*cells, *filter(is_path, re.findall(r"`([\w/.-]+)`", text))}):
        places = [os.path.normpath(os.path.join(place, word)) for place in (folder, os.path.dirname(folder), "")]
        if not any(place in there or os.path.exists(os.path.join(root, place)) for place in places) \
                and not any(name.endswith(("/" + word, "/" + word + ".in")) for name in names):
            yield word


def check_readmes(root):
    """Every room has one, or is explained by that of the room around it. It names each unit of files (x.c and x.h) that is there, but for those that a
    list in meson.build names, and none that is not."""
    rooms = sorted({*MAY_INCLUDE, "runtime", "sweeps", "tests", "packaging"})
    bad = [f"{room}: has no README.md" for room in rooms
           if not any(os.path.exists(os.path.join(root, place, "README.md")) for place in (room, os.path.dirname(room) or room))]
    names = files(root, "")
    texts = {os.path.dirname(name): "\n".join(lines(root, name)) + "\n" for name in names
             if name.endswith("/README.md") and not name.startswith(("doc/", "results/examples/"))}
    quoted = {folder: set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text)))) for folder, text in texts.items()}
    listed = listed_words(root)
    for name in names:
        stem, folder = os.path.basename(name).split(".")[0], os.path.dirname(name)
        while folder and folder not in texts:
            folder = os.path.dirname(folder)
        if room_of(name) and name.endswith((".c", ".h", ".py")) and stem not in listed and stem not in quoted.get(folder, ()):
            bad.append(f"{name}: {folder}/README.md does not name it")
    bad += [f"{folder}/README.md: there is no {word}" for folder, text in texts.items() for word in named_and_missing(root, folder, text, names)]
    return sorted(set(bad))


def check_documents(root):
    """Relative links in documents point to existing files, and their shell commands parse."""
    bad = []
    for name in files(root, ".md"):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = file.read()
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            if not os.path.exists(os.path.join(root, os.path.dirname(name), link)):
                bad.append(f"{name}: links to {link}, which does not exist")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
            done = subprocess.run(["sh", "-n"], input=block, capture_output=True, text=True)
            if done.returncode != 0:
                bad.append(f"{name}: {done.stderr.strip()}")
    return bad


def ratchet_counts(root):
    """What the ratchet limits: lines by room, and how often each old mechanism is met."""
    counts = {}
    for name in files(root, *BUDGETED_SOURCES):
        room = "/".join(name.split("/")[:-1][:2 if name.startswith("runtime/") else 1])
        if name.startswith(tuple(place + "/" for place in BUDGETED)):
            counts[room] = counts.get(room, 0) + len(lines(root, name))
    for mechanism, (places, exceptions, endings, pattern) in OLD_MECHANISMS.items():
        texts = [name if pattern is None else without_comments("\n".join(lines(root, name)))
                 for name in files(root, *endings) if name.startswith(places) and not name.startswith(exceptions or ("//",))]
        counts[mechanism] = len(texts) if pattern is None else sum(len(re.findall(pattern, text)) for text in texts)
    return dict(sorted(counts.items()))


def check_ratchet(root):
    """No count is above its number in tests/ratchet.txt. Whoever has to raise one says why in the commit."""
    limits = {name: int(number) for name, number in (line.split() for line in lines(root, RATCHET) if not line.startswith("#"))}
    counts = ratchet_counts(root)
    bad = [f"{RATCHET}: {name} is {count}, the limit is {limits.get(name, 0)}" for name, count in counts.items() if count > limits.get(name, 0)]
    print(f"style: {sum(number for name, number in counts.items() if name.startswith(BUDGETED))} lines")
    if not bad and any(counts.get(name, 0) < limit for name, limit in limits.items()):
        print(f"style: counts are below {RATCHET}: tests/style.py . ratchet --lower takes them over")
    return bad


def lower_ratchet(root):
    """Writes the counts that are lower than their numbers; what is above stays an error."""
    path = os.path.join(root, RATCHET)
    comments = [line for line in lines(root, RATCHET) if line.startswith("#")]
    limits = {name: int(number) for name, number in (line.split() for line in lines(root, RATCHET) if not line.startswith("#"))}
    lowered = [f"{name} {min(count, limits.get(name, 0))}" for name, count in ratchet_counts(root).items()]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(comments + lowered) + "\n")


def find_clang_format():
    """Only version 14 counts: others break some lines differently."""
    for program in ["clang-format-14", "clang-format"]:
        if shutil.which(program):
            version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(r"\bversion 14\.", version):
                return program
    raise Skip(needs.say("clang-format-14"))


def check_format(root):
    names = files(root, ".c", ".h")
    done = subprocess.run([find_clang_format(), "--dry-run", "--Werror", *names], cwd=root, capture_output=True, text=True)
    return sorted({line.split(":")[0] + ": not as clang-format has it" for line in done.stderr.splitlines() if ": error:" in line})


def main():
    root, check, *options = sys.argv[1:]
    if not os.path.exists(os.path.join(root, ".git")):  # a file in a worktree
        print("style: not a git checkout, nothing to list files with")
        return 77
    if options:
        if (check, options) != ("ratchet", ["--lower"]):
            sys.exit("style: --lower is for ratchet")
        lower_ratchet(root)
    try:
        bad = globals()["check_" + check](root)
    except Skip:
        return needs.SKIPPED
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
