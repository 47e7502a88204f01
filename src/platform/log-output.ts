/**
 * Standard error as the destination of a log. Logging never waits for the disk or the reader.
 *
 * A line that cannot be written is dropped and counted: the disk is full, the reader is gone, or it has not read for so
 * long that too much waits. Retries are bounded, so that the process can end. Later lines are tried again.
 *
 * Pipes, terminals and sockets are written without blocking, in the same turn; files in the background, since a disk
 * may be slow. Main thread only.
 */
import { EventEmitter } from 'node:events';
import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs';

const STANDARD_ERROR = 2;
const LINE_FEED = 0x0a;
/** Characters that may wait for the reader. */
const WAITING_CHARACTERS_MAX = 4 * 2 ** 20;
/** Delay before a reader that does not read is tried again; doubled each time. */
const RETRY_MS_MIN = 1;
const RETRY_MS_MAX = 32;
/** Total time of retries at the end of the process. */
const LAST_TRIES_MS_MAX = 1000;
const REOPENED = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_APPEND;

/**
 * Emits `drain` when nothing waits any more, written or dropped; `error` with the cause when lines were dropped;
 * `recovered` with the number of lines dropped so far when a write succeeds again.
 */
export class LogOutput extends EventEmitter<{ drain: []; error: [Error]; recovered: [number] }> {
  private readonly blocks: boolean;
  private readonly descriptor: number;
  private waiting: string[] = [];
  private waitingCharacters = 0;
  /** Unwritten rest of the current write. */
  private rest: Buffer | undefined;
  /** True while a write is in progress in the background. */
  private isWriting = false;
  private retry: NodeJS.Timeout | undefined;
  private retryMs = RETRY_MS_MIN;
  /** True if what was written so far ends within a line. */
  private isTorn = false;
  private dropped = 0;
  private droppedUntold = 0;

  constructor(readonly standardError = STANDARD_ERROR) {
    super();
    const descriptor = withoutBlocking(standardError);
    this.blocks = descriptor === undefined;
    this.descriptor = descriptor ?? standardError;
    // Without a listener an event of this name would be thrown.
    this.on('error', () => undefined);
  }

  /** Number of lines dropped since the start. */
  get droppedLines(): number {
    return this.dropped;
  }

  /** Writes whole lines. Never throws, never waits. */
  write(text: string): void {
    if (this.waitingCharacters + text.length > WAITING_CHARACTERS_MAX) {
      this.drop(text);
      return;
    }
    this.waiting.push(text);
    this.waitingCharacters += text.length;
    if (!this.isWriting && this.retry === undefined) this.writeNext();
  }

  /** Writes whole lines at once, independent of a write in progress. Never throws. */
  writeSync(text: string): void {
    this.waiting.push(text);
    this.flushSync();
  }

  /** Writes at once what waits, and drops what cannot be written. For the end of the process. Never throws. */
  flushSync(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
    const endMs = performance.now() + LAST_TRIES_MS_MAX;
    // A background write ends by itself and keeps its part.
    let part = this.isWriting ? this.takeWaiting() : (this.rest ?? this.takeWaiting());
    if (!this.isWriting) this.rest = undefined;
    while (part !== undefined) {
      try {
        part = this.leftOf(part, writeSync(this.descriptor, part)) ?? this.takeWaiting();
      } catch (error) {
        if (!isFullPipe(error) || performance.now() > endMs) {
          this.fail(error, part);
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS_MAX);
      }
    }
  }

  /** Closes the descriptor that it opened; standard error stays open. */
  close(): void {
    clearTimeout(this.retry);
    if (this.descriptor !== this.standardError) closeSync(this.descriptor);
  }

  private writeNext(): void {
    this.retry = undefined;
    this.rest ??= this.takeWaiting();
    if (this.rest === undefined) {
      this.emit('drain');
    } else if (this.blocks) {
      this.isWriting = true;
      write(this.descriptor, this.rest, (error, bytes) => {
        this.isWriting = false;
        this.written(error, bytes);
      });
    } else {
      let bytes = 0;
      let failure: unknown = null;
      try {
        bytes = writeSync(this.descriptor, this.rest);
      } catch (error) {
        failure = error;
      }
      this.written(failure, bytes);
    }
  }

  private written(error: unknown, bytes: number): void {
    if (error !== null && isFullPipe(error)) {
      this.retry = setTimeout(() => {
        this.writeNext();
      }, this.retryMs).unref();
      this.retryMs = Math.min(this.retryMs * 2, RETRY_MS_MAX);
      return;
    }
    if (error !== null) {
      this.fail(error, this.rest);
      return;
    }
    this.retryMs = RETRY_MS_MIN;
    if (this.rest !== undefined) this.rest = this.leftOf(this.rest, bytes);
    if (this.rest === undefined) this.reportRecovery();
    this.writeNext();
  }

  /** Returns what is left of a part after a write of so many bytes; undefined if nothing is. */
  private leftOf(part: Buffer, bytes: number): Buffer | undefined {
    if (bytes > 0) this.isTorn = part[bytes - 1] !== LINE_FEED;
    return bytes < part.length ? part.subarray(bytes) : undefined;
  }

  /** Drops all that waits: a disk that is full now is full for all of it. */
  private fail(error: unknown, part: Buffer | undefined): void {
    this.rest = undefined;
    if (part !== undefined) this.drop(part.toString());
    const waiting = this.takeWaiting();
    if (waiting !== undefined) this.drop(waiting.toString());
    this.emit('error', error as Error);
    this.emit('drain');
  }

  private drop(text: string): void {
    let lines = 0;
    // One at the beginning ends a torn line, which was counted before or is written but for it.
    for (let at = text.indexOf('\n', 1); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
    this.dropped += lines;
    this.droppedUntold += lines;
  }

  private reportRecovery(): void {
    const lines = this.droppedUntold;
    if (lines === 0) return;
    this.droppedUntold = 0;
    this.emit('recovered', lines);
  }

  private takeWaiting(): Buffer | undefined {
    if (this.waiting.length === 0) return undefined;
    // A partially written line must not run into the next one.
    const text = (this.isTorn ? '\n' : '') + this.waiting.join('');
    this.waiting = [];
    this.waitingCharacters = 0;
    return Buffer.from(text);
  }
}

/**
 * Returns a non-blocking descriptor of the same pipe, terminal or socket; undefined for a file, or if there can be
 * none.
 */
function withoutBlocking(descriptor: number): number | undefined {
  try {
    const kind = fstatSync(descriptor);
    if (kind.isFIFO() || kind.isCharacterDevice()) {
      // Opened anew, since the flag would apply to every process with the same pipe.
      return openSync(`/proc/self/fd/${descriptor}`, REOPENED);
    }
    // Node.js makes a socket non-blocking when it opens its own stream on it.
    if (kind.isSocket() && descriptor === STANDARD_ERROR && process.stderr.writable) return descriptor;
  } catch {
    // Closed, without a reader, or without /proc: uses the descriptor as it is.
  }
  return undefined;
}

function isFullPipe(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EAGAIN' || code === 'EBUSY' || code === 'EINTR';
}
