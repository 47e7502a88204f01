/** Functions for all indexes of a version alike: the index of its fields and its parts. */
import type { SegmentSchema } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { RecordStore } from '../../records/index.js';
import type { PartName, SegmentManifest } from '../../store/index.js';
import type { IndexChange, VersionChange } from '../contract/ingest-tasks.js';
import { kernelLayout } from '../segments/kernel-layout.js';
import { partSchema } from '../parts/part-layout.js';
import { partStore } from '../parts/part-store.js';

/** One index of a version. `part` is undefined for the index of the fields. */
export interface IndexOfVersion {
  readonly version: number;
  readonly part?: PartName | undefined;
}

/** Returns the index's manifest with its databases opened, so that it can be used inside a transaction. */
export function indexStore(store: RecordStore, { version, part }: IndexOfVersion): SegmentManifest {
  return part === undefined ? store.version(version).prepare() : partStore(store, version, part).prepare();
}

export function indexSchema(definition: FieldDefinition, part: PartName | undefined): SegmentSchema {
  return part === undefined ? kernelLayout(definition).schema : partSchema(definition);
}

export function changeOf({ version, part }: IndexOfVersion, change: IndexChange): VersionChange {
  if (part === undefined) return { version, ...change };
  return { version, added: [], removed: [], deletions: [], pages: change };
}
