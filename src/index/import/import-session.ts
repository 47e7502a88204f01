/**
 * A streaming import: cuts the bytes into records, gathers batches, and commits one after the other. While a batch is
 * gathered, at most one other is being committed and one is waiting, so that a fast client is slowed down to the speed
 * of the disk.
 */
import type { RecordFormat } from '../../records/index.js';
import type { Kernel } from '../../../native-bindings/index.js';
import { ServiceError } from '../../platform/index.js';
import type { ImportBuffers } from './import-buffers.js';
import type { ImportBatch, RawRecords } from '../contract/ingest-tasks.js';
import type { BulkOutcome, ImportSession } from '../contract/types.js';
import { createRecordCutter, type RecordCutter } from './record-cutter.js';

const BATCHES_OUT_MAX = 2;
/**
 * Longer chunks are processed in pieces. A piece is at most this fraction of a batch, so that batches hardly exceed
 * their limit.
 */
const PIECE_BYTES_MAX = 1 << 20;
const PIECE_SHARE_MAX = 1 / 4;

/** Returns the size of the batch's records as they were sent. */
export function bytesOf({ records }: Pick<ImportBatch, 'records'>): number {
  return records.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

export interface ImportSessionOptions {
  readonly kernel: Kernel;
  readonly format: RecordFormat;
  readonly batchRecordsMax: number;
  /** Maximum size of the batch that is being gathered now. */
  readonly batchBytesMax: () => number;
  /** A record whose end is not found within this length is an error. Greater than the maximum size of a record. */
  readonly splitBytesMax: number;
  readonly errorsMax: number;
  /** Shared with other imports. */
  readonly buffers: ImportBuffers;
  /** Id of this import, unique in its list. */
  readonly importId: string;
  /** Resolves when the batch is on disk and visible. */
  readonly commit: (batch: ImportBatch) => Promise<BulkOutcome>;
  readonly onDone: () => void;
  /** Called once no batch is in flight and none of them was sent as the final one. Never rejects. */
  readonly settle: () => Promise<void>;
}

export class BulkImport implements ImportSession {
  private readonly cutter: RecordCutter;
  private gathered: RawRecords[] = [];
  private gatheredRecords = 0;
  private gatheredBytes = 0;
  private givesWay = false;
  private readonly out: Promise<void>[] = [];
  private failure: Error | undefined;
  private state: 'open' | 'ended' = 'open';
  private settled: Promise<void> | undefined;
  private readonly totals = { created: 0, updated: 0, failed: 0 };
  private readonly errors: { line: number; name: string | null; detail: string }[] = [];

  constructor(private readonly options: ImportSessionOptions) {
    this.cutter = createRecordCutter(options.kernel, options.format, options.splitBytesMax);
  }

  async push(chunk: Uint8Array, commitBytesMax = Infinity): Promise<void> {
    this.throwIfOver();
    this.givesWay = commitBytesMax < Infinity;
    const batchBytesMax = Math.min(this.options.batchBytesMax(), commitBytesMax);
    const pieceBytesMax = Math.min(PIECE_BYTES_MAX, Math.ceil(batchBytesMax * PIECE_SHARE_MAX));
    for (let begin = 0; begin < chunk.length && this.failure === undefined; begin += pieceBytesMax) {
      const piece = chunk.subarray(begin, begin + pieceBytesMax);
      await this.untilRoomFor(piece.length);
      if (this.failure !== undefined) break;
      this.take(this.split(() => this.cutter.push(piece)));
      if (this.gatheredRecords >= this.options.batchRecordsMax || this.gatheredBytes >= batchBytesMax) {
        this.sendBatch();
      }
      while (this.out.length >= BATCHES_OUT_MAX) await this.out[0];
    }
    await this.settleFailure();
  }

  async committed(): Promise<void> {
    while (this.out.length > 0) await this.out[0];
  }

  async end(): Promise<BulkOutcome> {
    await this.settleFailure();
    this.throwIfOver();
    this.take(this.split(() => this.cutter.flush()));
    this.take(this.split(() => this.cutter.end()));
    this.finish();
    const hasFinalBatch = this.gathered.length > 0;
    this.sendBatch(true);
    await Promise.all(this.out);
    if (!hasFinalBatch || this.failure !== undefined) await this.settle();
    if (this.failure !== undefined) throw this.toldFailure(this.failure);
    return { ...this.totals, errors: this.errors };
  }

  abort(): void {
    this.finish();
    this.gathered = [];
    this.options.buffers.released(this.gatheredBytes);
    this.gatheredBytes = 0;
    this.failure ??= new ServiceError('conflict', 'The import was interrupted.');
    void Promise.all(this.out).then(() => this.settle());
  }

  /**
   * Waits until there is room, but once this import holds nothing it no longer waits for others, which may be waiting
   * for slow clients.
   */
  private async untilRoomFor(bytes: number): Promise<void> {
    const { buffers } = this.options;
    if (buffers.hasRoomFor(bytes)) return;
    this.sendBatch();
    while (this.out.length > 0 && !buffers.hasRoomFor(bytes)) await this.out[0];
  }

  private settle(): Promise<void> {
    return (this.settled ??= this.options.settle());
  }

  private finish(): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.options.onDone();
  }

  private throwIfOver(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.state === 'ended') throw new Error('the import has ended');
  }

  /** Throws the failure, if there is one, once the batches before it are on disk. */
  private async settleFailure(): Promise<void> {
    if (this.failure === undefined) return;
    this.finish();
    await Promise.all(this.out);
    await this.settle();
    throw this.toldFailure(this.failure);
  }

  /**
   * Adds how many records of the import are in the list, which a client that corrects the body, or makes room, could not
   * know otherwise.
   */
  private toldFailure(failure: Error): Error {
    const { created, updated, failed } = this.totals;
    const taken = created + updated;
    if (!(failure instanceof ServiceError) || taken + failed === 0) return failure;
    const refused = failed === 0 ? '' : ` Refused before it: ${this.toldRefused(failed)}`;
    if (failure.code === 'malformed-request')
      return withDetail(failure, `${failure.detail} Records before it that are in the list: ${taken}.${refused}`);
    if (taken === 0) return failure;
    const detail = failure.detail.replace('nothing was written', 'the rest of the import was not written');
    return withDetail(failure, `${detail} Records of it that are in the list: ${taken}.`);
  }

  /**
   * Describes the first refused lines, so that the client learns of them together with the fault that ended the import.
   */
  private toldRefused(failed: number): string {
    const first = this.errors.toSorted((a, b) => a.line - b.line).slice(0, REFUSED_TOLD_MAX);
    const told = first.map(({ line, detail }) => `line ${line}: ${detail}`).join(' ');
    const more = failed - first.length;
    return more === 0 ? told : `${told} And ${more} more.`;
  }

  /** The body is malformed beyond single records: the records before that are still imported, then the import fails. */
  private split(action: () => RawRecords | null): RawRecords | null {
    try {
      return action();
    } catch (error) {
      this.sendBatch();
      this.failure ??= splitError(error, this.options.format);
      return null;
    }
  }

  private take(records: RawRecords | null): void {
    if (records === null || records.ends.length === 0) return;
    this.gathered.push(records);
    this.gatheredRecords += records.ends.length;
    this.gatheredBytes += records.bytes.length;
    this.options.buffers.taken(records.bytes.length);
  }

  private sendBatch(final = false): void {
    if (this.gathered.length === 0) return;
    const { format, errorsMax, importId } = this.options;
    const batch = {
      format,
      csvHeader: this.cutter.csvHeader,
      records: this.gathered,
      errorsMax: errorsMax - this.errors.length,
      importId,
      final,
      ...(this.givesWay ? { givesWay: true } : {}),
    };
    const bytes = this.gatheredBytes;
    this.gathered = [];
    this.gatheredRecords = 0;
    this.gatheredBytes = 0;
    const done: Promise<void> = this.commit(batch).finally(() => {
      this.options.buffers.released(bytes);
      void this.out.splice(this.out.indexOf(done), 1);
    });
    this.out.push(done);
  }

  /** Never rejects: a failure is kept for the next call of `push` or `end`. */
  private async commit(batch: ImportBatch): Promise<void> {
    try {
      if (this.failure !== undefined) return;
      const outcome = await this.options.commit(batch);
      this.totals.created += outcome.created;
      this.totals.updated += outcome.updated;
      this.totals.failed += outcome.failed;
      // Two batches in flight at the same time may report more errors than there is room for.
      this.errors.push(...outcome.errors.slice(0, this.options.errorsMax - this.errors.length));
    } catch (error) {
      this.failure ??= error as Error;
    }
  }
}

function splitError(error: unknown, format: RecordFormat): Error {
  if (error instanceof ServiceError) return error;
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  if (code === 'invalid-argument' || code === 'limit') {
    const { message } = error as Error;
    const detail = `The body cannot be split into records: ${message}.`;
    return new ServiceError('malformed-request', isNdjson(message, format) ? `${detail} ${NDJSON_HINT}` : detail);
  }
  return error as Error;
}

function withDetail({ problem, retryAfterSeconds, headers, cause }: ServiceError, detail: string): ServiceError {
  return new ServiceError(problem, detail, {
    headers,
    ...(cause === undefined ? {} : { cause }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** Maximum number of refused lines that the error of an aborted import describes. */
const REFUSED_TOLD_MAX = 5;

/** True if the kernel expected an array and found a record. */
const isNdjson = (message: string, format: RecordFormat) =>
  format === 'json' && message === "expected a JSON array, found '{'";
const NDJSON_HINT = 'Records that stand one a line are NDJSON, which is sent as application/x-ndjson.';
