/**
 * Loads settings from `config/default.toml`, then a file, then the environment; validates them against one schema and
 * freezes them. Wrong settings are refused, never clipped: `ConfigError` names each one, its origin, its value and what
 * is allowed.
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
import { settingComments } from './setting-comments.js';
import { keepOrigins, originText, type SettingInForce, type SettingOrigin } from './setting-origins.js';
import type { SettingsSection } from './settings.js';
import { didYouMean, nearest } from './suggest.js';
import { systemReason } from './system-errors.js';

export type { Config } from '../../config/schema.js';

/** Settings that cannot be used. The message is a sentence for the operator, or one per line. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError';
}

export interface ConfigSources {
  /** Command line arguments; only `--config FILE` and `--config=FILE` are read. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sections that features declare, in addition to those of `config/schema.ts`. */
  readonly declared?: readonly SettingsSection[];
  /** The machine for which automatic settings are chosen. Default: the share of the machine that this process has. */
  readonly machine?: MachineShare;
}

const PREFIX = 'GANNET_';
/**
 * Limits the instructions that the kernel uses; the kernel reads it itself (`native-bindings/kernel/common/simd.h`).
 */
const INSTRUCTIONS_VARIABLE = 'GANNET_KERNEL_INSTRUCTIONS';
const INSTRUCTIONS = ['all', 'avx2', 'baseline', ''];
/**
 * Variables that are no settings: the path of the settings file, and what the kernel reads (debug mode, instructions).
 */
const OTHER_VARIABLES = ['GANNET_CONFIG', 'GANNET_KERNEL_CHECK_LEASES', INSTRUCTIONS_VARIABLE];

/** Values by section, then by name. */
type Values = Record<string, Record<string, unknown>>;
type Schemas = Readonly<Record<string, Readonly<Record<string, SettingSchema>>>>;

/** The known schemas, and what has been read so far. */
interface Draft {
  readonly schemas: Schemas;
  readonly values: Values;
  /** Origin of each setting that was given, by `section.name`. */
  readonly origins: Map<string, SettingOrigin>;
  /**
   * Settings that are never shown, not even if they are wrong: standard error is stored, and a wrong value is often the
   * right secret with a blank.
   */
  readonly secrets: ReadonlySet<string>;
  /** One sentence for each wrong setting. All are collected, so that the operator need not start once per mistake. */
  readonly faults: string[];
}

/** Throws if a section is declared twice. */
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

/** Returns the environment variable of `section.name`. */
export function environmentName(setting: string): string {
  return ENVIRONMENT_EXCEPTIONS[setting] ?? regularName(setting);
}

function regularName(setting: string): string {
  return `${PREFIX}${setting.replace('.', '_').toUpperCase()}`;
}

/** Returns every setting as `section.name`, in the order of the schema. */
export function settingNames(declared: readonly SettingsSection[] = []): string[] {
  return namesIn(schemasOf(declared));
}

function namesIn(schemas: Schemas): string[] {
  return Object.entries(schemas).flatMap(([section, members]) =>
    Object.keys(members).map((name) => `${section}.${name}`),
  );
}

/** Loads, validates and freezes the settings. Throws `ConfigError`. */
export function loadConfig(sources: ConfigSources): Config {
  const { declared = [] } = sources;
  const draft: Draft = {
    schemas: schemasOf(declared),
    values: defaultsOf(declared),
    origins: new Map(),
    secrets: secretsOf(declared),
    faults: [],
  };
  applyFile(draft, defaultFile(), { kind: 'default' });
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
  keepOrigins(config, inForce(draft, { automatic, comments: settingComments(defaultFile(), declared) }));
  return config;
}

/** Secret settings, in addition to those that features declare as secret. */
const SECRETS = ['secrets.keys'];

function secretsOf(declared: readonly SettingsSection[]): ReadonlySet<string> {
  const ofFeatures = declared.flatMap(({ section, members }) =>
    Object.entries(members).flatMap(([name, { isSecret }]) => (isSecret === true ? [`${section}.${name}`] : [])),
  );
  return new Set([...SECRETS, ...ofFeatures]);
}

function defaultFile(): string {
  return join(packageRoot(), 'config', 'default.toml');
}

interface Known {
  /** Settings whose values were chosen for the machine. */
  readonly automatic: ReadonlySet<string>;
  readonly comments: ReadonlyMap<string, string>;
}

function inForce({ schemas, values, origins, secrets }: Draft, { automatic, comments }: Known): SettingInForce[] {
  return namesIn(schemas).map((setting) => {
    const [section, name] = splitSetting(setting);
    return {
      name: setting,
      variable: environmentName(setting),
      comment: comments.get(setting) ?? '',
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
 * Returns the `GANNET_*` variables that are no settings, for warnings. `loadConfig` refuses those that look like a
 * setting; others may belong to a script around the service. Variables that Kubernetes and Docker add are left out.
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

/** Throws a `ConfigError` with all collected faults, if any. */
function refuseFaults({ faults }: Draft): void {
  if (faults.length === 0) return;
  if (faults.length === 1) throw new ConfigError(faults[0]);
  throw new ConfigError([`${faults.length} settings are wrong:`, ...faults].join('\n  '));
}

/**
 * Returns position and kind of a TOML error, without the source lines that the parser quotes: any of them may hold a
 * secret, even under a misspelt name, and standard error is stored.
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
 * Returns a function from the part of a variable's name after the prefix to the variables that were probably meant. It
 * also accepts the regular name of a setting with an exceptional one, and names without the section. The latter only
 * match settings whose names have several words: single words, such as `NAME`, are likely to belong to scripts.
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
  /** The value as it was written, for the message about a wrong one. */
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

/** Resolves relative paths now, because the service later leaves the folder in which it was started. */
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

/**
 * Replaces zeros that mean "automatic" by numbers; each may depend on those before it. Returns the names of these
 * settings.
 */
function resolveAutomatic(settings: Values, machine: MachineShare): ReadonlySet<string> {
  const chosen = new Set<string>();
  const sofar = settings as unknown as Config;
  const { memoryBytes, processors } = machine;
  const partOfMemory = (part: number) => Math.floor(memoryBytes / 1_048_576 / part);
  const automatic: Readonly<Record<string, () => number>> = {
    'memory.mib': () => Math.max(automaticMemoryMib(machine), requiredAutomaticMemory(sofar)),
    'memory.mapped_busy_mib': () => Math.max(sofar.memory.mapped_mib, partOfMemory(8)),
    'ingest.threads': () => affordableIngestThreads(Math.max(1, Math.floor(processors / 2)), sofar),
    // The main thread needs a part of a processor. With few processors, one left to it alone would be idle most of the
    // time.
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

/** Throws `ConfigError` if `memory.mib` does not suffice for the parts that share it. */
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
