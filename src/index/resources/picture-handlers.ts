/** The ingest task that makes a list's pictures searchable, or ends that. */
import { extractStore, keyOfFile, readingLane, readingQueue } from '../../extracts/index.js';
import type { RecordStore } from '../../records/index.js';
import {
  FIRST_RECORD_NUMBER,
  LIST_STATE_FORMAT_WITH_PICTURES,
  PICTURE_SPACE,
  type ListState,
} from '../../store/index.js';
import { spaceStore } from '../../vectors/index.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';
import type { IngestResults } from '../contract/ingest-tasks.js';
import type { AttachPicturesTask } from '../contract/resource-tasks.js';

/** Maximum number of files removed in one transaction. */
const FORGOTTEN_MAX = 2000;

export function attachPictures(
  { stores }: IngestContext,
  { listPath, model }: AttachPicturesTask,
): IngestResults['attach-pictures'] {
  const store = stores.get(listPath);
  const before = requiredState(store);
  const versions = before.versions.map(({ version }) => version);
  // Databases must be opened before the transaction that uses them.
  const extracts = extractStore(store).prepare(versions);
  void readingQueue(store);
  const spaces = versions.map((version) => spaceStore(store, version, PICTURE_SPACE).prepare());
  const { pictures: _, ...others } = before;
  const sequence = before.sequence + 1;
  try {
    return store.transaction(() => {
      if (model !== null) {
        // Records have to be searched for links again, because links to pictures were skipped before.
        for (const { version, definition } of before.versions)
          extracts.putScanned(version, definition, FIRST_RECORD_NUMBER);
        const format = Math.max(before.format, LIST_STATE_FORMAT_WITH_PICTURES);
        const state: ListState = { ...others, sequence, format, pictures: { ...model, indexed: versions } };
        store.putState(state);
        return { state, done: true };
      }
      const done = forgetPictures(store, versions) < FORGOTTEN_MAX;
      const state: ListState = done ? { ...others, sequence } : { ...before, sequence };
      if (done) for (const space of spaces) space.clear();
      store.putState(state);
      return { state, done };
    });
  } catch (error) {
    throw store.asWriteError(error);
  }
}

/** Removes the next files, inside a transaction; returns their number. */
function forgetPictures(store: RecordStore, versions: readonly number[]): number {
  const extracts = extractStore(store);
  const reading = readingQueue(store);
  const found = extracts.seenRows(FORGOTTEN_MAX);
  for (const { kind = 'image', url } of found) {
    const key = keyOfFile({ kind, url });
    reading.withdraw(readingLane({ kind, url }), key);
    for (const version of versions)
      for (const recordNumber of extracts.recordsOf(key, version)) extracts.removeLink(version, key, recordNumber);
    extracts.remove(key);
  }
  return found.length;
}
