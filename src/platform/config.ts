/**
 * Settings: `config/default.toml`, then a file, then the environment; checked against one schema and frozen.
 * A wrong setting is refused, never clipped: `ConfigError` names every one that is, its origin, its value and what is allowed.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { configSchema, ENVIRONMENT_EXCEPTIONS, type Config } from '../../config/schema.js';
import {
  allowedValues,
  coerceSetting,
  isSettingValid,
  withAbsolutePaths,
  type SettingSchema,
} from './config-values.js';
import { automaticMemoryMib } from './automatic-memory.js';
import { injectedHint, isInjected } from './injected-variables.js';
import { machineShare, type MachineShare } from './machine-share.js';
import {
  affordableIngestThreads,
  affordableSearchThreads,
  requiredAutomaticMemory,
  requiredMemory,
} from './memory-budget.js';
import { OperatorError } from './operator-error.js';
import { packageRoot } from './paths.js';
import { keepOrigins, originText, type SettingInForce, type SettingOrigin } from './setting-origins.js';
import type { SettingsSection } from './settings.js';
import { didYouMean, nearest } from './suggest.js';
import { systemReason } from './system-errors.js';

export type { Config } from '../../config/schema.js';

/** Settings that cannot be used. The message is a sentence for the operator, or one a line. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError';
}

export interface ConfigSources {
  /** Command line arguments; only `--config FILE` and `--config=FILE` are looked at. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sections that features declare, beside those of `config/schema.ts`. */
  readonly declared?: readonly SettingsSection[];
  /** For which numbers are chosen that are automatic; what this process has, where it is not given. */
  readonly machine?: MachineShare;
}

const PREFIX = 'GANNET_';
/** Which instructions the kernel leaves out, which it reads itself (`native-bindings/kernel/common/simd.h`). */
const INSTRUCTIONS_VARIABLE = 'GANNET_KERNEL_INSTRUCTIONS';
const INSTRUCTIONS = ['all', 'avx2', 'baseline', ''];
/** No settings: where a file of settings is, and what the kernel reads: its debug mode, and its instructions. */
const OTHER_VARIABLES = ['GANNET_CONFIG', 'GANNET_KERNEL_CHECK_LEASES', INSTRUCTIONS_VARIABLE];

/** By section and name. */
type Values = Record<string, Record<string, unknown>>;
type Schemas = Readonly<Record<string, Readonly<Record<string, SettingSchema>>>>;

/** What is known, and what has been read so far. */
interface Draft {
  readonly schemas: Schemas;
  readonly values: Values;
  /** By `section.name`, of those that were given. */
  readonly origins: Map<string, SettingOrigin>;
  /** Not shown to anybody, not even where they are wrong: standard error is kept, and a wrong one is often the right one and a blank. */
  readonly secrets: ReadonlySet<string>;
  /** A sentence for each that is wrong: who mends one of several would otherwise start as often as there are some. */
  readonly faults: string[];
}

/** Throws where two have a section of the same name. */
function schemasOf(declared: readonly SettingsSection[]): Schemas {
  const sections = configSchema.properties as unknown as Record<string, { readonly properties: Schemas[string] }>;
  const schemas: Record<string, Schemas[string]> = {};
  for (const [section, { properties }] of Object.entries(sections)) schemas[section] = properties;
  for (const { section, members } of declared) {
    if (Object.hasOwn(schemas, section)) throw new Error(`two declare the settings [${section}]`);
    const entries = Object.entries(members).map(([name, { schema }]) => [name, schema as SettingSchema] as const);
    schemas[section] = Object.fromEntries(entries);
  }
  return schemas;
}

/** The environment variable of `section.name`. */
export function environmentName(setting: string): string {
  return ENVIRONMENT_EXCEPTIONS[setting] ?? regularName(setting);
}

function regularName(setting: string): string {
  return `${PREFIX}${setting.replace('.', '_').toUpperCase()}`;
}

/** Every setting as `section.name`, in the order of the schema. */
export function settingNames(declared: readonly SettingsSection[] = []): string[] {
  return namesIn(schemasOf(declared));
}

