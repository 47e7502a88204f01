/** The pictures and videos that a record links to, in the order of the record's vectors. */
import type { FieldDefinition } from '../catalog/index.js';
import { keyOfFile, type ExtractRow } from './extract-row.js';
import type { ExtractStore } from './extract-store.js';
import { SEEN_KINDS, type SeenKind } from './file-reader.js';
import { linkedFiles, type LinkedFile } from './linked-files.js';

export interface SeenFile {
  readonly file: LinkedFile<SeenKind>;
  readonly key: string;
  readonly row: ExtractRow;
  /** Number of vectors: one for a picture, one for each frame of a video. */
  readonly vectors: number;
}

/** Returns the files that were read. */
export function seenFiles(
  extracts: ExtractStore,
  definition: Pick<FieldDefinition, 'resources'>,
  fields: Readonly<Record<string, unknown>>,
): SeenFile[] {
  if (!extracts.exists) return [];
  return linkedFiles(definition, fields, SEEN_KINDS).flatMap((file) => {
    const key = keyOfFile(file);
    const row = extracts.row(key);
    const vectors = file.kind === 'image' ? Number(row?.picture !== undefined) : (row?.frames?.count ?? 0);
    return row === undefined || vectors === 0 ? [] : [{ file, key, row, vectors }];
  });
}

export interface SeenAt {
  /** Name of the resource field. */
  readonly field: string;
  readonly url: string;
  readonly seconds: number;
}

/**
 * Returns which video has the frame whose vector is at that place, from 0, among the record's vectors; undefined if it
 * is a picture or no longer exists.
 */
export function frameAt(extracts: ExtractStore, files: readonly SeenFile[], place: number): SeenAt | undefined {
  let before = 0;
  for (const { file, key, vectors } of files) {
    if (place >= before + vectors) {
      before += vectors;
      continue;
    }
    const seconds = file.kind === 'frames' ? extracts.secondOfFrame(key, place - before) : undefined;
    return seconds === undefined ? undefined : { field: file.field, url: file.url, seconds };
  }
  return undefined;
}
