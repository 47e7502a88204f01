/**
 * Compares the pages for developers with the code: folders, files, layers and allowed dependencies.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LAYERS } from '../native-bindings/layers.mjs';

const root = join(import.meta.dirname, '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const foldersOf = (path) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
const filesOf = (path, ending) =>
  readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(path, name));

const architecture = read('docs/architecture.md');
const layering = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const sources = filesOf('src', /(?<!\.test)\.ts$/);
const CODE = ['src', 'native-bindings', 'test', 'config', 'scripts', 'bench', 'docs', 'bin'];
const codeFiles = CODE.flatMap((folder) => filesOf(folder, /\.(?:ts|mjs|cjs|cc|h|md|toml|js)$/)).filter(
  (path) => !/build(?:-lmdb|-test)?\//.test(path),
);

/** `[heading, text]` of each section of docs/architecture.md. */
const sections = architecture
  .split(/^## /m)
  .slice(1)
  .map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n'))]);
const sectionOf = (folder) => sections.find(([heading]) => heading.startsWith(`\`${folder}\``))?.[1] ?? '';
const quoted = (text) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, word]) => word);

/** Returns the anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (path) =>
  new Set(
    [...read(path).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

/** Returns the files that import the module. */
const importers = (module) => sources.filter((path) => read(path).includes(`from '${module}'`));
/** Returns the files that import the module, without those that import only its types. */
const users = (module) =>
  sources.filter((path) =>
    new RegExp(`^import (?!type )[^;]*from '${module}'|^export [^;]*from '${module}'|\\('${module}'\\)`, 'm').test(
      read(path),
    ),
  );

describe('bench/README.md', () => {
  it('names every program that measures', () => {
    const page = read('bench/README.md');
    // Files that export something are parts of programs.
    const programs = filesOf('bench', /\.mjs$/).filter((path) => !/^export /m.test(read(path)));
    const measuring = filesOf('native-bindings/bench', /_bench\.cc$/);
    expect(programs.length).toBeGreaterThan(20);
    const byNpm = Object.values(JSON.parse(read('package.json')).scripts).join(' ');
    expect(programs.filter((path) => !page.includes(path) && !byNpm.includes(path))).toEqual([]);
    expect(measuring.filter((path) => !page.includes(basename(path, '.cc')))).toEqual([]);
  });
});

