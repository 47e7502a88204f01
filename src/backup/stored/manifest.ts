/**
 * The manifest of a backup in a media store: `<name>.json`, stored after all pieces that it names. It has three lines:
 * the summary, the files as JSON, and the SHA-256 of both lines.
 */
import { createHash } from 'node:crypto';
import { OperatorError } from '../../platform/index.js';
import { isInside } from '../description.js';

/** Increases with every change after which an older release would restore something else than what was backed up. */
const FORMAT = 1;
/** Bytes per piece of files that never change, or are small. The last piece of a file may be shorter. */
export const PIECE_BYTES = 1_048_576;
/** Bytes per piece of environments, in which a few changed pages may be anywhere. */
export const ENVIRONMENT_PIECE_BYTES = 131_072;
const PIECE_BYTES_MAX = 2 ** 26;
const DIGEST = /^[0-9a-f]{64}$/u;

export interface StoredSummary {
  readonly made_utc: string;
  /** Release that made the backup. */
  readonly made_by: string;
  readonly data_dir: string;
  readonly lists: number;
  readonly files: number;
  readonly bytes: number;
}

export interface StoredFileOfBackup {
  /** Path relative to the data directory, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** Bytes of each piece except the last. */
  readonly piece_bytes: number;
  /** SHA-256 of each piece, in order. */
  readonly pieces: readonly string[];
}

export interface Manifest {
  readonly summary: StoredSummary;
  readonly files: readonly StoredFileOfBackup[];
}

export function manifestText({ summary, files }: Manifest): string {
  const head = JSON.stringify({ gannet: 'backup', format: FORMAT, ...summary });
  const text = `${head}\n${JSON.stringify(files)}\n`;
  return `${text}${digestOf(text)}\n`;
}

/** Parses the first line only. Throws an `OperatorError`; `told` names the backup in it. */
export function readSummary(line: string, told: string): StoredSummary {
  const value = parsed(line);
  if (!isSummary(value)) throw damaged(told);
  if (value.format > FORMAT) {
    throw new OperatorError(
      `${told} has format ${value.format}, which this release does not know: restore it with the release that made it (${value.made_by}).`,
    );
  }
  const { made_utc, made_by, data_dir, lists, files, bytes } = value;
  return { made_utc, made_by, data_dir, lists, files, bytes };
}

/** Throws an `OperatorError` if anything differs from what was written. */
export function readManifest(text: string, told: string): Manifest {
  const lines = text.split('\n');
  const [head = '', body = '', digest = ''] = lines;
  const summary = readSummary(head, told);
  if (lines.length !== 4 || digest !== digestOf(`${head}\n${body}\n`)) throw damaged(told);
  const files = parsed(body);
  if (!Array.isArray(files) || !files.every(isFile)) throw damaged(told);
  return { summary, files };
}

/** Returns the bytes of each piece, except the last, of the file at this path. */
export function pieceBytesOf(path: string): number {
  return path.endsWith('/data.mdb') ? ENVIRONMENT_PIECE_BYTES : PIECE_BYTES;
}

function damaged(told: string): OperatorError {
  return new OperatorError(
    `${told} is damaged: its description does not match its checksum. Restore another backup by its name.`,
  );
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSummary(value: unknown): value is StoredSummary & { readonly format: number } {
  if (typeof value !== 'object' || value === null) return false;
  const { gannet, format, made_utc, made_by, data_dir, lists, files, bytes } = value as Record<string, unknown>;
  return (
    gannet === 'backup' &&
    [made_utc, made_by, data_dir].every((each) => typeof each === 'string') &&
    [format, lists, files, bytes].every(isCount)
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isFile(value: unknown): value is StoredFileOfBackup {
  if (typeof value !== 'object' || value === null) return false;
  const { path, bytes, piece_bytes, pieces } = value as Record<string, unknown>;
  if (!isInside(path) || !isCount(bytes) || !isCount(piece_bytes)) return false;
  if (piece_bytes === 0 || piece_bytes > PIECE_BYTES_MAX) return false;
  return (
    Array.isArray(pieces) &&
    pieces.length === Math.ceil(bytes / piece_bytes) &&
    pieces.every((each) => typeof each === 'string' && DIGEST.test(each))
  );
}
