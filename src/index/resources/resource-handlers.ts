/**
 * Ingest tasks for the files that a list's records link to: which are to be read, the outcome of reading them, and
 * their contents.
 */
import { createHash } from 'node:crypto';
import {
  attachLane,
  attachQueue,
  extractStore,
  hasContent,
  hasFiles,
  keyOfFile,
  linkedFiles,
  READ_KINDS,
  RECORDING_KINDS,
  readKindsOf,
  CHECK_JITTER,
  readingLane,
  readingQueue,
  TRANSCRIPTS_LANE,
  type ExtractFault,
  type ExtractRow,
  type ExtractStore,
  type FileToRead,
  type PackedDocuments,
  type ReadContent,
  type ReadKind,
  type ReadText,
  type ReadingItem,
  type ReadingOutcome,
  type ReadingQueue,
} from '../../extracts/index.js';
import { ASKED_WAIT_MS_MAX } from '../../platform/work/index.js';
import { decodeRecord, parseFields, unknownName, type RecordStore } from '../../records/index.js';
import {
  currentVersionOf,
  FIRST_RECORD_NUMBER,
  LIST_STATE_FORMAT_WITH_FRAMES,
  type ListState,
} from '../../store/index.js';
import type { IngestResults } from '../contract/ingest-tasks.js';
import type {
  CommitReadingTask,
  FramesByTask,
  KeepTranscriptTask,
  LinkedTextsTask,
  LookAtFilesTask,
  QueueLinksTask,
  RefreshResourcesTask,
  ReadAgainTask,
  TranscribeByTask,
} from '../contract/resource-tasks.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';
import { prepareReadingAgain, putPending, readAgain, ReadablePagesReader } from '../parts/readable-pages.js';

/** Number of files that one task looks at. */
const REFRESHED_MAX = 2000;

/** Searches records for links that were written before links were kept. */
export function queueLinks({ stores }: IngestContext, task: QueueLinksTask): IngestResults['queue-links'] {
  const store = stores.get(task.listPath);
  const state = requiredState(store);
  const { definition, version } = currentVersionOf(state);
  const kinds = readKindsOf(state);
  if (!hasFiles(definition, kinds)) return { done: true };
  const extracts = extractStore(store).prepare([version]);
  void [readingQueue(store), attachQueue(store)];
  let cursor = extracts.scannedTo(version, definition) ?? FIRST_RECORD_NUMBER;
  if (cursor === Infinity) return { done: true };
  const links: { readonly recordNumber: number; readonly file: FileToRead }[] = [];
  let read = 0;
  for (const { key, value } of store.version(version).range({ start: cursor, limit: task.recordsMax })) {
    const linked = linkedFiles(definition, parseFields(decodeRecord(value).fieldsJson), kinds);
    links.push(...linked.map((file) => ({ recordNumber: key, file })));
    cursor = key + 1;
    read += 1;
  }
  const done = read < task.recordsMax;
  store.transaction(() => {
    for (const { recordNumber, file } of links) {
      const key = keyOfFile(file);
      extracts.putLink(version, key, recordNumber);
      const row = extracts.row(key);
      if (row === undefined) putPending(store, { url: file.url, kind: file.kind }, task.nowMs);
      // The file was read while other records were searched.
      else if (hasContent(row)) attachQueue(store).put([{ lane: attachLane(version), item: recordNumber }], task.nowMs);
    }
    extracts.putScanned(version, definition, done ? Infinity : cursor);
  });
  return { done };
}

/**
 * Stores the outcome of reading files and schedules the next look at each, in one transaction. Outcomes that were
 * superseded meanwhile are ignored.
 */
