/** Tests that benches, files and options named by pages and by the benches' first comments exist. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const filesOf = (folder, ending) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);

const PAGES = ['README.md', 'CONTRIBUTING.md', 'bench/README.md', ...filesOf('docs', '.md')];
/** Programs: files that export nothing. The others are parts of them. */
const PROGRAMS = filesOf('bench', '.mjs').filter((path) => !/^export /m.test(read(path)));
const BY_NPM = Object.entries(JSON.parse(read('package.json')).scripts).flatMap(([name, command]) => {
  const [path] = /bench\/\S+\.mjs/.exec(command) ?? [];
  return path === undefined ? [] : [[`npm run ${name}`, path]];
});

/** Returns the lines of code blocks and the spans in backticks, which may continue on the next line. */
function codeOf(page) {
  const blocks = [...page.matchAll(/^```[^\n]*\n(.*?)^```/gms)].flatMap(([, text]) => text.split('\n'));
  const spans = [...page.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`]+)`/g)];
  return [...blocks, ...spans.map(([, text]) => text.replaceAll(/\s+/g, ' '))].map((line) => line.replace(/ #.*$/, ''));
}

/** Returns `[path, words behind it]` for each command in the line. */
function commandsIn(line) {
  const direct = [...line.matchAll(/\b(bench\/[\w./-]+\.mjs)((?: +[^|;&]*)?)/g)].map(([, path, rest]) => [path, rest]);
  const byNpm = BY_NPM.flatMap(([command, path]) =>
    [...line.matchAll(new RegExp(`${command}(?![\\w:])((?: +-- +[^|;&]*)?)`, 'g'))].map(([, rest]) => [path, rest]),
  );
  return [...direct, ...byNpm];
}

const optionsIn = (text) => [...text.matchAll(/(?<![\w-])--([a-z][\w-]*)/g)].map(([, name]) => name);
/** True if the source has the option, as a default of `readOptions` or as `--name`. */
const hasOption = (source, name) => new RegExp(`[\\s{']${name}'?: |'--${name}'`).test(source);
const headOf = (source) => /^\/\*\*.*?\*\//s.exec(source)?.[0] ?? '';

describe('bench', () => {
  it.each(PROGRAMS)('%s prints its usage with options that it has', (path) => {
    const source = read(path);
    expect(source).toMatch(/\b(?:readOptions|readNumbers|helpWhereAsked)\(/);
    const lines = headOf(source).split('\n');
    expect(lines.join('')).toMatch(/\w/);
    // An option in a line without a command belongs to this bench.
    const told = lines.flatMap((line) => (commandsIn(line).length === 0 ? [[path, line]] : commandsIn(line)));
    const unknown = told.flatMap(([of, words]) => optionsIn(words).filter((name) => !hasOption(read(of), name)));
    expect(unknown).toEqual([]);
  });

  it.each([
    ['--help', 0, /^What a start costs.*--rounds {2}11\n$/s],
    ['--rounds=', 2, /^--rounds takes a number, not ""/],
    ['--turns=1', 2, /^Unknown option '--turns'.*"rounds":11/],
    ['.', 2, /^"\." is not <name>=<folder>/],
  ])('with %s exits with %i and prints why', (argument, status, said) => {
    const path = join(root, 'bench', 'end-to-end', 'start-costs.mjs');
    const ended = spawnSync(process.execPath, [path, argument], { encoding: 'utf8' });
    expect([ended.status, status === 0 ? ended.stdout : ended.stderr]).toEqual([status, expect.stringMatching(said)]);
  });

  it('imports modules of the service by `#`, so that the compiler checks what it uses', () => {
    const past = filesOf('bench', '.mjs').filter((path) => /dist\/src|'dist', 'src'/.test(read(path)));
    expect(past).toEqual([]);
  });
});

describe('documentation pages', () => {
  it('name only benches and files of benches that exist', () => {
    const missing = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\bbench\/[\w./-]+\.(?:mjs|cc|h|py|sh|java|rs)\b/g)]
        .map(([path]) => path)
        .filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, 'native-bindings', path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('call benches only with options that they have', () => {
    const commands = PAGES.flatMap((page) =>
      codeOf(read(page)).flatMap((line) => commandsIn(line).map(([path, words]) => ({ page, path, words }))),
    );
    expect(commands.length).toBeGreaterThan(80);
    const unknown = commands.flatMap(({ page, path, words }) =>
      optionsIn(words)
        .filter((name) => existsSync(join(root, path)) && !hasOption(read(path), name))
        .map((name) => `${page}: ${path} --${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('name only parts of benches that exist', () => {
    const partsOf = (path, form) => [...read(path).matchAll(form)].map(([, name]) => name);
    const known = {
      'bench/end-to-end/run.mjs': partsOf('bench/end-to-end/run.mjs', /^ {2}([\w-]+): measure/gm),
      'bench/relevance/run.mjs': partsOf('bench/relevance/run.mjs', /\b([\w-]+): measure/g),
      'bench/report/report.mjs': partsOf('bench/report/report.mjs', /^ {2}'?([\w-]+)'?: \{(?: title|$)/gm),
    };
    const unknown = PAGES.flatMap((page) =>
      codeOf(read(page)).flatMap((line) =>
        commandsIn(line)
          .filter(([path]) => Object.hasOwn(known, path))
          .flatMap(([path, words]) =>
            words
              .replace(/^ +-- /, '')
              .split(' ')
              .filter((word) => /^[a-z][\w-]*$/.test(word) && !known[path].includes(word))
              .map((word) => `${page}: ${path} ${word}`),
          ),
      ),
    );
    expect(Object.values(known).every((names) => names.length > 1)).toBe(true);
    expect(unknown).toEqual([]);
  });
});
