/**
 * For how long the runs of a feed have observed something about its source. The clock may jump between two runs: the
 * time between them counts for no more than runs can be apart, and for nothing if the clock was set back.
 */
export interface TimeSeen {
  /** How long it had been observed at the previous run. */
  readonly ms: number;
  /** When the previous run was, by the clock at that time. ISO 8601. */
  readonly lastUtc: string;
}

export function seenFor({ ms, lastUtc }: TimeSeen, nowMs: number, apartMsMax: number): number {
  return ms + Math.min(Math.max(nowMs - Date.parse(lastUtc), 0), apartMsMax);
}
