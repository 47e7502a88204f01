/** The state of a list, kept in its own store as one msgpack value that every commit writes. */
import type { FieldDefinition } from '../catalog/index.js';
import { ENVIRONMENT_FORMATS } from '../platform/index.js';

/**
 * Format of everything in a list's store. Unlike segments, records cannot be rebuilt, so a release that does not know
 * the format refuses the list and writes nothing into it.
 */
export const LIST_STATE_FORMAT = ENVIRONMENT_FORMATS.list.number;
/** Format of a store whose state names none. */
export const FIRST_LIST_STATE_FORMAT = 1;
/** Adds vectors beside the records. Older releases would not update them when records change. */
export const LIST_STATE_FORMAT_WITH_VECTORS = 2;
/**
 * Adds parts; may have everything of lower formats. Older releases would remove the segments of parts, and keep the
 * parts of changed records.
 */
export const LIST_STATE_FORMAT_WITH_PARTS = 3;
/** Adds vectors of pictures; may have everything of lower formats. Older releases would remove their segments. */
export const LIST_STATE_FORMAT_WITH_PICTURES = 4;
/**
 * Adds the contents of video and audio files; may have everything of lower formats. Older releases would read them as
 * those of pictures.
 */
export const LIST_STATE_FORMAT_WITH_RECORDINGS = 5;
/**
 * Adds vectors of the frames of videos; may have everything of lower formats. Older releases would read the videos as
 * pictures.
 */
export const LIST_STATE_FORMAT_WITH_FRAMES = 6;
/**
 * Adds the number of pages of a document to its pages; may have everything of lower formats. Older releases would take
 * the pages for damaged.
 */
export const LIST_STATE_FORMAT_WITH_PAGE_COUNTS = 7;
/**
 * Adds records in the short format; may have everything of lower formats. Older releases would take them for damaged.
 */
export const LIST_STATE_FORMAT_WITH_SHORT_RECORDS = 8;
/** Adds packed records; may have everything of lower formats. Older releases would take them for damaged. */
export const LIST_STATE_FORMAT_WITH_PACKED_RECORDS = 9;
/**
 * Stores each page of a document in a row of its own; may have everything of lower formats. Older releases would find
 * no text in the documents.
 */
export const LIST_STATE_FORMAT_WITH_PAGE_ROWS = 10;
/** Known formats of lists that have more than records in the first format. */
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

/** Record numbers begin at 1, so 0 is never one. */
export const FIRST_RECORD_NUMBER = 1;
export const FIRST_VERSION = 1;

export interface VersionState {
  readonly version: number;
  readonly state: 'building' | 'ready';
  readonly created_utc: string;
  readonly definition: FieldDefinition;
  /** While building: records below this number have been copied. */
  readonly buildCursor: number;
  /** While building: fields whose values are copied to another name. */
  readonly renames: Readonly<Record<string, string>>;
  /**
   * Number of records per field that have a value which did not fit the definition when the version was built; absent
   * if there were none.
   */
  readonly unfit?: Readonly<Record<string, number>>;
}

/** Numbers of records that a bulk call has written so far. */
export interface ImportCount {
  readonly created: number;
  readonly updated: number;
}

/** State of the list's events; absent if nobody ever listened. */
export interface ListEventState {
  /** Number of the next outbox row. */
  readonly nextRow: number;
  /** Bulk calls that have no event yet, by import id. Each gets one event when it ends, or after it was cut short. */
  readonly imports: Readonly<Record<string, ImportCount>>;
}

/** Cosines of random pairs and of nearest neighbours, used to map cosines to scores of 0..1. */
export interface SpaceCalibration {
  /** Number of vectors when the calibration was taken; it is repeated when there are twice as many. */
  readonly vectorCount: number;
  /** Cosines of random pairs of vectors. */
  readonly random: { readonly mean: number; readonly deviation: number };
  /** Cosines of a sample of vectors with their nearest neighbours. */
  readonly nearest: { readonly mean: number; readonly deviation: number };
}

/**
 * Set of vectors that can be compared with each other: those of one version of one model. A list has one serving space
 * and, while its records are being embedded by another model, one that is being filled.
 */
