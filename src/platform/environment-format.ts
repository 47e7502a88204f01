/**
 * What an LMDB environment is and how its content is written: a row of its main database, beside the named ones.
 *
 *   format   { kind, number, made_by }
 *
 * A release opens what it knows and nothing else: records, keys and events that a newer release wrote are never read as if they were
 * older, and a folder that was put in the place of another is never filled with what does not belong there. An environment without
 * the row is of a release that wrote none, which is the first format of its kind.
 */
import type { RootDatabase } from 'lmdb';
import { OperatorError } from './operator-error.js';
import { packageVersion } from './paths.js';
import { isStorageError } from './storage-space.js';

/** What an environment is, and how what is in it is written; a feature declares that of its own. */
export interface EnvironmentFormat {
  readonly kind: string;
  /** Grows with every change after which an older release would misread or lose what is there; each step needs its row of `upgrades`. */
  readonly number: number;
  /**
   * What makes an environment of the format before one of this number, by the number: `{ 2: (root) => { … } }`. It runs at the first opening that
   * may write, in the transaction that writes the number, so that it is done whole or not at all; what is large stays as it is, in rows that say
   * their own format, and the step does nothing. Without a row older formats are refused.
   */
  readonly upgrades?: Readonly<Record<number, (root: RootDatabase) => void>>;
  /** For sentences. */
  readonly content: string;
  /** Named databases that no other kind has. */
  readonly databases: RegExp;
}

/** Those that belong to no feature; `docs/formats.md` says what is in each. */
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

/** Of no feature, by its name, or one that a feature declares. */
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

/** Of an environment that has no row. */
const FIRST_FORMAT = 1;
export const FORMAT_KEY = 'format';

/** The environment is not what this release can open. */
export class FormatError extends OperatorError {
  override readonly name = 'FormatError';
}

/** Throws `FormatError`, whose sentence names the folder and both numbers, unless this release knows the format, or can bring it up to its own. */
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

/** Of an environment that is known. */
export function formatNumberOf(root: RootDatabase): number {
  return (root.get(FORMAT_KEY) as FormatRow | undefined)?.number ?? FIRST_FORMAT;
}

/** From an older format to that of this release, in order; undefined where there is no way. */
function stepsFrom(found: unknown, { number, upgrades = {} }: EnvironmentFormat) {
  if (typeof found !== 'number' || !Number.isInteger(found) || found < FIRST_FORMAT || found > number) return undefined;
  const steps = Array.from({ length: number - found }, (_, step) => upgrades[found + step + 1]);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

/**
 * Reads the row and throws `FormatError` where the environment is another kind or format; writes the row where there is none, and brings an older
 * format up to this one. Who only reads finds an older one as it is.
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

/** All steps and the number in one transaction, on disk when this returns. */
function upgrade(root: RootDatabase, kind: EnvironmentKind): void {
  root.transactionSync(() => {
    // Another thread may have opened it meanwhile: a step that was done is not done twice.
    for (const step of stepsFrom(formatNumberOf(root), formatOf(kind)) ?? []) step?.(root);
    root.putSync(FORMAT_KEY, rowOf(kind));
  });
}

/** In a transaction of its own, on disk when this returns. */
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
    // Each of the two meta pages is written by every second commit: from now on both say that they are of this build.
    if (!isNew) writeFormat(root, kind);
  } catch (error) {
    // A full disk must not keep an older environment from being read: it gets its number at a later start.
    if (isNew || !isStorageError(error)) throw error;
  }
}

/** True where there is nothing yet. Without a row, what is there is known by the names of its databases alone. */
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
