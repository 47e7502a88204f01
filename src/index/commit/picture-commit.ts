/**
 * What one commit does to the vectors of the pictures, and of the frames of videos, that one version's records link to. They are those that were read of the files, kept by record, so
 * that an index is made of them as of any others. Order: as `VectorChanges`. Belongs to one task of one thread.
 */
import { createHash } from 'node:crypto';
import type { Kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { extractStore, hasFiles, SEEN_KINDS, seenFiles, type ExtractStore } from '../../extracts/index.js';
import type { FieldValue, RecordStore } from '../../records/index.js';
import { PICTURE_SPACE, type PictureState } from '../../store/index.js';
import { encodeVectors, HASH_BYTES, hashOfVectors, spaceStore, VECTORS_PER_RECORD_MAX } from '../../vectors/index.js';
import type { UnindexedVectors, VectorIndexChange, VersionView } from '../contract/ingest-tasks.js';
import { VectorChanges } from './vector-changes.js';

export interface PictureCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly view: VersionView;
  readonly definition: FieldDefinition;
  /** Of the list; undefined where its pictures are not searched. */
  readonly pictures: PictureState | undefined;
  /** Records from this number on are new in this commit. */
  readonly firstNewRecord: number;
}

/** Undefined where the version's records have no pictures that are searched. */
export function pictureCommit(options: PictureCommitOptions): PictureCommit | undefined {
  const { definition, pictures } = options;
  if (pictures === undefined || !hasFiles(definition, SEEN_KINDS)) return undefined;
  return new PictureCommit({ ...options, pictures });
}

export class PictureCommit {
  private readonly extracts: ExtractStore;
  private readonly vectors: VectorChanges;

  constructor(private readonly options: PictureCommitOptions & { readonly pictures: PictureState }) {
    const { kernel, store, view, firstNewRecord } = options;
    const { listPath } = store;
    this.extracts = extractStore(store);
    const vectors = spaceStore(store, view.version, PICTURE_SPACE).prepare();
    this.vectors = new VectorChanges({ kernel, listPath, vectors, view: view.pictures, firstNewRecord });
  }

  get changed(): boolean {
    return !this.vectors.isEmpty;
  }

  /** The record has these fields from now on, and the vectors of those of their pictures and frames that were read. */
  written(recordNumber: number, fields: Readonly<Record<string, FieldValue>>): void {
    const pictures = this.picturesOf(fields);
    const stored = this.vectors.stored(recordNumber);
    if (pictures.length === 0) {
      if (stored === undefined) this.vectors.leave(recordNumber);
      else this.vectors.set(recordNumber, null);
      return;
    }
    const hash = createHash('sha256').update(JSON.stringify(pictures.map(({ known }) => known)));
    const known = hash.digest().subarray(0, HASH_BYTES);
    if (stored !== undefined && known.equals(hashOfVectors(stored))) this.vectors.leave(recordNumber);
    else {
      const vectors = pictures.map(({ vector }) => vector);
      this.vectors.set(recordNumber, encodeVectors(vectors, known));
    }
  }

  removed(recordNumber: number): void {
    this.vectors.set(recordNumber, null);
  }

  /** Throws KernelError. */
  buildSegment(): void {
    this.vectors.buildSegment();
  }

  /** Inside the transaction. */
  apply(): void {
    this.vectors.apply();
  }

  /** After the transaction. */
  get change(): VectorIndexChange | undefined {
    return this.vectors.change;
  }

  get unindexed(): readonly UnindexedVectors[] {
    return this.vectors.unindexed;
  }

  /** After a failure. */
  discard(): void {
    this.vectors.discard();
  }

  /** No more than a record may have. */
  private picturesOf(fields: Readonly<Record<string, unknown>>): readonly SeenPicture[] {
    const { definition, pictures } = this.options;
    const { modelVersion, dimensions } = pictures;
    return seenFiles(this.extracts, definition, fields)
      .flatMap(({ file, key, row }): SeenPicture[] => {
        const [seen, vectors] =
          file.kind === 'image'
            ? [row.picture, [this.extracts.vector(key)]]
            : [row.frames, this.extracts.frames(key).map(({ vector }) => vector)];
        if (seen?.modelVersion !== modelVersion) return [];
        const { framesBy } = row.file ?? {};
        const known = [modelVersion, file.url, row.file?.hash ?? '', ...(framesBy === undefined ? [] : [framesBy])];
        return vectors.flatMap((vector) => (vector?.length === dimensions ? [{ vector, known }] : []));
      })
      .slice(0, VECTORS_PER_RECORD_MAX);
  }
}

interface SeenPicture {
  readonly vector: Float32Array;
  /** By which it is known again. */
  readonly known: readonly string[];
}
