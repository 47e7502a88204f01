/**
 * The ingest task that indexes the pages of records' documents, the transcripts of their recordings, and the vectors of
 * their pictures.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import {
  attachLane,
  attachQueue,
  extractStore,
  hashOfText,
  hasText,
  keyOfFile,
  linkedTexts,
  type ExtractStore,
  type FileToRead,
  type TextKind,
} from '../../extracts/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { decodeRecord, parseFields, type RecordStore } from '../../records/index.js';
import type { ListState } from '../../store/index.js';
import { PartsCommit, type LinkedPages, type PartCommit } from '../commit/part-commit.js';
import { pictureCommit, type PictureCommit } from '../commit/picture-commit.js';
import type { IngestResults, VersionChange, VersionView } from '../contract/ingest-tasks.js';
import type { CommitPagesTask } from '../contract/resource-tasks.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';
import { prepareReadingAgain, readAgain, ReadablePagesReader, type ReadablePages } from '../parts/readable-pages.js';

/** Maximum number of characters of the pages in one commit, which holds them all in memory. */
const CHARACTERS_MAX = 8_000_000;

/** Indexes the pages and settles the work in one transaction. Work that was superseded meanwhile is ignored. */
export function commitPages({ kernel, stores }: IngestContext, task: CommitPagesTask): IngestResults['commit-pages'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const queue = attachQueue(store);
  const parts = new PartsCommit({ kernel, store, state: before });
  const views = task.building === undefined ? [task.current] : [task.current, task.building];
  const reader = new ReadablePagesReader(extractStore(store));
  const versions = views.flatMap((view) => attachedVersion({ kernel, store, state: before, view, reader }, parts));
  let [characters, done] = [0, 0];
  for (const settlement of task.settlements) {
    if (characters >= CHARACTERS_MAX) break;
    const version = versions.find(({ lane }) => lane === settlement.scheduled.lane);
    if (version !== undefined && queue.holds(settlement))
      characters += version.attach(Number(settlement.scheduled.subject));
    done += 1;
  }
  const written = versions.flatMap(({ version, part, pictures }) =>
    [part ?? [], pictures ?? []].flat().flatMap((index) => (index.changed ? [{ version, index }] : [])),
  );
  const state: ListState = { ...before, sequence: before.sequence + 1, ...parts.statePart };
  const { damaged } = reader;
  prepareReadingAgain(store, damaged);
  try {
    for (const { index } of written) index.buildSegment();
    store.transaction(() => {
      queue.settle(task.settlements.slice(0, done));
      for (const { index } of written) index.apply();
      readAgain(store, damaged, task.nowMs);
      store.putState(state);
    });
  } catch (error) {
    for (const { index } of written) index.discard();
    throw store.asWriteError(error);
  }
  const changes = versions.flatMap(({ version, part, pictures }): VersionChange[] => {
    const [ofPages, ofPictures] = [part?.change, pictures?.change];
    if (ofPages === undefined && ofPictures === undefined) return [];
    const pages = ofPages === undefined ? {} : { pages: ofPages };
    return [{ version, added: [], removed: [], deletions: [], ...pages, ...(ofPictures && { pictures: ofPictures }) }];
  });
  const unindexed = versions.flatMap(({ pictures }) => pictures?.unindexed ?? []);
  return { commit: { state, changes, ...(unindexed.length === 0 ? {} : { unindexed }) }, done, damaged };
}

interface VersionToAttach {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly state: ListState;
  readonly view: VersionView;
  readonly reader: ReadablePagesReader;
}

interface AttachedVersion {
  readonly version: number;
  readonly lane: string;
  readonly part: PartCommit | undefined;
  readonly pictures: PictureCommit | undefined;
  /** Returns the number of characters added. */
  attach(recordNumber: number): number;
}

/** Empty if the version has no field for files that are read. */
function attachedVersion(
  { kernel, store, state, view, reader }: VersionToAttach,
  parts: PartsCommit,
): AttachedVersion[] {
  const { version } = view;
  const { definition } = requiredVersion(state, version);
  const part = parts.ofVersion(view, definition, Infinity);
  const pictures = pictureCommit({
    kernel,
    store,
    view,
    definition,
    pictures: state.pictures,
    firstNewRecord: Infinity,
  });
  if (part === undefined && pictures === undefined) return [];
  const linked = new LinkedPagesReader({ extracts: extractStore(store), reader, definition });
  const records = store.version(version);
  const attach = (recordNumber: number): number => {
    const bytes = records.record(recordNumber);
    if (bytes === undefined) return 0;
    const fields = parseFields(decodeRecord(bytes).fieldsJson);
    pictures?.written(recordNumber, fields);
    const wanted = linked.of(fields);
    if (part === undefined || isAttached(part, recordNumber, wanted)) return 0;
    part.replace(recordNumber, wanted);
    return wanted.flatMap(({ pages }) => pages).reduce((sum, { text }) => sum + text.length, 0);
  };
  return [{ version, lane: attachLane(version), part, pictures, attach }];
}

/** Reads the pages of each file once, because many records may link to it. */
class LinkedPagesReader {
  private readonly read = new Map<string, ReadablePages>();

  constructor(
    private readonly options: {
      readonly extracts: ExtractStore;
      readonly reader: ReadablePagesReader;
      readonly definition: FieldDefinition;
    },
  ) {}

  of(fields: Readonly<Record<string, unknown>>): LinkedPages[] {
    return linkedTexts(this.options.definition, fields).flatMap(({ field, kind, url }) => {
      const row = this.options.extracts.outline({ kind, url });
      if (!hasText(row)) return [];
      const { pages, mark } = this.pages({ kind, url });
      return [{ field, url, hash: `${hashOfText(row)}${mark}`, pages }];
    });
  }

  private pages(file: FileToRead<TextKind>): ReadablePages {
    const key = keyOfFile(file);
    let pages = this.read.get(key);
    if (pages === undefined) this.read.set(key, (pages = this.options.reader.read(file)));
    return pages;
  }
}

function isAttached(part: PartCommit, recordNumber: number, wanted: readonly LinkedPages[]): boolean {
  const attached = part.attached(recordNumber);
  return (
    attached.length === wanted.length &&
    wanted.every(({ field, url, hash }, place) => {
      const known = attached[place];
      return known?.field === field && known.url === url && known.hash === hash;
    })
  );
}
