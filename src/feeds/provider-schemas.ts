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
/** JSONPath without filters, or names joined by dots. */
const PATH_WORDS = 'as JSONPath without filters (`$.data.items[*]`), or as names joined by dots (`data.items`)';
const globs = Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 100 });
const selector = (description: string) => Type.String({ minLength: 1, maxLength: 500, description });
const path = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 500, description, examples: [example] });
const parameter = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 100, description, examples: [example] });
const secretText = (description: string) => Type.String({ minLength: 1, maxLength: 10_000, description });
const FIELDS_MAX = 100;
const FULL_EVERY_DEFAULT = 24;

export const websiteSettings = named(
  'WebsiteSettings',
  {
    start_urls: Type.Array(url, { minItems: 1, maxItems: 100, description: 'URLs at which reading begins' }),
    include: Type.Optional({
      ...globs,
      description: 'Glob patterns of the URLs to read; default: all pages of the hosts of `start_urls`',
    }),
    exclude: Type.Optional({ ...globs, description: 'Glob patterns of URLs that are not read' }),
    depth_max: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        description: 'Most links to follow from a start URL to a page; default 10',
      }),
    ),
    pages_max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Most pages to read; default 1000' }),
    ),
    sitemaps: Type.Optional(
      Type.Union([oneOf(['auto']), Type.Array(url, { maxItems: 100 })], {
        description:
          'URLs of sitemaps to read; an empty array for none. Default `auto`: the sitemaps that robots.txt names, or else /sitemap.xml',
      }),
    ),
    respect_robots: Type.Optional(Type.Boolean({ description: 'Whether robots.txt is obeyed; default true' })),
    selectors: Type.Optional(
      object(
        {
          title: Type.Optional(selector('CSS selector of the title; default: found automatically')),
          text: Type.Optional(selector('CSS selector of the text; default: found automatically')),
          remove: Type.Optional(selector('CSS selector of what is left out of the text; default: none')),
          fields: Type.Optional(
            Type.Record(Type.String({ maxLength: 100 }), selector('CSS selector of the value'), {
              maxProperties: FIELDS_MAX,
              description: 'CSS selectors for additional fields, by field name',
              examples: [{ price: '.price' }],
            }),
          ),
        },
        { description: 'CSS selectors of what to take from a page' },
      ),
    ),
    split: Type.Optional(
      oneOf(['page', 'heading'], {
        description:
          'What becomes a record. `page`: each page (default); `heading`: each part of a page below a heading',
      }),
    ),
  },
  { description: 'Settings of a `website` feed: which pages are read, and what is taken from them' },
);

const rssSettings = named(
  'RssSettings',
  {
    url: Type.String({
      minLength: 1,
      maxLength: URL_CHARACTERS_MAX,
      description: 'URL of the RSS, RDF, Atom or JSON feed',
      examples: ['https://example.com/feed.xml'],
    }),
    full_text: Type.Optional(
      Type.Boolean({
        description:
          'Whether the page that each item links to is read, too. Default false: only what the feed itself contains is taken',
      }),
    ),
    drop_left_items: Type.Optional(
      Type.Boolean({
        description: 'Whether records are removed whose items the feed no longer lists. Default false: they are kept',
      }),
    ),
  },
  { description: 'Settings of an `rss` feed' },
);

const sized = {
  size_parameter: Type.Optional(parameter('Query parameter for the number of records on a page', 'limit')),
  size: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Number of records on a page, sent as `size_parameter`' }),
  ),
};
const kind = <Word extends string>(word: Word, description: string) => Type.Literal(word, { description });
const pagination = Type.Union(
  [
    object({ kind: kind('none', 'All records are in one answer') }),
    object({
      kind: kind('page', 'A query parameter has the number of the page'),
      parameter: parameter('Query parameter for the number of the page', 'page'),
      first: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of the first page; default 1' })),
      ...sized,
    }),
    object({
      kind: kind('offset', 'A query parameter has the number of records to skip'),
      parameter: parameter('Query parameter for the number of records to skip', 'offset'),
      ...sized,
    }),
    object({
      kind: kind('cursor', 'A query parameter has the cursor that the previous answer contained'),
      parameter: parameter('Query parameter for the cursor', 'cursor'),
      next: path('Where the next cursor is in an answer. The last page has none', 'meta.next_cursor'),
      has_more: Type.Optional(
        path('Where an answer says whether there are more pages; false ends the reading', 'meta.has_more'),
      ),
    }),
    object({
      kind: kind('link', 'The previous answer contained the URL of the next page'),
      next: Type.Optional(
        path('Where the URL of the next page is in an answer; default: the header `Link`', 'links.next'),
      ),
    }),
  ],
  { description: 'How the source is read page by page; default `{"kind": "none"}`' },
);

