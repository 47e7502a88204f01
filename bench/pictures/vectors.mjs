/**
 * Measures searches by a picture among many, in the kernel alone: the time of one on one thread, and the recall of the graph compared with a scan.
 *
 *     npm run setup && node bench/pictures/vectors.mjs [pictures]      default 100000, which takes some minutes
 *
 * Pictures are shapes on a gradient, drawn as the few pixels that the descriptor uses. Each search is by one of them cropped by a tenth, in grey and
 * with noise, with the settings of the service. Prints Markdown, and exits with 1 if a bar is missed. Bars are of processor
 * time, as wall time depends on other load.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kernel } from '#native-bindings/index.js';
import { DocumentBatchWriter } from '#native-bindings/document-batch.js';
import { MATCH_ALL, QueryPlanWriter } from '#native-bindings/query-plan.js';
import { parseResult } from '#native-bindings/query-result.js';
import { describePixels, DESCRIPTOR_DIMENSIONS, PIXELS_SIDE } from '#src/pictures/descriptor.js';
import { BUILT_IN_PICTURES } from '#src/pictures/index.js';
import { readSearchRequest } from '#src/search/options/search-request.js';
import { planMeaning } from '#src/search/plan/meaning-plan.js';
import { seededRandom } from '../end-to-end/lib/random.mjs';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { definitionOf } from '../micro/lib/searching.mjs';

const { pictures } = readNumbers({ pictures: 100_000 });
const SEARCHES = 500;
const HITS = 10;
const MS_MAX = 5;
const RECALL_MIN = 0.95;
const WHOLE = { left: 0, top: 0, side: 1 };
const CROPPED_SIDE = 0.9;
const NOISE = 12;
const NO_FIELDS = definitionOf({ searchable_fields: [], facets: [] });
const CHANNELS = 3;

/** Draws the pixels of a part of the picture, which is a square of side 1. */
function drawn(seed, { left, top, side }) {
  const random = seededRandom(seed + 1);
  const colour = () => [random() * 255, random() * 255, random() * 255];
  const [from, to, turn] = [colour(), colour(), random() * Math.PI];
  const shapes = Array.from({ length: 3 + Math.floor(random() * 6) }, () => ({
    isBox: random() < 0.5,
    colour: colour(),
    x: random(),
    y: random(),
    across: 0.04 + random() * 0.25,
    down: 0.04 + random() * 0.25,
  })).reverse();
  const pixels = new Uint8Array(PIXELS_SIDE * PIXELS_SIDE * CHANNELS);
  for (let at = 0; at < PIXELS_SIDE * PIXELS_SIDE; ++at) {
    const x = left + (((at % PIXELS_SIDE) + 0.5) / PIXELS_SIDE) * side;
    const y = top + ((Math.floor(at / PIXELS_SIDE) + 0.5) / PIXELS_SIDE) * side;
    const shape = shapes.find((each) => {
      const [right, below] = [Math.abs(x - each.x) / each.across, Math.abs(y - each.y) / each.down];
      return each.isBox ? right < 1 && below < 1 : right * right + below * below < 1;
    });
    const slope = 0.5 + ((x - 0.5) * Math.cos(turn) + (y - 0.5) * Math.sin(turn)) / 1.5;
    for (let channel = 0; channel < CHANNELS; ++channel)
      pixels[at * CHANNELS + channel] = shape?.colour[channel] ?? from[channel] + (to[channel] - from[channel]) * slope;
  }
  return pixels;
}

function altered(seed) {
  const random = seededRandom(seed + 7);
  const room = 1 - CROPPED_SIDE;
  const pixels = drawn(seed, { left: random() * room, top: random() * room, side: CROPPED_SIDE });
  for (let at = 0; at < pixels.length; at += CHANNELS) {
    const grey = 0.299 * pixels[at] + 0.587 * pixels[at + 1] + 0.114 * pixels[at + 2] + (random() - 0.5) * NOISE;
    pixels.fill(Math.min(255, Math.max(0, grey)), at, at + CHANNELS);
  }
  return pixels;
}

const folder = mkdtempSync(join(tmpdir(), 'gannet-bench-pictures-'));
const processorMs = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

