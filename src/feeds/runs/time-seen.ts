/**
 * For how long something of a source has been so, as its runs have seen it. The clock may jump between two of them: it counts for no more
 * than they are apart, and one that was set back for nothing.
 */
export interface TimeSeen {
  /** Up to the run before. */
  readonly ms: number;
  /** When that was, as the clock said then. ISO 8601. */
  readonly lastUtc: string;
}

export function seenFor({ ms, lastUtc }: TimeSeen, nowMs: number, apartMsMax: number): number {
  return ms + Math.min(Math.max(nowMs - Date.parse(lastUtc), 0), apartMsMax);
}
