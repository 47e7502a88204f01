/**
 * What a file of tests may read of the project, so that it need not be run again while none of that has changed (kept-tests.mjs):
 *
 * - what it imports, and what that imports (types are gone before anything runs);
 * - files and folders that it, or what supports it, names by a path;
 * - what it joins to its own place or to that of the project (named-places.mjs); where that leads nowhere, or is not understood, everything;
 * - areas (`AREAS`), by words in the code of these modules: what starts a process or a thread, or looks for the folder of the project, may
 *   read what the service is made of; whoever speaks of the console, its pages; of pages in Markdown, benches or sources, everything.
 *
 * Modules of the product read nothing but what the service is made of, and its pages, unless they read files beside themselves. Whatever cannot be told counts as reading everything.
 * `node scripts/traced-reads.mjs FILES` compares it with what a run has opened.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dirname, normalize } from 'node:path/posix';
import { namedPlaces } from './named-places.mjs';
import { ignoredNames } from './stamps.mjs';

/** Folders of the project that hold nothing of it. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'data', '.demo', 'coverage', 'dist/.compile-cache', 'dist/bundles']);
/** A link to the folder of this set-up, whose name is another one each time. */
const LED_THROUGH = 'dist/bundle';
/** What is made on the way to something else: of the C++ builds, what is loaded or started matters. */
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
  // What was compiled file by file, with all that this imports and reads.
  compiled: (path) => AREAS.service(path) || /^dist\/(?!console-assets\/)/.test(path),
  console: (path) => /^(?:src\/console\/app|dist\/console-assets|dist\/client)\//.test(path),
  everything: () => true,
};

/** Whoever has one of these in its code reaches for more than what it imports. */
const REACHING =
  /\b(?:child_process|worker_threads|piscina|process\.cwd|import\.meta|__dirname|__filename|createRequire|packageRoot|compiledFile|endingWithThis)\b/;
/** Whoever has one of these is looked at more closely. */
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

/** Modules that many others import, and what they read by themselves, where words would say more. */
const READS = {
  'native-bindings/index.ts': ['kernel'],
  'src/platform/lmdb-build.ts': ['kernel'],
  'src/platform/lmdb.ts': ['kernel'],
  // The settings that there are; who calls its functions has a word of REACHING.
  'src/platform/paths.ts': ['config/default.toml', 'package.json'],
  'src/platform/config.ts': ['config/default.toml'],
  'src/platform/file-modes.ts': [],
  // By the name of its package.
  'src/models/onnx/session.ts': [],
  'test/support/service.ts': ['service'],
  'test/support/cli.ts': ['service'],
};

/** Paths of all files of the project in `root` that a test could read, from there. */
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

/** What was parsed once in this process, by path and content. */
const parsed = new Map();

/** For each file of tests of the project in `root`, the paths of all that it may read; `files` are all that there are. */
export async function whatTestsRead(root, files = filesOfProject(root)) {
  // Only here: before the packages are installed there is none.
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
    // A set hands out what is added to it while it is gone through.
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

/** What a module imports, and its code without comments and without what it imports from: `{ specifiers, code, isWhole, places }`. */
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

/** `needs`: files; `reads`: names of areas, and paths of files and folders. */
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

/** Texts that may be paths. A word by itself is one only where something is looked for beside the module. */
function pathsIn(code, isReaching) {
  const texts = [...code.matchAll(/(['"`])([\w@./-]{1,200})\1/g)].map(([, , text]) => text);
  return texts.filter((text) => /\w/.test(text) && (isReaching || /[./]/.test(text)));
}

/** Where Vite looks for it: TypeScript is imported by the name of what is made of it. Of two with one name, either counts. */
function resolved(from, specifier, there) {
  // `imports` of package.json: what was compiled.
  if (specifier.startsWith('#')) return [`dist/${specifier.slice(1)}`].filter((each) => there.has(each));
  const [path] = normalize(`${dirname(from)}/${specifier}`).split('?');
  const names = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx'), `${path}.ts`, `${path}.tsx`];
  return [...new Set([...names, `${path}/index.ts`, `${path}/index.tsx`])].filter((each) => there.has(each));
}
