/**
 * Gathers the log lines of one turn of the event loop and writes them at once. Each write makes the output look through
 * all that waits to be written, which at tens of thousands of lines a second costs more than formatting them.
 *
 * No line is lost: waiting lines are written at the end of the turn, by `drain`, or when the process ends. Lines keep
 * their order: nothing is handed over within a turn, and `drain` waits for the write in progress in the background,
 * because a second write could overtake it. Main thread only.
 */

/** Approximate maximum of one write, because readers of pipes (such as container runtimes) read so much at once. */
const PIECE_CHARACTERS_MAX = 16_384;
/** How long `drain` waits for a reader that does not read. */
const DRAIN_MS_MAX = 5000;

/**
 * An output that writes in the background. Emits `drain` when everything is written, and `error` when a write failed.
 */
export interface LineOutput {
  write(text: string): unknown;
  /** Writes at once, independent of the background write; throws if it cannot. */
  writeSync(text: string): void;
  /** Writes at once what was handed over and is not yet being written in the background. */
  flushSync(): void;
  on(event: 'drain' | 'error', listener: () => void): unknown;
}

/** Outputs with lines of the current turn. */
const waiting = new Set<GatheredOutput>();

export class GatheredOutput implements Pick<LineOutput, 'write'> {
  /** Full pieces; the unfinished one is `text`. */
  private pieces: string[] = [];
  private text = '';
  /** True while the output writes in the background what was handed over. */
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

  /** Hands the waiting lines to the output. */
  flush(): void {
    for (const piece of this.takeWaiting()) {
      this.writing = true;
      this.output.write(piece);
    }
  }

  /** Resolves when everything logged before the call is written, when a write failed, or after `DRAIN_MS_MAX`. */
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
   * Writes the waiting lines at once, when the process ends and nothing can be awaited. Starts no background write, so
   * that only one that is already in progress could come after these lines. Throws what the output throws.
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

/**
 * Writes the lines of this turn of all logs at once. Runs when Node.js ends the process; to be called before ending it
 * any other way. Never throws.
 */
export function flushLogs(): void {
  for (const output of waiting) {
    try {
      output.flushSync();
    } catch {
      // The reader is gone.
    }
  }
}
process.on('exit', flushLogs);
