/** Work in memory, in the order in which it may be tried: of each subject the first is ready or in hand, and the others wait for it. */
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

  /** At most `count` that are ready; all of different subjects. */
  take(count: number): Held[] {
    return this.ready.splice(0, count);
  }

  /** What was taken is to be tried again, before the others. */
  again(held: Held): void {
    this.ready.unshift(held);
  }

  /** The first of the subject's line is done for now; the next one may go. */
  letOthersPass(subject: string): void {
    const line = this.lines.get(subject);
    line?.shift();
    const [next] = line ?? [];
    if (next === undefined) this.lines.delete(subject);
    else this.ready.push(next);
  }
}
