/** Reads secrets from a terminal without echo, or as lines of standard input, but never from the command line. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CommandError, EXIT } from './exit-codes.js';
import type { Output } from './output.js';

export type SecretSource = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Returns name and value of each secret, in order. Rejects with a CommandError if standard input has too few lines. */
export async function readSecrets(
  asked: readonly string[],
  output: Output,
  input: SecretSource,
): Promise<readonly (readonly [name: string, value: string])[]> {
  // Returns before reading standard input, which may never end.
  if (asked.length === 0) return [];
  const isTerminal = input.isTTY === true;
  // Discards the terminal's echo.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: isTerminal });
  const secrets: (readonly [string, string])[] = [];
  try {
    const each = lines[Symbol.asyncIterator]();
    for (const name of asked) {
      const called = name.replaceAll('_', ' ');
      if (isTerminal) output.note(`${called}: `);
      const { value, done } = (await each.next()) as IteratorResult<string, undefined>;
      if (done === true)
        throw new CommandError(`Expected the ${called} on standard input, which has no line left.`, EXIT.usage);
      if (isTerminal) output.note('\n');
      secrets.push([name, value]);
    }
    return secrets;
  } finally {
    lines.close();
  }
}
