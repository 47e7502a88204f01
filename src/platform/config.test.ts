import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { ConfigError, environmentName, loadConfig, settingNames, unknownEnvironment } from './config.js';
import { packageRoot } from './paths.js';
import { settingsInForce } from './setting-origins.js';
import { defineSettings } from './settings.js';

const load = (env: Record<string, string> = {}, argv: string[] = []) => loadConfig({ argv, env });

function settingsFile(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'gannet-config-')), 'gannet.toml');
  writeFileSync(path, text);
  return path;
}

describe('settingsInForce', () => {
  const knownOf = (env: Record<string, string> = {}, argv: string[] = []) =>
    new Map(settingsInForce(load(env, argv)).map((setting) => [setting.name, setting]));

  it('tells where each value is from: the environment, a file or the default, in this order', () => {
    const path = settingsFile('[search]\ndeadline_ms = 500\nqueue_max = 7\n');
    const known = knownOf({ GANNET_SEARCH_QUEUE_MAX: '9' }, ['--config', path]);
    expect(known.get('search.deadline_ms')).toMatchObject({ value: 500, origin: { kind: 'file', path } });
    expect(known.get('search.queue_max')).toMatchObject({
      value: 9,
      origin: { kind: 'environment', variable: 'GANNET_SEARCH_QUEUE_MAX' },
    });
    expect(known.get('search.batch_max')).toMatchObject({ origin: { kind: 'default' }, isAutomatic: false });
    expect([...known.keys()]).toEqual(settingNames());
  });

  it('tells which values were chosen for the machine', () => {
    const known = knownOf({ GANNET_SEARCH_THREADS: '0', GANNET_INGEST_THREADS: '1' });
    expect(known.get('search.threads')?.isAutomatic).toBe(true);
    expect(known.get('search.threads')?.value).toBeGreaterThan(0);
    expect(known.get('ingest.threads')?.isAutomatic).toBe(false);
  });

  it('tells which settings are secrets, including those that features declare', () => {
    const declared = [
      defineSettings('mail', {
        host: { schema: Type.String(), default: '', comment: 'Where it is.' },
        password: { schema: Type.String(), default: '', comment: 'To get in.', isSecret: true },
      }),
    ];
    const secrets = settingsInForce(loadConfig({ argv: [], env: {}, declared })).filter(({ isSecret }) => isSecret);
    expect(secrets.map(({ name }) => name)).toEqual(['secrets.keys', 'mail.password']);
  });

  it('tells what each setting means', () => {
    const comment = 'Where it is.';
    const declared = [defineSettings('mail', { host: { schema: Type.String(), default: '', comment } })];
    const known = new Map(settingsInForce(loadConfig({ argv: [], env: {}, declared })).map((one) => [one.name, one]));
    expect(known.get('mail.host')?.comment).toBe(comment);
    expect(known.get('server.body_idle_seconds_max')?.comment).toBe(
      'A request is answered 408 if nothing of its body arrives for this long. 1 to 86400.',
    );
    expect([...known.values()].filter((setting) => setting.comment === '').map(({ name }) => name)).toEqual([]);
  });

  it('throws for a configuration that was not loaded', () => {
    expect(() => settingsInForce({ ...load() })).toThrow('made by hand');
  });
});

describe('config/default.toml', () => {
  const text = readFileSync(join(packageRoot(), 'config', 'default.toml'), 'utf8');

  it('has every setting with its environment variable', () => {
    let section = '';
    const documented: string[] = [];
    for (const line of text.split('\n')) {
      section = /^\[(\w+)\]/.exec(line)?.[1] ?? section;
      const setting = /^(\w+) = .*# (GANNET_\w+)$/.exec(line);
      if (setting === null) continue;
      documented.push(`${section}.${setting[1]}`);
      expect(setting[2]).toBe(environmentName(`${section}.${setting[1]}`));
    }
    expect(documented.sort(), 'config/default.toml and config/schema.ts have the same settings').toEqual(
      settingNames().sort(),
    );
  });

  it('can be loaded as it is, with automatic numbers resolved, and is frozen', () => {
    const config = load();
    expect(config.server).toEqual({
      host: '127.0.0.1',
      port: 8400,
      shutdown_seconds: 10,
      body_idle_seconds_max: 60,
      trusted_proxies: [],
      web_server: 'auto',
      cors_origins: [],
    });
    expect(config.search.threads).toBeGreaterThan(0);
    expect(config.memory.mib).toBeGreaterThanOrEqual(256);
    expect(Object.isFrozen(config.server.cors_origins)).toBe(true);
  });
});

