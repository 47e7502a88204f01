/** The state of a list in its own store: one msgpack value, written by every commit. */
import type { FieldDefinition } from '../catalog/index.js';
import { ENVIRONMENT_FORMATS } from '../platform/index.js';

/**
 * Of everything in a list's store. Unlike segments, records cannot be made again: a release that does not know the format
 * refuses the list and writes nothing into it.
 */
export const LIST_STATE_FORMAT = ENVIRONMENT_FORMATS.list.number;
/** Of a store that says none. */
export const FIRST_LIST_STATE_FORMAT = 1;
/** With vectors beside the records, which a release that does not know them would leave as they were when records change. */
export const LIST_STATE_FORMAT_WITH_VECTORS = 2;
/** With parts, perhaps with vectors too: a release that does not know them would remove their segments, and leave those of changed records. */
export const LIST_STATE_FORMAT_WITH_PARTS = 3;
/** With vectors of pictures, perhaps with all others too: a release that does not know them would remove their segments. */
export const LIST_STATE_FORMAT_WITH_PICTURES = 4;
/** With what was read of video and audio files, perhaps with all others too: a release that does not know them would read them as pictures. */
export const LIST_STATE_FORMAT_WITH_RECORDINGS = 5;
/** With vectors of the frames of videos, perhaps with all others too: a release that does not know them would read the videos as pictures. */
export const LIST_STATE_FORMAT_WITH_FRAMES = 6;
/** With pages that say how many their document has, perhaps with all others too: a release that does not know it would take them for damaged. */
export const LIST_STATE_FORMAT_WITH_PAGE_COUNTS = 7;
/** With records in their short format, perhaps with all others too: a release that does not know it would take them for damaged. */
export const LIST_STATE_FORMAT_WITH_SHORT_RECORDS = 8;
/** With records that are packed, perhaps with all others too: a release that does not know it would take them for damaged. */
export const LIST_STATE_FORMAT_WITH_PACKED_RECORDS = 9;
/** With a row for each page of a document, perhaps with all others too: a release that does not know it would find no text in the documents. */
export const LIST_STATE_FORMAT_WITH_PAGE_ROWS = 10;
/** Those of lists that have more than records in their first format. */
export const LIST_STATE_FORMATS_WITH_MORE: readonly number[] = [
  LIST_STATE_FORMAT_WITH_VECTORS,
  LIST_STATE_FORMAT_WITH_PARTS,
  LIST_STATE_FORMAT_WITH_PICTURES,
  LIST_STATE_FORMAT_WITH_RECORDINGS,
  LIST_STATE_FORMAT_WITH_FRAMES,
  LIST_STATE_FORMAT_WITH_PAGE_COUNTS,
  LIST_STATE_FORMAT_WITH_SHORT_RECORDS,
  LIST_STATE_FORMAT_WITH_PACKED_RECORDS,
  LIST_STATE_FORMAT_WITH_PAGE_ROWS,
];

export interface VersionState {
  readonly version: number;
  readonly state: 'building' | 'ready';
  readonly created_utc: string;
  readonly definition: FieldDefinition;
  /** Building: records below this number are copied already. */
  readonly buildCursor: number;
  /** Building: fields whose values move to another name on the way. */
  readonly renames: Readonly<Record<string, string>>;
  /** Records that have a value which did not fit the definition when the version was built, by field; absent where none had. */
  readonly unfit?: Readonly<Record<string, number>>;
}

/** Records that a bulk call has written so far. */
export interface ImportCount {
  readonly created: number;
  readonly updated: number;
}

/** What a list has to tell; absent where nobody ever wanted to know. */
export interface ListEventState {
  /** Number of the next row of the outbox. */
  readonly nextRow: number;
  /** Bulk calls that have not been told yet, by a number of their own: one event each, when they end or were cut short. */
  readonly imports: Readonly<Record<string, ImportCount>>;
}

/** What a random pair of vectors and a nearest neighbour score, by which cosines are told as 0..1. */
export interface SpaceCalibration {
  /** Vectors that there were when it was taken; it is taken anew when there are twice as many. */
  readonly vectorCount: number;
  /** Cosines of random pairs. */
  readonly random: { readonly mean: number; readonly deviation: number };
  /** Cosines of vectors and the nearest other ones of a sample. */
  readonly nearest: { readonly mean: number; readonly deviation: number };
}

