import { STATUS_CODES } from 'node:http';

const lines = new Map<number, string>();

/** Returns, for instance, `404 Not Found`. */
export function statusLine(status: number): string {
  let line = lines.get(status);
  if (line === undefined) lines.set(status, (line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`));
  return line;
}
