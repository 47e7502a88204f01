/** The settings of each provider: what a client may give, how it is checked, and its defaults. */
import { compile } from 'css-select';
import { Type, type Static, type TSchema } from 'typebox';
import { compileCheck, nameSchema, named, object, oneOf, patterned, throwFaults } from '../operations/index.js';
import { checkOutboundUrl, OutboundRefusedError, Secret, ServiceError, type OutboundRules } from '../platform/index.js';
import type { WebsiteSettings } from './crawl/crawl-types.js';
import { JsonPath } from './json/json-path.js';
import type { ProviderName, ProviderSettings } from './providers/provider-settings.js';

const URL_CHARACTERS_MAX = 2048;
const url = Type.String({ minLength: 1, maxLength: URL_CHARACTERS_MAX });
const globs = Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 100 });
const selector = Type.String({ minLength: 1, maxLength: 500 });
const path = Type.String({ minLength: 1, maxLength: 500 });
const parameter = Type.String({ minLength: 1, maxLength: 100 });
const secretText = Type.String({ minLength: 1, maxLength: 10_000 });
const FIELDS_MAX = 100;

export const websiteSettings = named(
  'WebsiteSettings',
  {
    start_urls: Type.Array(url, { minItems: 1, maxItems: 100, description: 'Where reading begins' }),
    include: Type.Optional({
      ...globs,
      description: 'Globs of the pages that are read; default: those of the same hosts',
    }),
    exclude: Type.Optional({ ...globs, description: 'Globs of pages that are not read' }),
    depth_max: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, description: 'Links from a start URL; default 10' }),
    ),
    pages_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Default 1000' })),
    sitemaps: Type.Optional(
      Type.Union([oneOf(['auto']), Type.Array(url, { maxItems: 100 })], {
        description: 'Default `auto`: those that robots.txt names, else /sitemap.xml',
      }),
    ),
    respect_robots: Type.Optional(Type.Boolean({ description: 'Default true' })),
    selectors: Type.Optional(
      object(
        {
          title: Type.Optional(selector),
          text: Type.Optional(selector),
          remove: Type.Optional(selector),
          fields: Type.Optional(Type.Record(Type.String({ maxLength: 100 }), selector, { maxProperties: FIELDS_MAX })),
        },
        { description: 'CSS selectors of what is taken from a page' },
      ),
    ),
    split: Type.Optional(oneOf(['page', 'heading'], { description: 'What becomes a record; default `page`' })),
  },
  { description: 'Which pages of a website are read' },
);

const rssSettings = named('RssSettings', {
  url: Type.String({ minLength: 1, maxLength: URL_CHARACTERS_MAX, examples: ['https://example.com/feed.xml'] }),
  full_text: Type.Optional(
    Type.Boolean({
      description: 'Read the page behind each item, too; by default what the feed itself says is taken',
    }),
  ),
  drop_left_items: Type.Optional(Type.Boolean()),
});

const sized = { size_parameter: Type.Optional(parameter), size: Type.Optional(Type.Integer({ minimum: 1 })) };
const pagination = Type.Union([
  object({ kind: Type.Literal('none') }),
  object({ kind: Type.Literal('page'), parameter, first: Type.Optional(Type.Integer({ minimum: 0 })), ...sized }),
  object({ kind: Type.Literal('offset'), parameter, ...sized }),
  object({ kind: Type.Literal('cursor'), parameter, next: path, has_more: Type.Optional(path) }),
  object({ kind: Type.Literal('link'), next: Type.Optional(path) }),
]);

const apiSettings = named('ApiSettings', {
  url,
  method: Type.Optional(oneOf(['GET', 'POST'])),
  body: Type.Optional(Type.Unknown()),
  records: path,
  name: path,
  fields: Type.Optional(Type.Record(Type.String({ maxLength: 100 }), path, { maxProperties: FIELDS_MAX })),
  pagination: Type.Optional(pagination),
  updated_since: Type.Optional(
    object({ parameter, full_every: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })) }),
  ),
  auth_header: Type.Optional(
    object({
      name: patterned(
        "^[!#$%&'*+.^_`\\|~0-9A-Za-z\\-]{1,100}$",
        'the name of an HTTP header, of 1 to 100 letters, digits and hyphens, and no blank',
        { examples: ['X-API-Key'] },
      ),
      value: Type.Optional(secretText),
    }),
  ),
});

const mediaStoreSettings = named('MediaStoreSettings', {
  store: nameSchema('Name of the media store', 'default'),
  prefix: Type.Optional(Type.String({ maxLength: 512, description: 'Only files whose paths begin with this' })),
  include: Type.Optional(globs),
});

const emailSettings = named('EmailSettings', {
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'Host name of the IMAP server',
    examples: ['imap.example.com'],
  }),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: 'By default 993 with `tls`, 143 with `starttls`',
    }),
  ),
  security: Type.Optional(oneOf(['tls', 'starttls'], { description: 'By default `tls`' })),
  user: Type.String({ minLength: 1, maxLength: 320, examples: ['me@example.com'] }),
  auth: Type.Optional(oneOf(['password', 'xoauth2'])),
  password: Type.Optional(secretText),
  folders: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
      minItems: 1,
      maxItems: 100,
      description: 'By default `INBOX`',
    }),
  ),
  since_days: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 36_500, description: 'Only messages that are no older; by default all' }),
  ),
});

/**
 * The settings that each provider accepts, for those who build forms from them. With one schema per provider, an error
 * names the place in the settings, which a single schema for all of them could not.
 */
export const PROVIDER_SETTINGS = {
  website: websiteSettings,
  rss: rssSettings,
  api: apiSettings,
  email: emailSettings,
  'media-store': mediaStoreSettings,
} as const satisfies Record<ProviderName, TSchema>;
const IMAP_PORTS = { tls: 993, starttls: 143 } as const;