export function commitReading({ stores }: IngestContext, task: CommitReadingTask): IngestResults['commit-reading'] {
  const { nowMs, checkMs, settlements } = task;
  const store = stores.get(task.listPath);
  const state = requiredState(store);
  const extracts = extractStore(store).prepare(state.versions.map(({ version }) => version));
  const queue = readingQueue(store);
  void attachQueue(store);
  const packed = extracts.packed(settlements.flatMap(({ note: { result } }) => documentOf(result)));
  let told = 0;
  store.transaction(() => {
    extracts.putPacked(packed);
    for (const settlement of settlements) {
      const { item, result } = settlement.note;
      const { kind = 'document', url } = item;
      const key = keyOfFile({ kind, url });
      const row = queue.holds(settlement) ? extracts.row(key) : undefined;
      const isRetried = settlement.next.kind === 'retried';
      queue.settle([isRetried ? settlement : { ...settlement, next: { kind: 'done' } }]);
      if (row === undefined) continue;
      told += 1;
      const isPostponed = settlement.next.kind === 'done' && result.kind === 'unreachable';
      if (isRetried || isPostponed) extracts.put(key, withFault(row, faultOf(result, nowMs)));
      else if (putOutcome(extracts, { key, row, result, packed, nowMs })) queueRecords(store, state, { key, nowMs });
      if (!isRetried) putTranscribing(queue, extracts.row(key), nowMs);
      if (isRetried) continue;
      const next: ReadingItem = isPostponed
        ? { ...item, postponed: item.postponed + 1 }
        : { url, kind, forced: false, postponed: 0 };
      const waitMs = isPostponed
        ? Math.min(result.afterMs ?? 0, ASKED_WAIT_MS_MAX)
        : checkMs * (1 + CHECK_JITTER * Math.random());
      const lane = next.transcribe === true ? TRANSCRIPTS_LANE : readingLane({ kind, url });
      queue.put([{ lane, item: next }], Math.round(nowMs + waitMs));
    }
  });
  return { told };
}

interface Outcome {
  readonly key: string;
  readonly row: ExtractRow;
  readonly result: ReadingOutcome;
  /** Packed pages, if the file is a document. */
  readonly packed: PackedDocuments;
  readonly nowMs: number;
}

function documentOf(result: ReadingOutcome): ReadText[] {
  return result.kind === 'read' && result.content.kind === 'document' ? [result.content] : [];
}

/** Returns true if the contents have changed or are gone. */
function putOutcome(extracts: ExtractStore, { key, row, result, packed, nowMs }: Outcome): boolean {
  const { url, kind = 'document', text, recording, picture, frames, fault } = row;
  const content = {
    ...(text === undefined ? {} : { text }),
    ...(recording === undefined ? {} : { recording }),
    ...(picture === undefined ? {} : { picture }),
    ...(frames === undefined ? {} : { frames }),
  };
  switch (result.kind) {
    case 'read':
      extracts.put(key, readRow({ url, kind }, result, nowMs), result.content, packed);
      return true;
    case 'unchanged':
      // What could not be read of the same bytes before cannot be read now.
      if (!hasContent(row) || fault?.error === 'not-transcribed')
        extracts.put(key, withFault({ url, kind, state: 'failed', ...content, file: result.file }, fault));
      else extracts.put(key, { url, kind, state: stateOf(recording), ...content, file: result.file });
      return false;
    case 'unreadable': {
      const failed: ExtractRow = {
        url,
        kind,
        state: 'failed',
        ...(result.file === undefined ? {} : { file: result.file }),
      };
      extracts.put(key, withFault(failed, faultOf(result, nowMs)), null);
      return hasContent(row);
    }
    case 'unreachable':
      // The contents stay until they are known to be outdated.
      extracts.put(key, withFault({ ...row, state: 'failed' }, faultOf(result, nowMs)));
      return false;
  }
}

function readRow(
  { url, kind }: Required<Pick<ExtractRow, 'url' | 'kind'>>,
  { content, file, fault }: Extract<ReadingOutcome, { kind: 'read' }>,
  nowMs: number,
): ExtractRow {
  const read = readOf(content, nowMs);
  const row: ExtractRow = { url, kind, state: stateOf(read.recording), ...read, file };
  return fault === undefined ? row : { ...row, state: 'failed', fault: { ...fault, atMs: nowMs } };
}

/** A recording stays pending until it is transcribed. */
function stateOf(recording: ExtractRow['recording']): ExtractRow['state'] {
  return recording?.transcript !== undefined && recording.isTranscribed !== true ? 'pending' : 'read';
}

function putTranscribing(queue: ReadingQueue, row: ExtractRow | undefined, nowMs: number): void {
  if (row?.recording === undefined || row.state !== 'pending' || stateOf(row.recording) === 'read') return;
  const { url, kind = 'document' } = row;
  queue.put([{ lane: TRANSCRIPTS_LANE, item: { url, kind, forced: true, postponed: 0, transcribe: true } }], nowMs);
}

