/**
 * The keys of the secret box. By default they are in a file of the data directory that only its owner can read. Keys
 * from the environment take precedence; the file then only opens what was sealed before.
 *
 * The file has a first line with its format, then one key per line, the newest first (docs/formats.md). It is replaced
 * atomically, so that after a crash it is either the old or the new one.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../operator-error.js';
import { asStorageError } from '../storage-space.js';
import { writeFullySync } from '../whole-bytes.js';

const FIRST_LINE = 'gannet secret keys 1';
const KEY_BYTES = 32;
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;
const FILE_MODE = 0o600;

export interface SecretKey {
  /** Identifies the key without revealing it: the beginning of its SHA-256. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface SecretKeysOptions {
  readonly path: string;
  /** Base64 texts of 32 bytes, the newest first. If not empty, the first one seals from now on. */
  readonly given: readonly string[];
}

export class SecretKeys {
  readonly #given: readonly SecretKey[];
  readonly #path: string;
  #kept: readonly SecretKey[];

  /** Throws an OperatorError if the file cannot be read or is damaged. */
  constructor({ path, given }: SecretKeysOptions) {
    this.#path = path;
    this.#given = given.map((text) => keyOf(text));
    this.#kept = readKeys(path);
  }

  /** Returns the key that seals. If there is none, creates one and writes it to disk. */
  newest(): SecretKey {
    const newest = this.#given[0] ?? this.#kept[0];
    if (newest !== undefined) return newest;
    const key = newKey();
    this.#keep([key]);
    return key;
  }

  find(id: string): SecretKey | undefined {
    return [...this.#given, ...this.#kept].find((key) => key.id === id);
  }

  isNewest(id: string): boolean {
    return (this.#given[0] ?? this.#kept[0])?.id === id;
  }

  /** Adds a new key as the newest. Throws an OperatorError if the keys come from the environment. */
  add(): void {
    if (this.#given.length > 0) {
      throw new OperatorError('The secret keys come from GANNET_SECRETS_KEYS. Add a new key there, before the others.');
    }
    this.#keep([newKey(), ...this.#kept]);
  }

  /** Drops all keys of the file except the one that seals; all of them if that one comes from the environment. */
  dropOlder(): void {
    if (this.#kept.length > 0) this.#keep(this.#given.length > 0 ? [] : this.#kept.slice(0, 1));
  }

  #keep(keys: readonly SecretKey[]): void {
    const lines = [FIRST_LINE, ...keys.map(({ bytes }) => bytes.toString('base64'))];
    replaceFile(this.#path, `${lines.join('\n')}\n`);
    this.#kept = keys;
  }
}

function newKey(): SecretKey {
  return keyOf(randomBytes(KEY_BYTES).toString('base64'));
}

function keyOf(text: string): SecretKey {
  const bytes = Buffer.from(text, 'base64');
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
}

function readKeys(path: string): readonly SecretKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new OperatorError(`The secret keys in ${path} cannot be read: ${(error as Error).message}.`);
  }
  const [first, ...lines] = text.trimEnd().split('\n');
  if (first === FIRST_LINE && lines.every((line) => KEY_TEXT.test(line))) return lines.map((line) => keyOf(line));
  throw new OperatorError(
    `${path} is damaged or of another version. Restore it from a backup. Without a backup, move it away; webhooks then need new secrets (gannet webhook rotate-secret).`,
  );
}

/** Replaces a file atomically; it is on disk when this returns. Throws `storage-full` if there is no space. */
function replaceFile(path: string, text: string): void {
  const draft = `${path}.new`;
  try {
    // A leftover of a crash may have other permissions.
    rmSync(draft, { force: true });
    withFile(openSync(draft, 'wx', FILE_MODE), (file) => {
      writeFullySync(file, Buffer.from(text), null);
      fsyncSync(file);
    });
    renameSync(draft, path);
    withFile(openSync(dirname(path), 'r'), fsyncSync);
  } catch (error) {
    rmSync(draft, { force: true });
    throw asStorageError(error, dirname(path));
  }
}

function withFile(file: number, action: (file: number) => void): void {
  try {
    action(file);
  } finally {
    closeSync(file);
  }
}