export interface VectorSpace {
  /** Part of the names of the space's databases; never reused in a list. */
  readonly number: number;
  /** Name of the model in the list's settings. */
  readonly model: string;
  /** `own`: the vectors come with the records. */
  readonly source: 'own' | 'embedder';
  readonly modelVersion: string;
  /** Null until the first vector determines it. */
  readonly dimensions: number | null;
  /**
   * `resting`: the model is no longer attached; vectors of changed records are removed, so that the others are still
   * right if the model is attached again.
   */
  readonly state: 'serving' | 'filling' | 'resting';
  /** Records of the current version below this number have been queued; null if all have. */
  readonly cursor: number | null;
  /** Versions whose vectors have an index on disk, which commits keep up to date. */
  readonly indexed: readonly number[];
  readonly calibration?: SpaceCalibration;
  /** For the built-in model: number of records of the list when the model was learned. */
  readonly learnedFrom?: number;
  /** The kernel's `stemsRevision` of the language, when a built-in model was learned. Undefined: 0, or not built-in. */
  readonly stemsRevision?: number;
}

export interface MeaningState {
  readonly nextSpace: number;
  readonly spaces: readonly VectorSpace[];
}

/** Number of the space of pictures' vectors; no space of texts has it. */
export const PICTURE_SPACE = 0;

/** Vectors of the pictures that records link to, kept beside the vectors of their texts. */
export interface PictureState extends Pick<VectorSpace, 'model' | 'modelVersion' | 'indexed'> {
  readonly dimensions: number;
  /** Calibration of the model, independent of the list's pictures. */
  readonly calibration: SpaceCalibration;
  /** Version of what reads the frames of videos; absent if none were read. */
  readonly framesBy?: string;
}

/** Indexes of a version beside the index of its fields. Their documents belong to records. */
export type PartName = 'pages';

export interface PartState {
  readonly name: PartName;
  readonly version: number;
  /** Number of the next document; never reused within a version. */
  readonly nextDocument: number;
}

export interface ListState {
  /**
   * Format of the store. Stays at the first format until this release writes a record or the list gets more than
   * records, so that earlier releases can read the list until then. Never decreases.
   */
  readonly format: number;
  /** Increases by one with every commit. After a worker's death it tells whether the worker's commit happened. */
  readonly sequence: number;
  readonly nextRecordNumber: number;
  readonly nextVersion: number;
  readonly currentVersion: number;
  /** In ascending order; at most one is building. */
  readonly versions: readonly VersionState[];
  readonly events?: ListEventState;
  /** Absent if the list never had a model. */
  readonly meaning?: MeaningState;
  /** Absent if the list's pictures are not searched. */
  readonly pictures?: PictureState;
  /** Absent if the list never had a part. */
  readonly parts?: readonly PartState[];
}

/** Entry of a segment in the manifest. */
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

/** True if no record was ever written, and the fields are those with which the list was created. */
export function isUnwritten({ nextRecordNumber, nextVersion }: ListState): boolean {
  return nextRecordNumber === FIRST_RECORD_NUMBER && nextVersion === FIRST_VERSION + 1;
}

/** Returns the space of the vectors that the list is searched by. */
export function servingSpaceOf({ meaning }: ListState): VectorSpace | undefined {
  return meaning?.spaces.find(({ state }) => state === 'serving');
}

export function buildingVersionOf(state: ListState): VersionState | undefined {
  return state.versions.find((version) => version.state === 'building');
}

export function partOf({ parts }: ListState, version: number, name: PartName): PartState | undefined {
  return parts?.find((part) => part.version === version && part.name === name);
}

/** Returns the version with these counts added to its own. */
export function withUnfit(version: VersionState, unfit: ReadonlyMap<string, number>): VersionState {
  if (unfit.size === 0) return version;
  const counts = new Map(Object.entries(version.unfit ?? {}));
  for (const [field, count] of unfit) counts.set(field, (counts.get(field) ?? 0) + count);
  return { ...version, unfit: Object.fromEntries(counts) };
}
