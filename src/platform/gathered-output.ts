/**
 * Lines on their way to a log, gathered over one turn of the event loop and written as one. The output looks through all that
 * waits to be written at each write, which at tens of thousands of lines a second costs more than making them.
 *
 * No line is lost: what waits goes out at the end of the turn, at `drain`, or when the process ends. And none overtakes another:
 * nothing is handed over within a turn, and `drain` waits for the write that is under way in the background, because a second
 * write beside it could come first. Main thread only.
 */

/** One write is hardly larger, because readers of pipes (containers' among them) take so much at once. */
const PIECE_CHARACTERS_MAX = 16_384;
/** So long does `drain` wait for somebody who does not read. */
const DRAIN_MS_MAX = 5000;

/** Writes in the background; says `drain` whenever everything is written and `error` when a write failed. */
export interface LineOutput {
  write(text: string): unknown;
  /** Writes at once, beside the background; throws where it cannot. */
  writeSync(text: string): void;
  /** Writes at once what was handed over and no background write has begun to write. */
  flushSync(): void;
  on(event: 'drain' | 'error', listener: () => void): unknown;
}

/** Outputs with lines of this turn. */
const waiting = new Set<GatheredOutput>();

export class GatheredOutput implements Pick<LineOutput, 'write'> {
  /** All but the last are as long as a piece may be. */
  private pieces: string[] = [];
  private text = '';
  /** Handed over and not yet written: the output is at work in the background. */
  private writing = false;
  private whenIdle: (() => void)[] = [];

  constructor(private readonly output: LineOutput) {
    const idle = () => {
      this.writing = false;
      for (const resolve of this.whenIdle.splice(0)) resolve();
    };
    output.on('drain', idle);
    output.on('error', idle);
  }

  write(line: string): void {
    if (this.text === '' && this.pieces.length === 0) this.flushLater();
    this.text += line;
    if (this.text.length < PIECE_CHARACTERS_MAX) return;
    this.pieces.push(this.text);
    this.text = '';
  }

  /** Hands over what waits. */
  flush(): void {
    for (const piece of this.takeWaiting()) {
      this.writing = true;
      this.output.write(piece);
    }
  }

  /** Resolves when everything is written that was logged before the call, when a write failed, or when nobody reads. */
  async drain(): Promise<void> {
    this.flush();
    if (!this.writing) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS_MAX);
      this.whenIdle.push(resolve);
    });
    clearTimeout(timer);
  }

  /**
   * For the end of the process, when nothing can be waited for. Nothing is handed to the background that was not before, so
   * that only a write that is under way already could come behind what is written here. Throws what the output throws.
   */
  flushSync(): void {
    if (this.writing) {
      this.flush();
      this.output.flushSync();
    } else {
      const text = this.takeWaiting().join('');
      if (text !== '') this.output.writeSync(text);
    }
  }

  private takeWaiting(): string[] {
    const taken = this.text === '' ? this.pieces : [...this.pieces, this.text];
    this.pieces = [];
    this.text = '';
    return taken;
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

/** Writes at once what all logs have of this turn: for the end of the process, which Node.js tells of where it ends it itself. Never throws. */
export function flushLogs(): void {
  for (const output of waiting) {
    try {
      output.flushSync();
    } catch {
      // Nobody reads any more.
    }
  }
}
process.on('exit', flushLogs);
