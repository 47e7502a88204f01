/**
 * What earlier searches and clicks of a list teach suggestions and related results: one small JSON file per list in
 * `data/analytics/learned`, written by the analytics worker and read by search workers. It can be rebuilt from the
 * roll-ups at any time, and is replaced atomically.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderNow } from '../platform/index.js';
import type { EarlierClick, EarlierQuery } from '../search/index.js';

const FORMAT = 2;
/** Hexadecimal digits of the SHA-256 of the JSON; the first line of the file. */
const SUM_DIGITS = 32;

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
  makeFolderNow(dirname(path));
  const text = JSON.stringify(stored);
  writeFileSync(`${path}.tmp`, `${sumOf(text)}\n${text}`);
  renameSync(`${path}.tmp`, path);
}

/** Returns undefined if the file is missing, from another release, or damaged; the next roll-up writes it again. */
export function readLearned(path: string): LearnedSearches | undefined {
  const text = readSound(path);
  if (text === undefined) return undefined;
  const stored = JSON.parse(text) as Partial<StoredSearches>;
  const { format, queries, clicked } = stored;
  if (format !== FORMAT || queries === undefined || clicked === undefined) return undefined;
  return {
    queries: queries.map(([text, searches, clicks]) => ({ text, searches, clicks })),
    clicked: clicked.map(([query, record, clicks]) => ({ query, record, clicks })),
  };
}

function readSound(path: string): string | undefined {
  let file: string;
  try {
    file = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const text = file.slice(SUM_DIGITS + 1);
  return file.startsWith(`${sumOf(text)}\n`) ? text : undefined;
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, SUM_DIGITS);
}

export function removeLearned(path: string): void {
  rmSync(path, { force: true });
}

/** Returns a stamp that changes with the content of the file; undefined if there is no file. */
export function learnedStamp(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