/** Stores a transcript before it becomes part of the file's contents. */
export function keepTranscript({ stores }: IngestContext, task: KeepTranscriptTask): IngestResults['keep-transcript'] {
  const store = stores.get(task.listPath);
  const extracts = extractStore(store).prepare([]);
  try {
    store.transaction(() => {
      extracts.putTranscript(keyOfFile(task.file), task.transcript, task.kept);
    });
  } catch (error) {
    throw store.asWriteError(error);
  }
  return { done: true };
}

/** Queues recordings to be looked at, because the transcription model has changed; as many as one task may. */
export function transcribeBy({ stores }: IngestContext, task: TranscribeByTask): IngestResults['transcribe-by'] {
  const store = stores.get(task.listPath);
  const extracts = extractStore(store).prepare([]);
  void readingQueue(store);
  return store.transaction(() => {
    const after = lookBehind(store, task, RECORDING_KINDS);
    if (after === undefined) extracts.putTranscribedBy(task.version);
    return { after };
  });
}

/**
 * Queues videos to be looked at, because the way of reading frames has changed; the last step also has records searched
 * for links to videos.
 */
export function framesBy({ stores }: IngestContext, task: FramesByTask): IngestResults['frames-by'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const extracts = extractStore(store).prepare(before.versions.map(({ version }) => version));
  void readingQueue(store);
  return store.transaction(() => {
    const after = lookBehind(store, task, ['frames']);
    if (after !== undefined || before.pictures === undefined) return { after, state: undefined };
    for (const { version, definition } of before.versions)
      extracts.putScanned(version, definition, FIRST_RECORD_NUMBER);
    const pictures = { ...before.pictures, framesBy: task.version };
    const format = Math.max(before.format, LIST_STATE_FORMAT_WITH_FRAMES);
    const state: ListState = { ...before, format, sequence: before.sequence + 1, pictures };
    store.putState(state);
    return { after, state };
  });
}

/** Queues those of the next files that have these kinds, inside a transaction. Returns the key to continue behind. */
function lookBehind(
  store: RecordStore,
  { after, nowMs }: Pick<TranscribeByTask, 'after' | 'nowMs'>,
  kinds: readonly ReadKind[],
): string | undefined {
  const rows = extractStore(store).rowsBehind(after, REFRESHED_MAX);
  for (const { row } of rows) {
    const { url, kind = 'document' } = row;
    if (!kinds.includes(kind)) continue;
    // Pending frames will be read in the current way anyway. Transcripts wait in another lane, so those recordings are
    // not skipped.
    if (kind === 'frames' && row.state === 'pending') continue;
    const item = { url, kind, forced: false, postponed: 0 };
    readingQueue(store).put([{ lane: readingLane(item), item }], nowMs);
  }
  return rows.length < REFRESHED_MAX ? undefined : rows.at(-1)?.key;
}

function readOf(content: ReadContent, readMs: number): Pick<ExtractRow, 'text' | 'recording' | 'picture' | 'frames'> {
  if (content.kind === 'document') {
    const { pageCount, pages, truncated } = content;
    return { text: { pageCount, pagesRead: pages.length, truncated, readMs } };
  }
  if (content.kind === 'frames') {
    const { frames, modelVersion, truncated } = content;
    return { frames: { count: frames.length, truncated, modelVersion, readMs } };
  }
  if (content.kind !== 'image') {
    const { duration = null, passages, truncated, transcript } = content;
    const written = transcript && { transcript: transcript.key, isTranscribed: transcript.isThere };
    const hash = createHash('sha256').update(JSON.stringify(passages)).digest('base64url');
    return { recording: { duration, passages: passages.length, truncated, hash, readMs, ...written } };
  }
  const { width, height, modelVersion } = content;
  return { picture: { width, height, modelVersion, readMs } };
}

function faultOf(result: ReadingOutcome, atMs: number): ExtractFault | undefined {
  if (result.kind !== 'unreadable' && result.kind !== 'unreachable') return undefined;
  return { error: result.error, detail: result.detail, atMs };
}

function withFault(row: ExtractRow, fault: ExtractFault | undefined): ExtractRow {
  return fault === undefined ? row : { ...row, fault };
}

/**
 * Queues the records that link to the file, because their pages have changed. Versions that are no longer written are
 * skipped.
 */
