/** What asks a service again and again until it dies. */
import type { Answer } from '../support/client.js';
import { UnexpectedAnswer } from './write-load.js';

export abstract class DyingLoad {
  requests = 0;
  private dead = false;

  /** The crash is on its way: connection errors are no surprise from now on. */
  expectDeath(): void {
    this.dead = true;
  }

  /** Resolves when the service no longer answers. Rejects for an unexpected answer: 500 is one wherever it comes. */
  protected async repeatAll(actors: readonly (() => Promise<void>)[]): Promise<void> {
    await Promise.all(actors.map((actor) => this.repeat(actor)));
  }

  protected async ask(statuses: readonly number[], request: Promise<Answer>, what: string): Promise<Answer> {
    const answer = await request;
    this.requests += 1;
    if (statuses.includes(answer.status)) return answer;
    throw new UnexpectedAnswer(`${what}: ${answer.status} ${answer.text.slice(0, 1000)}`);
  }

  private async repeat(action: () => Promise<void>): Promise<void> {
    try {
      for (;;) await action();
    } catch (error) {
      if (error instanceof UnexpectedAnswer || !this.dead) throw error;
    }
  }
}