const FULL_EVERY_DEFAULT = 24;

export interface GivenProvider {
  readonly provider: ProviderSettings;
  readonly secret: Secret | undefined;
}

/**
 * Checks the settings of a provider. `secret`: the one given beside the settings. Throws `invalid-parameter`, which
 * names the place.
 */
export function readProvider(
  name: ProviderName,
  settings: unknown,
  secret: string | undefined,
  rules: OutboundRules,
): GivenProvider {
  const noSecret = () => {
    if (secret !== undefined) throw invalid('/secret', `The provider ${name} takes no secret.`);
  };
  switch (name) {
    case 'website': {
      noSecret();
      return { provider: { name, settings: readWebsite(settings, rules) }, secret: undefined };
    }
    case 'rss': {
      noSecret();
      const given = checked(rssSettings, settings);
      assertUrl(given.url, '/settings/url', rules);
      const { full_text = false, drop_left_items = false } = given;
      return { provider: { name, settings: { url: given.url, full_text, drop_left_items } }, secret: undefined };
    }
    case 'api':
      return readApi(checked(apiSettings, settings), secret, rules);
    case 'media-store': {
      noSecret();
      const { store, prefix = '', include = [] } = checked(mediaStoreSettings, settings);
      return { provider: { name, settings: { store, prefix, include } }, secret: undefined };
    }
    case 'email':
      return readEmail(checked(emailSettings, settings), secret, rules);
  }
}

/** Checks the settings of a website. `at`: position of the settings in the body. Throws `invalid-parameter`. */
export function readWebsite(settings: unknown, rules: OutboundRules, at = '/settings'): WebsiteSettings {
  const given = checked(websiteSettings, settings);
  given.start_urls.forEach((each, place) => assertUrl(each, `${at}/start_urls/${place}`, rules));
  const { selectors = {} } = given;
  for (const [name, text] of Object.entries({ ...selectors, fields: undefined, ...selectors.fields })) {
    if (text !== undefined) assertReadable(`${at}/selectors/${name}`, () => compile(text));
  }
  return {
    start_urls: given.start_urls,
    include: given.include ?? [],
    exclude: given.exclude ?? [],
    depth_max: given.depth_max ?? 10,
    pages_max: given.pages_max ?? 1000,
    sitemaps: given.sitemaps ?? 'auto',
    respect_robots: given.respect_robots ?? true,
    selectors,
    split: given.split ?? 'page',
  };
}

function readApi(given: Static<typeof apiSettings>, secret: string | undefined, rules: OutboundRules): GivenProvider {
  assertUrl(given.url, '/settings/url', rules);
  const {
    auth_header: header,
    method = 'GET',
    pagination: pages = { kind: 'none' },
    updated_since: since,
    ...rest
  } = given;
  const paths = { records: given.records, name: given.name, ...given.fields };
  for (const [name, text] of Object.entries(paths)) assertReadable(`/settings/${name}`, () => new JsonPath(text));
  for (const member of ['next', 'has_more'] as const) {
    const text = (pages as Readonly<Record<string, unknown>>)[member];
    if (typeof text === 'string') assertReadable(`/settings/pagination/${member}`, () => new JsonPath(text));
  }
  const value = header?.value ?? secret;
  // Without TLS, anyone on the way could read the secret.
  if (value !== undefined) assertUrl(given.url, '/settings/url', { ...rules, plain_http: false });
  if (header === undefined && value !== undefined)
    throw invalid('/settings/auth_header', 'A secret goes with the name of the header that carries it.');
  if (header !== undefined && value === undefined)
    throw invalid('/settings/auth_header/value', 'The header needs its value: here, or as `secret`.');
  const settings = {
    ...rest,
    method,
    pagination: pages,
    ...(since === undefined
      ? {}
      : { updated_since: { parameter: since.parameter, full_every: since.full_every ?? FULL_EVERY_DEFAULT } }),
    ...(header === undefined ? {} : { auth_header: { name: header.name } }),
  };
  return {
    provider: { name: 'api', settings } as ProviderSettings,
    secret: value === undefined ? undefined : new Secret(value),
  };
}

/** Checks the settings of a mailbox. The secret is a password, or the token if `auth` is `xoauth2`. */
function readEmail(
  given: Static<typeof emailSettings>,
  secret: string | undefined,
  rules: OutboundRules,
): GivenProvider {
  const { host, user, security = 'tls', auth = 'password', folders = ['INBOX'], since_days = 0 } = given;
  const value = given.password ?? secret;
  if (value === undefined) throw invalid('/settings/password', 'The password is missing: here, or as `secret`.');
  assertUrl(`https://${host}/`, '/settings/host', rules);
  const { port = IMAP_PORTS[security] } = given;
  const settings = { host, port, security, user, auth, folders: [...new Set(folders)], since_days };
  return { provider: { name: 'email', settings }, secret: new Secret(value) };
}

const checks = new Map<TSchema, ReturnType<typeof compileCheck>>();

function checked<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  let check = checks.get(schema);
  if (check === undefined) {
    check = compileCheck(schema, 'body');
    checks.set(schema, check);
  }
  throwFaults(check(value).map((fault) => ({ ...fault, pointer: `/settings${fault.pointer ?? ''}` })));
  return value as Static<Schema>;
}

function assertUrl(text: string, pointer: string, rules: OutboundRules): void {
  try {
    checkOutboundUrl(text, rules);
  } catch (error) {
    if (error instanceof OutboundRefusedError) throw invalid(pointer, error.message);
    throw error;
  }
}

function assertReadable(pointer: string, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    throw invalid(pointer, error instanceof Error ? error.message : String(error));
  }
}

function invalid(pointer: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}
