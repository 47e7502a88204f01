/** `gannet systemd-unit`: prints a systemd unit for this program, with its paths on this machine. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { packageRoot, shellWord } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';

export interface SystemdUnitOptions {
  readonly config?: string;
  readonly data: string;
  readonly user: string;
}

/** Valid for useradd. */
const USER_NAME = /^[a-z_][a-z0-9_-]{0,31}$/;
/** State folders of units, which systemd creates with the right owner at each start. */
const STATE = /^\/var\/lib\/(.+)$/;
const IN_A_HOME = /^\/(?:home|root|run\/user)\//;

export function systemdUnit({ output }: CommandContext, { config, data, user }: SystemdUnitOptions): ExitStatus {
  if (!USER_NAME.test(user)) throw new CommandError(`${JSON.stringify(user)} is not a valid user name`, EXIT.usage);
  if (!isAbsolute(data)) throw new CommandError('--data must be an absolute path, such as /var/lib/gannet', EXIT.usage);
  const [node, program] = [process.execPath, programCalled()];
  const paths = [node, program, resolve(data), ...(config === undefined ? [] : [resolve(config)])];
  const inHomes = paths.filter((path) => IN_A_HOME.test(path));
  const values: Record<string, string> = {
    user,
    node: inCommand(node),
    program: inCommand(program),
    config: config === undefined ? '' : ` --config ${inCommand(resolve(config))}`,
    data: quoted(`GANNET_DATA_DIR=${resolve(data)}`),
    state: stateOf(resolve(data)),
    home: inHomes.length === 0 ? 'yes' : 'read-only',
  };
  const template = readFileSync(join(packageRoot(), 'config', 'gannet.service'), 'utf8');
  output.write(template.replace(/\{(\w+)\}/g, (unknown, name: string) => values[name] ?? unknown));
  if (!STATE.test(resolve(data)) && !existsSync(data))
    output.note(
      `Make the data directory before the first start: install -d -o ${user} -m 0700 ${shellWord(resolve(data))}\n`,
    );
  for (const path of inHomes)
    output.note(`${path} is in a home directory. Make sure that the user ${user} can read it.\n`);
  return EXIT.done;
}

/**
 * Returns the path by which the program was called, if that is a link to it: switching releases by that link then also
 * affects the unit.
 */
function programCalled(): string {
  const program = join(packageRoot(), 'bin', 'gannet.js');
  const called = resolve(process.argv[1] ?? program);
  // npm's links are replaced with what it installs.
  if (called.includes('/node_modules/')) return program;
  try {
    return realpathSync(called) === realpathSync(program) ? called : program;
  } catch {
    return program;
  }
}

function stateOf(data: string): string {
  const state = STATE.exec(data)?.[1];
  return state === undefined
    ? `ReadWritePaths=${quoted(data)}`
    : `StateDirectory=${quoted(state)}\nStateDirectoryMode=0700`;
}

/** Quotes a value of a unit; `%` begins a specifier. */
function quoted(path: string): string {
  if (/[\p{Cc}]/u.test(path))
    throw new CommandError(
      `${JSON.stringify(path)} cannot be written in a systemd unit: it contains control characters`,
      EXIT.usage,
    );
  const escaped = path.replace(/%/g, '%%');
  return /[\s"'\\;]/.test(escaped) ? `"${escaped.replace(/["\\]/g, '\\$&')}"` : escaped;
}

/** Quotes a value in a command line, where environment variables are expanded too. */
function inCommand(path: string): string {
  return quoted(path).replace(/\$/g, '$$$$');
}
