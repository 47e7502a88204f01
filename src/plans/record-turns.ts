/**
 * Grants commits of one account what is left of a limit, one after the other: what an unsettled commit has taken may be
 * all that is left, or may come back. Main thread only.
 */

/** What one commit has taken. */
export interface Turn {
  readonly records: number;
  /** Settles the turn. Call once. */
  end(): void;
}

interface Account {
  taken: number;
  turnsOut: number;
  last: Promise<unknown>;
  waiting: number;
  wake: (() => void) | undefined;
}

export class RecordTurns {
  readonly #accounts = new Map<string, Account>();

  /**
   * Resolves with all of `records`, or with what is left once nobody else holds any of it. `free` returns what is left,
   * not counting what is taken.
   */
  async take(name: string, records: number, free: () => number): Promise<Turn> {
    const account = this.#account(name);
    account.waiting += 1;
    const turn = account.last.then(() => this.#grant(account, records, free));
    account.last = turn.catch(() => undefined);
    try {
      const granted = await turn;
      return { records: granted, end: () => this.#end(name, account, granted) };
    } finally {
      account.waiting -= 1;
      this.#forgetIdle(name, account);
    }
  }

  async #grant(account: Account, records: number, free: () => number): Promise<number> {
    for (;;) {
      const left = Math.max(0, free() - account.taken);
      if (records <= left || account.turnsOut === 0) {
        const granted = Math.min(records, left);
        account.taken += granted;
        account.turnsOut += 1;
        return granted;
      }
      await new Promise<void>((resolve) => (account.wake = resolve));
    }
  }

  #end(name: string, account: Account, granted: number): void {
    account.taken -= granted;
    account.turnsOut -= 1;
    const { wake } = account;
    account.wake = undefined;
    wake?.();
    this.#forgetIdle(name, account);
  }

  #account(name: string): Account {
    let account = this.#accounts.get(name);
    if (account === undefined) {
      account = { taken: 0, turnsOut: 0, last: Promise.resolve(), waiting: 0, wake: undefined };
      this.#accounts.set(name, account);
    }
    return account;
  }

  #forgetIdle(name: string, account: Account): void {
    if (account.turnsOut === 0 && account.waiting === 0) this.#accounts.delete(name);
  }
}
