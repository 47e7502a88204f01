/**
 * A stream that may fail: the reader of a pipe is gone, or the disk is full. Converts the stream's error event, which
 * would end the process with a stack trace, into a message.
 */
import type { Writable } from 'node:stream';
import { CommandError } from './exit-codes.js';
import { systemReason } from '../platform/index.js';

export class WatchedStream {
  #failure: Error | undefined;

  /** `name` begins the message: "Standard output", or the path of a file. */
  constructor(
    private readonly stream: Writable,
    private readonly name: string,
  ) {
    stream.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  /** Throws a CommandError once a write has failed, since further output is pointless. */
  write(text: string): void {
    this.assertWhole();
    try {
      this.stream.write(text);
    } catch (error) {
      // Writes to a file on standard output are synchronous, and fail at once.
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
    this.assertWhole();
  }

  /** Resolves when everything has been written. Rejects with a CommandError if that failed. */
  async settle(): Promise<void> {
    if (this.#failure === undefined && !this.stream.destroyed) {
      await new Promise<void>((resolve) => {
        this.stream.write('', () => {
          resolve();
        });
      });
    }
    this.assertWhole();
  }

  /** Closes the stream after writing everything. Rejects with a CommandError if that failed. */
  async end(): Promise<void> {
    await this.settle();
    await new Promise<void>((resolve) => {
      this.stream.once('close', resolve).end();
    });
    this.assertWhole();
  }

  private assertWhole(): void {
    // A stream emits its error one turn after it has failed.
    const failure = this.#failure ?? this.stream.errored;
    if (failure === undefined || failure === null) return;
    const isFolderMissing = (failure as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = isFolderMissing ? 'its folder does not exist' : systemReason(failure);
    throw new CommandError(`${this.name} could not be written completely: ${reason}.`);
  }
}
