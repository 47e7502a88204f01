/**
 * Names of system errors. Node.js has none for some numbers, such as an exhausted quota: `Unknown system error -122`.
 */
import { constants } from 'node:os';

const UNNAMED = /^Unknown system error -(\d+)$/;
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

/**
 * Returns the `code` of the error, by name if Node.js could not name its number; codes of other libraries unchanged.
 */
export function systemCode(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown };
  const [, number] = typeof code === 'string' ? (UNNAMED.exec(code) ?? []) : [];
  return number === undefined ? code : (NAMES.get(Number(number)) ?? code);
}
