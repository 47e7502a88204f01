/**
 * The commands of `gannet` and their options. Their implementations are in commands/, loaded when a command is called.
 */
import { CommanderError, InvalidArgumentError, Option, type Command } from 'commander';
import { FEATURES } from '../features.js';
import { loadConfig } from '../platform/config.js';
import type { CommandSpec } from '../operations/index.js';
import { keepFilesToOwner, packageVersion } from '../platform/index.js';
import { commandPlace, plainWords } from './asked-words.js';
import type { SecretSource } from './secret-input.js';
import { addExamples, OPTIONS_WITH_REQUIRED } from './command-help.js';
import { createContext, type CommandContext, type Run } from './command-context.js';
import type { AnalyticsCommandOptions } from './commands/analytics.js';
import type { CallOptions } from './commands/call.js';
import type { DoctorOptions } from './commands/doctor.js';
import type { KeyCreateOptions } from './commands/key.js';
import type { RestoreOptions } from './commands/restore.js';
import type { ReindexOptions } from './commands/reindex.js';
import { CORE_COMMANDS } from './core-commands.js';
import { EXIT, type ExitStatus } from './exit-codes.js';
import { describeFailure } from './failure.js';
import { printInterruption } from './interruption.js';
import { accountOption, configOption, jsonOption } from './shared-options.js';
import { openStandardOutput, type Output } from './output.js';
import type { ServiceLoader } from './service-loader.js';
import { addMachineCommands } from './machine-commands.js';
import { addMediaCommands } from './media-commands.js';
import { addRecordCommands } from './record-commands.js';
import { addSearchCommand } from './search-command.js';
import { ToldCommand } from './told-command.js';
import { addWebhookCommands } from './webhook-commands.js';

export interface Surroundings {
  /** Default: standard output and standard error of this process. */
  readonly output?: Output;
  /** Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: `process.stdin`. */
  readonly input?: SecretSource;
}

/** Runs the command in `argv` (as in process.argv) and returns the exit status. Never rejects. */
export async function runCommandLine(
  argv: readonly string[],
  load: ServiceLoader,
  { output = openStandardOutput(), env = process.env, input }: Surroundings = {},
): Promise<ExitStatus> {
  keepFilesToOwner();
  let status: ExitStatus = EXIT.done;
  const declared = FEATURES.flatMap(({ settings }) => settings ?? []);
  const context = () => createContext(loadConfig({ argv: argv.slice(2), env, declared }), load, { output, input });
  const { program, run } = createProgram(context, output, (ended) => {
    status = ended;
  });
  let acting: Command | undefined;
  program.hook('preAction', (_program, command) => {
    acting = command;
  });
  const forget = printInterruption(output);
  try {
    const words = argv.slice(2);
    const specs = askedForDeclared(words, program);
    if (specs.length > 0) {
      const { addDeclaredCommands, operationsOf } = await import('./declared-commands.js');
      const operations = await operationsOf(specs, load);
      addDeclaredCommands(program, { run, shared: sharedOptions, specs, operations });
    }
    pointToHelp(program);
    await program.parseAsync(plainWords(words, program), { from: 'user' });
    return status;
  } catch (error) {
    return printFailure(output, error, acting);
  } finally {
    forget();
  }
}

/** Makes error messages point to the help of the command itself: the program's help has none of its options. */
function pointToHelp(command: Command, before = ''): void {
  const words = `${before}${command.name()}`;
  const shown = command.commands.length === 0 ? 'its arguments and options' : 'the commands and their options';
  command.showHelpAfterError(`(${words} --help shows ${shown})`);
  for (const each of command.commands) pointToHelp(each, `${words} `);
}

function declaredCommands(): readonly CommandSpec[] {
  return [...CORE_COMMANDS, ...FEATURES.flatMap(({ commands }) => commands ?? [])];
}

/** Returns the declared commands that the words may mean; all of them for a list of commands or an unknown command. */
function askedForDeclared(words: readonly string[], program: Command): readonly CommandSpec[] {
  const specs = declaredCommands();
  const first = words[commandPlace(words)];
  if (first === undefined) return words.some((word) => word === '-V' || word === '--version') ? [] : specs;
  if (program.commands.some((each) => each.name() === first)) return [];
  const asked = specs.filter(({ name }) => name.split(' ')[0] === first);
  return asked.length === 0 ? specs : asked;
}

