/** Runs commands as the pages have them, in bash, with stand-ins for what is the reader's: addresses, folders, ids. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPage } from './documentation.js';

const PACKAGE = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What stands in a block for something of the reader's, and what it is here. */
export type StandIns = Readonly<Record<string, string>>;

export interface CommandRoom {
  /** Folder in which they run. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly standIns: StandIns;
  /** Functions of bash in the place of programs. */
  readonly functions?: string;
}

/** The function of the tour, as README has it. */
const [API = ''] = /^api\(\) .*$/m.exec(readPage('README.md')) ?? [];
/** Makes every failure end the script, also a request that is refused. */
const BEFORE = `
set -eE -o pipefail
trap 'echo "This failed: $BASH_COMMAND" >&2' ERR
curl() { command curl --fail-with-body "$@"; }
npx() { shift; node ${PACKAGE}/bin/gannet.js "$@"; }
${API}
`;

/** Resolves with what the commands print. Rejects with what they said if one of them fails. */
export async function runCommands(commands: string, room: CommandRoom): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), ...room.env };
  const script = `${BEFORE}${room.functions ?? ''}\n${replaced(commands, room.standIns)}`;
  try {
    const { stdout } = await run('bash', ['-c', script], { cwd: room.folder, env });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${stderr}\n${stdout?.slice(-1000)}`);
  }
}

/** Returns the text with stand-ins in their places, where they are not a part of another word. */
export function replaced(text: string, standIns: StandIns): string {
  return Object.entries(standIns).reduce(
    (told, [from, to]) => told.replaceAll(new RegExp(`(?<!\\w)${escaped(from)}(?!\\w)`, 'g'), () => to),
    text,
  );
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Returns a text without what varies: numbers, sizes, times. */
export const shapeOf = (text: string): string =>
  text.replaceAll(/\d{8}T\d{6}Z/g, 'TIME').replaceAll(/\d[\d,.]*(?: (?:[KMG]i)?B\b)?/g, 'N');
