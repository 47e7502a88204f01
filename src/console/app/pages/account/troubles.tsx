import { Anchor, Badge, Card, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';
import type { ServiceStateOutput } from '../../service/client.js';
import { useAccount } from '../../service/session.js';
import { count } from '../../ui/format.js';
import { When } from '../../ui/when.js';

type Trouble = ServiceStateOutput['troubles'][number];

/** Pages where a problem can be solved. Damaged lists are shown by the page of all lists. */
const PLACES: Readonly<Record<string, string>> = {
  list: '/$account/lists',
  meaning: '/$account/list/$list/settings',
  source: '/$account/list/$list/settings',
  feed: '/$account/feeds',
  webhook: '/$account/webhooks',
};

/** Problems of all accounts. Not a table, whose sentences would not fit the screen of a phone. */
export function Troubles({ state: { troubles, trouble_count: all } }: { readonly state: ServiceStateOutput }) {
  if (troubles.length === 0) return <Text>{text.health.noTroubles}</Text>;
  return (
    <Stack gap="sm">
      <Stack role="list" aria-label={text.health.troubles} gap="sm">
        {troubles.map((trouble) => (
          <OneTrouble key={`${trouble.kind}/${trouble.account}/${trouble.name}`} trouble={trouble} />
        ))}
      </Stack>
      {all > troubles.length ? <Text c="dimmed">{text.health.moreTroubles(count(all - troubles.length))}</Text> : null}
    </Stack>
  );
}

function OneTrouble({ trouble }: { readonly trouble: Trouble }) {
  const { kind, detail, since_utc: since } = trouble;
  return (
    <Card role="listitem" withBorder p="md">
      <Group gap="xs">
        <Badge color="red" variant="light">
          {(text.health.troubleKinds as Readonly<Record<string, string>>)[kind] ?? kind}
        </Badge>
        <Named trouble={trouble} />
        {since === null ? null : (
          <Text span size="sm" c="dimmed">
            {text.health.troubleSince} <When iso={since} />
          </Text>
        )}
      </Group>
      <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
        {detail}
      </Text>
    </Card>
  );
}

/** Name of the affected thing, as a link if it belongs to this account. */
function Named({ trouble: { kind, account, name } }: { readonly trouble: Trouble }): ReactNode {
  const own = useAccount();
  const place = PLACES[kind];
  const style = { overflowWrap: 'anywhere' } as const;
  if (account !== own || place === undefined)
    return (
      <Text span fw={600} style={style}>
        {account === '' ? name : `${account}: ${name}`}
      </Text>
    );
  return (
    <Anchor component={Link} fw={600} to={place} params={{ account, list: name } as never} style={style}>
      {name}
    </Anchor>
  );
}