/**
 * Vectors that can be compared with each other: those of one model in one version. A list has one that serves and, while all
 * are computed by another model, one that fills.
 */
export interface VectorSpace {
  /** Names its databases; never used twice in a list. */
  readonly number: number;
  /** As the list names it. */
  readonly model: string;
  /** `own`: the vectors come with the records. */
  readonly source: 'own' | 'embedder';
  readonly modelVersion: string;
  /** Null: the first vector decides. */
  readonly dimensions: number | null;
  /** `resting`: its model is attached no longer; it is kept true for when it is again. */
  readonly state: 'serving' | 'filling' | 'resting';
  /** Records of the current version below this number have been queued; null when all have. */
  readonly cursor: number | null;
  /** Versions whose vectors have an index on disk, which commits keep up to date. */
  readonly indexed: readonly number[];
  readonly calibration?: SpaceCalibration;
  /** Of the built-in model: records that the list had when it was learned. */
  readonly learnedFrom?: number;
}

export interface MeaningState {
  readonly nextSpace: number;
  readonly spaces: readonly VectorSpace[];
}

/** The space of the pictures' vectors, whose number no space of texts has. */
export const PICTURE_SPACE = 0;

/** Vectors of the pictures that records link to, beside those of their texts. */
export interface PictureState extends Pick<VectorSpace, 'model' | 'modelVersion' | 'indexed'> {
  readonly dimensions: number;
  /** Of the model, whatever the list's pictures are. */
  readonly calibration: SpaceCalibration;
  /** By what the frames of videos are read; absent where none were. */
  readonly framesBy?: string;
}

/** Indexes of a version beside that of its fields, whose documents lead to records. */
export type PartName = 'pages';

export interface PartState {
  readonly name: PartName;
  readonly version: number;
  /** Number of the next document; none is given twice in a version. */
  readonly nextDocument: number;
}

export interface ListState {
  /** The first until a record is written, or where earlier releases wrote all of them and the list never had more: they read it then. It never falls. */
  readonly format: number;
  /** Grows by one with every commit: tells after a worker's death whether its commit happened. */
  readonly sequence: number;
  readonly nextRecordNumber: number;
  readonly nextVersion: number;
  readonly currentVersion: number;
  /** In ascending order; at most one is building. */
  readonly versions: readonly VersionState[];
  readonly events?: ListEventState;
  /** Absent where the list never had a model. */
  readonly meaning?: MeaningState;
  /** Absent where the list's pictures are not searched. */
  readonly pictures?: PictureState;
  /** Absent where the list never had a part. */
  readonly parts?: readonly PartState[];
}

/** What the manifest says of a segment. */
export interface SegmentEntry {
  readonly documentCount: number;
  readonly deletedCount: number;
  readonly fileBytes: number;
}

export function currentVersionOf(state: ListState): VersionState {
  const current = state.versions.find((version) => version.version === state.currentVersion);
  if (current === undefined)
    throw new Error(`the list state names a current version ${state.currentVersion} that is missing`);
  return current;
}

/** The vectors that the list is searched by. */
export function servingSpaceOf({ meaning }: ListState): VectorSpace | undefined {
  return meaning?.spaces.find(({ state }) => state === 'serving');
}

export function buildingVersionOf(state: ListState): VersionState | undefined {
  return state.versions.find((version) => version.state === 'building');
}

export function partOf({ parts }: ListState, version: number, name: PartName): PartState | undefined {
  return parts?.find((part) => part.version === version && part.name === name);
}

/** The version with these counts beside its own. */
export function withUnfit(version: VersionState, unfit: ReadonlyMap<string, number>): VersionState {
  if (unfit.size === 0) return version;
  const counts = new Map(Object.entries(version.unfit ?? {}));
  for (const [field, count] of unfit) counts.set(field, (counts.get(field) ?? 0) + count);
  return { ...version, unfit: Object.fromEntries(counts) };
}
