/** A list that the demo imports: name, definition, and source of its records. */

export interface DemoRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface DemoList {
  readonly name: string;
  readonly title: string;
  /** Body of the call that creates the list, without its name. */
  readonly definition: Readonly<Record<string, unknown>>;
  /** Takes seconds, so it is called only if the list has to be filled. */
  readonly records: () => Promise<DemoRecord[]>;
}

/** Bytes per piece of the request body. */
const CHUNK_BYTES = 65_536;

/** Yields the records as NDJSON in pieces of about 64 KiB. `onSent` receives the number of records yielded so far. */
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
