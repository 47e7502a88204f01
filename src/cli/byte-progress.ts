/** Shows the progress of a file transfer: one redrawn line on a terminal, nothing elsewhere. */
import { formatBytes, shorten, type Output } from './output.js';
import { drawBar } from './progress.js';

const REDRAW_INTERVAL_MS = 100;

export class ByteProgress {
  private drawnMs = -Infinity;

  constructor(
    private readonly output: Output,
    private readonly label: string,
    private readonly isWanted: boolean,
  ) {}

  /** Passes the bytes on. The request for a piece shows that the previous ones were taken. */
  async *watching(stream: AsyncIterable<Uint8Array>, total: number | undefined): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    try {
      for await (const piece of stream) {
        this.draw(bytes, total);
        yield piece;
        bytes += piece.byteLength;
      }
    } finally {
      if (this.isShown) this.output.write('\r\u001b[K');
    }
  }

  private get isShown(): boolean {
    return this.isWanted && this.output.isTerminal;
  }

  private draw(bytes: number, total: number | undefined): void {
    const now = performance.now();
    if (!this.isShown || now - this.drawnMs < REDRAW_INTERVAL_MS) return;
    this.drawnMs = now;
    const share = total === undefined || total === 0 ? '' : ` ${drawBar(bytes / total)} of ${formatBytes(total)}`;
    this.output.write(`\r\u001b[K${shorten(`${this.label}: ${formatBytes(bytes)}${share}`, this.output.columns - 1)}`);
  }
}
