/**
 * Shares a limited total among takers, in order of arrival. A taker that needs more than the total gets it alone. One
 * thread only.
 */
interface Waiting {
  readonly weight: number;
  readonly begin: () => void;
}

export class WeightedTurns {
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  constructor(private readonly weightMax: number) {}

  /** Takes `weight`. Resolves with a function that gives it back, once. Rejects with the signal's reason. */
  async take(weight: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#waiting.length > 0 || !this.#fits(weight)) await this.#wait(weight, signal);
    else this.#taken += weight;
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(weight);
      isHeld = false;
    };
  }

  #fits(weight: number): boolean {
    return this.#taken === 0 || this.#taken + weight <= this.weightMax;
  }

  #wait(weight: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason as Error);
        // The next in the queue may fit.
        this.#admit();
      };
      const begin = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting: Waiting = { weight, begin };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #giveBack(weight: number): void {
    this.#taken -= weight;
    this.#admit();
  }

  #admit(): void {
    for (let first = this.#waiting[0]; first !== undefined && this.#fits(first.weight); first = this.#waiting[0]) {
      this.#waiting.shift();
      this.#taken += first.weight;
      first.begin();
    }
  }
}
