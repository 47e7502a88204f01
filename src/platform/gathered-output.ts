/**
 * Lines on their way to a log, gathered over one turn of the event loop and written as one. The output looks through all that
 * waits to be written at each write, which at tens of thousands of lines a second costs more than making them.
 *
 * No line is lost: what waits goes out in the same turn, at `flushSync`, or when the process ends. Main thread only.
 */

/** Written at once when so many characters wait: a line is never far from the disk, and a write never large. */
const GATHERED_CHARACTERS_MAX = 16_384;

export interface LineOutput {
  write(text: string): unknown;
  flushSync(): void;
}

/** Outputs with lines of this turn. */
const waiting = new Set<GatheredOutput>();

export class GatheredOutput implements LineOutput {
  private text = '';

  constructor(private readonly output: LineOutput) {}

  write(line: string): void {
    if (this.text === '') this.flushLater();
    this.text += line;
    if (this.text.length >= GATHERED_CHARACTERS_MAX) this.flush();
  }

  /** Hands over what waits. */
  flush(): void {
    const { text } = this;
    this.text = '';
    if (text !== '') this.output.write(text);
  }

  /** Hands over what waits and returns when it is written. Throws what the output throws. */
  flushSync(): void {
    this.flush();
    this.output.flushSync();
  }

  private flushLater(): void {
    if (waiting.size === 0) setImmediate(flushWaiting);
    waiting.add(this);
  }
}

function flushWaiting(): void {
  for (const output of waiting) output.flush();
  waiting.clear();
}

process.on('exit', () => {
  for (const output of waiting) {
    try {
      output.flushSync();
    } catch {
      // Nobody reads any more.
    }
  }
});
