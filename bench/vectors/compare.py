"""Nearest vectors: Gannet's graphs beside hnswlib, USearch, FAISS and Lucene, on one thread and in turns.

    compare.py BENCH FILE COUNT DIMENSIONS [TURNS]

BENCH is native-bindings/build-test/bench-vector_bench, compiled with hnswlib's headers; FILE has COUNT + 500 rows of f32, the last 500 of
which are the queries, and is made by BENCH where it is missing. Graphs are kept beside it. Prints what each engine reaches at each of its
settings, then a table: microseconds of processor time a search at recall@10 of 0.90, 0.95 and 0.99, between its settings where none is just
there, and how many times ours that is. run.mjs fetches what this needs.

GANNET_BENCH_LUCENE: the command that starts Lucene's side (lucene/LuceneVectors.java), without which it is left out. Its times are those of its one thread, which its
compiler and its collector of garbage have none of.
GANNET_BENCH_ENGINES: the beginnings of the names of those that are built and measured beside BENCH, with commas between them.
GANNET_BENCH_MINUTES: what takes longer to build is left unfinished, and the same command goes on with it. With 0 turns nothing is measured.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import faiss
import numpy
from usearch.index import Index

QUERIES = 500
WANTED = 10
ROWS_AT_A_TIME = 10_000
# Of BENCH, the lines that are compared.
COMPARED = "ours, width|hnswlib"
WIDTHS = (10, 14, 20, 28, 40, 56, 80, 120, 200, 320)
RECALLS = (0.90, 0.95, 0.99)


class Peer:
    """What all have in common."""

    # What was saved unfinished is gone on with.
    goes_on = True

    @staticmethod
    def seconds():
        """So many the engine had of a processor until now."""
        return time.process_time()

    def finish(self):
        """When it has all rows, before it is saved for good."""

    def warm(self, queries):
        """Before it is measured."""


class UsearchBytes(Peer):
    """USearch with one byte a component, the links and widths of the others."""

    name = "USearch i8"
    suffix = ".usearch"
    settings = WIDTHS

    def __init__(self, rows, kept):
        self.index = Index(ndim=rows.shape[1], metric="cos", dtype="i8", connectivity=16, expansion_add=200)
        if kept:
            self.index.load(kept)
            self.index.expansion_add = 200

    def save(self, path):
        self.index.save(path)

    def __len__(self):
        return len(self.index)

    def add(self, rows):
        self.index.add(numpy.arange(len(self), len(self) + len(rows)), rows, threads=1)

    def search(self, queries, width):
        self.index.expansion_search = width
        return self.index.search(queries, WANTED, threads=1).keys


class FaissIndex(Peer):
    """What those of FAISS have in common."""

    def __init__(self, rows, kept):
        self.index = faiss.read_index(kept) if kept else self.trained(rows)

    def save(self, path):
        faiss.write_index(self.index, path)

    def __len__(self):
        return self.index.ntotal

    def add(self, rows):
        self.index.add(rows)


class FaissHnsw(FaissIndex):
    """FAISS' HNSW over one byte a component."""

    name = "FAISS HNSW SQ8"
    suffix = ".faiss-hnsw"
    settings = WIDTHS

    def trained(self, rows):
        index = faiss.IndexHNSWSQ(rows.shape[1], faiss.ScalarQuantizer.QT_8bit, 16, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 200
        index.train(rows[:100_000])
        return index

    def search(self, queries, width):
        self.index.hnsw.efSearch = width
        return self.index.search(queries, WANTED)[1]


class FaissFastScan(FaissIndex):
    """FAISS' inverted lists of product codes of four bits, the best of which are compared by their full vectors."""

    name = "FAISS IVF-PQ fast scan"
    suffix = ".faiss-ivfpq"
    settings = (1, 2, 4, 8, 16, 32, 64, 128)

    def trained(self, rows):
        lists = int(4 * len(rows) ** 0.5)
        index = faiss.index_factory(
            rows.shape[1], f"IVF{lists},PQ{rows.shape[1] // 2}x4fs,RFlat", faiss.METRIC_INNER_PRODUCT
        )
        index.train(rows[:: max(1, len(rows) // 100_000)])
        return index

    def search(self, queries, probes):
        self.index.k_factor = 8
        faiss.downcast_index(self.index.base_index).nprobe = probes
        return self.index.search(queries, WANTED)[1]


class LuceneHnsw(Peer):
    """Lucene's HNSW over quantised vectors, in one segment; a process of its own, whose graph of what was added is complete when it is closed."""

    settings = WIDTHS
    # A writer that is closed and opened again would have several segments, and make the graph anew.
    goes_on = False

    def __init__(self, rows, kept):
        self.folder = kept or tempfile.mkdtemp()
        command = os.environ["GANNET_BENCH_LUCENE"].split()
        self.process = subprocess.Popen(
            [*command, self.folder, str(rows.shape[1]), self.encoding], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        if kept:
            self.asked("close")

    def asked(self, command, vectors=()):
        self.process.stdin.write(f"{command}\n".encode())
        for vector in vectors:
            self.process.stdin.write(numpy.ascontiguousarray(vector, dtype="<f4").tobytes())
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def __len__(self):
        return int(self.asked("count"))

    def seconds(self):
        return int(self.asked("time")) / 1e9

    def add(self, rows):
        self.asked(f"add {len(rows)}", rows)

    def finish(self):
        self.asked("close")

    def save(self, path):
        shutil.rmtree(path, ignore_errors=True)
        shutil.move(self.folder, path)
        self.folder = path

    def warm(self, queries):
        # Until what is searched is compiled as well as it will be.
        for width in WIDTHS:
            self.search(queries, width)
            self.search(queries, width)

    def search(self, queries, width):
        found = self.asked(f"search {width} {len(queries)}", queries)
        return [numpy.array([int(each) for each in row.split()]) for row in found.split(";")[:-1]]


class LuceneSevenBits(LuceneHnsw):
    name = "Lucene HNSW int7"
    suffix = ".lucene-int7"
    encoding = "SEVEN_BIT"


class LuceneFourBits(LuceneHnsw):
    name = "Lucene HNSW int4"
    suffix = ".lucene-int4"
    encoding = "PACKED_NIBBLE"


def built_peer(made, rows, path, end):
    """The engine with all rows, and what it built a second of processor time; neither where the time ended before that."""
    kept = path + made.suffix
    unfinished, log = kept + ".unfinished", kept + ".json"
    if os.path.exists(kept):
        return made(rows, kept), f"{len(rows) / json.load(open(log)):.0f}"
    begun = made.goes_on and os.path.exists(unfinished)
    seconds = json.load(open(log)) if begun else 0
    # What the engine does before it can be asked is counted where it is done in this process.
    began = time.process_time()
    engine = made(rows, unfinished if begun else None)
    seconds += time.process_time() - began
    began = engine.seconds()
    while len(engine) < len(rows) and time.monotonic() < end:
        engine.add(rows[len(engine) : len(engine) + ROWS_AT_A_TIME])
    if len(engine) == len(rows):
        engine.finish()
    seconds += engine.seconds() - began
    print(f"{made.name}, building\t{len(engine)} rows in {seconds:.0f} s", flush=True)
    engine.save(unfinished)
    json.dump(seconds, open(log, "w"))
    if len(engine) < len(rows):
        return None, None
    os.rename(unfinished, kept)
    return engine, f"{len(rows) / seconds:.0f}"


def measured_peer(engine, queries, truth):
    """Recall and microseconds of each setting."""
    results = {}
    for setting in engine.settings:
        began = engine.seconds()
        found = engine.search(queries, setting)
        micros = (engine.seconds() - began) / len(queries) * 1e6
        hits = sum(len(set(row.tolist()) & expected) for row, expected in zip(found, truth))
        results[setting] = (hits / (len(queries) * WANTED), micros)
    return results


def measured_bench(arguments, built, measured=COMPARED):
    """What BENCH prints: by engine and width, recall and microseconds; what it built goes into `built`."""
    printed = subprocess.run([*arguments, "7", measured], check=True, capture_output=True, text=True).stdout
    results = {}
    for line in printed.splitlines():
        found = re.match(r"(\w+), (?:width|ef) (\d+)\trecall ([\d.]+)\t([\d.]+) us", line)
        if found:
            results.setdefault(found[1], {})[int(found[2])] = (float(found[3]), float(found[4]))
        elif found := re.match(r"(\w+), building\t(\d+) vectors/s", line):
            built[found[1]] = found[2]
            print(line, flush=True)
    return results


def micros_at(results, recall):
    """Between the settings around it; none where it is not reached, of the least setting where that is above."""
    points = sorted(results.values())
    below = [point for point in points if point[0] < recall]
    above = [point for point in points if point[0] >= recall]
    if not above:
        return None
    if not below:
        return above[0][1]
    (low, low_micros), (high, high_micros) = below[-1], above[0]
    return low_micros + (high_micros - low_micros) * (recall - low) / (high - low)


def print_table(medians, built):
    print("| Engine | Built, vectors/s |", " | ".join(f"µs at recall {recall:.2f}" for recall in RECALLS), "|")
    print("| --- | --- |", " | ".join("---" for _ in RECALLS), "|")
    for name, results in medians.items():
        cells = [built.get(name, "-")]
        for recall in RECALLS:
            micros, ours = micros_at(results, recall), micros_at(medians["ours"], recall)
            cells.append("-" if micros is None or ours is None else f"{micros:.1f} ({micros / ours:.1f} ×)")
        print(f"| {name} |", " | ".join(cells), "|")


def truth_of(rows, queries):
    """Of each query, which are nearest; some at a time, since all products of a million rows are gigabytes."""
    truth = []
    for some in numpy.array_split(queries, 10):
        truth += [set(row.tolist()) for row in numpy.argpartition(-(some @ rows.T), WANTED, axis=1)[:, :WANTED]]
    return truth


def chosen_peers():
    peers = [FaissFastScan, FaissHnsw, UsearchBytes]
    if "GANNET_BENCH_LUCENE" in os.environ:
        peers += [LuceneSevenBits, LuceneFourBits]
    chosen = tuple(os.environ.get("GANNET_BENCH_ENGINES", "").split(","))
    return [peer for peer in peers if peer.name.startswith(chosen)]


def main():
    bench, path, count, dimensions = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    turns = int(sys.argv[5]) if len(sys.argv) > 5 else 3
    end = time.monotonic() + 60 * float(os.environ.get("GANNET_BENCH_MINUTES", "inf"))
    arguments = [bench, str(count), str(dimensions), path]
    engines, built = [], {}
    measured_bench(arguments, built, "building")
    faiss.omp_set_num_threads(1)
    rows = numpy.fromfile(path, dtype=numpy.float32).reshape(-1, dimensions)
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    rows, queries = rows[:count], rows[count : count + QUERIES]

    for made in chosen_peers():
        engine, built[made.name] = built_peer(made, rows, path, end)
        if engine is None:
            sys.exit("The time ended; the same command goes on.")
        engines.append(engine)
        engine.warm(queries)
    truth = truth_of(rows, queries)
    measured = {}
    for _ in range(turns):
        of_turn = measured_bench(arguments, built)
        for engine in engines:
            of_turn[engine.name] = measured_peer(engine, queries, truth)
        for name, results in of_turn.items():
            for setting, result in results.items():
                measured.setdefault(name, {}).setdefault(setting, []).append(result)
    medians = {
        name: {at: (each[0][0], statistics.median(micros for _, micros in each)) for at, each in results.items()}
        for name, results in measured.items()
    }
    for name, results in medians.items():
        for setting, (recall, micros) in results.items():
            print(f"{name}\t{setting}\trecall {recall:.4f}\t{micros:.1f} us")
    if turns:
        print_table(medians, built)


main()
