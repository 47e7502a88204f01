/** Reads the body of a call: given directly, from a file, or from standard input. */
import { tooLarge } from '../operations/index.js';
import { systemReason } from '../platform/index.js';
import { CommandError, EXIT } from './exit-codes.js';
import { openSource } from './import-source.js';
import { sourceName } from './output.js';

/**
 * Returns the body. `@FILE` names a file, and `-` or `@-` stands for standard input; neither can begin JSON. Rejects
 * with a CommandError if the body has more than `bytesMax` bytes.
 */
export async function bodyText(given: string, bytesMax: number): Promise<string> {
  if (given !== '-' && !given.startsWith('@')) return given;
  const file = given === '-' ? given : given.slice(1);
  const told = sourceName(file);
  if (file === '') throw new CommandError('--body @ needs a file name: --body @FILE.', EXIT.usage);
  const { stream } = await openSource(file);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream) {
      bytes += piece.length;
      if (bytes > bytesMax) throw new CommandError(`${told}: ${tooLarge(bytesMax).detail}`);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${told} cannot be read: ${systemReason(error)}.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    throw new CommandError(`${told} is not valid UTF-8, which JSON requires.`, EXIT.usage);
  }
}
