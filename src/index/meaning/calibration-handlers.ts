/**
 * Ingest tasks that calibrate a list's cosines: how similar random vectors are, and how similar a vector is to its
 * nearest neighbour in another record. The sample depends only on the number of vectors, so that the same vectors give
 * the same calibration.
 */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, parseResult, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import type { SpaceCalibration } from '../../store/index.js';
import { decodeVectors, spaceStore, type SpaceStore } from '../../vectors/index.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';
import type { CalibrateTask, CommitCalibrationTask, IngestResults } from '../contract/ingest-tasks.js';
import { withSpace } from './meaning-handlers.js';

const PAIRS = 4096;
const NEIGHBOURS_OF = 512;
/** More than one, because vectors of the record's own passages may come before those of other records. */
const NEAREST_WANTED = 64;
const WIDTH = 96;
/** Occurs in no record: no text is folded to it. */
const NO_WORD = '\u0000';

export function calibrate({ kernel, stores }: IngestContext, task: CalibrateTask): IngestResults['calibrate'] {
  const vectors = spaceStore(stores.get(task.listPath), task.version, task.space);
  const records = liveRecords(kernel, task);
  const draw = randomOf(records.length);
  const sample = sampleOf(vectors, records, draw);
  if (sample.length < 2) return undefined;
  const random: number[] = [];
  for (let pair = 0; pair < PAIRS; ++pair) {
    const [left, right] = [draw(sample.length), draw(sample.length)];
    if (left !== right) random.push(dot(sample[left]?.vector, sample[right]?.vector));
  }
  const nearest = sample.slice(0, NEIGHBOURS_OF).flatMap(({ recordNumber, vector }) => {
    const cosine = nearestOther(kernel, task.generation, recordNumber, vector);
    return cosine === undefined ? [] : [cosine];
  });
  if (random.length === 0 || nearest.length === 0) return undefined;
  return { vectorCount: records.length, random: spreadOf(random), nearest: spreadOf(nearest) };
}

export function commitCalibration(
  { stores }: IngestContext,
  task: CommitCalibrationTask,
): IngestResults['commit-calibration'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const space = before.meaning?.spaces.find(({ number }) => number === task.space);
  if (space === undefined) return before;
  const state = withSpace(before, { ...space, calibration: task.calibration });
  store.transaction(() => {
    store.putState(state);
  });
  return state;
}

/** Returns the record numbers of all vectors that are not deleted, in ascending order. */
function liveRecords(kernel: Kernel, { generation, segments }: CalibrateTask): number[] {
  const live: number[] = [];
  for (const { handle } of segments) {
    const dead = kernel.deadVectors(generation, handle);
    const { records } = kernel.vectorSegmentRows(handle);
    for (const [position, recordNumber] of records.entries()) {
      if ((((dead[position >> 3] ?? 0) >> (position & 7)) & 1) === 0) live.push(recordNumber);
    }
  }
  return live.sort((left, right) => left - right);
}

interface Sampled {
  readonly recordNumber: number;
  /** Normalised to length 1. */
  readonly vector: Float32Array;
}

/** Returns one vector of each of several different records; of all records if they are few. */
function sampleOf(vectors: SpaceStore, records: readonly number[], draw: (below: number) => number): Sampled[] {
  const numbers = new Set<number>();
  if (records.length <= PAIRS) for (const recordNumber of records) numbers.add(recordNumber);
  else for (let drawn = 0; drawn < PAIRS; ++drawn) numbers.add(records[draw(records.length)] as number);
  return [...numbers].flatMap((recordNumber) => {
    const bytes = vectors.get(recordNumber);
    if (bytes === undefined) return [];
    const { count, dimensions, values } = decodeVectors(bytes);
    const at = draw(count) * dimensions;
    return [{ recordNumber, vector: normalised(values.subarray(at, at + dimensions)) }];
  });
}

/** Cosine with the nearest vector of another record, as a search finds it; undefined if none was found. */
function nearestOther(
  kernel: Kernel,
  generation: GenerationHandle,
  recordNumber: number,
  vector: Float32Array,
): number | undefined {
  const plan = new QueryPlanWriter().write({
    needTotal: false,
    skip: 0,
    size: 2,
    groups: [{ occur: 'should', boost: 1, alternatives: [{ weight: 1, terms: [NO_WORD] }] }],
    filter: MATCH_ALL,
    sort: [],
    facets: [],
  });
  const scale = { floor: 0, farthest: -1, nearest: 1 };
  const meaning = { vector, weight: 1, ...scale, wanted: NEAREST_WANTED, width: WIDTH };
  const { hits } = parseResult(kernel.search(generation, plan, meaning));
  for (let hit = 0; hit < hits.count; ++hit) {
    if (hits.recordNumber(hit) !== recordNumber) return hits.score(hit) * 2 - 1;
  }
  return undefined;
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

function dot(left: Float32Array | undefined, right: Float32Array | undefined): number {
  let sum = 0;
  if (left === undefined || right === undefined) return sum;
  for (let at = 0; at < left.length; ++at) sum += (left[at] as number) * (right[at] as number);
  return sum;
}

function spreadOf(values: readonly number[]): SpaceCalibration['random'] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, deviation: Math.sqrt(variance) };
}

/** Pseudo-random numbers below a given one, determined by the seed: a linear congruential generator (Knuth's MMIX). */
function randomOf(seed: number): (below: number) => number {
  let state = BigInt(seed) ^ 0x5851f42d4c957f2dn;
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffff_ffff_ffff_ffffn;
    return Number((state >> 33n) % BigInt(below));
  };
}
