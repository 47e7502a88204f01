import { Button, JsonInput, Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  feedConnect,
  feedConnectSchemas,
  feedDiscover,
  feedDiscoverSchemas,
  type FeedConnectInput,
  type FeedDiscoverInput,
  type FeedDiscoverOutput,
} from '../../service/client.js';
import { useChange } from '../../service/queries.js';
import { useAccount } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { count } from '../../ui/format.js';
import { FormModal } from '../../ui/form-modal.js';
import { Problem } from '../../ui/problem.js';
import { SchemaFields, withoutBlankLines, type Draft, type FieldSchema } from '../../ui/schema-fields.js';

type Provider = FeedConnectInput['body']['provider'];

/** Of a website: which of its pages are read. */
export const SCOPE_MEMBERS = [
  'start_urls',
  'include',
  'exclude',
  'depth_max',
  'pages_max',
  'respect_robots',
  'split',
] as const;

/** Of an interface there is too much to say for a form: it is written as the API takes it, beginning with this. */
const API_EXAMPLE = {
  url: 'https://example.com/api/items',
  records: '$.items[*]',
  name: '$.id',
  fields: { title: '$.title' },
};

interface SourceForm {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
}

/** What the others are told. */
const FORMS: Readonly<Record<Exclude<Provider, 'website' | 'api'>, SourceForm>> = {
  rss: {
    properties: {
      url: { type: 'string', maxLength: 2048, examples: ['https://example.com/feed.xml'] },
      full_text: { type: 'boolean', description: text.feeds.hints.fullText },
    },
    required: ['url'],
  },
  email: {
    properties: {
      host: { type: 'string', maxLength: 253, description: text.feeds.hints.host, examples: ['imap.example.com'] },
      user: { type: 'string', maxLength: 320, examples: ['me@example.com'] },
      security: { enum: ['tls', 'starttls'], description: text.feeds.hints.security },
      port: { type: 'integer', minimum: 1, maximum: 65_535, description: text.feeds.hints.port },
      folders: { type: 'array', description: text.feeds.hints.folders },
      since_days: { type: 'integer', minimum: 0, maximum: 36_500, description: text.feeds.hints.sinceDays },
    },
    required: ['host', 'user'],
  },
  'media-store': {
    properties: {
      store: { type: 'string', examples: ['default'] },
      prefix: { type: 'string', maxLength: 512, description: text.feeds.hints.prefix },
    },
    required: ['store'],
  },
};

/** The value of a header, or a password. */
const WITH_SECRET: readonly Provider[] = ['api', 'email'];

const NEW: Draft = { provider: 'website' };

/** A source and its settings; of a website, what would be read is shown before anything is saved. */
export function ConnectFeed() {
  const account = useAccount();
  const connect = useChange(feedConnect);
  const [draft, setDraft] = useState(NEW);
  const [scope, setScope] = useState<Draft>({});
  const [json, setJson] = useState(() => JSON.stringify(API_EXAMPLE, null, 2));
  const provider = draft['provider'] as Provider;
  const submit = async (): Promise<void> => {
    const settings = provider === 'api' ? parsed(json) : withoutBlankLines(scope);
    const { name, ...others } = draft;
    const body = { ...others, name: String(name), provider, settings } as FeedConnectInput['body'];
    await connect.mutateAsync({ params: { account }, body });
    setDraft(NEW);
    setScope({});
  };
  const change = (next: Draft): void => {
    // What was said of another kind of source says nothing of this one.
    if (next['provider'] !== provider) setScope({});
    setDraft(next);
  };
  return (
    <FormModal label={text.feeds.connect} button={{ size: 'sm' }} submit={text.feeds.connect} onSubmit={submit}>
      <SchemaFields
        properties={feedConnectSchemas.body.properties}
        names={['name', 'provider']}
        required={['name', 'provider']}
        draft={draft}
        onChange={change}
      />
      {provider === 'website' ? <Website scope={scope} onChange={setScope} /> : null}
      {provider === 'api' ? (
        <JsonInput
          label={text.feeds.settings}
          description={text.feeds.settingsHint}
          autosize
          minRows={4}
          required
          value={json}
          onChange={setJson}
        />
      ) : null}
      {provider === 'website' || provider === 'api' ? null : (
        <SchemaFields
          {...FORMS[provider]}
          names={Object.keys(FORMS[provider].properties)}
          draft={scope}
          onChange={setScope}
        />
      )}
      <SchemaFields
        properties={feedConnectSchemas.body.properties}
        names={['interval_minutes', 'media_store', ...(WITH_SECRET.includes(provider) ? ['secret'] : [])]}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}

function parsed(json: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new Error(text.feeds.notJson(error instanceof Error ? error.message : ''), { cause: error });
  }
}

interface WebsiteProps {
  readonly scope: Draft;
  readonly onChange: (scope: Draft) => void;
}

function Website({ scope, onChange }: WebsiteProps) {
  const account = useAccount();
  const discover = useMutation({
    mutationFn: () => {
      const body = { settings: withoutBlankLines(scope) } as unknown as FeedDiscoverInput['body'];
      return feedDiscover(client, { params: { account }, body });
    },
  });
  return (
    <Stack>
      <SchemaFields
        properties={feedDiscoverSchemas.body.properties.settings.properties}
        names={SCOPE_MEMBERS}
        required={['start_urls']}
        draft={scope}
        onChange={onChange}
      />
      <Button
        variant="default"
        loading={discover.isPending}
        disabled={scope['start_urls'] === undefined}
        onClick={() => {
          discover.mutate();
        }}
      >
        {text.feeds.discover}
      </Button>
      <Problem error={discover.error} />
      {discover.data === undefined ? null : <Discovered found={discover.data} />}
    </Stack>
  );
}

function Discovered({ found: { pages, left_out, complete } }: { readonly found: FeedDiscoverOutput }) {
  const pageCount = count(pages.length);
  return (
    <>
      <Text role="status">{complete ? text.feeds.wouldRead(pageCount) : text.feeds.wouldReadMore(pageCount)}</Text>
      {pages.length === 0 ? null : (
        <Columns heads={[text.feeds.page, text.feeds.pageTitle]} label={text.feeds.pages} minWidth={320}>
          {pages.map(({ url, title }) => (
            <Table.Tr key={url}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{url}</Table.Td>
              <Table.Td>{title}</Table.Td>
            </Table.Tr>
          ))}
        </Columns>
      )}
      {left_out.length === 0 ? null : (
        <details>
          <summary>{text.feeds.leftOut(left_out.length)}</summary>
          {left_out.map(({ url, why }) => (
            <Text key={url} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {url}: {why}
            </Text>
          ))}
        </details>
      )}
    </>
  );
}
