import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROVIDER_SETTINGS } from './provider-schemas.js';
import { PROVIDERS } from './providers/provider-settings.js';

const PAGE = readFileSync(new URL('../../docs/feeds.md', import.meta.url), 'utf8');

it.each(PROVIDERS)('the page of feeds says what %s takes, and what it needs', (provider) => {
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
    expect(row, name).toBeDefined();
    if (required.includes(name)) expect(row).toContain('required');
  }
});
