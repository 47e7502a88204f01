/** Serialises actions on the same path; different paths run in parallel. For one thread. */
export class PathLocks {
  private readonly last = new Map<string, Promise<unknown>>();

  async run<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(path) ?? Promise.resolve();
    const result = before.then(action);
    const settled = result.catch(() => undefined);
    this.last.set(path, settled);
    try {
      return await result;
    } finally {
      if (this.last.get(path) === settled) this.last.delete(path);
    }
  }
}
