/**
 * Collects the changes that one commit makes to the vectors of the pictures and video frames that one version's records
 * link to. The vectors were read from the files and are kept by record, so that they can be indexed like any others.
 * Order of calls: as for `VectorChanges`. Belongs to one task of one thread.
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
  /** Pictures' part of the list's state; undefined if its pictures are not searched. */
  readonly pictures: PictureState | undefined;
  /** First record number that is new in this commit. */
  readonly firstNewRecord: number;
}

/** Returns undefined if the version's records have no pictures that are searched. */
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

  /**
   * Sets the record's vectors to those of the pictures and frames that its new fields link to, as far as they were
   * read.
   */
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

  /** Writes the segment. Throws KernelError. */
  buildSegment(): void {
    this.vectors.buildSegment();
  }

  /** Writes the changes, inside the transaction. */
  apply(): void {
    this.vectors.apply();
  }

  /** Change of the index, after the transaction. */
  get change(): VectorIndexChange | undefined {
    return this.vectors.change;
  }

  get unindexed(): readonly UnindexedVectors[] {
    return this.vectors.unindexed;
  }

  /** Removes the segment after a failure. */
  discard(): void {
    this.vectors.discard();
  }

  /** Returns at most `VECTORS_PER_RECORD_MAX` pictures and frames. */
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
  /** Texts that identify the picture; their hash tells whether the stored vectors are up to date. */
  readonly known: readonly string[];
}
