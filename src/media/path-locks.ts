/** Has what is done to one path done one after the other; different paths do not wait. One thread. */
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
