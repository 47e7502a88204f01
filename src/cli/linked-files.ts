/**
 * Copies files of media stores to which records link, as `<folder>/<store>/<path>` on this machine: `gannet export
 * --with-files` writes them, and `gannet import --with-files` puts them back into the stores.
 */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { mediaPlace, type MediaPlace } from '../fields/index.js';
import { pathFault } from '../media/index.js';
import {
  isName,
  isSystemError,
  makeFolder,
  makeLastFolderNow,
  MissingFolderError,
  systemReason,
} from '../platform/index.js';
import { subtitleUrls } from '../resources/index.js';
import { CommandError, EXIT } from './exit-codes.js';
import { formatBytes, formatCounted, printable, type Output } from './output.js';
import { ProblemError } from './problem.js';
import { saveWhole } from './saved-file.js';
import type { ServiceClient } from './service-client.js';

/** Errors that concern a single file. */
const MISSING: ReadonlySet<string> = new Set(['file-not-found', 'media-store-not-found', 'invalid-parameter']);
/** Errors of a file system for paths that a store allows: `a` next to `a/b`, or a part of more than 255 bytes. */
const UNNAMEABLE: ReadonlySet<string> = new Set(['ENOTDIR', 'EISDIR', 'EEXIST', 'ENAMETOOLONG']);
const RECORDINGS: ReadonlySet<string> = new Set(['video', 'audio']);
/** Further ones are only counted. */
const FAULTS_NAMED_MAX = 20;

export interface LinkingField {
  readonly name: string;
  readonly kind: string;
}

export interface ExportedFilesOptions {
  readonly client: ServiceClient;
  readonly account: string;
  readonly folder: string;
  /** Fields of the list that contain links. */
  readonly fields: readonly LinkingField[];
}

/**
 * Writes each file once, however many records link to it. An existing file is replaced when the new one is complete.
 */
export class ExportedFiles {
  readonly #seen = new Set<string>();
  readonly #faults: string[] = [];
  #faultCount = 0;
  #count = 0;
  #bytes = 0;

  private constructor(private readonly options: ExportedFilesOptions) {}

  /** Creates the folder if it is missing. Throws a CommandError if its parent is missing. */
  static into(options: ExportedFilesOptions): ExportedFiles {
    try {
      makeLastFolderNow(options.folder);
    } catch (error) {
      if (error instanceof MissingFolderError) throw new CommandError(error.message, EXIT.failed);
      throw error;
    }
    return new ExportedFiles(options);
  }

  /** Writes the files to which a record links, and subtitles next to them. */
  async take(record: Readonly<Record<string, unknown>>): Promise<void> {
    for (const { name, kind } of this.options.fields) {
      for (const url of [record[name]].flat()) {
        if (typeof url !== 'string' || !(await this.#takeUrl(url, true)) || !RECORDINGS.has(kind)) continue;
        for (const beside of subtitleUrls(url)) await this.#takeUrl(beside, false);
      }
    }
  }

  /** Prints what was written and what was not. Returns true if everything was. */
  tell(output: Output): boolean {
    const { folder } = this.options;
    output.note(`${formatCounted(this.#count, 'file')} (${formatBytes(this.#bytes)}) written to ${folder}\n`);
    if (this.#faultCount === 0) return true;
    for (const fault of this.#faults) output.note(`${printable(fault)}\n`);
    output.note(`${formatCounted(this.#faultCount, 'linked file')} could not be written\n`);
    return false;
  }

  /** Returns true if the URL is a file that was not handled before. */
  async #takeUrl(url: string, isLinked: boolean): Promise<boolean> {
    const place = mediaPlace(url);
    if (place === undefined || this.#seen.has(url)) return false;
    this.#seen.add(url);
    const fault = isName(place.store) ? pathFault(place.path) : 'There is no such media store.';
    const problem = fault ?? (await this.#write(place));
    if (problem === undefined || !isLinked) return true;
    this.#faultCount += 1;
    if (this.#faults.length < FAULTS_NAMED_MAX) this.#faults.push(`${url}: ${problem}`);
    return true;
  }

  /** Returns what is wrong with this file; undefined if it was written. Rejects if no file can be written. */
  async #write({ store, path }: MediaPlace): Promise<string | undefined> {
    const { client, account, folder } = this.options;
    const target = join(folder, store, ...path.split('/'));
    try {
      const { pieces } = await client.download('media.read', { params: { account, store, path } });
      await makeFolder(dirname(target));
      await saveWhole(pieces, target);
    } catch (error) {
      if (error instanceof ProblemError && MISSING.has(error.problem.code)) return error.problem.detail;
      if (isSystemError(error) && UNNAMEABLE.has(error.code)) return `${target}: ${systemReason(error)}.`;
      throw error;
    }
    this.#count += 1;
    this.#bytes += (await stat(target)).size;
    return undefined;
  }
}

interface FolderFile extends MediaPlace {
  readonly file: string;
}

/** Puts every file of the folder into its store. Rejects at the first one that a store refuses. */
export async function putFiles(
  client: ServiceClient,
  { account, folder }: { readonly account: string; readonly folder: string },
  output: Output,
): Promise<void> {
  const files = await filesOf(folder);
  let total = 0;
  for (const { file, store, path } of files) {
    const { size: bytes } = await stat(file);
    try {
      await client.call('media.upload', {
        params: { account, store, path },
        stream: createReadStream(file),
        streamBytes: bytes,
      });
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      throw new CommandError(`${file} could not be uploaded to the media store '${store}': ${error.problem.detail}`);
    }
    total += bytes;
  }
  output.note(`${formatCounted(files.length, 'file')} (${formatBytes(total)}) uploaded to media stores\n`);
}

/**
 * Returns the files in order. Ignores links, and names that begin with a dot at the top, which systems use for their
 * own files.
 */
async function filesOf(folder: string): Promise<FolderFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files
    .sort()
    .map((file) => ({ file, parts: relative(folder, file).split(sep) }))
    .filter(({ parts: [first = ''] }) => !first.startsWith('.'))
    .map(({ file, parts: [store = '', ...rest] }) => {
      if (rest.length > 0) return { file, store, path: rest.join('/') };
      throw new CommandError(
        `${file} is not in the folder of a media store. Expected files are ${join(folder, '<store>', '<path>')}.`,
        EXIT.usage,
      );
    });
}
