/**
 * Suggests the path that was probably meant by one that does not exist: a segment is missing, superfluous or misspelt.
 */
import { nearest } from '../platform/index.js';
import type { Operation } from '../operations/index.js';

type Described = Pick<Operation, 'method' | 'path' | 'summary'>;

/** Longer paths get no suggestion. */
const CHARACTERS_MAX = 256;
const SEGMENTS_MAX = 12;
/** A missing or superfluous segment costs 1, a misspelt word a half. */
const COST_MAX = 1;
const MISSPELT = 0.5;

interface Aligned {
  readonly cost: number;
  /** Segments of the suggested path. */
  readonly segments: readonly string[];
  /** Number of fixed words of the path that match, at least nearly. */
  readonly words: number;
}

/**
 * Returns ` Did you mean GET /search/{account}/{list}/{version}?`, to be appended to a sentence, with the given values
 * unless one is missing; or an empty text.
 */
export function pathMeant(method: string, path: string, operations: readonly Described[]): string {
  if (path.length > CHARACTERS_MAX) return '';
  // Double slashes and one at the end are typical mistakes of joining a path.
  const given = path.split('/').filter((segment) => segment !== '');
  if (given.length === 0 || given.length > SEGMENTS_MAX) return '';
  let best: { readonly aligned: Aligned; readonly operation: Described; readonly isOfMethod: boolean } | undefined;
  for (const operation of operations) {
    const wanted = operation.path.split('/').slice(1);
    const aligned = align(given, wanted);
    if (aligned === undefined) continue;
    const isOfMethod = operation.method === (method === 'HEAD' ? 'GET' : method);
    if (best === undefined || isNearer({ aligned, isOfMethod }, best)) best = { aligned, operation, isOfMethod };
  }
  if (best === undefined) return '';
  const { segments } = best.aligned;
  // If a value is missing, it is not known which, so the path is shown with its placeholders.
  const meant = segments.some((segment) => segment.startsWith('{')) ? best.operation.path : `/${segments.join('/')}`;
  return ` Did you mean ${best.operation.method} ${meant}?`;
}

interface Candidate {
  readonly aligned: Aligned;
  readonly isOfMethod: boolean;
}

function isNearer(one: Candidate, other: Candidate): boolean {
  if (one.aligned.cost !== other.aligned.cost) return one.aligned.cost < other.aligned.cost;
  if (one.isOfMethod !== other.isOfMethod) return one.isOfMethod;
  return one.aligned.words > other.aligned.words;
}

/** Returns the cheapest alignment of the two; undefined if it costs too much, or no word matches. */
function align(given: readonly string[], wanted: readonly string[]): Aligned | undefined {
  if (Math.abs(given.length - wanted.length) > COST_MAX) return undefined;
  const found = aligned({ given, wanted }, 0, 0, COST_MAX);
  return found === undefined || found.words === 0 ? undefined : found;
}

interface Paths {
  readonly given: readonly string[];
  readonly wanted: readonly string[];
}

/**
 * Aligns the rest from the segments `from` and `to` on. Few ways are tried, as `left` allows one missing or superfluous
 * segment.
 */
function aligned(paths: Paths, from: number, to: number, left: number): Aligned | undefined {
  const segment = paths.given[from];
  const part = paths.wanted[to];
  if (segment === undefined && part === undefined) return { cost: 0, segments: [], words: 0 };
  const ways: (Aligned | undefined)[] = [];
  if (segment !== undefined && part !== undefined) {
    const isWord = !part.startsWith('{');
    const cost = isWord ? wordCost(segment, part) : 0;
    if (cost <= left)
      ways.push(behind(aligned(paths, from + 1, to + 1, left - cost), cost, isWord ? part : segment, isWord));
  }
  if (left >= 1) {
    if (part !== undefined) ways.push(behind(aligned(paths, from, to + 1, left - 1), 1, part, false));
    if (segment !== undefined) ways.push(behind(aligned(paths, from + 1, to, left - 1), 1, undefined, false));
  }
  let best: Aligned | undefined;
  for (const way of ways) if (way !== undefined && (best === undefined || isBetter(way, best))) best = way;
  return best;
}

function isBetter(one: Aligned, other: Aligned): boolean {
  return one.cost === other.cost ? one.words > other.words : one.cost < other.cost;
}

function wordCost(given: string, wanted: string): number {
  if (given === wanted) return 0;
  return nearest(given, [wanted]) === undefined ? Infinity : MISSPELT;
}

function behind(
  rest: Aligned | undefined,
  cost: number,
  segment: string | undefined,
  isWord: boolean,
): Aligned | undefined {
  if (rest === undefined) return undefined;
  return {
    cost: rest.cost + cost,
    segments: segment === undefined ? rest.segments : [segment, ...rest.segments],
    words: rest.words + (isWord ? 1 : 0),
  };
}

/** Describes the methods of a path: `GET (read a list), PUT (change settings or fields of a list)`. */
export function methodsText(operations: readonly Described[]): string {
  return operations
    .map(({ method, summary }) => `${method} (${summary.slice(0, 1).toLowerCase()}${summary.slice(1)})`)
    .join(', ');
}
