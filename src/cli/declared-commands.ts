/**
 * Creates the commands that features declare (`CommandSpec`). Each calls one operation, whose schemas determine its
 * arguments, options and help. Created only when one is called or listed, since that loads the operation.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import type { TSchema } from 'typebox';
import { FEATURES } from '../features.js';
import { firstForm, isStreamBody, type CommandSpec, type CommandText, type Operation } from '../operations/index.js';
import { EventCatalogue, shellWord } from '../platform/index.js';
import { writeJson, writeValue, type CommandContext, type Run } from './command-context.js';
import { operationNamed } from './call-request.js';
import { CommandError, EXIT, type ExitStatus } from './exit-codes.js';
import { operationInput } from './operation-input.js';
import { formatBytes, formatCount, formatCounted, table } from './output.js';
import { readSecrets } from './secret-input.js';
import type { CallInput, ServiceClient } from './service-client.js';
import type { ServiceLoader } from './service-loader.js';
import { tellStopped } from './stopped-note.js';
import { watchedToEnd } from './watched-job.js';

export interface DeclaredCommandParts {
  readonly run: Run;
  /** Options of every command. */
  readonly shared: () => readonly Option[];
  readonly specs: readonly CommandSpec[];
  readonly operations: readonly Operation[];
}

const TEXT: CommandText = { table, count: formatCount, counted: formatCounted, bytes: formatBytes };

type Given = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Returns the operations of these commands: those of the features that declare the commands, and core operations. Falls
 * back to the whole registry, which takes half as long again to load, if a command calls an operation of another
 * feature.
 */
export async function operationsOf(specs: readonly CommandSpec[], load: ServiceLoader): Promise<readonly Operation[]> {
  const declaring = FEATURES.filter(({ commands = [] }) => commands.some((spec) => specs.includes(spec)));
  const declared = { events: new EventCatalogue(FEATURES.map(({ events = {} }) => events)) };
  const parts = await Promise.all(declaring.map((feature) => feature.load()));
  const own = parts.flatMap(({ operations }) => (typeof operations === 'function' ? operations(declared) : operations));
  if (speakFor(specs, own)) return own;
  const more = [...own, ...(await import('./core-operations.js')).coreOperations];
  return speakFor(specs, more) ? more : (await load()).allOperations();
}

function speakFor(specs: readonly CommandSpec[], operations: readonly Operation[]): boolean {
  const names = new Set(operations.map(({ name }) => name));
  return specs.every(({ operation }) => names.has(operation));
}

export function addDeclaredCommands(program: Command, parts: DeclaredCommandParts): void {
  // Options after a command belong to it, even if its parent has the same ones: `backup list --json`.
  program.enablePositionalOptions();
  for (const spec of parts.specs) {
    const words = spec.name.split(' ');
    const operation = operationNamed(parts.operations, spec.operation);
    const parent = words.slice(0, -1).reduce((above, word) => {
      const known = above.commands.find((each) => each.name() === word);
      return known ?? above.command(word);
    }, program);
    addDeclaredCommand(parent.command(words.at(-1) ?? spec.name), spec, operation, parts);
  }
  for (const group of program.commands) {
    const first = parts.specs.find(({ name }) => name.startsWith(`${group.name()} `));
    if (group.description() === '') group.description(first?.group ?? '');
  }
}

function addDeclaredCommand(
  command: Command,
  spec: CommandSpec,
  operation: Operation,
  { run, shared }: DeclaredCommandParts,
): void {
  const members = membersOf(operation);
  const typed = spec.arguments ?? [];
  command.description(asPhrase(spec.description ?? operation.summary));
  for (const name of typed) command.argument(`<${kebab(name)}>`, asPhrase(members.get(name)?.description ?? ''));
  const takesAccount = members.has('account') && !typed.includes('account');
  for (const option of shared()) if (takesAccount || option.name() !== 'account') command.addOption(option);
  for (const [name, member] of members) {
    if (name === 'account' || typed.includes(name) || spec.secrets?.includes(name) === true) continue;
    const option = new Option(
      `--${kebab(name)} <value>`,
      [asPhrase(member.description ?? ''), choicesText(member)].join(''),
    );
    command.addOption(option.makeOptionMandatory(member.isRequired));
  }
  for (const name of spec.secrets ?? []) {
    if (members.get(name)?.isRequired !== true)
      command.option(`--${kebab(name)}-stdin`, `read ${name} from standard input; a terminal asks for it`);
  }
  if (spec.follow !== undefined)
    command.addOption(new Option('--no-wait', 'return at once instead of waiting for the end'));
  const example = spec.example ?? [];
  if (example.length > 0)
    command.addHelpText('after', `\nExample: gannet ${[spec.name, ...example.map(shellWord)].join(' ')}`);
  command.action((...args: unknown[]) => {
    const values = args.slice(0, typed.length) as string[];
    const options = args[typed.length] as Given;
    return run((context) => callFor(context, { spec, operation, values, options }));
  });
}

interface Call {
  readonly spec: CommandSpec;
  readonly operation: Operation;
  readonly values: readonly string[];
  readonly options: Given;
}

