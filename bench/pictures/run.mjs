/**
 * Measures searches for pictures by pictures: 2,000 drawn ones, each searched by six alterations of it, by the built-in descriptor alone.
 *
 *     node bench/pictures/run.mjs [pictures] [--blocks] [--alternatives]
 *
 * Prints Markdown, and exits with 1 if a bar is missed. `--blocks` repeats it without each block of the descriptor, and with each alone.
 * `--alternatives` repeats it with other weights that were considered.
 * Measures processor time. Drawing and altering takes a tenth of a second per picture.
 */
import sharp from 'sharp';
import { describePixels, DESCRIPTOR_DIMENSIONS, DESCRIPTOR_WEIGHTS, PIXELS_SIDE } from '#src/pictures/descriptor.js';
import { readOptions } from '../end-to-end/lib/options.mjs';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { ALTERATIONS } from './alterations.mjs';
import { KIND_NAMES, kindOf, sceneOf } from './scenes.mjs';

const { positionals, ...flags } = readOptions({ blocks: false, alternatives: false }, { positionals: true });
const pictures = Number(positionals[0] ?? 2000);
const FIRST_MIN = 0.95;
const DESCRIBED_MS_MAX = 5;
const QUALITY = 90;

sharp.concurrency(1);

/** Returns the pixels of a file as the service reads them. */
const pixelsOf = (bytes) =>
  sharp(bytes).resize(PIXELS_SIDE, PIXELS_SIDE, { fit: 'fill' }).toColourspace('srgb').removeAlpha().raw().toBuffer();

const alterations = Object.entries(ALTERATIONS);
const drawn = [];
for (let seed = 0; seed < pictures; ++seed) {
  const file = await sharp(Buffer.from(sceneOf(seed)))
    .flatten({ background: '#fff' })
    .jpeg({ quality: QUALITY })
    .toBuffer();
  const random = seededRandom(seed);
  const altered = [];
  for (const [, alter] of alterations) altered.push(await pixelsOf(await alter(file, random)));
  drawn.push({ kind: kindOf(seed), pixels: await pixelsOf(file), altered });
}

const cosine = (left, right, offset) => {
  let sum = 0;
  for (let index = 0; index < DESCRIPTOR_DIMENSIONS; ++index) sum += left[index] * right[offset + index];
  return sum;
};

function evaluated(weights) {
  const vectors = new Float32Array(pictures * DESCRIPTOR_DIMENSIONS);
  const before = process.cpuUsage();
  for (const [place, { pixels }] of drawn.entries())
    vectors.set(describePixels(pixels, weights), place * DESCRIPTOR_DIMENSIONS);
  const { user, system } = process.cpuUsage(before);
  const rows = alterations.map(([name]) => ({ name, first: 0, own: [], other: [] }));
  const missed = Object.fromEntries(KIND_NAMES.map((kind) => [kind, 0]));
  for (const [place, { kind, altered }] of drawn.entries())
    for (const [at, pixels] of altered.entries()) {
      const sought = describePixels(pixels, weights);
      let [best, own] = [-1, 0];
      for (let other = 0; other < pictures; ++other) {
        const found = cosine(sought, vectors, other * DESCRIPTOR_DIMENSIONS);
        if (other === place) own = found;
        else best = Math.max(best, found);
      }
      rows[at].own.push(own);
      rows[at].other.push(best);
      if (own > best) rows[at].first += 1;
      else missed[kind] += 1;
    }
  const first = rows.reduce((sum, row) => sum + row.first, 0) / (pictures * alterations.length);
  return { rows, missed, first, vectors, ms: (user + system) / 1000 / pictures };
}

const percent = (share) => `${(share * 100).toFixed(2)} %`;
const quantile = (values, at) => values.toSorted((a, b) => a - b)[Math.floor(at * (values.length - 1))].toFixed(3);
const print = (line) => process.stdout.write(`${line}\n`);

const { rows, missed, first, vectors, ms } = evaluated(DESCRIPTOR_WEIGHTS);
print(
  `## Pictures: ${pictures} drawn, ${alterations.length} alterations of each, ${DESCRIPTOR_DIMENSIONS} dimensions\n`,
);
print(
  '| Altered | Original is first | Its cosine, 5th percentile | median | Nearest other, median | 95th percentile |',
);
print('|---|---|---|---|---|---|');
for (const { name, first: found, own, other } of rows)
  print(
    `| ${name} | ${percent(found / pictures)} | ${quantile(own, 0.05)} | ${quantile(own, 0.5)} | ${quantile(other, 0.5)} | ${quantile(other, 0.95)} |`,
  );
print(`| all | ${percent(first)} (at least ${percent(FIRST_MIN)}) | | | | |\n`);
print(`Missed, by kind of picture: ${KIND_NAMES.map((kind) => `${kind} ${missed[kind]}`).join(', ')}.`);

const random = seededRandom(1);
const pairs = Array.from({ length: 20_000 }, () => {
  const [left, right] = [Math.floor(random() * pictures), Math.floor(random() * pictures)];
  const of = vectors.subarray(left * DESCRIPTOR_DIMENSIONS, (left + 1) * DESCRIPTOR_DIMENSIONS);
  return left === right ? [] : [cosine(of, vectors, right * DESCRIPTOR_DIMENSIONS)];
}).flat();
print(
  `Cosine of two pictures at random: ${[0.05, 0.5, 0.95, 0.99].map((at) => quantile(pairs, at)).join(', ')} (5th, 50th, 95th, 99th percentile).`,
);
print(`To describe the pixels of one: ${ms.toFixed(2)} ms (at most ${DESCRIBED_MS_MAX} ms).`);

if (flags.blocks) {
  print('\n| Block | Without it | It alone |\n|---|---|---|');
  for (const block of ['layout', 'hash', 'edges', 'colours']) {
    const alone = { layout: 0, hash: 0, edges: 0, colours: 0, ground: DESCRIPTOR_WEIGHTS.ground, [block]: 1 };
    const without = { ...DESCRIPTOR_WEIGHTS, [block]: 0 };
    print(`| ${block} | ${percent(evaluated(without).first)} | ${percent(evaluated(alone).first)} |`);
  }
}
if (flags.alternatives) {
  const alternatives = {
    'layout and hash as long as edges': { layout: 1, hash: 0.7, edges: 1, colours: 0.6 },
    'edges alone': { layout: 0, hash: 0, edges: 1, colours: 0 },
  };
  const crops = alterations.findIndex(([name]) => name.startsWith('cropped'));
  print('\n| Weights | Original is first | of crops | Nearest other, median |\n|---|---|---|---|');
  for (const [name, weights] of Object.entries({ chosen: DESCRIPTOR_WEIGHTS, ...alternatives })) {
    const { first: share, rows: each } = evaluated({ ground: DESCRIPTOR_WEIGHTS.ground, ...weights });
    const other = each.flatMap((row) => row.other);
    print(`| ${name} | ${percent(share)} | ${percent(each[crops].first / pictures)} | ${quantile(other, 0.5)} |`);
  }
}
process.exitCode = first >= FIRST_MIN && ms <= DESCRIBED_MS_MAX ? 0 : 1;
