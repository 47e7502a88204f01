/**
 * The segment of a commit. That of a large one is built by a thread of the kernel while its records are still read, and while they are put
 * into the transaction; a small one at once, when its documents are whole, for a thread takes longer to begin than it does.
 *
 * A record that is written twice in a commit leaves a document that is to be in no segment: what was built is abandoned then, and
 * all of it is built at once in the end. Belongs to one task of one thread.
 */
import { rmSync } from 'node:fs';
import type { Kernel, SegmentBuild, SegmentSummary } from '../../../native-bindings/index.js';
import { COUNT_BYTES, type DocumentEncoder } from './document-encoder.js';

/** Of documents that are handed over together, and of the least commit that has a thread. */
export const PIECE_BYTES = 256 * 1024;

export interface SegmentMakingOptions {
  readonly kernel: Kernel;
  /** Of the file, which no manifest names yet. */
  readonly path: string;
  readonly encoder: DocumentEncoder;
  /** Many documents are to be expected. */
  readonly isLarge: boolean;
}

export class SegmentMaking {
  private build: SegmentBuild | undefined;
  private sentBytes = COUNT_BYTES;
  private isBeside: boolean;
  private summary: SegmentSummary | undefined;

  constructor(private readonly options: SegmentMakingOptions) {
    this.isBeside = options.isLarge;
  }

  get path(): string {
    return this.options.path;
  }

  /** After each document that the encoder has taken. */
  added(): void {
    if (this.isBeside && this.options.encoder.byteLength - this.sentBytes >= PIECE_BYTES) this.send();
  }

  /** The documents are whole; without any there is no segment. Throws a KernelError, as `finish` does. */
  end(): void {
    const { kernel, encoder, path } = this.options;
    if (encoder.documentCount === 0) return this.abandonBuild();
    if (this.build !== undefined) this.send();
    if (this.build === undefined) this.summary = kernel.buildSegment(path, encoder.layout.schema, encoder.finish());
    else this.build.end();
  }

  /** Waits until the file is whole and synchronised. Throws a KernelError; then there is no file. */
  finish(): SegmentSummary {
    const summary = this.summary ?? this.build?.finish();
    if (summary === undefined) throw new Error('the documents of the segment are not whole');
    this.summary = summary;
    return summary;
  }

  /** Nothing of it stays. */
  discard(): void {
    this.abandonBuild();
    rmSync(this.options.path, { force: true });
  }

  private send(): void {
    const { kernel, encoder, path } = this.options;
    if (encoder.hasDropped) return this.abandonBuild();
    const build = (this.build ??= kernel.beginSegment(path, encoder.layout.schema) ?? undefined);
    if (build === undefined) return this.abandonBuild();
    build.add(encoder.documentsFrom(this.sentBytes));
    this.sentBytes = encoder.byteLength;
  }

  private abandonBuild(): void {
    this.isBeside = false;
    this.build?.abandon();
    this.build = undefined;
  }
}
