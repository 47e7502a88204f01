/** What the demo imports: a list's name, its definition, and where its records come from. */

export interface DemoRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface DemoList {
  readonly name: string;
  readonly title: string;
  /** Body of the call that makes the list, beyond its name. */
  readonly definition: Readonly<Record<string, unknown>>;
  /** Takes seconds: called only when the list has to be filled. */
  readonly records: () => Promise<DemoRecord[]>;
}

/** Bytes of one piece of the request body. */
const CHUNK_BYTES = 65_536;

/** The records as NDJSON in pieces of some 64 KiB; `onSent` hears how many records have been handed over so far. */
export async function* toNdjson(
  records: readonly DemoRecord[],
  onSent: (recordCount: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  let pending = '';
  let count = 0;
  for (const record of records) {
    pending += `${JSON.stringify(record)}\n`;
    count += 1;
    if (pending.length < CHUNK_BYTES) continue;
    yield Buffer.from(pending);
    pending = '';
    onSent(count);
  }
  if (pending !== '') yield Buffer.from(pending);
  onSent(count);
}
