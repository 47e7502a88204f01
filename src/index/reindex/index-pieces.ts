/**
 * Reads what an index is rebuilt from, piece by piece: records, or the extracts of the files that they link to. Belongs
 * to one task of one thread.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { extractStore, textKindOf } from '../../extracts/index.js';
import { asKnownError, ServiceError } from '../../platform/index.js';
import { decodeRecord, parseFields, type RecordStore } from '../../records/index.js';
import type { PartName } from '../../store/index.js';
import type { ReindexTask } from '../contract/ingest-tasks.js';
import type { DamagedFile } from '../contract/resource-tasks.js';
import { PartDocumentWriter, pagesWithText, type PageOfDocument } from '../parts/part-documents.js';
import { ReadablePagesReader } from '../parts/readable-pages.js';
import { placeOf } from '../parts/part-layout.js';
import { partStore, type AttachedDocument } from '../parts/part-store.js';
import { DocumentEncoder } from '../segments/document-encoder.js';

export interface IndexPiece {
  readonly documents: Pick<DocumentEncoder, 'documentCount' | 'finish'>;
  /** Record number to continue at. */
  readonly cursor: number;
  readonly done: boolean;
  /** Files with damaged pages, and the records whose pages are indexed without the words of these. */
  readonly damage?: { readonly files: readonly DamagedFile[]; readonly records: readonly number[] };
}

/**
 * Throws `unprocessable` if a record is not as it was written; the detail names it. Errors of the disk, of a damaged
 * store or of the process are thrown as they are: whoever asked decides by these whether to try again.
 */
export function nextPiece(store: RecordStore, definition: FieldDefinition, task: ReindexTask): IndexPiece {
  const { version, part } = task;
  return part === undefined
    ? recordsPiece(store, definition, task)
    : pagesPiece(store, { version, part, definition }, task);
}

const NO_PAGES = { pages: [], isWhole: true };

type Limits = Pick<ReindexTask, 'cursor' | 'recordsMax' | 'bytesMax'>;

/**
 * A stored record contains exactly what its version indexes: changes of the definition were applied when it was
 * written.
 */
function recordsPiece(store: RecordStore, definition: FieldDefinition, task: ReindexTask): IndexPiece {
  const encoder = new DocumentEncoder(definition);
  const { version } = task;
  return piece(encoder, task, store.version(version).range({ start: task.cursor }), (key, value: Buffer) => {
    const stored = decodeRecord(value);
    encoder.add(key, stored, parseFields(stored.fieldsJson));
    return value.length;
  });
}

/**
 * Documents keep their numbers, so that the effects of commits during the rebuild can be carried over. If the extract
 * of a file is newer than the attached pages, as many of its pages are indexed as were attached, until the new ones are
 * attached.
 */
function pagesPiece(
  store: RecordStore,
  of: { readonly version: number; readonly part: PartName; readonly definition: FieldDefinition },
  task: ReindexTask,
): IndexPiece {
  const writer = new PartDocumentWriter();
  const reader = new ReadablePagesReader(extractStore(store));
  const { rows } = partStore(store, of.version, of.part);
  const range = rows.getRange({ start: task.cursor });
  const records: number[] = [];
  const made = piece(writer, task, range, (recordNumber, attached: readonly AttachedDocument[]) => {
    let [bytes, isDamaged] = [0, false];
    for (const { field, url, first, count } of attached) {
      const kind = textKindOf(of.definition, field);
      const { pages, isWhole } = kind === undefined ? NO_PAGES : reader.read({ kind, url });
      isDamaged ||= !isWhole;
      for (const [index, { page, text }] of attachedPages(pages, count).entries()) {
        const place = placeOf(of.definition, { field, page });
        if (place === undefined) continue;
        writer.add({ number: first + index, recordNumber, place, text });
        bytes += text.length;
      }
    }
    if (isDamaged) records.push(recordNumber);
    return bytes;
  });
  return { ...made, damage: { files: reader.damaged, records } };
}

/**
 * A damaged page keeps its position, unless the readable pages are as many as were attached: then the damaged one was
 * blank.
 */
function attachedPages(pages: readonly PageOfDocument[], count: number): readonly PageOfDocument[] {
  const readable = pagesWithText(pages.filter(({ isDamaged }) => isDamaged !== true));
  return readable.length === count ? readable : pagesWithText(pages).slice(0, count);
}

function piece<Value>(
  documents: IndexPiece['documents'],
  { cursor: start, recordsMax, bytesMax, version }: Limits & { readonly version: number },
  rows: Iterable<{ readonly key: number; readonly value: Value }>,
  add: (recordNumber: number, value: Value) => number,
): IndexPiece {
  let cursor = start;
  let bytes = 0;
  try {
    for (const { key, value } of rows) {
      cursor = key;
      if (documents.documentCount >= recordsMax || bytes >= bytesMax) return { documents, cursor, done: false };
      bytes += add(key, value);
      cursor = key + 1;
    }
    return { documents, cursor, done: true };
  } catch (error) {
    if (asKnownError(error) instanceof ServiceError) throw error;
    const detail = `Record ${cursor} of version ${version} cannot be read from the list's store: ${String(error)}.`;
    throw new ServiceError('unprocessable', detail, { cause: error });
  }
}
