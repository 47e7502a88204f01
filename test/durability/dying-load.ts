/** Base of loads that call a service again and again until it dies. */
import type { Answer } from '../support/client.js';

/** Thrown for an answer that no crash explains. */
export class UnexpectedAnswer extends Error {}

export abstract class DyingLoad {
  requests = 0;
  protected dead = false;
  private powerless = false;
  private awaited: { readonly count: number; readonly resolve: () => void } | undefined;

  /** Resolves when this number of requests was answered. */
  answers(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.awaited = { count, resolve };
    });
  }

  /** Announces a crash: connection errors are expected from now on. */
  expectDeath(): void {
    this.dead = true;
  }

  /** Announces a power cut: the disk fails before the service does, and any answer in between is accepted. */
  expectPowerCut(): void {
    this.dead = true;
    this.powerless = true;
  }

  /** Resolves when the service no longer answers. Rejects for an unexpected answer: 500 always is one. */
  protected async repeatAll(actors: readonly (() => Promise<void>)[]): Promise<void> {
    await Promise.all(actors.map((actor) => this.repeat(actor)));
  }

  protected async ask(statuses: readonly number[], request: Promise<Answer>, what = 'write'): Promise<Answer> {
    const answer = await request;
    this.requests += 1;
    if (this.awaited !== undefined && this.requests >= this.awaited.count) this.awaited.resolve();
    if (statuses.includes(answer.status)) return answer;
    throw new UnexpectedAnswer(`${what}: ${answer.status} ${answer.text.slice(0, 1000)}`);
  }

  private async repeat(action: () => Promise<void>): Promise<void> {
    try {
      for (;;) await action();
    } catch (error) {
      if (!this.dead || (error instanceof UnexpectedAnswer && !this.powerless)) throw error;
    }
  }
}
