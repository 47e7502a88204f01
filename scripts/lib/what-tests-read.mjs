/**
 * Finds what a test file may read of the project, so that it is not run again while none of that changes (kept-tests.mjs):
 *
 * - its imports and theirs, except types, which are removed before anything runs;
 * - files and folders that it, or its support modules, name by a path;
 * - paths joined to its own place or to the project folder (named-places.mjs); if such a path does not exist or is not understood, everything;
 * - areas (`AREAS`), by words in the code of these modules: modules that start a process or a thread, or look for the project folder, may
 *   read the files of the service; modules that mention the console, its pages; modules that mention Markdown, benches or sources, everything.
 *
 * Modules of the product read only the files of the service and its pages, unless they read files beside themselves. Whatever cannot be determined counts as reading everything.
 * `node scripts/traced-reads.mjs FILES` compares this with what a run has opened.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dirname, normalize } from 'node:path/posix';
import { namedPlaces } from './named-places.mjs';
import { ignoredNames } from './stamps.mjs';

/** Folders in the project that are no part of it. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'data', '.demo', 'coverage', 'dist/.compile-cache', 'dist/bundles']);
/** Link to the bundle's folder, whose name changes with each set-up. */
const LED_THROUGH = 'dist/bundle';
/** Intermediate files of builds. Of C++ builds only what is loaded or started counts. */
const NO_INPUT =
  /^dist\/(?:\.tsbuildinfo$|[\w-]+\.stamp$)|^native-bindings\/build[\w-]*\/(?!(?:.*\/)?(?:[\w-]+\.node|end_with_parent)$)/;
const TEST = /^(?:src|native-bindings|config|scripts|test)\/.*\.test\.(?:ts|mjs)$/;
const SOURCE = /\.(?:[cm]?js|[cm]?ts|tsx)$/;
const PRODUCT = /^(?:bin|src|config|native-bindings)\/(?!.*\.test\.)/;

const KERNEL = /^native-bindings\/build[\w-]*\//;
const SERVICE = /^(?:bin|config|dist\/bundle|test\/support|scripts\/lib)\/|^package\.json$/;
const AREAS = {
  kernel: (path) => KERNEL.test(path),
  service: (path) => KERNEL.test(path) || SERVICE.test(path),
  // Files compiled one by one, with all that they import and read.
  compiled: (path) => AREAS.service(path) || /^dist\/(?!console-assets\/)/.test(path),
  console: (path) => /^(?:src\/console\/app|dist\/console-assets|dist\/client)\//.test(path),
  everything: () => true,
};

/** Words of modules that may read more than they import. */
const REACHING =
  /\b(?:child_process|worker_threads|piscina|process\.cwd|import\.meta|__dirname|__filename|createRequire|packageRoot|compiledFile|endingWithThis)\b/;