const apiSettings = named(
  'ApiSettings',
  {
    url: Type.String({
      minLength: 1,
      maxLength: URL_CHARACTERS_MAX,
      description: 'URL of the endpoint, which answers JSON or NDJSON',
      examples: ['https://api.example.com/parts'],
    }),
    method: Type.Optional(oneOf(['GET', 'POST'], { description: 'HTTP method; default `GET`' })),
    body: Type.Optional(Type.Unknown({ description: 'Body that is sent as JSON, for `POST`' })),
    records: path(`Where the records are in an answer, ${PATH_WORDS}`, 'data.items'),
    name: path(`Where the name of a record is in the record, ${PATH_WORDS}`, 'id'),
    fields: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), path('Where the value is in a record', 'attributes.title'), {
        maxProperties: FIELDS_MAX,
        description: 'Where the value of each field is in a record, by field name; default: all members of a record',
        examples: [{ title: 'attributes.title' }],
      }),
    ),
    pagination: Type.Optional(pagination),
    updated_since: Type.Optional(
      object(
        {
          parameter: parameter('Query parameter for the time of the last run', 'since'),
          full_every: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 10_000,
              description: `Every how many runs everything is read; default ${FULL_EVERY_DEFAULT}`,
            }),
          ),
        },
        { description: 'Reads only what has changed since the last run; without it, every run reads everything' },
      ),
    ),
    auth_header: Type.Optional(
      object(
        {
          name: patterned(
            "^[!#$%&'*+.^_`\\|~0-9A-Za-z\\-]{1,100}$",
            'the name of an HTTP header, of 1 to 100 letters, digits and hyphens, and no blank',
            { description: 'Name of the header', examples: ['X-API-Key'] },
          ),
          value: Type.Optional(secretText('Value of the header: a secret. Give it here, or as `secret` of the feed')),
        },
        { description: 'Header that carries the secret of the source; default: none' },
      ),
    ),
  },
  { description: 'Settings of an `api` feed' },
);

const mediaStoreSettings = named(
  'MediaStoreSettings',
  {
    store: nameSchema('Name of the media store', 'default'),
    prefix: Type.Optional(
      Type.String({ maxLength: 512, description: 'Reads only files whose paths begin with this; default: all' }),
    ),
    include: Type.Optional({
      ...globs,
      description: 'Reads only files whose paths match one of these glob patterns; default: all',
    }),
  },
  { description: 'Settings of a `media-store` feed' },
);

const emailSettings = named(
  'EmailSettings',
  {
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
        description: 'Port of the IMAP server; default 993 with `tls`, 143 with `starttls`',
      }),
    ),
    security: Type.Optional(oneOf(['tls', 'starttls'], { description: 'Encryption of the connection; default `tls`' })),
    user: Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'User name at the IMAP server',
      examples: ['me@example.com'],
    }),
    auth: Type.Optional(
      oneOf(['password', 'xoauth2'], {
        description:
          'How the service signs in: with a password (default), or with an OAuth 2 token given as the password',
      }),
    ),
    password: Type.Optional(secretText('Password or token. Give it here, or as `secret` of the feed')),
    folders: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Names of the folders to read; default `INBOX`',
      }),
    ),
    since_days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 36_500,
        description: 'Reads only messages that are at most this many days old; default: all',
      }),
    ),
  },
  { description: 'Settings of an `email` feed, which reads a mailbox by IMAP' },
);

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
  // Apart from each other, since a field may have the name of a part of the page.
  const { fields = {}, ...ofPage } = selectors;
  assertAllReadable(`${at}/selectors`, ofPage, (text) => compile(text));
  assertAllReadable(`${at}/selectors/fields`, fields, (text) => compile(text));
  assertNoRecordName(`${at}/selectors/fields`, fields);
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
  const { records, name, fields = {} } = given;
  const { next, has_more } = pages as { readonly next?: string; readonly has_more?: string };
  // Apart from each other, since a field may be called `records` or `name`.
  assertAllReadable('/settings', { records, name }, (text) => new JsonPath(text));
  assertAllReadable('/settings/fields', fields, (text) => new JsonPath(text));
  if (fields['name'] !== name) assertNoRecordName('/settings/fields', fields);
  assertAllReadable('/settings/pagination', { next, has_more }, (text) => new JsonPath(text));
  const value = header?.value ?? secret;
  // Without TLS, anyone on the way could read the secret.
  if (value !== undefined) assertUrl(given.url, '/settings/url', { ...rules, plain_http: false });
  if (header === undefined && value !== undefined)
    throw invalid('/settings/auth_header', 'Name the header that carries the secret.');
  if (header !== undefined && value === undefined)
    throw invalid('/settings/auth_header/value', 'The value of the header is missing: give it here, or as `secret`.');
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
  if (value === undefined)
    throw invalid('/settings/password', 'The password is missing: give it here, or as `secret`.');
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

/** `at`: pointer of the object with these texts. `read` throws for one that cannot be read. */
function assertAllReadable(
  at: string,
  texts: Readonly<Record<string, string | undefined>>,
  read: (text: string) => unknown,
): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined) continue;
    try {
      read(text);
    } catch (error) {
      const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      throw invalid(pointer, error instanceof Error ? error.message : String(error));
    }
  }
}

/** In a list, `name` is the name of the record: a field that is called so could not be searched. */
function assertNoRecordName(at: string, fields: Readonly<Record<string, string>>): void {
  if (Object.hasOwn(fields, 'name'))
    throw invalid(`${at}/name`, "'name' is the name of the record. Give the field another name, such as 'title'.");
}

function invalid(pointer: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}
