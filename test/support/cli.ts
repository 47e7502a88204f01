/** Runs the command line as a child process on a data directory. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

export interface CommandOutcome {
  readonly status: number;
  readonly output: string;
  readonly notes: string;
}

/** Resolves with the exit status and output, whatever the status. */
export function gannet(dataDir: string, ...argv: readonly string[]): Promise<CommandOutcome> {
  return gannetWith({}, dataDir, ...argv);
}

/** Sets `GANNET_…` variables. */
export function gannetWith(
  settings: Readonly<Record<string, string>>,
  dataDir: string,
  ...argv: readonly string[]
): Promise<CommandOutcome> {
  return outcomeOf({ settings, dataDir, argv });
}

/**
 * Runs a command with this standard input, which then ends. The standard input of the other functions stays open, as in
 * a script.
 */
export function gannetGiven(input: string, dataDir: string, ...argv: readonly string[]): Promise<CommandOutcome> {
  return outcomeOf({ settings: {}, dataDir, argv, input });
}

interface Command {
  readonly settings: Readonly<Record<string, string>>;
  readonly dataDir: string;
  readonly argv: readonly string[];
  readonly input?: string;
}

function outcomeOf({ settings, dataDir, argv, input }: Command): Promise<CommandOutcome> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), ...settings, GANNET_DATA_DIR: dataDir, GANNET_PORT: '0' };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['bin/gannet.js', ...argv],
      { cwd: PACKAGE, env },
      (error, output, notes) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? -1), output, notes });
      },
    );
    if (input !== undefined) child.stdin?.end(input);
  });
}
