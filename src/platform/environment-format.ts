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

interface KnownFormat {
  /** Grows with every change after which an older release would misread or lose what is there. */
  readonly number: number;
  /** For sentences. */
  readonly content: string;
  /** Named databases that no other kind has. */
  readonly databases: RegExp;
}

/** Every kind of environment that the service opens; `docs/formats.md` says what is in them. */
export const ENVIRONMENT_FORMATS = {
  system: {
    number: 1,
    content: 'accounts, lists and keys',
    databases: /^(accounts|lists|groups|api-keys|webhooks|outbox-state)$/,
  },
  list: { number: 1, content: 'the records of a list', databases: /^(records|names|manifest|deletions)-v\d+$/ },
  analytics: {
    number: 1,
    content: 'analytics',
    databases: /^(targets|purges|raw|hours|days|progress)$/,
  },
  queue: { number: 1, content: 'deliveries of webhooks', databases: /^(deliveries|schedule|set-aside|marks|log)$/ },
} as const satisfies Record<string, KnownFormat>;

export type EnvironmentKind = keyof typeof ENVIRONMENT_FORMATS;

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

/** Throws `FormatError`, whose sentence names the folder and both numbers, unless this release knows the format. */
export function assertKnownFormat(path: string, kind: EnvironmentKind, found: unknown): void {
  const { number, content } = ENVIRONMENT_FORMATS[kind];
  if (found === number) return;
  throw new FormatError(
    `${path} (${content}) has format ${String(found)}, and this release reads format ${number}: ` +
      'start the release that wrote it, or restore a backup of this one.',
  );
}

/** Reads the row and throws `FormatError` where the environment is another kind or format; writes the row where there is none. */
export function checkFormat(root: RootDatabase, path: string, kind: EnvironmentKind, isReadOnly: boolean): void {
  const row = root.get(FORMAT_KEY) as Partial<FormatRow> | undefined;
  if (row === undefined) {
    const isNew = assertNoOtherKind(root, path, kind);
    assertKnownFormat(path, kind, isNew ? ENVIRONMENT_FORMATS[kind].number : FIRST_FORMAT);
    if (!isReadOnly) numberIt(root, kind, isNew);
    return;
  }
  if (row.kind !== kind) throw wrongKind(path, kind, String(row.kind));
  assertKnownFormat(path, kind, row.number);
}

/** In a transaction of its own, on disk when this returns. */
export function writeFormat(root: RootDatabase, kind: EnvironmentKind): void {
  const row: FormatRow = { kind, number: ENVIRONMENT_FORMATS[kind].number, made_by: packageVersion() };
  root.transactionSync(() => root.putSync(FORMAT_KEY, row));
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

/** True where there is nothing yet. */
function assertNoOtherKind(root: RootDatabase, path: string, kind: EnvironmentKind): boolean {
  const names = Array.from(root.getKeys(), String);
  const kindOf = (name: string) =>
    (Object.keys(ENVIRONMENT_FORMATS) as EnvironmentKind[]).find((each) =>
      ENVIRONMENT_FORMATS[each].databases.test(name),
    );
  const kinds = new Set(names.map(kindOf));
  const [other] = [...kinds].filter((each) => each !== undefined && each !== kind);
  if (other !== undefined && !kinds.has(kind)) throw wrongKind(path, kind, other);
  return names.length === 0;
}

function wrongKind(path: string, expected: EnvironmentKind, found: string): FormatError {
  const { content, number } = ENVIRONMENT_FORMATS[expected];
  return new FormatError(
    `${path} is to hold ${content} ('${expected}', format ${number}) and is an environment of kind '${found}': ` +
      'put the folder back that belongs there.',
  );
}