function queueRecords(
  store: RecordStore,
  { currentVersion, versions }: ListState,
  { key, nowMs }: { readonly key: string; readonly nowMs: number },
): void {
  const extracts = extractStore(store);
  for (const { version, state } of versions) {
    if (version !== currentVersion && state !== 'building') continue;
    const lane = attachLane(version);
    const work = extracts.recordsOf(key, version).map((item) => ({ lane, item }));
    if (work.length > 0) attachQueue(store).put(work, nowMs);
  }
}

/** Queues files to be read again, whatever is known of them. */
export function refreshResources(
  { stores }: IngestContext,
  task: RefreshResourcesTask,
): IngestResults['refresh-resources'] {
  const store = stores.get(task.listPath);
  const extracts = extractStore(store);
  if (!extracts.exists) return { queued: 0, after: undefined };
  extracts.prepare([]);
  void readingQueue(store);
  const rows = extracts.rowsBehind(task.after, REFRESHED_MAX);
  const wanted = rows.map(({ row }) => row).filter(({ state }) => state === 'failed' || !task.failedOnly);
  store.transaction(() => {
    for (const row of wanted) putPending(store, row, task.nowMs);
  });
  return { queued: wanted.length, after: rows.length < REFRESHED_MAX ? undefined : rows.at(-1)?.key };
}

/** Queues files that may have changed to be looked at now. */
export function lookAtFiles({ stores }: IngestContext, task: LookAtFilesTask): IngestResults['look-at-files'] {
  const store = stores.get(task.listPath);
  const extracts = extractStore(store);
  if (!extracts.exists) return { queued: 0 };
  extracts.prepare([]);
  const queue = readingQueue(store);
  const known = task.urls
    .flatMap((url) => READ_KINDS.map((kind): FileToRead => ({ kind, url })))
    .filter((file) => extracts.row(keyOfFile(file)) !== undefined);
  store.transaction(() => {
    for (const { kind, url } of known) {
      const row = extracts.row(keyOfFile({ kind, url }));
      if (task.isTold && row !== undefined) extracts.put(keyOfFile({ kind, url }), { ...row, state: 'pending' });
      queue.put([{ lane: readingLane({ kind, url }), item: { url, kind, forced: false, postponed: 0 } }], task.nowMs);
    }
  });
  return { queued: known.length };
}

/** Queues documents whose stored pages are damaged to be read again. */
export function readDamagedAgain({ stores }: IngestContext, task: ReadAgainTask): IngestResults['read-again'] {
  const store = stores.get(task.listPath);
  if (!extractStore(store).exists) return { queued: 0 };
  const reader = new ReadablePagesReader(extractStore(store));
  // Since the pages were seen to be damaged, their documents may have been read again.
  for (const url of task.urls) reader.read({ kind: 'document', url });
  const files = reader.damaged;
  prepareReadingAgain(store, files);
  return store.transaction(() => ({ queued: readAgain(store, files, task.nowMs) }));
}

/** Returns the contents of a record's documents; commits nothing. Throws `record-not-found`. */
export function linkedTexts({ stores }: IngestContext, task: LinkedTextsTask): IngestResults['linked-texts'] {
  const store = stores.get(task.listPath);
  const { definition, version } = currentVersionOf(requiredState(store));
  const records = store.version(version);
  const recordNumber = records.recordNumberOfName(task.name);
  const bytes = recordNumber === undefined ? undefined : records.record(recordNumber);
  if (bytes === undefined) throw unknownName(records, task.name, 'There is no record with this name in the list');
  const extracts = extractStore(store);
  const linked = linkedFiles(definition, parseFields(decodeRecord(bytes).fieldsJson), ['document']);
  return linked.map(({ field, kind, url }) => {
    const row = extracts.outline({ kind, url });
    const damaged = new Set<number>();
    const tell = (page: number) => void damaged.add(page);
    const read = row?.text === undefined ? [] : extracts.pages({ kind, url }, task.pages, tell);
    const pages = read.map((page) => (damaged.has(page.page) ? { ...page, isDamaged: true as const } : page));
    const { pageCount = 0, truncated = false } = row?.text ?? {};
    return {
      field,
      url,
      state: row?.state ?? 'pending',
      pageCount,
      pages,
      truncated: truncated || (task.pages.first ?? 1) + pages.length <= (row?.text?.pagesRead ?? 0),
      fault: row?.fault,
    };
  });
}
