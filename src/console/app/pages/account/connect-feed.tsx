import { Button, Stack, Table, Text } from '@mantine/core';
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
import { JsonEditor } from '../../ui/json-editor.js';
import { Problem } from '../../ui/problem.js';
import { SchemaFields, withoutBlankLines, type Draft } from '../../ui/schema-fields.js';

type Provider = FeedConnectInput['body']['provider'];

/** Settings that select the pages of a website. */
export const SCOPE_MEMBERS = [
  'start_urls',
  'include',
  'exclude',
  'depth_max',
  'pages_max',
  'respect_robots',
  'split',
] as const;

/** Required settings; the others have defaults. */
const FIRST_MEMBERS: readonly string[] = ['start_urls'];
const OTHER_MEMBERS = SCOPE_MEMBERS.filter((name) => !FIRST_MEMBERS.includes(name));

/** Initial settings for an API. There are too many for a form, so they are written as JSON. */
const API_EXAMPLE = {
  url: 'https://example.com/api/items',
  records: '$.items[*]',
  name: '$.id',
  fields: { title: '$.title' },
};

/** Settings shown for the other providers, a selection of those that the service accepts. */
const TOLD = {
  rss: ['url', 'full_text'],
  email: ['host', 'user', 'security', 'port', 'folders', 'since_days'],
  'media-store': ['store', 'prefix'],
} as const satisfies Readonly<Record<Exclude<Provider, 'website' | 'api'>, readonly string[]>>;

const { $defs: PROVIDERS } = feedConnectSchemas.body.properties.settings;

/** Whether a provider takes a secret: the value of a header, or a password. */
const TAKES_SECRET: Readonly<Record<Provider, boolean>> = {
  website: false,
  rss: false,
  api: true,
  email: true,
  'media-store': false,
};

const NEW: Draft = { provider: 'website' };

/** Form for a source and its settings. For a website, it previews the pages that would be read. */
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
    if (next['provider'] === provider) {
      setDraft(next);
      return;
    }
    // Settings of another provider do not apply, and its form may not show the secret.
    const { secret: _, ...kept } = next;
    setScope({});
    setDraft(kept);
  };
  return (
    <FormModal label={text.feeds.connect} place="connect" button={{ size: 'sm' }} onSubmit={submit}>
      <SchemaFields
        properties={feedConnectSchemas.body.properties}
        names={['name', 'provider']}
        isFirst
        required={['name', 'provider']}
        draft={draft}
        onChange={change}
      />
      {provider === 'website' ? <Website scope={scope} onChange={setScope} /> : null}
      {provider === 'api' ? (
        <JsonEditor label={text.feeds.settings} description={text.feeds.settingsHint} value={json} onChange={setJson} />
      ) : null}
      {provider === 'website' || provider === 'api' ? null : (
        <SchemaFields
          properties={PROVIDERS[provider].properties}
          names={TOLD[provider]}
          required={PROVIDERS[provider].required}
          draft={scope}
          onChange={setScope}
        />
      )}
      <SchemaFields
        properties={feedConnectSchemas.body.properties}
        names={['interval_minutes', 'media_store', ...(TAKES_SECRET[provider] ? ['secret'] : [])]}
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
      const body = { settings: withoutBlankLines(scope) } as FeedDiscoverInput['body'];
      return feedDiscover(client, { params: { account }, body });
    },
  });
  return (
    <Stack>
      <SchemaFields
        properties={feedDiscoverSchemas.body.anyOf[0].properties.settings.properties}
        names={FIRST_MEMBERS}
        required={FIRST_MEMBERS}
        draft={scope}
        onChange={onChange}
      />
      <details open={OTHER_MEMBERS.some((name) => scope[name] !== undefined)}>
        <summary>{text.feeds.more}</summary>
        <Stack mt="sm">
          <SchemaFields
            properties={feedDiscoverSchemas.body.anyOf[0].properties.settings.properties}
            names={OTHER_MEMBERS}
            draft={scope}
            onChange={onChange}
          />
        </Stack>
      </details>
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