function namesIn(schemas: Schemas): string[] {
  return Object.entries(schemas).flatMap(([section, members]) =>
    Object.keys(members).map((name) => `${section}.${name}`),
  );
}

/** Throws `ConfigError`. */
export function loadConfig(sources: ConfigSources): Config {
  const { declared = [] } = sources;
  const draft: Draft = {
    schemas: schemasOf(declared),
    values: defaultsOf(declared),
    origins: new Map(),
    secrets: secretsOf(declared),
    faults: [],
  };
  applyFile(draft, join(packageRoot(), 'config', 'default.toml'), { kind: 'default' });
  const path = configPath(sources);
  if (path !== undefined) applyFile(draft, resolve(path), { kind: 'file', path });
  applyEnvironment(draft, sources.env, declared);
  refuseFaults(draft);
  for (const setting of namesIn(draft.schemas)) {
    const [section, name] = splitSetting(setting);
    if (draft.values[section]?.[name] === undefined)
      throw new ConfigError(`${setting} is missing in config/default.toml`);
  }
  makePathsAbsolute(draft);
  const automatic = resolveAutomatic(draft.values, sources.machine ?? machineShare());
  const config = deepFreeze(draft.values) as unknown as Config;
  assertBudgetSuffices(config);
  keepOrigins(config, inForce(draft, automatic));
  return config;
}

/** Beside those that features declare to be secret. */
const SECRETS = ['secrets.keys'];

function secretsOf(declared: readonly SettingsSection[]): ReadonlySet<string> {
  const ofFeatures = declared.flatMap(({ section, members }) =>
    Object.entries(members).flatMap(([name, { isSecret }]) => (isSecret === true ? [`${section}.${name}`] : [])),
  );
  return new Set([...SECRETS, ...ofFeatures]);
}

function inForce({ schemas, values, origins, secrets }: Draft, automatic: ReadonlySet<string>): SettingInForce[] {
  return namesIn(schemas).map((setting) => {
    const [section, name] = splitSetting(setting);
    return {
      name: setting,
      variable: environmentName(setting),
      isSecret: secrets.has(setting),
      value: values[section]?.[name],
      origin: origins.get(setting) ?? { kind: 'default' },
      isAutomatic: automatic.has(setting),
    };
  });
}

function defaultsOf(declared: readonly SettingsSection[]): Values {
  const sections = declared.map(({ section, members }) => {
    const values = Object.entries(members).map(([name, { default: value }]) => [name, value] as const);
    return [section, Object.fromEntries(values)] as const;
  });
  return Object.fromEntries(sections);
}

/**
 * Warnings about `GANNET_*` variables that are no setting. Ones that look like a setting are refused by `loadConfig`;
 * others may belong to a script around the service. What Kubernetes and Docker add of themselves is nobody's mistake.
 */
export function unknownEnvironment(env: ConfigSources['env'], declared: readonly SettingsSection[] = []): string[] {
  const known = new Set([...settingNames(declared).map(environmentName), ...OTHER_VARIABLES]);
  return Object.keys(env).filter((name) => name.startsWith(PREFIX) && !known.has(name) && !isInjected(name, env));
}

function configPath({ argv, env }: ConfigSources): string | undefined {
  for (const [position, argument] of argv.entries()) {
    if (argument.startsWith('--config=')) return argument.slice('--config='.length);
    if (argument !== '--config') continue;
    const path = argv[position + 1];
    if (path === undefined) throw new ConfigError('--config needs the name of a file');
    return path;
  }
  return env['GANNET_CONFIG'] === '' ? undefined : env['GANNET_CONFIG'];
}

function applyFile(draft: Draft, path: string, origin: SettingOrigin): void {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    draft.faults.push(`The settings file ${path} cannot be read: ${systemReason(error)}.`);
    return;
  }
  let parsed: Record<string, unknown>;
  try {
    parsed = parseToml(text);
  } catch (error) {
    draft.faults.push(`The settings file ${path} is not valid TOML: ${tomlFault(error)}`);
    return;
  }
  for (const [section, members] of Object.entries(parsed)) applySection(draft, section, { members, origin });
}

