/**
 * Shows the progress of an import: on a terminal, one redrawn line (bar, records, rate, time left); elsewhere, a plain
 * line now and then. The time left is shown only if the total size is known.
 */
import { paceOf } from '../platform/index.js';
import { formatCount, formatDuration, formatRecords, type Output, shorten } from './output.js';

const REDRAW_INTERVAL_MS = 100;
const PLAIN_INTERVAL_MS = 5000;
const BAR_CHARACTERS = 24;

export interface ProgressState {
  readonly records: number;
  /** 0 to 1. Undefined if the size of the input is unknown, as for a pipe. */
  readonly share: number | undefined;
}

export class Progress {
  readonly #startedMs: number;
  #state: ProgressState = { records: 0, share: undefined };
  #drawnMs: number;

  constructor(
    private readonly output: Output,
    private readonly label: string,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#startedMs = nowMs();
    this.#drawnMs = this.#startedMs;
    if (output.isTerminal) this.#draw();
  }

  update(state: ProgressState): void {
    this.#state = state;
    const interval = this.output.isTerminal ? REDRAW_INTERVAL_MS : PLAIN_INTERVAL_MS;
    if (this.nowMs() - this.#drawnMs < interval) return;
    this.#drawnMs = this.nowMs();
    this.#draw();
  }

  /** Ends the line with a summary. Returns the seconds taken. */
  done(records: number, remark = ''): number {
    const seconds = this.#seconds();
    const rate = formatCount(paceOf({ done: records, total: null, seconds }).rate);
    this.#line(`${this.label}: ${formatRecords(records)} in ${seconds.toFixed(1)} s, ${rate}/s${remark}`);
    if (this.output.isTerminal) this.output.write('\n');
    return seconds;
  }

  /** Leaves the line as it is, so that an error message starts on a new line. */
  abandon(): void {
    if (this.output.isTerminal) this.output.write('\n');
  }

  #seconds(): number {
    return (this.nowMs() - this.#startedMs) / 1000;
  }

  #draw(): void {
    const { records, share } = this.#state;
    const seconds = this.#seconds();
    const { rate } = paceOf({ done: records, total: null, seconds });
    const parts = [formatRecords(records), `${formatCount(rate)}/s`];
    const { secondsLeft = 0 } = paceOf({ done: share ?? 0, total: share === undefined ? null : 1, seconds });
    if (secondsLeft > 0) parts.push(`${formatDuration(secondsLeft)} left`);
    const percent = share === undefined ? '' : ` ${String(Math.floor(share * 100)).padStart(3)} %`;
    const bar = this.output.isTerminal && share !== undefined ? ` ${drawBar(share)}` : '';
    this.#line(`${this.label}${bar}${percent}  ${parts.join(', ')}`);
  }

  #line(text: string): void {
    if (this.output.isTerminal) this.output.write(`\r\u001b[K${shorten(text, this.output.columns - 1)}`);
    else this.output.write(`${text}\n`);
  }
}

export function drawBar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * BAR_CHARACTERS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CHARACTERS - filled)}`;
}
