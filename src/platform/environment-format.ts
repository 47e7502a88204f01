/**
 * Format of an LMDB environment: what it is and how its content is written. Stored as a row of its main database, next
 * to the named databases.
 *
 *   format   { kind, number, made_by }
 *
 * A release opens only what it knows: it never reads what a newer release wrote as if it were older, and never writes
 * into a folder that was put in the place of another. An environment without the row was made by a release that wrote
 * none, which is the first format of its kind.
 */
import type { RootDatabase } from 'lmdb';
import { OperatorError } from './operator-error.js';
import { packageVersion } from './paths.js';
import { isStorageError } from './storage-space.js';

/** Kind and format number of an environment. Features declare those of their own environments. */
export interface EnvironmentFormat {
  readonly kind: string;
  /**
   * Grows with every change after which an older release would misread or lose data; each step needs a row of
   * `upgrades`.
   */
  readonly number: number;
  /**
   * Upgrade steps, by the format number they lead to: `{ 2: (root) => { … } }` upgrades from format 1. A step runs at
   * the first opening that may write, in the transaction that writes the number, so it is done completely or not at
   * all. For large data the step does nothing: the rows stay as they are and state their own format. Older formats
   * without a step are refused.
   */
  readonly upgrades?: Readonly<Record<number, (root: RootDatabase) => void>>;
  /** Description for messages. */
  readonly content: string;
  /** Matches the named databases that no other kind has. */
  readonly databases: RegExp;
}

/** Formats that belong to no feature; `docs/formats.md` describes their content. */
export const ENVIRONMENT_FORMATS = {
  system: {
    kind: 'system',
    number: 1,
    content: 'accounts, lists and keys',
    databases: /^(accounts|lists|groups|api-keys|webhooks|outbox-state)$/,
  },
  list: {
    kind: 'list',
    number: 1,
    content: 'the records of a list',
    databases: /^(records|names|manifest|deletions)-v\d+$/,
  },
} as const satisfies Record<string, EnvironmentFormat>;

/** Name of a built-in format, or a format that a feature declares. */
export type EnvironmentKind = keyof typeof ENVIRONMENT_FORMATS | EnvironmentFormat;

export function formatOf(kind: EnvironmentKind): EnvironmentFormat {
  return typeof kind === 'string' ? ENVIRONMENT_FORMATS[kind] : kind;
}

export interface FormatRow {
  readonly kind: string;
  readonly number: number;
  /** The release that wrote the row. */
  readonly made_by: string;
}

/** Format of an environment without the row. */
const FIRST_FORMAT = 1;
export const FORMAT_KEY = 'format';

/** The environment is not one that this release can open. */
export class FormatError extends OperatorError {
  override readonly name = 'FormatError';
}

/**
 * Throws `FormatError`, whose message names the folder and both numbers, unless this release knows the format or can
 * upgrade it.
 */
export function assertKnownFormat(path: string, kind: EnvironmentKind, found: unknown): void {
  const format = formatOf(kind);
  const { number, content } = format;
  if (found === number || stepsFrom(found, format) !== undefined) return;
  throw new FormatError(
    `${path} (${content}) has format ${String(found)}, and this release reads format ${number}: ` +
      'start the release that wrote it, or restore a backup of this one.',
  );
}

export interface FormatCheck {
  readonly path: string;
  readonly kind: EnvironmentKind;
  readonly isReadOnly: boolean;
}

/** Returns the format number of an environment whose kind was checked before. */
export function formatNumberOf(root: RootDatabase): number {
  return (root.get(FORMAT_KEY) as FormatRow | undefined)?.number ?? FIRST_FORMAT;
}

/** Returns the upgrade steps from an older format to that of this release, in order; undefined if one is missing. */
function stepsFrom(found: unknown, { number, upgrades = {} }: EnvironmentFormat) {
  if (typeof found !== 'number' || !Number.isInteger(found) || found < FIRST_FORMAT || found > number) return undefined;
  const steps = Array.from({ length: number - found }, (_, step) => upgrades[found + step + 1]);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

/**
 * Reads the row and throws `FormatError` if the environment has another kind or an unknown format. Writes the row if
 * there is none, and upgrades an older format. With `isReadOnly`, an older format stays as it is.
 */
export function checkFormat(root: RootDatabase, { path, kind, isReadOnly }: FormatCheck): void {
  const format = formatOf(kind);
  const row = root.get(FORMAT_KEY) as Partial<FormatRow> | undefined;
  if (row !== undefined && row.kind !== format.kind)
    throw wrongKind(path, format, `an environment of kind '${String(row.kind)}'`);
  const isNew = row === undefined && assertNoOtherKind(root, path, format);
  const found = row === undefined ? (isNew ? format.number : FIRST_FORMAT) : row.number;
  assertKnownFormat(path, kind, found);
  if (isReadOnly) return;
  if (found !== format.number) upgrade(root, kind);
  if (row === undefined) numberIt(root, kind, isNew);
}

/** Runs all steps and writes the number in one transaction, which is on disk when this returns. */
function upgrade(root: RootDatabase, kind: EnvironmentKind): void {
  root.transactionSync(() => {
    // Another thread may have upgraded it meanwhile: no step may run twice.
    for (const step of stepsFrom(formatNumberOf(root), formatOf(kind)) ?? []) step?.(root);
    root.putSync(FORMAT_KEY, rowOf(kind));
  });
}

/** Writes the row in a transaction of its own, which is on disk when this returns. */
export function writeFormat(root: RootDatabase, kind: EnvironmentKind): void {
  const row = rowOf(kind);
  root.transactionSync(() => root.putSync(FORMAT_KEY, row));
}

function rowOf(kind: EnvironmentKind): FormatRow {
  const { kind: name, number } = formatOf(kind);
  return { kind: name, number, made_by: packageVersion() };
}

function numberIt(root: RootDatabase, kind: EnvironmentKind, isNew: boolean): void {
  try {
    writeFormat(root, kind);
    // Commits alternate between the two meta pages: after two of them, both are marked as written by this build.
    if (!isNew) writeFormat(root, kind);
  } catch (error) {
    // A full disk must not prevent reading an older environment: its row is written at a later start.
    if (isNew || !isStorageError(error)) throw error;
  }
}

/**
 * Returns true if the environment is empty. Without a row, its kind is recognized by the names of its databases; throws
 * `FormatError` if none of them belongs to this kind.
 */
function assertNoOtherKind(root: RootDatabase, path: string, format: EnvironmentFormat): boolean {
  const names = Array.from(root.getKeys(), String);
  if (names.length === 0) return true;
  if (names.some((name) => format.databases.test(name))) return false;
  const [first] = names;
  throw wrongKind(path, format, `another environment (there is '${first}' in it)`);
}

function wrongKind(path: string, { content, kind, number }: EnvironmentFormat, found: string): FormatError {
  return new FormatError(
    `${path} is to hold ${content} ('${kind}', format ${number}) and is ${found}: ` +
      'put the folder back that belongs there.',
  );
}