/** Returns every command as typed: `serve`, `key create`. */
export function commandNames(): string[] {
  const namesOf = (command: Command, before: string): string[] =>
    command.commands.flatMap((each) => {
      const name = `${before}${each.name()}`;
      return each.commands.length === 0 ? [name] : namesOf(each, `${name} `);
    });
  const unused = (): never => {
    throw new Error('Only the names are asked for');
  };
  const declared = declaredCommands().map(({ name }) => name);
  return [...namesOf(createProgram(unused, { write: unused, note: unused }, unused).program, ''), ...declared];
}

function printFailure(output: Output, error: unknown, command: Command | undefined): ExitStatus {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const { sentence, status } = describeFailure(error, command);
  output.note(`${sentence}\n`);
  return status;
}

function createProgram(
  context: () => CommandContext,
  output: Pick<Output, 'write' | 'note'>,
  ended: (status: ExitStatus) => void,
): { readonly program: Command; readonly run: Run } {
  const program = new ToldCommand('gannet')
    .description('A search service for one machine.')
    .version(packageVersion(), '-V, --version')
    .option('--config <file>', 'settings file; what it leaves out keeps the defaults of config/default.toml')
    // Options after a command belong to it: `gannet search birds --version 2` does not ask for the program's version.
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp(OPTIONS_WITH_REQUIRED)
    // Set before commands are added, since they inherit it.
    .configureOutput({
      writeOut: (text) => {
        output.write(text);
      },
      writeErr: (text) => {
        output.note(text);
      },
    });
  const run: Run = async (work) => {
    const made = context();
    const status = await work(made);
    await made.output.settle();
    ended(status);
  };
  // The service continues if nobody reads its output.
  const serve: Run = async (work) => {
    ended(await work(context()));
  };
  addServiceCommands(program, run, serve);
  addKeyCommands(program, run);
  addRecordCommands(program, run);
  addDataCommands(program, run);
  addReindexCommand(program, run);
  addAnalyticsCommand(program, run);
  addCallCommand(program, run);
  addMachineCommands(program, { run, shared: sharedOptions });
  addWebhookCommands(program, { run, shared: sharedOptions, wholeNumber });
  addMediaCommands(program, { run, shared: sharedOptions, wholeNumber });
  addExamples(program);
  return { program, run };
}

/** Repeated on every command, because these options may be before or after the command. */

const sharedOptions = () => [configOption(), accountOption(), jsonOption()];

function addServiceCommands(program: Command, run: Run, serve: Run): void {
  program
    .command('serve')
    .description('run the service until SIGTERM or Ctrl-C')
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nAddress, port and data directory are settings: GANNET_HOST, GANNET_PORT, GANNET_DATA_DIR, or a settings file.\ngannet settings prints them all.',
    )
    .action(() => serve(async (context) => (await import('./commands/serve.js')).serve(context)));
  program
    .command('demo')
    .description(
      'serve three real lists (WordNet, its animals by meaning, and the cities of the world) and show what searches can do',
    )
    .addOption(configOption())
    .option('--once', 'exit after the searches instead of serving until Ctrl-C')
    .action((options: { once?: boolean }) =>
      run(async (context) => (await import('./commands/demo.js')).demo(context, options)),
    );
  program
    .command('restore')
    .description('restore the data directory from a backup (with the service stopped)')
    .argument(
      '<backup>',
      'folder of one backup, as `gannet backup` prints it; or media:STORE[/FOLDERS] for the newest backup there, media:STORE[/FOLDERS]/NAME for another one',
    )
    .addOption(configOption())
    .addOption(accountOption())
    .addOption(jsonOption())
    .option('--replace', 'replace an existing data directory; what is in it moves aside, to a folder in it')
    .action((from: string, options: RestoreOptions) =>
      run(async (context) => (await import('./commands/restore.js')).restore(context, from, options)),
    );
  program
    .command('doctor')
    .description('check compiler, processor, disk, limits and the data directory; exit status 1 if something is wrong')
    .addOption(configOption())
    .addOption(jsonOption())
    .option('--data', 'also compare the records of every list with its index (writes to a list wait meanwhile)')
    .addOption(
      new Option(
        '--adopt-lists',
        'instead, put lists that the catalogue does not know back into it (with the service stopped)',
      ).conflicts('data'),
    )
    .action((options: DoctorOptions) =>
      run(async (context) => (await import('./commands/doctor.js')).doctor(context, options)),
    );
}

