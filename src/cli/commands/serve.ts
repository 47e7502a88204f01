/** `gannet serve`: the service, until it is told to stop. */
import { DataDirectoryInUseError } from '../../platform/index.js';
import type { CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { untilFree } from '../with-service.js';

/** Signals that end the service cleanly, with exit status 0. The last is what a terminal says that is closed, to a program under nohup as well. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export async function serve(context: CommandContext): Promise<ExitStatus> {
  const { startService, endProcess } = await context.load();
  leaveWorkingFolder();
  // Listened for from the beginning: a stop that comes during the start is carried out once the start is done.
  const stopped = nextStopSignal(endProcess);
  const start = () => startService(context.config, { listen: true });
  // A command that was called a moment before, as in a script that starts the service and makes a key, may have the data directory still.
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
    // The one that the machine has a binary of is what everybody expects.
    const carrier = service.webServer === 'uWebSockets.js' ? '' : ` (carried by ${service.webServer})`;
    context.output.write(`Gannet is ready on ${service.address}${carrier}\n`);
    for (const greeting of greetings) context.output.write(greeting);
  });
  const signal = await stopped;
  // A rotation of logs that sends SIGHUP, for instance, would not be found out otherwise.
  service.services.log.info({ signal }, 'Stopping: received a signal');
  await service.close();
  return EXIT.done;
}

/** How whoever started the service calls its program: through npm in a clone, else by its name, as a container and an installation have it. */
export function programOf(env: NodeJS.ProcessEnv): string {
  return env['npm_command'] === undefined ? 'gannet' : 'npx gannet';
}

/** Who started the service may be gone, and nobody reads what it says: it serves all the same, and ends when it is told to. */
function tell(say: () => void): void {
  try {
    say();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
}

/** Options of Node.js that name files for every thread, by paths that may count from the working directory. */
const PRELOADS = /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)(?:[\s=]|$)/;

/**
 * No thread can be started in a folder that was removed, and threads come as long as the service runs: whoever starts it in a folder that
 * passes would find no write done from then on. All settings that are paths are absolute by now.
 */
function leaveWorkingFolder(): void {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  if (!PRELOADS.test(options)) process.chdir('/');
}

/** Ctrl-C reaches the service from the terminal, and once more from npm, which passes it on: nobody presses it again so soon. */
const PASSED_ON_WITHIN_MS = 300;

/** Resolves at the first signal; a second one ends the process at once, unless it is a terminal's, which comes from the system and from the shell. */
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
