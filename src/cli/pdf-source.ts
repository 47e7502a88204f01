/** Creates records from PDF files: one per file, with its text in page order. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { DocumentError, DocumentReader } from '../documents/index.js';
import { CommandError, EXIT } from './exit-codes.js';
import { isSystemError, machineShare, systemReason } from '../platform/index.js';

/** Field with the link to a record's file. */
export const PDF_FIELD = 'document';

/** Definition of a list whose records link to files. */
export const PDF_LIST = {
  searchable_fields: [{ name: 'title', weight: 3 }],
  facets: [{ name: 'folder', type: 'string', cardinality: 'Single' }],
  resources: [{ name: PDF_FIELD, kind: 'document' }],
};

const FILE_BYTES_MAX = 100_000_000;
/** Fits into a record of the default size limit, in any script. */
const LIMITS = { pagesMax: 10_000, charactersMax: 1_000_000, msMax: 60_000 };
const MEMORY_MIB_MAX = 512;
const PROCESSES_MAX = 4;

/** Definition of a list whose records contain the text of files. */
export const PDF_TEXT_LIST = {
  searchable_fields: [
    { name: 'title', weight: 3 },
    { name: 'text', weight: 1 },
  ],
  facets: [
    { name: 'folder', type: 'string', cardinality: 'Single' },
    { name: 'page_count', type: 'number', cardinality: 'Single' },
  ],
};

export interface PdfRecord {
  /** Path below the folder, with slashes. */
  readonly name: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

export interface PdfFault {
  readonly file: string;
  /** Name of a document fault, or `not-readable`. */
  readonly error: string;
  readonly detail: string;
}

export interface PdfOutcome {
  readonly record?: PdfRecord;
  /** With a record: the file has more than was read. */
  readonly fault?: PdfFault;
}

/**
 * Returns the files in and below the folder that end in .pdf, sorted; or the file itself if `path` is one. Links are
 * not followed.
 */
export async function pdfFiles(path: string): Promise<{ readonly folder: string; readonly files: readonly string[] }> {
  try {
    if (!(await stat(path)).isDirectory()) return { folder: dirname(path), files: [path] };
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile() && /\.pdf$/i.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name));
    if (files.length > 0) return { folder: path, files: files.sort() };
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${systemReason(error)}.`);
  }
  throw new CommandError(`${path} contains no .pdf files.`, EXIT.usage);
}

/**
 * Yields the outcome of each file, in order; several are read in parallel. `onBug` receives the stack of an unexpected
 * error.
 */
export async function* readPdfs(
  { folder, files }: { readonly folder: string; readonly files: readonly string[] },
  onBug: (stack: string) => void,
): AsyncGenerator<PdfOutcome> {
  const processes = Math.min(PROCESSES_MAX, machineShare().processors, files.length);
  // The outcome of the file reports it.
  const onDeath = () => undefined;
  const reader = new DocumentReader({ processes, memoryMibMax: MEMORY_MIB_MAX, limits: LIMITS, onDeath, onBug });
  const left = files.values();
  const underWay: Promise<PdfOutcome>[] = [];
  const begin = () => {
    const { value, done } = left.next();
    if (done !== true) underWay.push(readPdf(reader, folder, value));
  };
  try {
    for (let count = 0; count < processes; count += 1) begin();
    for (let first = underWay.shift(); first !== undefined; first = underWay.shift()) {
      const outcome = await first;
      begin();
      yield outcome;
    }
  } finally {
    await Promise.allSettled(underWay);
    await reader.close();
  }
}

/** Returns why a file found in a folder cannot be read. */
export function whyNotReadable(path: string, error: unknown): string {
  // A name that is not in UTF-8 is decoded with replacement characters, and so names a file that does not exist.
  const isNamedOtherwise = basename(path).includes('\uFFFD') && isSystemError(error) && error.code === 'ENOENT';
  return isNamedOtherwise ? 'its name is not in UTF-8; rename it' : systemReason(error);
}

/** Returns the path below the folder, with slashes. */
export function pdfName(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}

async function readPdf(reader: DocumentReader, folder: string, path: string): Promise<PdfOutcome> {
  const file = pdfName(folder, path);
  const failed = (error: string, detail: string): PdfOutcome => ({ fault: { file, error, detail } });
  let bytes: Buffer;
  try {
    if ((await stat(path)).size > FILE_BYTES_MAX)
      return failed('too-large', `It is larger than ${FILE_BYTES_MAX} bytes`);
    bytes = await readFile(path);
  } catch (error) {
    return failed('not-readable', whyNotReadable(path, error));
  }
  try {
    const document = await reader.read(bytes);
    const { pages, pageCount, truncated } = document;
    const detail = `Only the first ${pages.length} of its ${pageCount} pages were read`;
    const fields = { page_count: pageCount, text: pages.map(({ text }) => text).join('\n\n') };
    return { record: pdfRecord(file, fields), ...(truncated ? failed('truncated', detail) : {}) };
  } catch (error) {
    if (error instanceof DocumentError) return failed(error.fault, error.message);
    throw error;
  }
}

/** Returns a record with the fields common to all files, plus these. */
export function pdfRecord(file: string, fields: PdfRecord['fields']): PdfRecord {
  const folder = dirname(file);
  const title = basename(file).replace(/\.pdf$/i, '');
  return { name: file, fields: { title, ...(folder === '.' ? {} : { folder }), ...fields } };
}
