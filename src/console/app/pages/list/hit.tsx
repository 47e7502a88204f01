import { Anchor, Badge, Button, Card, Code, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';
import type { SearchListOutput } from '../../service/client.js';
import { FileLink } from '../../ui/file-link.js';
import { count, playTime, shown } from '../../ui/format.js';
import { Marked } from '../../ui/marked.js';
import { LinkedPicture } from '../search/linked-picture.js';
import { isPictureName } from '../search/picture.js';
import { Explanation } from './explanation.js';

export type SearchHit = SearchListOutput['results'][number];

const FIELDS_SHOWN = 8;
const HEADING_CHARACTERS_MAX = 120;
const KINDS = ['text', 'image', 'document', 'video', 'audio'] as const;

interface HitProps {
  readonly hit: SearchHit;
  /** Account and list of the record. */
  readonly account: string;
  readonly list: string;
  /** Shown next to the scores. */
  readonly mark?: ReactNode;
  readonly pictures?: HitPictures;
}

/** For lists that are searched by pictures. */
export interface HitPictures {
  /** Fields that link to pictures. */
  readonly fields: readonly string[];
  readonly onLike: (link: string) => void;
}

/** A hit: where its words are, and its scores. */
export function Hit({ hit, account, list, mark, pictures }: HitProps) {
  const heading = headingOf(hit);
  const marked = Object.entries(hit.highlights ?? {}).filter(([name]) => name !== heading);
  const leftOut = (hit.fields_left_out ?? []).filter((name) => hit.highlights?.[name] === undefined);
  const others = Object.entries(hit.fields).filter(
    ([name]) => name !== heading && hit.highlights?.[name] === undefined && name !== hit.document?.field,
  );
  return (
    <Card component="li" withBorder p="md">
      <Stack gap={6}>
        <Group justify="space-between" align="flex-start" gap={6}>
          <Anchor
            component={Link}
            to="/$account/list/$list/records"
            params={{ account, list } as never}
            search={{ record: hit.id } as never}
            fw={600}
            dir="auto"
            style={{ overflowWrap: 'anywhere', flex: '1 1 200px' }}
          >
            <Heading hit={hit} field={heading} />
          </Anchor>
          <Group gap={6}>
            {mark}
            {hit.list_name === undefined ? null : (
              <Badge variant="default" tt="none">
                {hit.list_name}
              </Badge>
            )}
            {(hit.distinct_count ?? 1) === 1 ? null : (
              <Badge variant="default" tt="none" title={text.search.sharingHint}>
                {text.search.sharing(count(hit.distinct_count ?? 1))}
              </Badge>
            )}
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
        {hit.error === undefined ? null : <Text c="red">{hit.error}</Text>}
        {marked.map(([name, passage]) => (
          <FieldLine key={name} name={name}>
            <Marked passage={passage} />
          </FieldLine>
        ))}
        {others.slice(0, FIELDS_SHOWN).map(([name, value]) => (
          <FieldLine key={name} name={name}>
            <Value value={value} />
          </FieldLine>
        ))}
        {leftOut.length === 0 ? null : (
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {text.search.leftOut(leftOut.join(', '))}
          </Text>
        )}
        <Pictures hit={hit} {...pictures} />
        {hit.document === undefined ? null : <FoundPage document={hit.document} />}
        <FoundMoment hit={hit} />
        {hit.explain === undefined ? null : <Explanation explain={hit.explain} />}
      </Stack>
    </Card>
  );
}

/**
 * Returns the field used as heading if the record's name is its id, an address, or one of its other fields such as an
 * article number: the title, or else its first short text. For an id or an address, any short text may serve. Undefined
 * to use the name.
 */
function headingOf({ id, name, fields }: SearchHit): string | undefined {
  const saysNothing = name === id || isLink(name);
  const isOwnField = Object.values(fields).some(
    (value) => (typeof value === 'number' ? String(value) : value) === name,
  );
  if (!saysNothing && !isOwnField) return undefined;
  const title = Object.keys(fields).find((field) => field.toLowerCase() === 'title');
  if (title !== undefined && typeof fields[title] === 'string' && fields[title].trim() !== '') return title;
  if (!saysNothing) return undefined;
  const isShort = (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= HEADING_CHARACTERS_MAX && !isLink(value);
  return Object.entries(fields).find(([, value]) => isShort(value))?.[0];
}

function Heading({ hit, field }: { readonly hit: SearchHit; readonly field: string | undefined }) {
  if (field === undefined) return hit.name;
  const passage = hit.highlights?.[field];
  return passage === undefined ? shown(hit.fields[field]) : <Marked passage={passage} />;
}

/** Page of a document where the words are. */
function FoundPage({
  document: { field, url, page, page_count, highlight },
}: {
  readonly document: NonNullable<SearchHit['document']>;
}) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      <FileLink url={url} fragment={`page=${page}`}>
        {text.documents.foundOn(field, count(page), count(page_count))}
      </FileLink>{' '}
      {highlight === undefined ? null : <Marked passage={highlight} />}
    </Text>
  );
}

/** Time in a recording when the words are spoken. */
function FoundMoment({ hit }: { readonly hit: SearchHit }) {
  if (hit.media === undefined) return null;
  const { field, url, seconds, highlight } = hit.media;
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      <FileLink url={url} fragment={`t=${Math.floor(seconds)}`}>
        {text.pictures.at(field, playTime(seconds))}
      </FileLink>{' '}
      {highlight === undefined ? null : <Marked passage={highlight} />}
    </Text>
  );
}

/** Pictures that can be shown, with buttons that search for similar ones. */
function Pictures({ hit, fields: searched = [], onLike }: Pick<HitProps, 'hit'> & Partial<HitPictures>) {
  const links = Object.entries(hit.fields).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && (searched.includes(entry[0]) || isPictureName(entry[1])),
  );
  if (links.length === 0) return null;
  return (
    <Group gap="sm" align="flex-end">
      {links.map(([field, link]) => (
        <Stack key={field} gap={4} align="flex-start">
          <LinkedPicture link={link} />
          {onLike !== undefined && searched.includes(field) ? (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={text.pictures.likeOf(field, hit.name)}
              onClick={() => {
                onLike(link);
              }}
            >
              {text.pictures.like}
            </Button>
          ) : null}
        </Stack>
      ))}
    </Group>
  );
}

/** Shows a URL as a link, and other values as text. */
function Value({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string' || !isLink(value)) return shown(value);
  return <FileLink url={value}>{shown(value)}</FileLink>;
}

function isLink(value: string): boolean {
  return /^(?:https?:\/\/|media:)\S+$/i.test(value);
}

function FieldLine({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      <Code>{name}</Code> <bdi>{children}</bdi>
    </Text>
  );
}
