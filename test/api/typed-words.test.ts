/**
 * Tests errors of commands if the service refuses what was typed: in terms of options and arguments, and with the
 * command that lists what exists.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.js';
import { EXIT } from '../../src/cli/exit-codes.js';
import { inTypedWords, whatThereIs } from '../../src/cli/typed-words.js';
import { allOperations } from '../../src/main.js';
import { problemKind } from '../../src/platform/index.js';
import { startTestService, type TestService } from '../support/service.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-typed-words-'));
const dataDir = join(folder, 'data');
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ dataDir });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function told(...words: readonly string[]): Promise<{ readonly status: number; readonly err: string }> {
  let err = '';
  const output = {
    isTerminal: false,
    columns: 80,
    write: () => undefined,
    settle: () => Promise.resolve(),
    note: (text: string) => {
      err += text;
    },
  };
  const input = Object.assign(Readable.from(['hunter2\n']), { isTTY: false });
  const status = await runCommandLine(['node', 'gannet', ...words], () => import('../../src/main.js'), {
    output,
    input,
    env: { GANNET_DATA_DIR: dataDir, GANNET_PORT: '0' },
  });
  return { status, err };
}

const S3 = ['--kind', 's3', '--endpoint', 'https://s3.example.com', '--bucket', 'files', '--access-key-id', 'A'];

describe('errors before a command asks for a secret', () => {
  it.each([
    [['media-store', 'add', 'x', '--kind', 's3'], '--kind s3 needs --endpoint, --bucket and --access-key-id.\n'],
    [['media-store', 'add', 'x', '--kind', 'folder'], '--kind folder needs --folder.\n'],
    [
      ['model', 'add', 'x', '--provider', 'openai', '--secret-stdin'],
      '--provider openai needs --url and --served-name.\n',
    ],
  ])('gannet %j', async (words, sentence) => {
    expect(await told(...words)).toEqual({ status: EXIT.usage, err: sentence });
  });
});

it.each([
  [
    ['feed', 'connect', 'n', '--provider', 'rss', '--settings', 'url=x'],
    /^--settings expects a JSON object, such as .*, not url=x\n$/,
  ],
  [['call', 'list.create', '--param', 'nme=x'], /^list\.create has no parameter 'nme'\. Did you mean 'name'\?/],
])('A wrong word is reported before the service is called: gannet %j', async (words, sentence) => {
  const { status, err } = await told(...words);
  expect(err).toMatch(sentence);
  expect(status).toBe(EXIT.usage);
});

describe('refusals of the service in terms of options and arguments', () => {
  it.each([
    [['media-store', 'add', 'x', ...S3, '--region', 'EU'], /^--region: Must be 1 to 64 lower-case letters/],
    [
      ['media-store', 'add', 'x', ...S3, '--folder', '/srv'],
      /^--folder: A media store of the kind 's3' does not take --folder; it takes --endpoint, --bucket, --access-key-id, /,
    ],
    [
      ['webhook', 'create', '--url', 'localhost', '--events', 'list.deleted'],
      /^--url: Must be a URL that begins with https:\/\/ or http:\/\/, such as "https:\/\/example.com\/hooks\/gannet", not "localhost"\. \[400/,
    ],
    [
      ['webhook', 'create', '--url', 'x', '--events', 'list.deletd'],
      /^--url: Must be .*\(--events \(number 1\): "list.deletd" is none of the \d+ words that there are. Did you mean 'list.deleted'\?\) \[400/,
    ],
    [['key', 'create', '--expires', 'yesterday'], /^--expires: The expiry must be a date/],
    [['key', 'create', '--region', 'EU'], /^--region: Must be/],
    [['model', 'add', 'm', '--provider', 'own', '--dimensions', 'x'], /^--dimensions: Must be an integer, not "x"/],
    [
      ['feed', 'connect', 'n', '--provider', 'rss', '--settings', '{"url":"x"}'],
      /^--settings \/url: This is not a URL/,
    ],
    [['feed', 'interval', 'n', 'x'], /^<interval-minutes>: Must be an integer/],
    [['account', 'create', 'A b'], /^<name>: Must be 1 to 64 lower-case letters/],
    [['contributor', 'invite', 'a', '--role', 'viewer'], /^<email>: Must be an email address, .*, not "a"/],
    [['contributor', 'invite', 'ann@example.com', '--role', 'boss'], /^--role: Must be one of "owner", /],
    [
      ['feed', 'connect', 'n', '--provider', 'rss', '--settings', '{"url":"http://127.0.0.1/"}'],
      /GANNET_OUTBOUND_LOOPBACK_ALLOWED=true/,
    ],
    [
      ['feed', 'connect', 'n', '--provider', 'rss', '--settings', '{"url":"https://intranet/"}'],
      /GANNET_OUTBOUND_ALLOWED_HOSTS=intranet/,
    ],
    [['call', 'list.create', '--param', 'name=A b'], /^\/name: Must be 1 to 64/],
  ])('gannet %j', async (words, sentence) => {
    const { status, err } = await told(...words);
    expect(err).toMatch(sentence);
    expect(status).toBe(EXIT.failed);
  });
});

describe('errors about something unknown, with the command that lists what exists', () => {
  it.each([
    [['key', 'delete', 'nonsense'], 'gannet key list'],
    [['webhook', 'delete', 'nonsense'], 'gannet webhook list'],
    [['webhook', 'deliveries', 'nonsense'], 'gannet webhook list'],
    [['model', 'show', 'nix'], 'gannet model list'],
    [['feed', 'delete', 'nix'], 'gannet feed list'],
    [['feed', 'search', 'nix', 'nix'], 'gannet list'],
    [['account', 'delete', 'nix'], 'gannet account list'],
    [['contributor', 'remove', 'nix'], 'gannet contributor list'],
    [['media-store', 'delete', 'nix'], 'gannet media-store list'],
    [['media', 'delete', 'nix'], 'gannet media list --store default'],
    [['backup', 'list', 'media:nix'], 'gannet media-store list'],
    [['search', 'nix', 'wings'], 'gannet list'],
    [['analytics', 'nix', '--group'], 'gannet call list-group.list'],
    [['list', 'ls', '--account', 'nix'], 'gannet account list'],
  ])('gannet %j', async (words, listing) => {
    const { status, err } = await told(...words);
    expect(err).toContain(`\`${listing}\` shows all of them. [404 `);
    expect(status).toBe(EXIT.failed);
  });

  it('explain that an import can create the list with --create', async () => {
    const file = join(folder, 'birds.csv');
    writeFileSync(file, 'name,title\nbooby,Booby\n');
    expect((await told('import', file, '--list', 'nix')).err).toMatch(
      /^There is no list 'nix'\. Add --create to create it .* `gannet list` shows .* \[404/,
    );
  });

  it('explain that --create must replace --patch to create the list', async () => {
    const file = join(folder, 'patch.csv');
    writeFileSync(file, 'name,title\nbooby,Booby\n');
    expect((await told('import', file, '--list', 'nix', '--patch')).err).toMatch(
      /^There is no list 'nix'\. --patch changes existing records only\. Replace it by --create to create the list .* `gannet list` shows .* \[404/,
    );
  });

  it('warn of a picture with the name of a table, and keep its name', async () => {
    const file = join(folder, 'booby.csv');
    writeFileSync(file, '\x89PNG\r\n\x1a\n', 'latin1');
    expect(await told('media', 'put', file)).toEqual({
      status: EXIT.done,
      err: expect.stringMatching(/booby\.csv is a PNG picture, but its name makes it text\/csv\. /),
    });
  });

  it('exist for every kind of thing that a command lists', async () => {
    const codes = (await allOperations()).flatMap(({ errors = [] }) => errors.map((kind) => problemKind(kind).code));
    const notThere = new Set(codes.filter((code) => code.endsWith('-not-found')));
    const command = { options: [], registeredArguments: [], opts: () => ({}) };
    const unlisted = [...notThere].filter(
      (code) => whatThereIs({ type: '', title: '', status: 404, detail: '', code }, command) === undefined,
    );
    const ofOthers = ['field', 'record', 'session', 'source', 'version'];
    expect(unlisted.toSorted()).toEqual(ofOthers.map((what) => `${what}-not-found`));
  });
});

it('An option is named only once in an error', () => {
  const detail = 'expected latitude, longitude and distance.';
  const problem = {
    ...{ type: '', title: '', status: 400, code: 'invalid-parameter' },
    detail: `radius: ${detail}`,
    errors: [{ pointer: '/radius', detail }],
  };
  const command = { options: [{ long: '--radius' }], registeredArguments: [], opts: () => ({}) };
  expect(inTypedWords(problem, command).detail).toBe(`--radius: ${detail}`);
});

it('Errors of other members keep their place, next to errors of options', () => {
  const problem = {
    type: '',
    title: '',
    status: 400,
    code: 'invalid-parameter',
    detail: '/a/b: Is wrong. (and 1 more)',
    errors: [
      { pointer: '/a/b', detail: 'Is wrong.' },
      { parameter: 'other', detail: 'Must be given.' },
    ],
  };
  const command = { options: [{ long: '--other' }], registeredArguments: [], opts: () => ({}) };
  expect(inTypedWords(problem, command)).toMatchObject({
    detail: 'a /b: Is wrong. (and 1 more)',
    errors: [
      { parameter: 'a /b', detail: 'Is wrong.' },
      { parameter: '--other', detail: 'Must be given.' },
    ],
  });
});