function applySection(
  draft: Draft,
  section: string,
  { members, origin }: { readonly members: unknown; readonly origin: SettingOrigin },
): void {
  const from = originText(origin);
  const properties = Object.hasOwn(draft.schemas, section) ? draft.schemas[section] : undefined;
  if (properties === undefined) {
    draft.faults.push(`Unknown section [${section}] (${from}).${didYouMean(section, Object.keys(draft.schemas))}`);
    return;
  }
  if (typeof members !== 'object' || members === null || Array.isArray(members)) {
    draft.faults.push(`${section} (${from}) is a section: write its settings under [${section}].`);
    return;
  }
  for (const [name, value] of Object.entries(members)) {
    if (Object.hasOwn(properties, name)) {
      set(draft, `${section}.${name}`, { value, shown: value, origin });
      continue;
    }
    const meant = nearest(name, Object.keys(properties)) ?? nearest(name, namesIn(draft.schemas));
    const hint = meant === undefined ? '' : ` Did you mean '${meant}'?`;
    draft.faults.push(`Unknown setting ${section}.${name} (${from}).${hint}`);
  }
}

/** Throws what was found wrong in all places. */
function refuseFaults({ faults }: Draft): void {
  if (faults.length === 0) return;
  if (faults.length === 1) throw new ConfigError(faults[0]);
  throw new ConfigError([`${faults.length} settings are wrong:`, ...faults].join('\n  '));
}

/**
 * Where it is and what, without the text that the parser shows of it and of the lines around: any may hold a secret, also one whose name is
 * written wrong, and standard error is kept.
 */
function tomlFault(error: unknown): string {
  if (!(error instanceof TomlError)) return (error as Error).message;
  const { line, column } = error;
  const [what = ''] = error.message.replace(/^Invalid TOML document: /u, '').split('\n');
  return `at line ${line}, column ${column}: ${what.replace(/\.$/u, '')}.`;
}

function applyEnvironment(draft: Draft, env: ConfigSources['env'], declared: readonly SettingsSection[]): void {
  const known = new Map(namesIn(draft.schemas).map((setting) => [environmentName(setting), setting]));
  const meant = variablesMeantBy(known);
  const instructions = env[INSTRUCTIONS_VARIABLE] ?? '';
  if (!INSTRUCTIONS.includes(instructions))
    draft.faults.push(
      `${INSTRUCTIONS_VARIABLE} is '${instructions}', but has to be all, avx2 (none of AVX-512) or baseline (what every processor has).`,
    );
  for (const name of unknownEnvironment(env, declared)) {
    const variables = meant(name.slice(PREFIX.length));
    if (variables.length > 0)
      draft.faults.push(`Unknown environment variable ${name}. Did you mean '${variables.join("' or '")}'?`);
  }
  for (const [name, setting] of known) {
    const text = env[name];
    if (text === undefined) continue;
    const origin = { kind: 'environment', variable: name } as const;
    set(draft, setting, { value: coerceSetting(schemaOf(draft, setting), text), shown: text, origin });
  }
}

/**
 * By what stands behind the prefix: the variables that somebody probably meant by it, also where one that has a short name is written as all
 * others are, and where the section was left out, which is looked for among names of several words alone: others, such as `NAME`, belong to
 * scripts as well.
 */
function variablesMeantBy(known: ReadonlyMap<string, string>): (written: string) => readonly string[] {
  const names = [...known].flatMap(([variable, setting]) => [
    [variable.slice(PREFIX.length), variable] as const,
    [regularName(setting).slice(PREFIX.length), variable] as const,
  ]);
  const byName = new Map(names);
  const byMember = new Map<string, string[]>();
  for (const [variable, setting] of known) {
    const [, member] = splitSetting(setting);
    if (!member.includes('_')) continue;
    byMember.set(member, [...(byMember.get(member) ?? []), variable]);
  }
  return (written) => {
    const whole = byName.get(nearest(written, byName.keys()) ?? '');
    if (whole !== undefined) return [whole];
    const member = nearest(written, byMember.keys());
    return member === undefined ? [] : (byMember.get(member) ?? []);
  };
}

