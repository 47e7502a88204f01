/**
 * What a list's earlier searches and clicks teach suggestions and related results: one small JSON file a list in
 * `data/analytics/learned`, written by the analytics worker and read by the search workers. It can be made again from the roll-ups at
 * any time, and is replaced as a whole.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EarlierClick, EarlierQuery } from '../search/index.js';

const FORMAT = 1;

export interface LearnedSearches {
  readonly queries: readonly EarlierQuery[];
  readonly clicked: readonly EarlierClick[];
}

interface StoredSearches {
  readonly format: number;
  readonly queries: readonly (readonly [string, number, number])[];
  readonly clicked: readonly (readonly [string, string, number])[];
}

export function learnedFile(analyticsFolder: string, listId: string): string {
  return join(analyticsFolder, 'learned', `${listId}.json`);
}

export function writeLearned(path: string, { queries, clicked }: LearnedSearches): void {
  const stored: StoredSearches = {
    format: FORMAT,
    queries: queries.map(({ text, searches, clicks }) => [text, searches, clicks]),
    clicked: clicked.map(({ query, record, clicks }) => [query, record, clicks]),
  };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.tmp`, JSON.stringify(stored));
  renameSync(`${path}.tmp`, path);
}

/** Undefined where there is none, or one of another release. */
export function readLearned(path: string): LearnedSearches | undefined {
  let stored: Partial<StoredSearches>;
  try {
    stored = JSON.parse(readFileSync(path, 'utf8')) as Partial<StoredSearches>;
  } catch (error) {
    // A file cut short by a crash is written again with the next roll-up.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const { format, queries, clicked } = stored;
  if (format !== FORMAT || queries === undefined || clicked === undefined) return undefined;
  return {
    queries: queries.map(([text, searches, clicks]) => ({ text, searches, clicks })),
    clicked: clicked.map(([query, record, clicks]) => ({ query, record, clicks })),
  };
}

export function removeLearned(path: string): void {
  rmSync(path, { force: true });
}

/** Another one for every content that the file gets; undefined where there is no file. */
export function learnedStamp(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
