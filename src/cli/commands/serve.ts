/** `gannet serve`: runs the service until it is told to stop. */
import { DataDirectoryInUseError } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { untilFree } from '../with-service.js';

/**
 * Signals that stop the service cleanly, with exit status 0. SIGHUP is sent when a terminal is closed, also to a
 * program under nohup.
 */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export async function serve(context: CommandContext): Promise<ExitStatus> {
  const { startService, endProcess } = await context.load();
  leaveWorkingFolder();
  // Installed first: a stop during the start takes effect once the start is done.
  const stopped = nextStopSignal(endProcess);
  const start = () => startService(context.config, { listen: true });
  // A previous command, for example in a script that starts the service after creating a key, may still have the data
  // directory open.
  const service = await start().catch((error: unknown) => {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
    return untilFree(context.config, context.load, {
      served: async (running) => {
        await running.close();
        throw error;
      },
      free: start,
    });
  });
  const { access, catalog } = service.services;
  const isWithoutKey = catalog.accounts().every(({ name }) => access.keys(name).length === 0);
  const greetings = await service.greetings();
  tell(() => {
    if (isWithoutKey)
      context.output.note(
        `There is no API key yet. Create the first one: ${programOf(process.env)} key create --access full\n`,
      );
    // Mentioned only if it is not the default.
    const carrier = service.webServer === 'uWebSockets.js' ? '' : ` (carried by ${service.webServer})`;
    context.output.write(`Gannet is ready on ${service.address}${carrier}\n`);
    for (const greeting of greetings) context.output.write(greeting);
  });
  const signal = await stopped;
  // Logged, since the cause of an unexpected stop, such as a log rotation that sends SIGHUP, would be hard to find
  // otherwise.
  service.services.log.info({ signal }, 'Stopping: received a signal');
  await service.close();
  return EXIT.done;
}

/**
 * Returns how the user calls the program: through npm in a clone, otherwise by name, as in a container or an
 * installation.
 */
export function programOf(env: NodeJS.ProcessEnv): string {
  return env['npm_command'] === undefined ? 'gannet' : 'npx gannet';
}

/** Prints something. The service continues if its output has no reader any more. */
function tell(say: () => void): void {
  try {
    say();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
}

/** Node.js options that name files for every thread, with paths that may be relative to the working directory. */
const PRELOADS = /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)(?:[\s=]|$)/;

/**
 * Changes to the root folder: threads cannot be started in a folder that was removed, and threads are started as long
 * as the service runs, so all writes would fail. All paths in the settings are absolute by now.
 */
function leaveWorkingFolder(): void {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  if (!PRELOADS.test(options)) process.chdir('/');
}

/** Ctrl-C reaches the service from the terminal and again from npm, within this time. */
const PASSED_ON_WITHIN_MS = 300;

/**
 * Resolves at the first signal. A second one ends the process at once, unless it repeats a terminal's signal, which may
 * arrive from both the system and the shell.
 */
export function nextStopSignal(
  end: (status: number) => void = (status) => process.exit(status),
): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked: { readonly signal: NodeJS.Signals; readonly atMs: number } | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const isPassedOn = signal === asked?.signal && performance.now() - asked.atMs < PASSED_ON_WITHIN_MS;
      if (asked !== undefined && signal !== 'SIGHUP' && !isPassedOn) end(130);
      asked ??= { signal, atMs: performance.now() };
      resolve(signal);
    };
    for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  });
}