function addReindexCommand(program: Command, run: Run): void {
  program
    .command('reindex')
    .description('rebuild the index of a list from its records, while it is searched and written')
    .addOption(configOption())
    .requiredOption('--list <name>', 'the list')
    .addOption(accountOption())
    .addOption(jsonOption())
    .action((options: ReindexOptions) =>
      run(async (context) => (await import('./commands/reindex.js')).reindex(context, options)),
    );
}

function addKeyCommands(program: Command, run: Run): void {
  const key = program.command('key').description('create, list and delete API keys');
  key
    .command('create')
    .description('create an API key and print it; it is shown only once')
    .addOption(configOption())
    .addOption(accountOption())
    .option('--name <text>', 'what the key is for', 'created on the command line')
    .addOption(
      new Option('--access <preset>', 'what the key may do (default: search-and-read)').choices([
        'search-and-read',
        'read-all',
        'full',
        'custom',
      ]),
    )
    .addOption(
      new Option('--scope <scope>', 'what the key reaches').choices(['account', 'list', 'group']).default('account'),
    )
    .option('--scope-target <name>', 'the list or group of the scope')
    .option('--permissions <list>', 'permissions, separated by commas (for example list:read,search-result:*)')
    .option(
      '--expires <when>',
      'last day (2027-01-01, UTC) or moment (2027-01-01T12:00:00Z) on which the key works; default: until it is deleted',
    )
    .option('--region <name>', "with --scope account: region in the key (default: the account's)")
    .addOption(jsonOption())
    .action((options: KeyCreateOptions) =>
      run(async (context) => (await import('./commands/key.js')).createKey(context, options)),
    );
  key
    .command('list')
    .alias('ls')
    .description('list the API keys of an account')
    .addOption(configOption())
    .addOption(accountOption())
    .addOption(jsonOption())
    .action((options: { account?: string; json?: boolean }) =>
      run(async (context) => (await import('./commands/key.js')).listKeys(context, options)),
    );
  key
    .command('delete')
    .description('delete an API key; it stops working at once')
    .argument('<id>', 'id or name of the key')
    .addOption(configOption())
    .addOption(accountOption())
    .addOption(jsonOption())
    .action((id: string, options: { account?: string; json?: boolean }) =>
      run(async (context) => (await import('./commands/key.js')).deleteKey(context, id, options)),
    );
}

function addDataCommands(program: Command, run: Run): void {
  program
    .command('list')
    .description('show lists')
    .command('ls', { isDefault: true })
    .description('show the lists of an account')
    .addOption(configOption())
    .addOption(accountOption())
    .addOption(jsonOption())
    // Words after `list` are received here, since Commander's own error would name `ls`.
    .argument('[words...]')
    .action((words: readonly string[], options: { account?: string; json?: boolean }) =>
      run(async (context) => (await import('./commands/list.js')).listLists(context, words, options)),
    );
  addSearchCommand(program, run);
}

function addAnalyticsCommand(program: Command, run: Run): void {
  program
    .command('analytics')
    .description('show what was searched for, found and clicked')
    .argument('<name>', 'name of the list; with --group, of the group')
    .addOption(configOption())
    .option('--group', 'show the report of a group')
    .option('--from <date>', 'first day, UTC, yyyy-MM-dd (default: 29 days before the last)')
    .option('--to <date>', 'last day, UTC (default: today)')
    .addOption(accountOption())
    .addOption(jsonOption())
    .action((name: string, options: AnalyticsCommandOptions) =>
      run(async (context) => (await import('./commands/analytics.js')).analytics(context, name, options)),
    );
}

function addCallCommand(program: Command, run: Run): void {
  program
    .command('call')
    .description('call any operation of the service by its name; without a name, list them all')
    .argument('[operation]', 'for example list.read; add --help to see what it takes')
    .addOption(configOption())
    .option('--param <name=value>', 'a parameter, option or member of the body; repeatable', collect, [])
    .option('--body <json>', 'the body as a whole; @FILE reads it from a file, - from standard input')
    .option('--input <file>', 'what is streamed to operations that take a stream; - for standard input')
    .option('--content-type <type>', 'of what is streamed')
    .addOption(accountOption())
    // The help of an operation comes from its schemas, which the command looks up itself.
    .helpOption(false)
    .option('-h, --help', 'what the operation takes and answers')
    .action((operation: string | undefined, options: CallOptions) =>
      run(async (context) => (await import('./commands/call.js')).callOperation(context, operation, options)),
    );
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('A whole number is expected.');
  return Number(text);
}
