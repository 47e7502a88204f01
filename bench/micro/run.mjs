/**
 * Measures the unit costs in one thread: postings, blocks, facet values and fuzzy look-ups in the kernel, and records in the
 * answer. Prints Markdown.
 *
 *   npm run bench:micro
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { barRow, machineTable, markdownTable } from '../end-to-end/lib/report.mjs';
import { wordnetSynsets } from '../end-to-end/lib/wordnet.mjs';
import { measureSerialisation } from './serialisation.mjs';

helpWhereAsked();
const KERNEL_FOLDER = join(import.meta.dirname, '../../native-bindings');

/**
 * Units in the order of the table, with bars in nanoseconds.
 * @type {Map<string, { title: string; bar?: number }>}
 */
const UNITS = new Map([
  ['scored', { title: 'a posting scored, none left out', bar: 1 }],
  ['top', { title: 'a posting of a union, its ten best and their count', bar: 1 }],
  ['counted', { title: 'a posting counted', bar: 0.4 }],
  ['block-documents', { title: 'a block decoded: documents' }],
  ['block-both', { title: 'a block decoded: documents and frequencies' }],
  ['facet', { title: 'a facet value counted' }],
  ['fuzzy-1', { title: 'a fuzzy look-up at distance 1', bar: 20_000 }],
  ['fuzzy-2', { title: 'a fuzzy look-up at distance 2', bar: 300_000 }],
  ['record', { title: 'a record serialised' }],
  ['record-selected', { title: 'a record serialised, two of its three fields selected' }],
]);

/** Writes the words of WordNet, from which a vocabulary is made, one per line in byte order. */
async function writeWords(file) {
  /** @type {Set<string>} */
  const words = new Set();
  for (const { fields } of await wordnetSynsets()) {
    const text = `${fields.words.join(' ')} ${fields.gloss}`;
    for (const word of text.toLowerCase().match(/(?<![a-z])[a-z]{3,20}(?![a-z])/g) ?? []) words.add(word);
  }
  writeFileSync(file, [...words].sort().join('\n'));
}

async function measureKernel() {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-micro-'));
  try {
    const words = join(folder, 'words');
    await writeWords(words);
    const program = 'build-test/bench-unit_costs';
    execFileSync('make', ['-s', 'BUILD=build-test', program], { cwd: KERNEL_FOLDER, stdio: ['ignore', 2, 2] });
    const output = execFileSync(join(KERNEL_FOLDER, program), [words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return output
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([name, nanoseconds, what]) => ({ name, nanoseconds: Number(nanoseconds), what }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function shown(nanoseconds) {
  return nanoseconds >= 1000 ? `${(nanoseconds / 1000).toFixed(1)} µs` : `${nanoseconds.toPrecision(3)} ns`;
}

/**
 * @param {{ nanoseconds: number; what: string }} measured
 * @param {{ title: string; bar?: number }} unit
 */
function row({ nanoseconds, what }, { title, bar }) {
  const [, ...cells] =
    bar === undefined
      ? [title, shown(nanoseconds), 'none', '']
      : barRow(title, shown(nanoseconds), shown(bar), nanoseconds <= bar);
  return [title, ...cells, what];
}

const measured = new Map(
  [...(await measureKernel()), ...(await measureSerialisation())].map((each) => [each.name, each]),
);
const rows = [...UNITS].map(([name, unit]) => {
  const found = measured.get(name);
  if (found === undefined) throw new Error(`${name} was not measured`);
  return row(found, unit);
});
console.log('## Units of work\n');
console.log(machineTable({ Way: 'one thread, everything in memory' }));
console.log(markdownTable(['What', 'Measured', 'Bar', '', 'On'], rows));