interface GivenValue {
  readonly value: unknown;
  /** As it was written, for the sentence about a wrong one. */
  readonly shown: unknown;
  readonly origin: SettingOrigin;
}

function set(draft: Draft, setting: string, { value, shown, origin }: GivenValue): void {
  const schema = schemaOf(draft, setting);
  if (!isSettingValid(schema, value)) {
    const [from, wanted] = [originText(origin), `must be ${allowedValues(schema)}.`];
    const is = draft.secrets.has(setting) ? '' : ` is ${JSON.stringify(shown)}`;
    const hint = origin.kind === 'environment' ? injectedHint(origin.variable, String(shown)) : '';
    draft.faults.push(`${setting}${is} (${from})${is && ', but'} ${wanted}${hint}`);
    return;
  }
  const [section, name] = splitSetting(setting);
  (draft.values[section] ??= {})[name] = value;
  draft.origins.set(setting, origin);
}

function schemaOf({ schemas }: Draft, setting: string): SettingSchema {
  const [section, name] = splitSetting(setting);
  const schema = schemas[section]?.[name];
  if (schema === undefined) throw new Error(`${setting} is not a setting`);
  return schema;
}

function splitSetting(setting: string): [section: string, name: string] {
  const dot = setting.indexOf('.');
  return [setting.slice(0, dot), setting.slice(dot + 1)];
}

/** The service leaves the folder in which it was started; what a path counts from is decided before. */
function makePathsAbsolute(draft: Draft): void {
  for (const setting of namesIn(draft.schemas)) {
    const [section, name] = splitSetting(setting);
    const members = draft.values[section] ?? {};
    try {
      members[name] = withAbsolutePaths(schemaOf(draft, setting), members[name]);
    } catch {
      const shown = JSON.stringify(members[name]);
      throw new ConfigError(`${setting} is ${shown}, a path that counts from the working directory: that is gone.`);
    }
  }
}

/** Puts numbers in the place of zeros that mean "automatic"; each may depend on those before it. Returns which. */
function resolveAutomatic(settings: Values, machine: MachineShare): ReadonlySet<string> {
  const chosen = new Set<string>();
  const sofar = settings as unknown as Config;
  const { memoryBytes, processors } = machine;
  const partOfMemory = (part: number) => Math.floor(memoryBytes / 1_048_576 / part);
  const automatic: Readonly<Record<string, () => number>> = {
    'memory.mib': () => Math.max(automaticMemoryMib(machine), requiredAutomaticMemory(sofar)),
    'memory.mapped_busy_mib': () => Math.max(sofar.memory.mapped_mib, partOfMemory(8)),
    'ingest.threads': () => affordableIngestThreads(Math.max(1, Math.floor(processors / 2)), sofar),
    // The main thread needs a part of a processor; with few of them, a whole one left to it would be idle most of the time.
    'search.threads': () => affordableSearchThreads(processors < 4 ? processors : processors - 1, sofar),
  };
  for (const [setting, choose] of Object.entries(automatic)) {
    const [section, name] = splitSetting(setting);
    const members = settings[section];
    if (members?.[name] !== 0) continue;
    members[name] = choose();
    chosen.add(setting);
  }
  return chosen;
}

/** What the parts may take of the memory that is there for all. */
function assertBudgetSuffices(config: Config): void {
  const { memory, search } = config;
  if (search.cache_mib > memory.mib / 2) {
    throw new ConfigError(
      `search.cache_mib is ${search.cache_mib}, but must be at most half of memory.mib, which is ${memory.mib}.`,
    );
  }
  const { mib, parts } = requiredMemory(config);
  if (memory.mib >= mib) return;
  throw new ConfigError(`memory.mib is ${memory.mib}, but the other settings need at least ${mib}: ${parts}.`);
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
