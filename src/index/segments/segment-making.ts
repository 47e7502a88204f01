/**
 * Builds the segment of a commit. For a large commit, a thread of the kernel builds it while the records are still
 * being read and put into the transaction. For a small one, it is built when its documents are complete, because
 * starting a thread would take longer.
 *
 * A record that is written twice in a commit leaves a document that must not be in the segment: the concurrent build is
 * then abandoned, and everything is built at the end. Belongs to one task of one thread.
 */
import { rmSync } from 'node:fs';
import type { Kernel, SegmentBuild, SegmentSummary } from '../../../native-bindings/index.js';
import { COUNT_BYTES, type DocumentEncoder } from './document-encoder.js';

/** Bytes of documents that are handed over together; also the minimum size of a commit with a thread. */
export const PIECE_BYTES = 256 * 1024;

export interface SegmentMakingOptions {
  readonly kernel: Kernel;
  /** Path of the file, which is not in a manifest yet. */
  readonly path: string;
  readonly encoder: DocumentEncoder;
  /** True if many documents are expected. */
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

  /** Call it after each document that the encoder has taken. */
  added(): void {
    if (this.isBeside && this.options.encoder.byteLength - this.sentBytes >= PIECE_BYTES) this.send();
  }

  /** Call it when the documents are complete; without any there is no segment. Throws KernelError, as `finish` does. */
  end(): void {
    const { kernel, encoder, path } = this.options;
    if (encoder.documentCount === 0) return this.abandonBuild();
    if (this.build !== undefined) this.send();
    if (this.build === undefined) this.summary = kernel.buildSegment(path, encoder.layout.schema, encoder.finish());
    else this.build.end();
  }

  /** Waits until the file is complete and synced. Throws KernelError; then there is no file. */
  finish(): SegmentSummary {
    const summary = this.summary ?? this.build?.finish();
    if (summary === undefined) throw new Error('the documents of the segment are not whole');
    this.summary = summary;
    return summary;
  }

  /** Removes everything. */
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
