/**
 * Uploads PDF files to a media store for records that link to them. The service reads the files and reports the result
 * of each.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { mediaUrl } from '../fields/index.js';
import { CommandError, EXIT } from './exit-codes.js';
import type { Output } from './output.js';
import { PDF_FIELD, pdfName, pdfRecord, whyNotReadable, type PdfFault, type PdfOutcome } from './pdf-source.js';
import { ProblemError } from './problem.js';
import type { ServiceClient } from './service-client.js';
import { tellStopped } from './stopped-note.js';

export const DEFAULT_PDF_STORE = 'default';
const POLL_MS = 250;
/** Errors that concern a single file. Any other error of the store ends the import. */
const FAULTS_OF_FILES: ReadonlySet<string> = new Set(['invalid-parameter', 'body-too-large']);

export interface PdfPlace {
  readonly account: string;
  readonly list: string;
  readonly store: string;
}

interface ListAnswer {
  readonly resources: readonly { readonly name: string; readonly kind: string }[];
  readonly resources_state?: {
    readonly pending: number;
    readonly errors: readonly { readonly url: string; readonly error: string; readonly detail: string }[];
  };
}

/** Throws if the list has no field for the files. */
export async function uploadTarget(client: ServiceClient, place: PdfPlace): Promise<PdfPlace> {
  const { resources } = await listOf(client, place);
  if (resources.some(({ name, kind }) => name === PDF_FIELD && kind === 'document')) return place;
  const detail = `The list '${place.list}' has no resource '${PDF_FIELD}' of the kind document, which the files need.`;
  throw new CommandError(
    `${detail} Add it, import into a new list with --create, or import only the text with --text.`,
  );
}

/** Uploads one file after the other, below a folder named after the list. */
export async function* uploadPdfs(
  client: ServiceClient,
  place: PdfPlace,
  { folder, files }: { readonly folder: string; readonly files: readonly string[] },
): AsyncGenerator<PdfOutcome> {
  for (const path of files) yield await uploadPdf(client, place, { path, file: pdfName(folder, path) });
}

async function uploadPdf(
  client: ServiceClient,
  { account, list, store }: PdfPlace,
  { path, file }: { readonly path: string; readonly file: string },
): Promise<PdfOutcome> {
  const target = `${list}/${file}`;
  let bytes: number;
  try {
    bytes = (await stat(path)).size;
  } catch (error) {
    return { fault: { file, error: 'not-readable', detail: whyNotReadable(path, error) } };
  }
  try {
    await client.call('media.upload', {
      params: { account, store, path: target },
      stream: createReadStream(path),
      streamBytes: bytes,
      contentType: 'application/pdf',
    });
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { code, detail = code } = error.problem;
    if (FAULTS_OF_FILES.has(code)) return { fault: { file, error: code, detail } };
    if (code !== 'store-full') throw error;
    const hint =
      'Use a media store in a folder of this machine (gannet media-store add, then --media-store), or import only the text with --text.';
    throw new CommandError(`${file} does not fit into the media store '${store}'. ${detail} ${hint}`, EXIT.failed);
  }
  return { record: pdfRecord(file, { [PDF_FIELD]: mediaUrl(store, target) }) };
}

/** Waits until the service has read the files, and returns those without text (the last ones, if there are many). */
export async function readState(client: ServiceClient, place: PdfPlace, output: Output): Promise<PdfFault[]> {
  if (client.transport !== 'control socket') {
    tellStopped(output, 'the files are read when it runs');
    return [];
  }
  for (;;) {
    const { resources_state: state } = await listOf(client, place);
    if (state === undefined) return [];
    if (state.pending === 0) return state.errors.flatMap((each) => faultBelow(place, each));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function faultBelow({ list, store }: PdfPlace, { url, error, detail }: Omit<PdfFault, 'file'> & { url: string }) {
  const prefix = mediaUrl(store, `${list}/`);
  return url.startsWith(prefix) ? [{ file: url.slice(prefix.length), error, detail }] : [];
}

async function listOf(client: ServiceClient, { account, list }: PdfPlace): Promise<ListAnswer> {
  return (await client.call('list.read', { params: { account, list } })) as ListAnswer;
}