describe('docs/architecture.md', () => {
  it('names only files and folders that exist', () => {
    const missing = sections.flatMap(([heading, text]) =>
      quoted(`${heading} ${text}`)
        .filter(
          (word) =>
            /^[\w./-]+$/.test(word) &&
            (/\.(?:ts|mjs|cjs|cc|h|md)$/.test(word) || /^(?:src|test|native-bindings|docs)\//.test(word)),
        )
        .filter((word) => !existsSync(join(root, word)) && !codeFiles.some((path) => path.endsWith(`/${word}`)))
        .map((word) => `${heading}: ${word}`),
    );
    expect(missing).toEqual([]);
  });

  it('has a section for each folder of src, and for no other', () => {
    const named = sections.flatMap(([heading]) => [...heading.matchAll(/`src\/([a-z-]+)`/g)].map(([, name]) => name));
    expect(
      named.sort(),
      'docs/architecture.md has a section for each folder of src, whose heading begins with the folder',
    ).toEqual(foldersOf('src'));
  });

  it('lists the folders in the order of the layers', () => {
    const sentence = /The order of folders in the layering is ([^.]*?), then `main\.ts`/s.exec(architecture)?.[1] ?? '';
    const order = quoted(sentence);
    const levelOf = (folder) =>
      layering.forbidden.findIndex(
        ({ name, from }) => name.startsWith('downwards-from-') && new RegExp(from.path).test(`src/${folder}/x.ts`),
      );
    expect(
      [...order].sort(),
      'docs/architecture.md names each folder of src under "Layering", in the order of .dependency-cruiser.cjs; a feature without a rule there stands before "and other features"',
    ).toEqual(foldersOf('src'));
    const levels = order.map(levelOf).map((level) => (level === -1 ? Infinity : level));
    expect(levels).toEqual([...levels].sort((a, b) => a - b));
  });

  it.each(['index', 'search', 'operations'])('names the subfolders of src/%s', (folder) => {
    const words = new Set(quoted(sectionOf(`src/${folder}`)).map((word) => word.split('/')[0]));
    expect(foldersOf(`src/${folder}`).filter((room) => !words.has(room))).toEqual([]);
  });

  it('lists the subfolders of src/index in the order of their layers', () => {
    const order = quoted(/The rooms, from\s+the bottom up:(.*?)\. /s.exec(sectionOf('src/index'))?.[1] ?? '')
      .map((word) => word.replace('/', ''))
      .filter((word) => foldersOf('src/index').includes(word));
    const rules = layering.forbidden
      .filter(({ name }) => name.startsWith('downwards-from-index-'))
      .map(({ name }) => name);
    expect(order.slice(0, -1).map((room) => `downwards-from-index-${room}`)).toEqual(rules);
  });

  it('names the folders of the kernel, as native-bindings/layers.mjs does', () => {
    const text = sectionOf('native-bindings');
    expect(
      foldersOf('native-bindings/kernel').filter((room) => room !== 'common' && !text.includes(`\`${room}/\``)),
    ).toEqual([]);
    expect(LAYERS.flat().sort()).toEqual(foldersOf('native-bindings/kernel'));
  });

  it('says rightly that the kernel does not use Node', () => {
    expect(sectionOf('native-bindings')).toMatch(/without a word of Node/);
    const withNode = filesOf('native-bindings/kernel', /\.(?:cc|h)$/).filter((path) =>
      /napi|node_api|<node/.test(read(path)),
    );
    expect(withNode).toEqual([]);
  });

  it('says rightly that src/platform imports no other folder of src', () => {
    expect(sectionOf('src/platform')).toMatch(/It imports nothing of ours/);
    const above = filesOf('src/platform', /(?<!\.test)\.ts$/).filter((path) =>
      [...read(path).matchAll(/from '((?:\.\.\/)+)([a-z-]+)\//g)].some(
        ([, up, folder]) => up.length / 3 >= path.split('/').length - 2 && foldersOf('src').includes(folder),
      ),
    );
    expect(above).toEqual([]);
  });

  it('says rightly that one file opens LMDB environments', () => {
    expect(sectionOf('src/platform')).toMatch(/`lmdb-environment\.ts` opens every LMDB environment/);
    expect(users('lmdb')).toEqual(['src/platform/lmdb.ts']);
  });

  it('says rightly that only the kernel opens segments', () => {
    expect(architecture).toMatch(/Segment files are opened by the kernel alone/);
    const openers = filesOf('native-bindings', /\.(?:cc|h)$/)
      .filter((path) => !/\/(?:build|bench|test|fuzz|lmdb-js)/.test(path) && read(path).includes('mdb_env_open('))
      .map((path) => path.split('/').slice(0, 3).join('/'));
    expect([...new Set(openers)]).toEqual(['native-bindings/kernel/segment']);
  });

  it('says rightly that one client connects to other hosts', () => {
    expect(sectionOf('src/platform')).toMatch(/the one client for it \(`outbound-client\.ts`\)/);
    expect(importers('undici').every((path) => path.startsWith('src/platform/outbound/'))).toBe(true);
    const connecting = [...importers('node:https'), ...importers('node:http2')];
    expect(connecting).toEqual([]);
  });

  it('says rightly that the front ends are in src/http', () => {
    expect(sectionOf('src/http')).toMatch(/`server\.ts` is the port, `control-socket\.ts`/);
    expect(importers('uWebSockets.js').every((path) => path.startsWith('src/http/'))).toBe(true);
    // `gannet doctor` checks whether a port is free.
    const listening = sources.filter(
      (path) => !path.startsWith('src/cli/doctor/') && read(path).includes('createServer('),
    );
    expect(listening).toEqual(['src/http/control-socket.ts', 'src/http/listening.ts', 'src/http/node-server.ts']);
  });

  it('says rightly that pools are in src/workers and other workers are hosts', () => {
    expect(importers('piscina').every((path) => path.startsWith('src/workers/'))).toBe(true);
    const hosted = filesOf('src', /\.worker\.ts$/).filter((path) => !path.startsWith('src/workers/'));
    expect(hosted.length).toBeGreaterThan(0);
    for (const path of hosted) {
      expect(read(path), path).toContain('serveHost');
      expect(architecture).toContain(`${basename(path)}`.replace('.worker.ts', ''));
    }
  });

  it('agrees with the code that only hosts and the reader of video frames start processes', () => {
    const starters = importers('node:child_process').filter((path) => !path.startsWith('src/cli/'));
    expect(starters).toEqual(['src/platform/hosts/child-process.ts', 'src/recordings/frames/video-frames.ts']);
  });

  it('says that each kind of field has a file, which is in the table of kinds', () => {
    expect(sectionOf('src/fields')).toMatch(/`FIELD_KINDS`/);
    const kinds = readdirSync(join(root, 'src/fields/kinds')).filter((name) => name.endsWith('-kind.ts'));
    const table = read('src/fields/field-kinds.ts');
    for (const name of kinds) expect(table).toContain(`kinds/${name.replace('.ts', '.js')}`);
  });

  it('says rightly that each search option is a row of search-options.ts, from which the schemas of the API come', () => {
    expect(sectionOf('src/search')).toMatch(/`search-options\.ts`: schema, default, form; the API's schemas/);
    const schemas = read('src/operations/api/search-options.ts');
    expect(schemas).toMatch(/import \{ SEARCH_OPTIONS, .*\} from '\.\.\/\.\.\/search\/index\.js'/);
    // The rows are the only members of the schemas, and the operations take no others.
    expect(schemas).toMatch(/const members = Object\.entries\(SEARCH_OPTIONS\)\.map\(/);
    expect(schemas.match(/Type\.Optional\(/g)).toHaveLength(1);
    const taken = read('src/operations/api/search.ts').matchAll(/^ {2}(?:query|body): (.*),$/gm);
    expect([...taken].map(([, schema]) => schema).sort()).toEqual([
      'searchBody',
      'searchBody',
      'searchQuery',
      'searchQuery',
    ]);
  });

  it('says rightly that the codes of errors are in one catalogue', () => {
    expect(sectionOf('src/platform')).toMatch(/code of `errors\.ts`, the catalogue/);
    const withStatus = sources.filter((path) => /^ +'[a-z-]+': \{ status: \d/m.test(read(path)));
    expect(withStatus).toEqual(['src/platform/errors.ts']);
  });

  it('says that only main.ts composes the service, as no file imports it', () => {
    expect(sectionOf('src/main.ts')).toMatch(/There and only there/);
    expect(sources.filter((path) => /from '[^']*\/main\.js'/.test(read(path)))).toEqual([]);
  });

  it('says rightly that only analytics opens its events', () => {
    expect(sectionOf('src/analytics')).toMatch(/alone opens `data\/analytics\/events`/);
    const openers = sources.filter((path) => /openEnvironment\(.*kind: EVENTS_FORMAT/s.test(read(path)));
    expect(openers).toEqual(['src/analytics/analytics-store.ts']);
  });
});

describe('src', () => {
  it('exports only values that another file uses', () => {
    const texts = new Map(
      ['src', 'native-bindings', 'test', 'bench', 'scripts', 'bin', 'config']
        .flatMap((folder) => filesOf(folder, /(?<!^|\/)\.(?:ts|tsx|mjs|cjs|js)$/))
        .filter((path) => !/\/build[a-z-]*\//.test(path))
        .map((path) => [path, read(path)]),
    );
    const files = new Map();
    for (const [path, text] of texts) {
      // An index only re-exports, so it does not count as use.
      if (/\/index\.ts$/.test(path) && !path.startsWith('native-bindings')) continue;
      for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) files.set(word, (files.get(word) ?? 0) + 1);
    }
    const unused = [...texts]
      .filter(([path]) => /^src\/.*(?<!\.test|\/index)\.tsx?$/.test(path))
      .flatMap(([path, text]) =>
        [...text.matchAll(/^export (?:async )?(?:abstract )?(?:function\*?|class|const|let) ([\w$]+)/gm)]
          .filter(([, name]) => files.get(name) === 1 && !path.startsWith('src/console/app/messages/'))
          .map(([, name]) => `${name} (${path})`),
      );
    expect(
      unused,
      'Use these where they are to be found (a row of a list that was forgotten?), or do not export them',
    ).toEqual([]);
  });
});

describe('docs/adding.md', () => {
  const named = [
    ...read('docs/adding.md').matchAll(
      /`((?:src|test|config|docs|native-bindings|scripts)\/[^`\s]*)`(?: \(((?:[^()]|\n)*)\))?/g,
    ),
  ];

  it('names only files that exist', () => {
    expect(named.length).toBeGreaterThan(50);
    expect(named.map(([, path]) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('names behind a file only words that the file contains', () => {
    const missing = named.flatMap(([, path, inside = '']) =>
      statSync(join(root, path)).isDirectory()
        ? []
        : quoted(inside)
            .filter((word) => /^\w+$/.test(word) && !new RegExp(`\\b${word}\\b`).test(read(path)))
            .map((word) => `${word} in ${path}`),
    );
    expect(missing, 'docs/adding.md names these, and the files do not have them').toEqual([]);
  });

  it('is linked from the pages that newcomers read first', () => {
    for (const page of ['CONTRIBUTING.md', 'docs/architecture.md']) expect(read(page), page).toContain('adding.md)');
  });
});

describe('docs/formats.md', () => {
  it('lists every kind of environment with its format number', () => {
    const formats = read('docs/formats.md');
    const kinds = sources.flatMap((path) => [...read(path).matchAll(/kind: '(\w+)',\s+number: (\d+),\s+content:/g)]);
    expect(kinds.length).toBeGreaterThan(3);
    const missing = kinds.filter(
      ([, kind, number]) => !new RegExp(`^\\| \`${kind}\` \\|.*\\| ${number} \\|$`, 'm').test(formats),
    );
    expect(
      missing.map(([, kind, number]) => `${kind}: ${number}`),
      'the table of environments in docs/formats.md has a row for each kind, which ends with its number',
    ).toEqual([]);
  });

  it('names every database in which the service keeps something', () => {
    const named = new Set(quoted(read('docs/formats.md')));
    const databases = sources.flatMap((path) => {
      const text = read(path);
      const opened = [...text.matchAll(/\.(?:collection|database)(?:<[^()]*>)?\(\s*'([a-z-]+)'/g)];
      const ofWork = [...text.matchAll(/\bdatabases: \{([^}]*)\}/g)].flatMap(([, held]) => [
        ...held.matchAll(/: '([a-z-]+)'/g),
      ]);
      return [...opened, ...ofWork].map(([, name]) => ({ name, path }));
    });
    expect(databases.length).toBeGreaterThan(40);
    const missing = databases.filter(({ name }) => !named.has(name)).map(({ name, path }) => `${name} (${path})`);
    expect(missing, 'docs/formats.md says of each database what its keys and values are').toEqual([]);
  });

  it('has the format number of segments, and a row for each kind of key', () => {
    const formats = read('docs/formats.md');
    const header = read('native-bindings/kernel/format.h');
    const number = /kFormatVersion = (\d+);/.exec(header)?.[1];
    expect(formats).toContain(`\`kFormatVersion\`, which is ${number} now`);
    const keys = [.../enum class Key : uint8_t \{(.*?)\};/s.exec(header)[1].matchAll(/k\w+ = '(\w)'/g)];
    expect(keys.length).toBeGreaterThan(5);
    const missing = keys
      .map(([, letter]) => letter)
      .filter((letter) => !new RegExp(`^\\| \`${letter}\`[^|]*\\|`, 'm').test(formats));
    expect(
      missing,
      'docs/formats.md says under "Which file is it?" what each key of native-bindings/kernel/format.h holds',
    ).toEqual([]);
  });
});

describe('docs/bare-metal.md', () => {
  it('has each alert of config/prometheus-alerts.yml in its table, and no other', () => {
    const page = read('docs/bare-metal.md');
    const alerts = [...read('config/prometheus-alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const rows = [...page.matchAll(/^\| (`Gannet\w+`(?:, `Gannet\w+`)*) \|/gm)].flatMap(([, names]) => quoted(names));
    expect(alerts.length).toBeGreaterThan(8);
    expect(rows.sort(), 'the table of alerts has each of config/prometheus-alerts.yml, and no other').toEqual(
      alerts.sort(),
    );
  });
});

describe('docs/decisions', () => {
  const pages = readdirSync(join(root, 'docs/decisions')).filter((name) => /^\d{4}-.*\.md$/.test(name));

  it('lists every page once, with its title and in number order within its subject', () => {
    const list = read('docs/decisions/README.md');
    for (const subject of list.split(/^### /m).slice(1)) {
      const numbers = [...subject.matchAll(/^- \[(\d{4})\]/gm)].map(([, number]) => number);
      expect(numbers, subject).toEqual([...numbers].sort());
    }
    const listed = [...list.matchAll(/^- \[(\d{4})\]\((\S+)\) (.*)$/gm)].map(([, number, file, title]) => ({
      number,
      file,
      title,
    }));
    expect(listed.map(({ file }) => file).sort()).toEqual([...pages].sort());
    for (const { number, file, title } of listed) {
      expect(file.startsWith(number)).toBe(true);
      expect(read(`docs/decisions/${file}`).split('\n')[0], file).toBe(`# ${number} ${title}`);
    }
  });

  it('links only to pages that exist', () => {
    for (const page of pages)
      for (const [, file] of read(`docs/decisions/${page}`).matchAll(/\]\((\d{4}-[^)#]+\.md)/g))
        expect(existsSync(join(root, 'docs/decisions', file)), `${page}: ${file}`).toBe(true);
  });
});

describe('CONTRIBUTING.md', () => {
  it('states the limits that oxlint checks', () => {
    const text = read('CONTRIBUTING.md');
    const rules = read('.oxlintrc.json');
    const limit = (rule) => new RegExp(`"${rule}": \\[\\s*"error",[^\\]]*?(\\d+)`).exec(rules)?.[1];
    expect(text).toContain(`no file over ${limit('max-lines')} lines`);
    expect(text).toContain(`no function over ${limit('max-lines-per-function')} lines`);
    expect(text).toContain(`no function of more than ${limit('max-params')} parameters`);
  });

  it('is right that no comment makes an exception from the rules of linting', () => {
    const isException = /(?:\/\/|\/\*+)[\s*]*(?:ox|es)lint-/;
    // Joined from two pieces, as this file is checked, too.
    const begun = ['// ', '//', '//\t', '/* ', '/*\t', '/*\n', '/** ', '/**\n * '];
    expect(begun.filter((text) => !isException.test(`${text}${'ox'}lint-disable`))).toEqual([]);
    const looked = ['src', 'test', 'scripts'].flatMap((folder) => filesOf(folder, /\.(?:tsx|mts)$/));
    const files = [...codeFiles, ...looked, 'vitest.config.ts', '.dependency-cruiser.cjs'].filter(
      (path) => !path.endsWith('.md'),
    );
    expect(files.filter((path) => isException.test(read(path)))).toEqual([]);
  });

  it('names only scripts that exist', () => {
    const scripts = JSON.parse(read('package.json')).scripts;
    for (const [, name] of read('CONTRIBUTING.md').matchAll(/`npm run ([a-z:-]+)/g))
      expect(scripts).toHaveProperty([name]);
  });
});

describe('links between pages', () => {
  it('lead to files that exist', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', ...filesOf('docs', /\.md$/)];
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map(([, link]) => link)
        .filter((link) => !existsSync(join(root, page, '..', link)) || !statSync(join(root, page, '..', link)))
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('lead to headings that exist', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', ...filesOf('docs', /\.md$/)];
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
        .map(([, path, anchor]) => [path === '' ? page : join(page, '..', path), anchor])
        .filter(
          ([path, anchor]) => path.endsWith('.md') && existsSync(join(root, path)) && !anchorsOf(path).has(anchor),
        )
        .map(([path, anchor]) => `${page}: ${path}#${anchor}`),
    );
    expect(broken).toEqual([]);
  });
});