async function callFor(context: CommandContext, { spec, operation, values, options }: Call): Promise<ExitStatus> {
  const doubt = (await spec.unclear?.())?.(values, options);
  if (doubt !== undefined) throw new CommandError(doubt, EXIT.usage);
  const isPath = (name: string, value: string) =>
    spec.paths?.includes(name) === true && value !== '' && !value.startsWith('media:');
  const complete = (name: string, value: string) => `${name}=${isPath(name, value) ? resolve(value) : value}`;
  const params = (spec.arguments ?? []).map((name, place) => complete(name, values[place] ?? ''));
  const members = membersOf(operation);
  for (const name of members.keys()) {
    const value = options[camel(name)];
    if (name !== 'account' && typeof value === 'string') params.push(complete(name, value));
  }
  assertNeeded({ spec, operation, values, options });
  // Optional secrets are not read, since a script's standard input may never end.
  const asked = (spec.secrets ?? []).filter(
    (name) => members.get(name)?.isRequired === true || options[camel(`${name}_stdin`)] === true,
  );
  const secrets = await readSecrets(asked, context.output, context.input);
  const account = typeof options['account'] === 'string' ? options['account'] : context.config.account.name;
  const input = inputOf(operation, {
    params: [...params, ...secrets.map(([name, value]) => `${name}=${value}`)],
    body: undefined,
    stream: undefined,
    contentType: undefined,
    account,
    isAccountGiven: options['account'] !== undefined,
  });
  const isJson = options['json'] === true;
  const follower = options['wait'] === false ? undefined : await spec.follow?.();
  let isStopped = false;
  const called = async (client: ServiceClient) => {
    isStopped = client.transport === 'data directory';
    const begun = await client.call(operation.name, input);
    // Without a running service nothing is executed yet; it will be when one runs.
    if (follower === undefined || begun === undefined || isStopped) return begun;
    return watchedToEnd(client, { follower, begun, account, input, output: isJson ? undefined : context.output });
  };
  const answer = await (answeredAlone(context, await spec.alone?.(), input) ??
    (spec.begins === true ? context.withService(called) : context.withData(called)));
  if (answer === undefined) return EXIT.done;
  if (isJson) {
    writeJson(context.output, answer);
  } else if (spec.print === undefined) {
    writeValue(context.output, answer);
  } else {
    const text = (await spec.print())(answer, TEXT);
    context.output.write(text.endsWith('\n') ? text : `${text}\n`);
  }
  if (isStopped && spec.whileStopped !== undefined) tellStopped(context.output, spec.whileStopped);
  const hasFailed = follower?.hasFailed ?? (await spec.hasFailed?.());
  return hasFailed?.(answer) === true ? EXIT.failed : EXIT.done;
}

/** Like `operationInput`, with options instead of members in error messages. */
function inputOf(...given: Parameters<typeof operationInput>): CallInput {
  try {
    return operationInput(...given);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const message = error.message.replace(/^'(\w+)' expects/, (_whole, member: string) => `--${kebab(member)} expects`);
    throw new CommandError(message, error.status);
  }
}

/** Throws a CommandError if the value of an option requires others, before a secret is typed in vain. */
function assertNeeded({ spec, operation, options }: Call): void {
  for (const [name, { 'x-members': kinds }] of membersOf(operation)) {
    const kind = options[camel(name)];
    if (kinds === undefined || typeof kind !== 'string' || !Object.hasOwn(kinds, kind)) continue;
    const typed = (member: string) => (spec.secrets?.includes(member) === true ? `${member}_stdin` : member);
    const missing = (kinds[kind]?.needed ?? []).map(typed).filter((member) => options[camel(member)] === undefined);
    if (missing.length === 0) continue;
    const needs = missing.map((member) => `--${kebab(member)}`).join(' and ');
    throw new CommandError(`--${kebab(name)} ${kind} needs ${needs}.`, EXIT.usage);
  }
}

/** Answers without a data directory, if the command needs none. */
function answeredAlone(
  { config }: CommandContext,
  alone: Awaited<ReturnType<NonNullable<CommandSpec['alone']>>> | undefined,
  { query = {} }: CallInput,
): Promise<unknown> | undefined {
  return existsSync(resolve(config.data.dir)) ? undefined : alone?.(query);
}

interface MemberSchema {
  readonly description?: string;
  /** Members that belong to each word (`oneKindOf`). */
  readonly 'x-members'?: Readonly<Record<string, { readonly needed: readonly string[] }>>;
  readonly enum?: readonly unknown[];
}

interface Member extends MemberSchema {
  readonly isRequired: boolean;
}

/** Returns the values of an option in Commander's form. '' for an option that also takes other values. */
function choicesText({ enum: values = [] }: Member): string {
  const isEach = values.length > 0 && values.every((value) => typeof value === 'string');
  return isEach ? ` (choices: ${values.map((value) => JSON.stringify(value)).join(', ')})` : '';
}

/** Returns the members that an operation takes, by name. */
function membersOf({ params, query, body }: Operation): ReadonlyMap<string, Member> {
  const schemas = [params, query, body === undefined || isStreamBody(body) ? undefined : body];
  return new Map(schemas.flatMap(entriesOf));
}

function entriesOf(schema: TSchema | undefined): [string, Member][] {
  const { properties = {}, required = [] } = (firstForm(schema) ?? {}) as {
    readonly properties?: Readonly<Record<string, MemberSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, member]) => [name, { ...member, isRequired: required.includes(name) }]);
}

/**
 * Begins a description in lower case, like those of other commands and options, unless it begins with an abbreviation.
 */
function asPhrase(text: string): string {
  return /^[A-Z][A-Z]/u.test(text) ? text : text.slice(0, 1).toLowerCase() + text.slice(1);
}

function kebab(name: string): string {
  return name.replaceAll('_', '-');
}

/** Returns Commander's name for an option's value. */
function camel(name: string): string {
  return kebab(name).replaceAll(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}
