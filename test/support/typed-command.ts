/** Runs the command line in the test's process, and returns its output. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../src/cli/command-line.js';
import type { ServiceLoader } from '../../src/cli/service-loader.js';

const NOWHERE = join(tmpdir(), 'gannet-of-no-command', 'data');

export interface Told {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** For output that requires loading no part of the service. */
export const typed = (...words: readonly string[]): Promise<Told> =>
  typedWith(() => Promise.reject(new Error('nothing is to be loaded')), ...words);

/** Uses a data directory that does not exist. */
export async function typedWith(load: ServiceLoader, ...words: readonly string[]): Promise<Told> {
  let out = '';
  let err = '';
  const output = {
    isTerminal: false,
    columns: 80,
    write: (text: string) => void (out += text),
    settle: () => Promise.resolve(),
    note: (text: string) => void (err += text),
  };
  const env = { GANNET_DATA_DIR: NOWHERE };
  const status = await runCommandLine(['node', 'gannet', ...words], load, { output, env });
  return { status, out, err };
}
