/** Secrets are asked for on a terminal, without being shown, or read as lines of standard input: never from the command line. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CommandError, EXIT } from './exit-codes.js';
import type { Output } from './output.js';

export type SecretSource = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export interface AskedSecret {
  readonly name: string;
  readonly isRequired: boolean;
}

/**
 * Those that are given, with their values, in their order: what nobody has to give may be left empty. Rejects with a CommandError
 * where standard input has no line for a required one.
 */
export async function readSecrets(
  asked: readonly AskedSecret[],
  output: Output,
  input: SecretSource,
): Promise<readonly (readonly [name: string, value: string])[]> {
  if (asked.length === 0) return [];
  const isTerminal = input.isTTY === true;
  // What is typed is not shown: the terminal's echo goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: isTerminal });
  const secrets: (readonly [string, string])[] = [];
  try {
    const each = lines[Symbol.asyncIterator]();
    for (const { name, isRequired } of asked) {
      if (isTerminal) output.note(isRequired ? `${name}: ` : `${name} (empty: none): `);
      const { value, done } = (await each.next()) as IteratorResult<string, undefined>;
      if (done === true && isRequired)
        throw new CommandError(`'${name}' is read from standard input, which has no line for it.`, EXIT.usage);
      if (isTerminal) output.note('\n');
      if (done !== true && (isRequired || value !== '')) secrets.push([name, value]);
    }
    return secrets;
  } finally {
    lines.close();
  }
}