describe('loadConfig', () => {
  it('prefers the environment to the file, and the file to the default', () => {
    const file = settingsFile('[server]\nport = 1000\nhost = "0.0.0.0"\n');
    const config = load({ GANNET_PORT: '2000' }, ['serve', '--config', file]);
    expect(config.server).toMatchObject({ host: '0.0.0.0', port: 2000, shutdown_seconds: 10 });
    expect(load({ GANNET_CONFIG: file }, []).server.port).toBe(1000);
    expect(load({}, [`--config=${file}`]).server.port).toBe(1000);
  });

  it('reads the variables that the contract names', () => {
    const config = load({
      GANNET_HOST: '::1',
      GANNET_DATA_DIR: '/x',
      GANNET_REGION: 'us',
      GANNET_MEMORY_MIB: '512',
      GANNET_SEARCH_THREADS: '3',
      GANNET_SEARCH_RATE_PER_MINUTE: '10',
      GANNET_SERVER_CORS_ORIGINS: 'https://a.example, https://b.example',
    });
    expect(config).toMatchObject({
      server: { host: '::1', cors_origins: ['https://a.example', 'https://b.example'] },
      data: { dir: '/x' },
      account: { region: 'us' },
      memory: { mib: 512 },
      search: { threads: 3, rate_per_minute: 10 },
    });
  });

  it.each([
    [
      { GANNET_PORT: '65536' },
      /server\.port is "65536" \(environment variable GANNET_PORT\), but must be an integer from 0 to 65535/,
    ],
    [{ GANNET_PORT: 'http' }, /server\.port is "http"/],
    [{ GANNET_SEARCH_THREADS: '257' }, /an integer from 1 to 256, or 0/],
    [{ GANNET_LOG_LEVEL: 'loud' }, /log\.level is "loud".*one of "fatal", "error"/],
    [{ GANNET_DATA_DIR: '' }, /data\.dir is "".*not empty/],
    [{ GANNET_SERCH_THREADS: '1' }, /GANNET_SERCH_THREADS. Did you mean 'GANNET_SEARCH_THREADS'/],
    [{ GANNET_SERVER_CORS_ORIGINS: 'shop' }, /server\.cors_origins/],
    [
      { GANNET_SERVER_CORS_ORIGINS: 'https://shop.example/' },
      /a list of values that are each an origin such as "https:\/\/shop\.example", with no slash/,
    ],
    [{ GANNET_CONSOLE_PUBLIC_URL: 'https://a.example/' }, /the beginning of a URL such as .* with no slash/],
    [{ GANNET_WEB_SERVER: 'uws' }, /GANNET_WEB_SERVER\. Did you mean 'GANNET_SERVER_WEB_SERVER'\?$/],
    [{ GANNET_WEB_SEVER: 'uws' }, /GANNET_WEB_SEVER\. Did you mean 'GANNET_SERVER_WEB_SERVER'\?$/],
    [{ GANNET_SERVER_PORT: '8500' }, /GANNET_SERVER_PORT\. Did you mean 'GANNET_PORT'\?$/],
    [{ GANNET_SERVER_HOTS: '0.0.0.0' }, /GANNET_SERVER_HOTS\. Did you mean 'GANNET_HOST'\?$/],
    [{ GANNET_QUEUE_MAX: '3' }, /Did you mean 'GANNET_\w+_QUEUE_MAX' or 'GANNET_\w+_QUEUE_MAX'\?$/],
    [{ GANNET_SERVER_WEB_SERVER: 'nodejs' }, /server\.web_server is "nodejs".*one of "auto", "uws", "node"\.$/],
    [
      { GANNET_PORT: 'tcp://10.0.0.1:7700', GANNET_SERVICE_HOST: '10.0.0.1', GANNET_SERVICE_PORT: '7700' },
      /^server\.port is "tcp:\/\/10\.0\.0\.1:7700".*0 to 65535\. Kubernetes sets it so where a Service is named 'gannet'.*enableServiceLinks: false/,
    ],
  ])('refuses %j', (env, message) => expect(() => load(env)).toThrow(message));

  it.each(['GANNET', 'GANNET_SEARCH', 'GANNET_SERVER', 'GANNET_DATA_DIR'])(
    'ignores what Kubernetes sets for a service %s, without a warning',
    (service) => {
      const address = 'tcp://10.0.0.1:7700';
      const injected = {
        [`${service}_SERVICE_HOST`]: '10.0.0.1',
        [`${service}_SERVICE_PORT`]: '7700',
        [`${service}_SERVICE_PORT_HTTP`]: '7700',
        [`${service}_PORT`]: address,
        [`${service}_PORT_7700_TCP`]: address,
        [`${service}_PORT_7700_TCP_PROTO`]: 'tcp',
        [`${service}_PORT_7700_TCP_PORT`]: '7700',
        [`${service}_PORT_7700_TCP_ADDR`]: '10.0.0.1',
      };
      const env = { ...injected, GANNET_PORT: '8400' };
      expect(load(env).server.port).toBe(8400);
      expect(unknownEnvironment(env)).toEqual([]);
    },
  );

  it('reports all mistakes everywhere at once', () => {
    const file = settingsFile('[server]\nport = "8400"\n[serch]\nthreads = 1\n[search]\nthread = 1\ncache_mib = 8\n');
    const env = { GANNET_CONFIG: file, GANNET_LOG_LEVEL: 'loud', GANNET_SERCH_THREADS: '1' };
    expect(() => load(env)).toThrow(
      /^5 settings are wrong:(\n {2}[^\n]*(server\.port|\[serch\]|search\.thread|GANNET_SERCH_THREADS|log\.level)[^\n]*[.?]){5}$/,
    );
  });

  it('refuses kernel instructions that do not exist, which the kernel would ignore', () => {
    for (const known of ['all', 'avx2', 'baseline', '']) load({ GANNET_KERNEL_INSTRUCTIONS: known });
    expect(() => load({ GANNET_KERNEL_INSTRUCTIONS: 'avx' })).toThrow(
      /^GANNET_KERNEL_INSTRUCTIONS is 'avx', but has to be all, avx2/,
    );
  });

  it('reports what a wrong secret must be, without its value', () => {
    const key = `${'k'.repeat(43)}=`;
    expect(() => load({ GANNET_SECRETS_KEYS: `${key},"${key}"` })).toThrow(
      /^secrets\.keys \(environment variable GANNET_SECRETS_KEYS\) must be a list of values/,
    );
  });

  it.each([
    ['[serch]\nthreads = 1', /Unknown section \[serch\].*'search'/],
    ['[search]\nthread = 1', /Unknown setting search\.thread .*Did you mean 'threads'/],
    ['port = 1', /Unknown section \[port\]/],
    ['server = 1', /server .*is a section/],
    ['[server]\nport = "8400"', /server\.port is "8400" \(file:.*integer/],
    ['[server', /not valid TOML/],
    ['[__proto__]\nx = 1', /Unknown section/],
    ['[server]\nconstructor = 1', /Unknown setting server\.constructor/],
  ])('refuses the file %j', (text, message) => {
    expect(() => load({ GANNET_CONFIG: settingsFile(text) })).toThrow(message);
  });

  it.each([
    ['[secrets]\nkeys = ["hush"', 2, 15],
    ['[secrets]\nkeys = hush', 2, 8],
    ['[secrets]\nkyes = "hush" x', 2, 15],
    ['[secrets]\nkeys = ["hush"]\n[server', 3, 2],
  ])('reports where a file is no TOML, without its content: %j', (text, line, column) => {
    const path = settingsFile(text);
    const refused = (() => {
      try {
        return load({ GANNET_CONFIG: path });
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(refused).toMatch(
      new RegExp(`gannet\\.toml is not valid TOML: at line ${line}, column ${column}: [a-z][^\n]*\\.$`),
    );
    expect(refused).not.toContain('hush');
  });

  it('refuses a memory budget that is too small for the other settings, and says what they need', () => {
    const env = { GANNET_MEMORY_MIB: '256', GANNET_SEARCH_THREADS: '8', GANNET_INGEST_THREADS: '1' };
    expect(() => load(env)).toThrow(
      /memory\.mib is 256, but the other settings need at least \d+: .*search\.threads \(8\)/,
    );
    expect(() => load({ GANNET_MEMORY_MIB: '223' })).toThrow(/an integer from 224 to/);
    expect(() => load({ GANNET_MEMORY_MIB: '224', GANNET_SEARCH_CACHE_MIB: '113' })).toThrow(
      /at most half of memory\.mib/,
    );
  });

  it('chooses threads that fit into the memory budget', () => {
    const { search, ingest } = load({ GANNET_MEMORY_MIB: '224', GANNET_SEARCH_CACHE_MIB: '0' });
    expect([search.threads, ingest.threads]).toEqual([1, 1]);
  });

  it('ignores variables that do not look like settings', () => {
    expect(() => load({ GANNET_TEST: '1', GANNET_API_KEY: 'x', GANNET_URL: 'y' })).not.toThrow();
  });

  it('accepts an integer in range from the environment and refuses any other text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -10, max: 70_000 }).map(String), fc.string()), (text) => {
        const good = /^(0|[1-9][0-9]*)$/.test(text.trim()) && Number(text) <= 65_535;
        if (good) expect(load({ GANNET_PORT: text }).server.port).toBe(Number(text));
        else expect(() => load({ GANNET_PORT: text })).toThrow(ConfigError);
      }),
      { numRuns: 300, examples: [['-0']] },
    );
  });
});

it.each([
  [
    { GANNET_ACCOUNT_NAME: 'A b' },
    "1 to 64 lower-case letters, digits, '-' and '_', the first a letter or digit, such as",
  ],
  [{ GANNET_OUTBOUND_ALLOWED_HOSTS: 'HOST' }, 'the name or the address of a host in lower case'],
  [{ GANNET_SERVER_TRUSTED_PROXIES: 'proxy' }, 'an IP address such as "10.0.0.1", or a range of them'],
])('loadConfig describes in words what %j accepts, instead of a regular expression', (env, words) => {
  const refused = (): unknown => load(env);
  expect(refused).toThrow(words);
  expect(refused).not.toThrow(/matches|\[[a-z0-9]-/);
});
