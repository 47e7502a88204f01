/**
 * A stream that a command writes to, and that may fail: the reader of a pipe has gone, or the disk behind a file is full. A
 * stream tells so in an event that would end the process with a stack where nobody hears it; here it becomes a sentence.
 */
import type { Writable } from 'node:stream';
import { CommandError } from './exit-codes.js';
import { systemReason } from '../platform/index.js';

export class WatchedStream {
  #failure: Error | undefined;

  /** `name` begins the sentence: "Standard output", or the path of a file. */
  constructor(
    private readonly stream: Writable,
    private readonly name: string,
  ) {
    stream.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  /** Throws a CommandError once a write has failed: what would follow is not wanted any more. */
  write(text: string): void {
    this.assertWhole();
    try {
      this.stream.write(text);
    } catch (error) {
      // Standard output that is a file is written at once, and fails at once.
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
    this.assertWhole();
  }

  /** Resolves when all that was written so far has been taken; rejects with a CommandError when it could not be. */
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

  /** Closes it when all is written; rejects with a CommandError when something could not be. */
  async end(): Promise<void> {
    await this.settle();
    await new Promise<void>((resolve) => {
      this.stream.once('close', resolve).end();
    });
    this.assertWhole();
  }

  private assertWhole(): void {
    // A stream tells of its failure one turn after it has ended.
    const failure = this.#failure ?? this.stream.errored;
    if (failure === undefined || failure === null) return;
    const isFolderMissing = (failure as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = isFolderMissing ? 'its folder does not exist' : systemReason(failure);
    throw new CommandError(`${this.name} could not be written completely: ${reason}.`);
  }
}
