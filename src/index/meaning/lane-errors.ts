/**
 * The errors of the latest attempts in lanes of work. A lane that has left has none: its worker may still be busy when
 * another lane has done everything, and nothing would follow that takes its error back.
 */
import type { WorkFigures } from '../../platform/work/index.js';

export class LaneErrors {
  readonly #latest = new Map<string, { error: string | undefined }>();

  /** Returns what a new worker of the lane calls after each attempt; undefined: it succeeded. */
  begin(lane: string): (error: string | undefined) => void {
    const own: { error: string | undefined } = { error: undefined };
    this.#latest.set(lane, own);
    return (error) => {
      own.error = error;
    };
  }

  end(lane: string): void {
    this.#latest.delete(lane);
  }

  clear(): void {
    for (const own of this.#latest.values()) own.error = undefined;
  }

  /** Returns the error of a lane that has work: what another one failed to do is done by now, or given up. */
  ofWork(figuresOf: (lane: string) => Pick<WorkFigures, 'pending' | 'failed'>): string | undefined {
    for (const [lane, { error }] of this.#latest) {
      if (error === undefined) continue;
      const { pending, failed } = figuresOf(lane);
      if (pending + failed > 0) return error;
    }
    return undefined;
  }
}
