import { Anchor, Badge, Card, Code, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { text } from '../../messages/index.js';
import type { SearchListOutput } from '../../service/client.js';
import { shown } from '../../ui/format.js';
import { Marked } from '../../ui/marked.js';
import { Explanation } from './explanation.js';

export type SearchHit = SearchListOutput['results'][number];

const FIELDS_SHOWN = 8;
const KINDS = ['text', 'image', 'document', 'video', 'audio'] as const;

interface HitProps {
  readonly hit: SearchHit;
  /** Where the record is. */
  readonly account: string;
  readonly list: string;
}

/** A record that was found: where its words are, and what it was worth. */
export function Hit({ hit, account, list }: HitProps) {
  const marked = Object.entries(hit.highlights ?? {});
  const others = Object.entries(hit.fields).filter(([name]) => hit.highlights?.[name] === undefined);
  return (
    <Card component="li" withBorder p="md">
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Anchor
            component={Link}
            to="/$account/list/$list/records"
            params={{ account, list } as never}
            search={{ record: hit.id } as never}
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {hit.name}
          </Anchor>
          <Group gap={6} wrap="nowrap">
            {hit.list_name === undefined ? null : <Badge variant="default">{hit.list_name}</Badge>}
            {KINDS.map((kind) => {
              const score = hit[`@${kind}_score`];
              return score === undefined ? null : (
                <Badge key={kind} variant="light" color="gray" title={text.search.scores[kind]}>
                  {text.search.score(kind, score.toFixed(3))}
                </Badge>
              );
            })}
          </Group>
        </Group>
        {marked.map(([name, passage]) => (
          <FieldLine key={name} name={name}>
            <Marked passage={passage} />
          </FieldLine>
        ))}
        {others.slice(0, FIELDS_SHOWN).map(([name, value]) => (
          <FieldLine key={name} name={name}>
            {shown(value)}
          </FieldLine>
        ))}
        {hit.explain === undefined ? null : <Explanation explain={hit.explain} />}
      </Stack>
    </Card>
  );
}

function FieldLine({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      <Code>{name}</Code> {children}
    </Text>
  );
}
