import { Anchor, Badge, Card, Code, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';
import type { SearchListOutput } from '../../service/client.js';
import { FileLink } from '../../ui/file-link.js';
import { count, shown } from '../../ui/format.js';
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
  /** Beside its scores. */
  readonly mark?: ReactNode;
}

/** A record that was found: where its words are, and what it was worth. */
export function Hit({ hit, account, list, mark }: HitProps) {
  const marked = Object.entries(hit.highlights ?? {});
  const others = Object.entries(hit.fields).filter(
    ([name]) => hit.highlights?.[name] === undefined && name !== hit.document?.field,
  );
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
            {mark}
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
        {hit.document === undefined ? null : <FoundPage document={hit.document} />}
        {hit.explain === undefined ? null : <Explanation explain={hit.explain} />}
      </Stack>
    </Card>
  );
}

/** Where in which of its documents the words are. */
function FoundPage({
  document: { field, url, page, page_count, highlight },
}: {
  readonly document: NonNullable<SearchHit['document']>;
}) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      <FileLink url={`${url.split('#', 1)[0] ?? ''}#page=${page}`}>
        {text.documents.foundOn(field, count(page), count(page_count))}
      </FileLink>{' '}
      {highlight === undefined ? null : <Marked passage={highlight} />}
    </Text>
  );
}

function FieldLine({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      <Code>{name}</Code> {children}
    </Text>
  );
}
