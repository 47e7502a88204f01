/** What the system said, by name: Node.js has none for some numbers, as that of a used-up quota, and calls them `Unknown system error -122`. */
import { constants } from 'node:os';

const UNNAMED = /^Unknown system error -(\d+)$/;
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

/** The `code` of the error, by its name where it is a number that Node.js cannot name; of another library as it is. */
export function systemCode(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown };
  const [, number] = typeof code === 'string' ? (UNNAMED.exec(code) ?? []) : [];
  return number === undefined ? code : (NAMES.get(Number(number)) ?? code);
}
