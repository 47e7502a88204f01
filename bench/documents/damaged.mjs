/**
 * Reads damaged documents and bombs in processes. Each must end in text or in a named fault, and memory must not grow.
 *
 *     node bench/documents/damaged.mjs [count] [seed]
 *
 * The files are those of run.mjs, changed by a seeded generator. Prints how they ended, and the memory of this process.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { DocumentReader } from '#src/documents/index.js';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { root } from '../end-to-end/lib/service.mjs';

const folder = process.env.GANNET_PDF_DATA ?? join(root, '..', 'shared', 'data', 'pdf');
const { count, seed } = readNumbers({ count: 20_000, seed: 1 });
const FILE_BYTES_MAX = 1e6;
const PROCESSES = 2;
const LIMITS = { pagesMax: 20, charactersMax: 1e7, msMax: 10_000 };
const MEMORY_MIB_MAX = 512;

if (!existsSync(folder)) {
  process.stdout.write(`Damaged documents: skipped, ${folder} is not there.\n`);
  process.exit(0);
}
const originals = readdirSync(folder)
  .filter((name) => name.endsWith('.pdf') && statSync(join(folder, name)).size <= FILE_BYTES_MAX)
  .map((name) => readFileSync(join(folder, name)));

let state = seed;
/** Returns a random integer less than `below` (xorshift). */
function random(below) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
}

const NUMBERS = ['0', '-1', '2147483648', '4294967295', '99999999999', '1e308', '0.00001'];
const MUTATIONS = [
  (bytes) => {
    for (let times = 1 + random(20); times > 0; times -= 1) bytes[random(bytes.length)] = random(256);
    return bytes;
  },
  (bytes) => bytes.subarray(0, random(bytes.length)),
  (bytes) => Buffer.concat([bytes.subarray(0, random(bytes.length)), bytes.subarray(random(bytes.length))]),
  (bytes) => {
    const numbers = [...bytes.toString('latin1').matchAll(/\b\d+\b/g)];
    if (numbers.length === 0) return bytes;
    const { index, 0: old } = numbers[random(numbers.length)];
    const put = Buffer.from(random(2) === 0 ? NUMBERS[random(NUMBERS.length)] : String(random(40)), 'latin1');
    return Buffer.concat([bytes.subarray(0, index), put, bytes.subarray(index + old.length)]);
  },
  (bytes) => {
    const from = random(bytes.length);
    const block = bytes.subarray(from, from + random(2000));
    const at = random(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), block, bytes.subarray(at)]);
  },
];

const mutated = () => {
  let bytes = Buffer.from(originals[random(originals.length)]);
  for (let times = 1 + random(3); times > 0 && bytes.length > 0; times -= 1)
    bytes = MUTATIONS[random(MUTATIONS.length)](bytes);
  return bytes;
};

const numbered = (objects) =>
  Buffer.concat(
    objects.map((body, at) =>
      Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), Buffer.from(body), Buffer.from('\nendobj\n')]),
    ),
  );
const fileOf = (objects) =>
  Buffer.concat([Buffer.from('%PDF-1.4\n'), numbered(objects), Buffer.from('trailer\n<< /Root 1 0 R >>\n%%EOF\n')]);
const CATALOGUE = '<< /Type /Catalog /Pages 2 0 R >>';
const flate = (bytes, filters) =>
  Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} /Filter [${filters}] >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ]);
function bombs() {
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>';
  const tree = '<< /Type /Pages /Kids [3 0 R] /Count 1 >>';
  const zeros = deflateSync(Buffer.alloc(2 ** 30, 'q '));
  const nested = deflateSync(deflateSync(zeros));
  return {
    'a stream of 1 GiB': fileOf([CATALOGUE, tree, page, flate(zeros, '/FlateDecode')]),
    'streams in streams': fileOf([CATALOGUE, tree, page, flate(nested, '/FlateDecode /FlateDecode /FlateDecode')]),
    'a million objects': fileOf([CATALOGUE, tree, page, ...Array.from({ length: 1e6 }, () => '<< >>')]),
    'a page tree that is its own child': fileOf([
      CATALOGUE,
      '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2147483647 >>',
    ]),
    'a form that draws itself': fileOf([
      CATALOGUE,
      tree,
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>',
      '<< /Length 12 >>\nstream\n/X Do /X Do \nendstream',
      '<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 12 >>\nstream\n/X Do /X Do \nendstream',
    ]),
    'a million arrays in arrays': fileOf([CATALOGUE, `<< /Type /Pages /Kids ${'['.repeat(1e6)}`]),
  };
}

const ended = new Map();
const tell = (how) => ended.set(how, (ended.get(how) ?? 0) + 1);
let deaths = 0;
const reader = new DocumentReader({
  processes: PROCESSES,
  memoryMibMax: MEMORY_MIB_MAX,
  limits: LIMITS,
  onDeath: () => {
    deaths += 1;
  },
  onBug: (stack) => {
    process.stdout.write(`${stack}\n`);
    process.exitCode = 1;
  },
});
const mib = () => Math.round(process.memoryUsage().rss / 2 ** 20);
async function outcome(bytes) {
  try {
    await reader.read(bytes);
    return 'text';
  } catch (error) {
    if (error.name === 'DocumentError') return error.fault;
    process.exitCode = 1;
    return `not named: ${error.message}`;
  }
}

for (const [name, bytes] of Object.entries(bombs())) {
  const began = performance.now();
  process.stdout.write(`${name}: ${await outcome(bytes)}, ${Math.round(performance.now() - began)} ms\n`);
}
await outcome(mutated());
const before = mib();
let left = count;
await Promise.all(
  Array.from({ length: PROCESSES }, async () => {
    while (left-- > 0) tell(await outcome(mutated()));
  }),
);
await reader.close();
process.stdout.write(
  `${count} damaged files (seed ${seed}): ${[...ended]
    .sort()
    .map(([how, times]) => `${how} ${times}`)
    .join(', ')}\n`,
);
process.stdout.write(
  `Processes that were replaced: ${deaths}. Memory of this one: ${before} MiB before, ${mib()} MiB after.\n`,
);
