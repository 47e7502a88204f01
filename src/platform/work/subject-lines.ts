/**
 * Work in memory in the order in which it may be attempted: the first item of each subject is ready or in progress, and
 * the others wait for it.
 */
export class SubjectLines<Held> {
  private readonly lines = new Map<string, Held[]>();
  private ready: Held[] = [];

  get readyCount(): number {
    return this.ready.length;
  }

  add(subject: string, held: Held): void {
    const line = this.lines.get(subject);
    if (line !== undefined) {
      line.push(held);
      return;
    }
    this.lines.set(subject, [held]);
    this.ready.push(held);
  }

  /** Returns at most `count` ready items, all of different subjects. */
  take(count: number): Held[] {
    return this.ready.splice(0, count);
  }

  /** Makes a taken item ready again, before the others. */
  again(held: Held): void {
    this.ready.unshift(held);
  }

  /** The first item of the subject is finished for now; makes the next one ready. */
  letOthersPass(subject: string): void {
    const line = this.lines.get(subject);
    line?.shift();
    const [next] = line ?? [];
    if (next === undefined) this.lines.delete(subject);
    else this.ready.push(next);
  }
}
