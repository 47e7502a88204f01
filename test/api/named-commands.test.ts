/**
 * Tests that commands, options, settings and pages exist wherever users are told of them: on the pages, in files of
 * settings, and in every text of the sources, such as errors, help and descriptions of the API.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { commandNames } from '../../src/cli/command-line.js';
import { FEATURES } from '../../src/features.js';
import { allOperations } from '../../src/main.js';
import { environmentName, settingNames } from '../../src/platform/config.js';
import { EventCatalogue } from '../../src/platform/index.js';
import { codeBlocks, inlineCode, PAGES } from '../support/documentation.js';
import { typedWith } from '../support/typed-command.js';

const PACKAGE = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(PACKAGE, path), 'utf8');
const filesOf = (folder: string, ending: RegExp): readonly string[] =>
  readdirSync(join(PACKAGE, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => `${folder}/${name}`);

interface Text {
  readonly where: string;
  readonly text: string;
}

/** Returns the strings of a module; what is computed within them is `X`. */
function stringsOf(path: string): readonly string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) found.push(node.text);
    else if (ts.isTemplateExpression(node))
      found.push([node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('X'));
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, false));
  return found;
}

const ofPages: readonly Text[] = PAGES.flatMap((page) => [
  ...codeBlocks(page).flatMap(({ text }) => text.split('\n').map((line) => ({ where: page, text: line }))),
  ...inlineCode(page).map((text) => ({ where: page, text })),
]);
const ofFiles: readonly Text[] = [
  ...['Dockerfile', 'docs/search-page.html'],
  ...filesOf('config', /^[^.]+$|\.(?:toml|conf|cfg|service|yml)$/),
].flatMap((where) =>
  read(where)
    .split('\n')
    .map((text) => ({ where, text })),
);
const ofSources: readonly Text[] = [
  ...filesOf('src', /(?<!\.test)\.tsx?$/),
  'bin/gannet.js',
  'scripts/launch.mjs',
].flatMap((where) => stringsOf(where).map((text) => ({ where, text })));
const TEXTS = [...ofPages, ...ofFiles, ...ofSources];

const OPERATIONS = new Map((await allOperations()).map((operation) => [operation.name, operation]));
/** `gannet list` is short for `gannet list ls`. */
const COMMANDS = new Set([...commandNames(), 'list']);

const helps = new Map<string, string>();
/** Returns the help of a command, or of an operation as `call list.read`. */
async function helpOf(command: string): Promise<string> {
  const help =
    helps.get(command) ?? (await typedWith(() => import('../../src/main.js'), ...command.split(' '), '--help')).out;
  helps.set(command, help);
  return help;
}

/** Words behind the name of the bird, or of the program as such. */
const NO_COMMANDS = /^(?:as|changes|dive|dives|jobs|list at rest|secret keys|that)\b/;