/** Words of modules whose places are examined by named-places.mjs. */
const NAMING =
  /\b(?:readFile|readdir|opendir|glob|createReadStream|cp|copyFile)(?:Sync)?\(|(?<![.\w])(?:(?:spawn|exec|execFile)(?:Sync)?|fork|openSync)\(/;
const BESIDE_ITSELF = /\bimport\.meta\.(?!url\)\s*(?:\(|\.resolve\())/;
/** @type {[RegExp, string][]} */
const WORDS_OF_PRODUCT = [[/console-assets/, 'console']];
/** @type {[RegExp, string][]} */
const WORDS_OF_TESTS = [
  [/['"`/]dist\b/, 'compiled'],
  [/\/console\b|console-assets/, 'console'],
  [
    /['"`/](?<!dist['"`/])(?:docs|bench|scripts|src|native-bindings)(?=['"`/])(?!\/build\/)|['"`/]test\/(?!support)|\.md\b|LICENSE|Dockerfile/,
    'everything',
  ],
];

/** What some modules that many others import read themselves, as words would say more. */
const READS = {
  'native-bindings/index.ts': ['kernel'],
  'src/platform/lmdb-build.ts': ['kernel'],
  'src/platform/lmdb.ts': ['kernel'],
  // Reads the default settings. Modules that call its functions have a word of REACHING.
  'src/platform/paths.ts': ['config/default.toml', 'package.json'],
  'src/platform/config.ts': ['config/default.toml'],
  'src/platform/file-modes.ts': [],
  // Loads a package by its name.
  'src/models/onnx/session.ts': [],
  'test/support/service.ts': ['service'],
  'test/support/cli.ts': ['service'],
};

/** Returns the paths, relative to `root`, of all files of the project that a test could read. */
export function filesOfProject(root) {
  const found = [];
  const isIgnored = ignoredNames(root);
  const visit = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (LEFT_OUT.has(path)) continue;
      if (entry.isDirectory() || path === LED_THROUGH) visit(path);
      else if (entry.isFile() && !NO_INPUT.test(path) && !isIgnored(entry.name)) found.push(path);
    }
  };
  visit('');
  return found.sort();
}

/** Modules parsed in this process, by path and content. */
const parsed = new Map();

/** Returns for each test file of the project in `root` the paths of all that it may read. `files` are all files of the project. */
export async function whatTestsRead(root, files = filesOfProject(root)) {
  // Imported here, as the package may not be installed when this module is loaded.
  const { parseSync } = await import('rolldown/utils');
  const there = new Set(files);
  const folders = new Set(files.flatMap(foldersAbove));
  const areas = Object.fromEntries(Object.entries(AREAS).map(([name, accept]) => [name, files.filter(accept)]));
  const modules = new Map();
  const moduleOf = (path) => {
    if (!modules.has(path)) {
      const text = readFileSync(join(root, path), 'utf8');
      const key = `${path}\n${text}`;
      if (!parsed.has(key)) parsed.set(key, parts(parseSync(path, text), { path, text }));
      modules.set(path, readModule(path, parsed.get(key), { there, folders }));
    }
    return modules.get(path);
  };
  const readBy = (test) => {
    const read = new Set([test]);
    const names = new Set();
    // Iterating a set includes what is added meanwhile.
    for (const path of read) {
      if (!SOURCE.test(path) || path.startsWith('dist/')) continue;
      const { needs, reads } = moduleOf(path);
      for (const need of needs) read.add(need);
      for (const name of reads) names.add(name);
    }
    if ([...read].some((path) => path.startsWith('dist/'))) names.add('compiled');
    for (const name of names)
      for (const path of areas[name] ?? files.filter((file) => file === name || file.startsWith(`${name}/`)))
        read.add(path);
    return [...read].sort();
  };
  return new Map(files.filter((path) => TEST.test(path)).map((test) => [test, readBy(test)]));
}

const foldersAbove = (path) => (path.includes('/') ? [dirname(path), ...foldersAbove(dirname(path))] : []);

/** Returns what a module imports, its places, and its code without comments and import specifiers: `{ specifiers, code, isWhole, places }`. */
function parts(tree, { path, text }) {
  const { module, comments, errors } = tree;
  const { staticImports, staticExports, dynamicImports } = module;
  const blank = [...comments];
  const specifiers = [];
  let isWhole = errors.length === 0;
  const take = (statement, request) => {
    blank.push(request);
    if (!/^(?:im|ex)port\s+type\b(?!\s*,|\s+from\s*['"])/.test(text.slice(statement.start, statement.end)))
      specifiers.push(request.value);
  };
  for (const statement of staticImports) take(statement, statement.moduleRequest);
  for (const statement of staticExports)
    for (const { moduleRequest } of statement.entries) if (moduleRequest !== null) take(statement, moduleRequest);
  for (const { moduleRequest: request } of dynamicImports) {
    const [, specifier] = /^['"]([^'"]+)['"]$/.exec(text.slice(request.start, request.end)) ?? [];
    if (specifier === undefined) isWhole = false;
    else take(request, { ...request, value: specifier });
  }
  const code = blanked(text, blank);
  const isNaming = PRODUCT.test(path)
    ? /^(?:src|config)\//.test(path) && BESIDE_ITSELF.test(code)
    : REACHING.test(code) || NAMING.test(code) || specifiers.some((specifier) => REACHING.test(specifier));
  const named = isNaming && READS[path] === undefined ? namedPlaces(tree.program, path) : { places: [], isWhole: true };
  return { specifiers, code, isWhole: isWhole && named.isWhole, places: named.places };
}

function blanked(text, spans) {
  let code = text;
  for (const { start, end } of spans) code = code.slice(0, start) + ' '.repeat(end - start) + code.slice(end);
  return code;
}

/** Returns `{ needs, reads }` of a module. `needs` are files; `reads` are names of areas, and paths of files and folders. */
function readModule(path, { specifiers, code, isWhole, places }, { there, folders }) {
  const needs = [];
  const known = READS[path];
  const reads = new Set(known);
  for (const specifier of specifiers) {
    if (!/^[.#]/.test(specifier)) continue;
    const found = resolved(path, specifier, there);
    needs.push(...found);
    if (found.length === 0) reads.add('everything');
  }
  if (known !== undefined) return { needs, reads };
  if (!isWhole) reads.add('everything');
  for (const { path: place, isPart } of places) {
    if (there.has(place) && !isPart) needs.push(place);
    else reads.add(folders.has(place) || place.startsWith('node_modules/') ? place : 'everything');
  }
  const isReaching = REACHING.test(code) || specifiers.some((specifier) => REACHING.test(specifier));
  if (isReaching) reads.add('service');
  for (const [word, area] of PRODUCT.test(path) ? WORDS_OF_PRODUCT : WORDS_OF_TESTS)
    if (word.test(code)) reads.add(area);
  if (PRODUCT.test(path)) return { needs, reads };
  if (path.startsWith('test/console/')) reads.add('console');
  for (const named of pathsIn(code, isReaching)) {
    for (const target of [normalize(`${dirname(path)}/${named}`), normalize(named)].map((each) =>
      each.replace(/\/$/, ''),
    )) {
      if (there.has(target)) needs.push(target);
      else if (folders.has(target) && target.includes('/')) reads.add(target);
    }
  }
  return { needs, reads };
}

/** Returns strings that may be paths. A single word counts only if the module looks for files beside itself. */
function pathsIn(code, isReaching) {
  const texts = [...code.matchAll(/(['"`])([\w@./-]{1,200})\1/g)].map(([, , text]) => text);
  return texts.filter((text) => /\w/.test(text) && (isReaching || /[./]/.test(text)));
}

/** Returns the files that Vite may resolve the specifier to. TypeScript is imported by the name of its compiled file. All candidates count. */
function resolved(from, specifier, there) {
  // `imports` of package.json lead to compiled files.
  if (specifier.startsWith('#')) return [`dist/${specifier.slice(1)}`].filter((each) => there.has(each));
  const [path] = normalize(`${dirname(from)}/${specifier}`).split('?');
  const names = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx'), `${path}.ts`, `${path}.tsx`];
  return [...new Set([...names, `${path}/index.ts`, `${path}/index.tsx`])].filter((each) => there.has(each));
}
