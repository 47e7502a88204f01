/** What an ingest task needs from the thread that runs it. */
import type { Kernel } from '../../../native-bindings/index.js';
import type { Rests } from '../../platform/index.js';
import type { RecordStore, RecordStoreCache } from '../../records/index.js';
import type { ListState, VersionState } from '../../store/index.js';

export interface IngestContext {
  readonly kernel: Kernel;
  readonly stores: RecordStoreCache;
  /** Pauses for tasks that give way to searches. Undefined: tasks do not pause. */
  readonly rests?: Pick<Rests, 'ofOnePiece'> | undefined;
}

export function requiredState(store: RecordStore): ListState {
  const state = store.state();
  if (state === undefined) throw new Error(`${store.listPath} has no list`);
  return state;
}

export function requiredVersion(state: ListState, version: number): VersionState {
  const found = state.versions.find((candidate) => candidate.version === version);
  if (found === undefined) throw new Error(`the list has no version ${version}`);
  return found;
}
