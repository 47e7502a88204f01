import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROVIDER_SETTINGS, readProvider, readWebsite } from './provider-schemas.js';
import { PROVIDERS } from './providers/provider-settings.js';

const PAGE = readFileSync(new URL('../../docs/feeds.md', import.meta.url), 'utf8');

it.each(PROVIDERS)('docs/feeds.md describes every setting of %s, and which ones are required', (provider) => {
  const rows =
    PAGE.slice(PAGE.indexOf(`| \`${provider}\``))
      .split('\n\n', 1)[0]
      ?.split('\n') ?? [];
  const { properties, required } = PROVIDER_SETTINGS[provider] as unknown as {
    readonly properties: object;
    readonly required: readonly string[];
  };
  for (const name of Object.keys(properties)) {
    const row = rows.find((each) => each.split('|')[1]?.includes(`\`${name}\``));
    expect(row, `docs/feeds.md has no row for the setting ${name} in the part of this provider`).toBeDefined();
    if (required.includes(name)) expect(row).toContain('required');
  }
});

const RULES = { allowed_hosts: [], loopback_allowed: false };
const refusedAt = (pointer: string) =>
  expect.objectContaining({ code: 'invalid-parameter', errors: [expect.objectContaining({ pointer })] });

it.each([
  [{ records: '$[' }, '/settings/records'],
  [{ name: '$[', fields: { name: 'title' } }, '/settings/name'],
  [{ records: '$[', fields: { records: 'title' } }, '/settings/records'],
  [{ fields: { name: '$[' } }, '/settings/fields/name'],
  [{ fields: { 'a/b~c': '$[' } }, '/settings/fields/a~1b~0c'],
  [{ fields: { name: 'title' } }, '/settings/fields/name'],
  [{ pagination: { kind: 'cursor', parameter: 'after', next: '$[' } }, '/settings/pagination/next'],
])(
  'A path of an API that cannot be read, or is of no use, is refused at its place, whatever fields are called: %j',
  (given, pointer) => {
    const settings = { url: 'https://example.com/', records: 'data', name: 'id', ...given };
    expect(() => readProvider('api', settings, undefined, RULES)).toThrow(refusedAt(pointer));
  },
);

it.each([
  [{ title: ':x(', fields: { title: 'h1' } }, '/title'],
  [{ fields: { remove: ':x(' } }, '/fields/remove'],
  [{ fields: { fields: ':x(' } }, '/fields/fields'],
  [{ fields: { name: 'h1' } }, '/fields/name'],
])(
  'A selector that cannot be read, or is of no use, is refused at its place, whatever fields are called: %j',
  (selectors, place) => {
    const settings = { start_urls: ['https://example.com/'], selectors };
    expect(() => readWebsite(settings, RULES)).toThrow(refusedAt(`/settings/selectors${place}`));
    expect(() => readWebsite(settings, RULES, '')).toThrow(refusedAt(`/selectors${place}`));
  },
);

it('A field of an API may be called `name` if it is what the records are named by', () => {
  const settings = { url: 'https://example.com/', records: 'data', name: 'id', fields: { name: 'id' } };
  expect(readProvider('api', settings, undefined, RULES).provider.settings).toMatchObject({ fields: { name: 'id' } });
});