try {
  const records = Uint32Array.from({ length: pictures }, (_, at) => at + 1);
  const vectors = new Float32Array(pictures * DESCRIPTOR_DIMENSIONS);
  const batch = new DocumentBatchWriter();
  for (const record of records) {
    vectors.set(describePixels(drawn(record, WHOLE)), (record - 1) * DESCRIPTOR_DIMENSIONS);
    batch.begin(record);
    batch.text(0, 'picture');
    batch.end();
  }
  const words = join(folder, '1.mdb');
  kernel.buildSegment(words, { textFields: [{ name: 'title', weightUnits: 1 }], columns: [] }, batch.finish());
  const file = join(folder, '2.gvs');
  const before = process.cpuUsage();
  const rows = { dimensions: DESCRIPTOR_DIMENSIONS, vectors, records, places: new Uint32Array(pictures) };
  const { fileBytes } = kernel.buildVectorSegment(file, rows);
  const builtMs = processorMs(before);
  const generation = kernel.publishGeneration({
    add: [{ segment: kernel.openSegment(words) }],
    vectors: { add: [{ segment: kernel.openVectorSegment(file) }] },
  });

  const { model, modelVersion, dimensions, calibration } = BUILT_IN_PICTURES;
  /** @type {Parameters<typeof planMeaning>[2]['meaning']} */
  const meaning = { model, modelVersion, dimensions, calibration, source: 'embedder' };
  const plan = { needTotal: true, skip: 0, size: HITS, groups: [], filter: MATCH_ALL, sort: [], facets: [] };
  const bytes = Buffer.from(new QueryPlanWriter().write(plan));
  const search = (vector, exact) => {
    const request = readSearchRequest({ exact }, [NO_FIELDS]);
    const near = planMeaning(request, { kind: 'meaning' }, { meaning }, { modelVersion, vector, ofPictures: true });
    const { hits } = parseResult(kernel.search(generation, bytes, near));
    return [...hits.recordNumbers()];
  };
  const step = Math.max(1, Math.floor(pictures / SEARCHES));
  const sought = Array.from({ length: Math.min(SEARCHES, pictures) }, (_, at) => 1 + at * step);
  const given = sought.map((record) => describePixels(altered(record)));
  for (const vector of given) search(vector, false);
  const times = [];
  const began = process.cpuUsage();
  const found = given.map((vector) => {
    const begin = performance.now();
    const names = search(vector, false);
    times.push(performance.now() - begin);
    return names;
  });
  const eachMs = processorMs(began) / given.length;
  const exactBegan = process.cpuUsage();
  const exact = given.map((vector) => search(vector, true));
  const exactMs = processorMs(exactBegan) / given.length;
  const shared = found.map((names, at) => names.filter((name) => exact[at].includes(name)).length);
  const recall = shared.reduce((sum, each) => sum + each, 0) / exact.reduce((sum, each) => sum + each.length, 0);
  const first = found.filter(([name], at) => name === sought[at]).length / found.length;

  process.stdout.write(`## Searches by a picture among ${formatCount(pictures)}\n\n${machineTable()}\n`);
  const ms = (value) => `${value.toFixed(2)} ms`;
  const [p50, p95] = [0.5, 0.95].map((share) => quantile(times, share));
  process.stdout.write(
    markdownTable(
      ['What', 'Measured', 'Bar', ''],
      [
        barRow('processor time of a search, mean', ms(eachMs), `${MS_MAX} ms`, eachMs < MS_MAX),
        ['a search by the clock, p50', ms(p50), '', ''],
        ['a search by the clock, p95', ms(p95), '', ''],
        barRow(
          `of the ${HITS} nearest, found`,
          `${(recall * 100).toFixed(2)} %`,
          `${RECALL_MIN * 100} %`,
          recall >= RECALL_MIN,
        ),
        ['the picture itself is first', `${(first * 100).toFixed(2)} %`, '', ''],
        ['processor time of a search that compares all', ms(exactMs), '', ''],
        ['processor time of the index', `${(builtMs / 1000).toFixed(1)} s`, '', ''],
        ['bytes a picture on disk', formatCount(fileBytes / pictures), '', ''],
      ],
    ),
  );
  process.exitCode = eachMs < MS_MAX && recall >= RECALL_MIN ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
