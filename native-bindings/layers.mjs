/**
 * The layering of the C++ half, checked: a folder of kernel/ includes what lies in rows below its own and nothing else, whatever
 * lies outside of it may include all of it, and the kernel includes nothing from outside. Instructions of one kind of processor are
 * included where the compiler says that it is for that one, so that the kernel compiles for the others, too.
 *
 *   node native-bindings/layers.mjs
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** From the bottom up; the folders of one row do not include each other. */
export const LAYERS = [
  ['common'], // what knows nothing of searching
  ['analysis', 'columns', 'postings', 'vectors', 'window'], // words; values by document; lists of documents; graphs of vectors; documents at hand and their scores
  ['text', 'vocabulary'], // records in streams; words of a segment that are like a word
  ['segment'], // the file of an index
  ['generation'], // segments and deletions: what a search sees
  ['cursors'], // walks over posting lists
  ['query', 'terms'], // a plan, looked up in a generation; words as they are typed
  ['filter', 'bonus', 'match', 'highlight'], // what documents have by their columns, positions and words; these, marked
  ['union'], // unions whose hits are wanted by score
  ['evaluation', 'collect'], // matches and scores of a segment; the best of them and their facets
  ['sources'], // what finds documents and scores them, and what makes one score of several
  ['engine'], // a search
];

const kernel = join(import.meta.dirname, 'kernel');
const levels = new Map(LAYERS.flatMap((row, level) => row.map((folder) => [folder, level])));

/** Headers of a processor's own instructions, with the line before. */
const INTRINSICS = /^(.*)\n#include (<(?:\w*intrin|arm_\w+)\.h>)/gm;

function unguarded(file, text) {
  return [...text.matchAll(INTRINSICS)]
    .filter(([, before]) => !/^#(?:el)?if defined\(__\w+__\)$/.test(before))
    .map(
      ([, , header]) =>
        `kernel/${relative(kernel, file)} includes ${header} for every processor: put it behind its own #if`,
    );
}

/** Sentences about the includes of one file that go where they may not. */
function faultsOf(file) {
  const text = readFileSync(file, 'utf8');
  return [...misplaced(file, text), ...unguarded(file, text)];
}

function misplaced(file, text) {
  const from = relative(kernel, file).split('/')[0];
  return [...text.matchAll(/^#include "([^"]+)"/gm)].flatMap(([, included]) => {
    const to = relative(kernel, resolve(dirname(file), included)).split('/');
    const where = `kernel/${relative(kernel, file)} includes ${included}`;
    if (to[0] === '..') return [`${where}, which is not of the kernel`];
    if (to.length === 1 || to[0] === from) return [];
    return levels.get(to[0]) < levels.get(from) ? [] : [`${where}, which does not lie below kernel/${from}`];
  });
}

function check() {
  const entries = readdirSync(kernel, { recursive: true }).filter((name) => /\.(?:cc|h)$/.test(name));
  const folders = new Set(entries.filter((name) => name.includes('/')).map((name) => name.split('/')[0]));
  return [
    ...[...folders].filter((folder) => !levels.has(folder)).map((folder) => `kernel/${folder} has no layer`),
    ...[...levels.keys()].filter((folder) => !folders.has(folder)).map((folder) => `there is no kernel/${folder}`),
    ...entries.flatMap((name) => faultsOf(join(kernel, name))),
  ];
}

const faults = check();
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
