/** Removes and copies links to files when versions are dropped and lists are cloned. */
import {
  attachLane,
  attachQueue,
  extractStore,
  hasContent,
  hasFiles,
  readingLane,
  readingQueue,
  type ReadKind,
} from '../../extracts/index.js';
import type { RecordStore } from '../../records/index.js';
import type { ListState, VersionState } from '../../store/index.js';
import { forgetUnlinked } from './link-commit.js';

/** Number of files handled in one transaction. */
const CHUNK = 1000;

/**
 * Withdraws the version's queued work, and removes the contents of files that only this version links to. Call it
 * before the version's databases are dropped.
 */
export function forgetLinks(store: RecordStore, { versions }: ListState, version: number): void {
  const extracts = extractStore(store);
  if (!extracts.exists) return;
  const others = versions.map((each) => each.version).filter((each) => each !== version);
  extracts.prepare([...others, version]);
  const attaching = attachQueue(store);
  void readingQueue(store);
  while (store.transaction(() => attaching.forgetSome(attachLane(version))) > 0);
  for (let after: string | undefined = ''; after !== undefined;) {
    const keys: string[] = extracts.linkedKeys(version, after, CHUNK);
    store.transaction(() => {
      forgetUnlinked(store, keys, others);
    });
    after = keys.at(-1);
  }
  extracts.forgetVersion(version);
}

export interface ClonedVersion {
  readonly source: RecordStore;
  readonly target: RecordStore;
  /** Version of the source. */
  readonly from: VersionState;
  /** Number of the version in the target. */
  readonly to: number;
  /** Kinds of files that are read. */
  readonly kinds: readonly ReadKind[];
  readonly nowMs: number;
}

/**
 * Copies the links and the contents that were read for the source; the clone then queues its files to be looked at
 * itself.
 */
export function cloneLinks({ source, target, from, to, kinds, nowMs }: ClonedVersion): void {
  const theirs = extractStore(source);
  if (!theirs.exists || !hasFiles(from.definition, kinds) || !theirs.hasLinks(from.version)) return;
  const ours = extractStore(target).prepare([to]);
  const reading = readingQueue(target);
  const attaching = attachQueue(target);
  theirs.prepare([from.version]);
  for (let after: string | undefined = ''; after !== undefined;) {
    const keys: string[] = theirs.linkedKeys(from.version, after, CHUNK);
    target.transaction(() => {
      for (const key of keys) {
        const row = theirs.row(key);
        if (row === undefined) continue;
        ours.copy(theirs, key, row);
        const { url, kind = 'document' } = row;
        reading.put([{ lane: readingLane(row), item: { url, kind, forced: false, postponed: 0 } }], nowMs);
        const records = theirs.recordsOf(key, from.version);
        for (const recordNumber of records) ours.putLink(to, key, recordNumber);
        const lane = attachLane(to);
        if (hasContent(row))
          attaching.put(
            records.map((item) => ({ lane, item })),
            nowMs,
          );
      }
      ours.putScanned(to, from.definition, theirs.scannedTo(from.version, from.definition) ?? 0);
    });
    after = keys.at(-1);
  }
}
