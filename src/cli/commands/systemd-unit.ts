/** `gannet systemd-unit`: the unit by which systemd keeps this program running, with the paths that it has here. */
import { readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { packageRoot } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';

export interface SystemdUnitOptions {
  readonly config?: string;
  readonly data: string;
  readonly user: string;
}

/** As useradd takes them. */
const USER_NAME = /^[a-z_][a-z0-9_-]{0,31}$/;
/** Folders that a unit has for its state, made with the right owner at each start. */
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
  for (const path of inHomes)
    output.note(`${path} is in a home directory. Make sure that the user ${user} can read it.\n`);
  return EXIT.done;
}

/** By the link that it was called by, where it was: who goes to another release and back turns that link, and the unit follows it. */
function programCalled(): string {
  const program = join(packageRoot(), 'bin', 'gannet.js');
  const called = resolve(process.argv[1] ?? program);
  // Links of npm come and go with what it installs.
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

/** A value as units have it: % begins what systemd puts in. */
function quoted(path: string): string {
  if (/[\p{Cc}]/u.test(path))
    throw new CommandError(
      `${JSON.stringify(path)} cannot be written in a systemd unit: it contains control characters`,
      EXIT.usage,
    );
  const escaped = path.replace(/%/g, '%%');
  return /[\s"'\\;]/.test(escaped) ? `"${escaped.replace(/["\\]/g, '\\$&')}"` : escaped;
}

/** In the line of a command variables of the environment are put in as well. */
function inCommand(path: string): string {
  return quoted(path).replace(/\$/g, '$$$$');
}