/** Returns what follows the program's name, until the end of the line or of the sentence. */
function commandsIn(text: string): readonly string[] {
  // Behind `/` and `-u` it is a folder or a user.
  const named = /(?<![\w/.-]|-[a-z] )gannet (?=[a-z]|--)([^\n`]*?)(?=[`\n]|[.,;:)]+(?:\s|$)|\bgannet |$)/g;
  return [...text.matchAll(named)]
    .map(([, words = '']) => words.replace(/\s+#.*$/, ''))
    .filter((words) => !NO_COMMANDS.test(words))
    .flatMap((words) => {
      // `key create|list|delete` is three commands.
      const [several = ''] = /[a-z-]+(?:\|[a-z-]+)+/.exec(words) ?? [];
      return several === '' ? [words] : several.split('|').map((one) => words.replace(several, one));
    });
}

/** Returns what is wrong with a command, whose arguments may be missing, and behind which a sentence may go on. */
async function faultOf(command: string): Promise<string | undefined> {
  const words = command.split(' ').filter((word) => word !== '');
  const lengths = [3, 2, 1].filter((length) => COMMANDS.has(words.slice(0, length).join(' ')));
  const name = words.slice(0, lengths[0] ?? 0).join(' ');
  if (name === '') {
    const [group = '', member = ''] = words;
    if (group.startsWith('-')) return ['--help', '--version'].includes(group) ? undefined : `unknown option ${group}`;
    const isGroup = [...COMMANDS].some((each) => each.startsWith(`${group} `));
    return isGroup && !/^[a-z]/.test(member) ? undefined : 'unknown command';
  }
  const operation = name === 'call' && /^[a-z-]+\.[a-z-]+$/.test(words[1] ?? '') ? words[1] : undefined;
  if (operation !== undefined && !OPERATIONS.has(operation)) return `unknown operation ${operation}`;
  const help = await helpOf(name);
  const options = words.flatMap((word) => /^--[a-z][a-z-]*/.exec(word) ?? []);
  const unknown = options.find((option) => !new RegExp(`(?<![\\w-])${option}(?![\\w-])`).test(help));
  if (unknown !== undefined) return `unknown option ${unknown}`;
  const params = operation === undefined ? '' : await helpOf(`call ${operation}`);
  return [...command.matchAll(/--param ([a-z_]+)=/g)]
    .map(([, param = '']) => param)
    .filter((param) => !new RegExp(`\\b${param}\\b`).test(params))
    .map((param) => `unknown parameter ${param}`)[0];
}

/** Returns `where: what: why` for each thing named in the texts that does not exist. */
async function faultsOf(
  find: (text: string) => readonly string[],
  faultOf: (found: string) => string | undefined | Promise<string | undefined>,
): Promise<{ readonly count: number; readonly faults: readonly string[] }> {
  const named = TEXTS.flatMap(({ where, text }) => find(text).map((found) => ({ where, found })));
  const faults: string[] = [];
  for (const { where, found } of named) {
    const why = await faultOf(found);
    if (why !== undefined) faults.push(`${where}: ${found}: ${why}`);
  }
  return { count: named.length, faults };
}

const matchesOf = (pattern: RegExp) => (text: string) => [...text.matchAll(pattern)].map(([whole]) => whole);

const SETTINGS = new Set(settingNames(FEATURES.flatMap(({ settings }) => settings ?? [])));
const SECTIONS = new Set([...SETTINGS].map((name) => name.split('.')[0]));
const VARIABLES = new Set([...SETTINGS].map(environmentName));
const EVENTS = new EventCatalogue(FEATURES.map(({ events = {} }) => events));
/** What programs other than the service read: those of the command line, tests and benches. */
const PROGRAMS = ['src', 'test', 'bench', 'native-bindings']
  .flatMap((folder) => filesOf(folder, /\.(?:ts|tsx|mjs|cc)$/))
  .filter((path) => !/\/build/.test(path))
  .map(read)
  .join('\n');

function faultOfVariable(name: string): string | undefined {
  if (VARIABLES.has(name) || PROGRAMS.includes(`env.${name}`) || PROGRAMS.includes(`'${name}'`)) return undefined;
  return 'no setting, and no program reads it';
}

/** What begins like a setting: files of databases, modules and control groups, and places in a JSON document. */
const NO_SETTINGS = /\.(?:items|mdb|ts)$|^memory\.(?:high|limit_in_bytes|max)$/;

function faultOfSetting(name: string): string | undefined {
  const isOther =
    NO_SETTINGS.test(name) || !SECTIONS.has(name.split('.')[0]) || OPERATIONS.has(name) || EVENTS.has(name);
  return isOther || SETTINGS.has(name) ? undefined : 'no setting';
}

function faultOfMeasurement(name: string): string | undefined {
  return PROGRAMS.includes(name.replace(/_bucket$/, '')) ? undefined : 'nothing measures it';
}

/** Paths may end with `…`, and have names in place of parameters. */
function faultOfRequest(request: string): string | undefined {
  const [method, target = ''] = request.split(' ');
  const [path = ''] = target.split('?');
  const parts = path.split('/').filter((part) => part !== '…');
  const isSame = (part: string, at: number) => part.startsWith('{') || parts[at]?.startsWith('{') || part === parts[at];
  const isOpen = path.endsWith('…');
  const found = [...OPERATIONS.values()].some((operation) => {
    const own = operation.path.split('/');
    const isLong = isOpen ? own.length >= parts.length : own.length === parts.length;
    return operation.method === method && isLong && own.slice(0, parts.length).every(isSame);
  });
  return found || path === '/mcp' ? undefined : 'no operation';
}

function faultOfPage(named: string): string | undefined {
  const [path = '', anchor] = named.split('#');
  if (!existsSync(join(PACKAGE, path))) return 'no such page';
  const anchors = [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  return anchor === undefined || anchors.includes(anchor) ? undefined : 'no such heading';
}

const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

describe('What users are told of exists:', () => {
  it('commands of gannet, their options, and operations that they call', async () => {
    const { count, faults } = await faultsOf(commandsIn, faultOf);
    expect(count).toBeGreaterThan(250);
    expect(faults).toEqual([]);
  });

  it.each([
    ['environment variables', /\bGANNET_[A-Z_]+[A-Z]\b/g, faultOfVariable, 80],
    ['settings', /(?<![\w/.@'-])[a-z]+\.[a-z]+(?:_[a-z]+)*(?![\w/.(-])/g, faultOfSetting, 150],
    ['measurements', /\bgannet_[a-z_]+/g, faultOfMeasurement, 60],
    ['requests', /\b(?:GET|POST|PUT|PATCH|DELETE) \/[^\s`'",;]*(?<![.)])/g, faultOfRequest, 15],
    ['pages', /(?<![\w/])docs\/[\w/-]+\.(?:md|html|csv)(?:#[\w-]+)?/g, faultOfPage, 5],
    [
      'scripts of npm',
      /\bnpm run [a-z:]+/g,
      (found: string) => (found.slice(8) in scripts ? undefined : 'no script'),
      20,
    ],
  ])('%s', async (_what, pattern, fault, atLeast) => {
    const { count, faults } = await faultsOf(matchesOf(pattern), fault);
    expect(count).toBeGreaterThan(atLeast);
    expect(faults).toEqual([]);
  });
});

it('A command with a wrong name, option, operation or parameter is recognized', async () => {
  for (const wrong of [
    'key mkae',
    'kye list',
    'key create --acess full',
    'call list.red',
    'call list.read --param lst=x',
  ])
    expect([wrong, await faultOf(wrong)]).toEqual([wrong, expect.stringContaining('unknown')]);
  expect(commandsIn('Run npx gannet key create|list, then gannet doctor.')).toEqual([
    'key create',
    'key list',
    'doctor',
  ]);
});
