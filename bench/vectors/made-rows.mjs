/** The rows of a file made by vector_memory_bench, as records and searches of a service. */
import { existsSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { formatCount } from '../end-to-end/lib/report.mjs';
import { ACCOUNT, call, createKey, importNdjson, startService } from '../end-to-end/lib/service.mjs';
import { folder } from './fetch-hnswlib.mjs';

export const LIST = 'vectors';
/** Number of query rows behind the rows that become records. */
export const QUERIES = 500;
/** Number of values of the facet `part`, which records have in turn. */
export const PARTS = 100;
const FLOAT_BYTES = 4;
const ROWS_AT_A_TIME = 1000;
const ROWS_OF_REQUEST = 50_000;
/** Graphs are built and merging is over when the service has used less than REST_SHARE of a processor for so long. */
const REST_MS = 5000;
const REST_SHARE = 0.05;

/** `count` rows of `dimensions` f32, with QUERIES rows behind them. */
export class MadeRows {
  constructor({ file, count, dimensions }) {
    this.count = count;
    this.dimensions = dimensions;
    this.input = openSync(file, 'r');
  }

  #rows(first, rows) {
    const values = new Float32Array(rows * this.dimensions);
    readSync(this.input, values, 0, values.byteLength, first * this.dimensions * FLOAT_BYTES);
    return Array.from({ length: rows }, (_, row) =>
      values.subarray(row * this.dimensions, (row + 1) * this.dimensions),
    );
  }

  /** Yields records as NDJSON, some at a time. */
  async *records(from, end) {
    for (let first = from; first < end; first += ROWS_AT_A_TIME) {
      const rows = this.#rows(first, Math.min(ROWS_AT_A_TIME, end - first));
      yield rows.map((vector, row) => recordOf(first + row, vector)).join('');
    }
  }

  queries() {
    return this.#rows(this.count, QUERIES).map((vector) => [...vector]);
  }
}

function recordOf(number, values) {
  let vector = '';
  for (const value of values) vector += `,${value.toFixed(4)}`;
  return `{"name":"${number}","fields":{"title":"${number}","part":${number % PARTS}},"vector":[${vector.slice(1)}]}\n`;
}

export async function createVectorList({ address, key }) {
  const searchable = [{ name: 'title', weight: 1 }];
  const facets = [{ name: 'part', type: 'number' }];
  const list = { name: LIST, model: 'own', searchable_fields: searchable, facets };
  await call(address, key, 'POST', `/list/${ACCOUNT}`, list);
}

/** Imports all rows, some thousand per request, one request after the other. Resolves with the seconds. */
export async function importRows({ address, key }, rows) {
  let sum = 0;
  for (let from = 0; from < rows.count; from += ROWS_OF_REQUEST) {
    const records = Readable.from(rows.records(from, Math.min(from + ROWS_OF_REQUEST, rows.count)));
    const { seconds } = await importNdjson(address, key, LIST, records);
    sum += seconds;
  }
  return sum;
}

/** Waits some seconds. Returns true if the service had nothing to do meanwhile. */
export async function isAtRest(service) {
  const before = service.cpuMs();
  await wait(REST_MS);
  return service.cpuMs() - before < REST_SHARE * REST_MS;
}

async function untilAtRest(service) {
  while (!(await isAtRest(service)));
}

/** Returns a data directory with a list of these rows, all merged, and a key for it. It is imported once and kept for the next run. */
export async function importedService(rows) {
  const dataDir = join(folder, `service-${rows.count}-${rows.dimensions}`);
  const marker = join(dataDir, 'bench-imported.json');
  if (existsSync(marker)) return { dataDir, ...JSON.parse(readFileSync(marker, 'utf8')) };
  rmSync(dataDir, { recursive: true, force: true });
  const service = await startService(dataDir);
  const key = createKey(dataDir);
  await createVectorList({ address: service.address, key });
  process.stderr.write('Importing the vectors (once; kept for the next run) …\n');
  const seconds = await importRows({ address: service.address, key }, rows);
  await untilAtRest(service);
  const processor = (service.cpuMs() / 1000).toFixed(0);
  process.stderr.write(
    `${formatCount(rows.count)} records in ${seconds.toFixed(0)} s, with merges ${processor} s of the processors\n`,
  );
  await service.stop();
  writeFileSync(marker, JSON.stringify({ key }));
  return { dataDir, key };
}
