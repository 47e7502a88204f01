import { Anchor, Badge, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { text } from '../../messages/index.js';
import { listUpdate, suggestList, type SuggestListOutput } from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { count } from '../../ui/format.js';
import { Marked } from '../../ui/marked.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useTextInAddress } from '../../ui/text-in-address.js';
import { useList, useListParams } from './list-frame.js';

/** Suggestions while typing, and what they are learned from. */
export function Suggestions() {
  const may = useMay();
  return (
    <Stack gap="xl">
      <TryOut />
      {may(listUpdate) ? <Learning /> : null}
    </Stack>
  );
}

function TryOut() {
  const params = useListParams();
  const { current_version } = useList();
  const [query, setQuery] = useTextInAddress('typed');
  const found = useQuery({
    ...reading(suggestList, { params: { ...params, version: String(current_version) }, body: { query } }),
    placeholderData: keepPreviousData,
    enabled: query !== '',
  });
  const suggestions = query === '' ? [] : (found.data?.suggestions ?? []);
  return (
    <Section title={text.suggestions.title} lead={text.suggestions.lead}>
      <TextInput
        type="search"
        label={text.suggestions.typed}
        placeholder={text.suggestions.typedHint}
        maw={480}
        maxLength={1000}
        value={query}
        onChange={({ currentTarget: { value } }) => {
          setQuery(value);
        }}
      />
      <Problem error={found.error} />
      {query !== '' && found.isSuccess && suggestions.length === 0 ? (
        <Text role="status">{text.suggestions.none}</Text>
      ) : null}
      {suggestions.length === 0 ? null : (
        <Stack component="ol" gap={6} p={0} m={0} style={{ listStyle: 'none' }} aria-label={text.suggestions.title}>
          {suggestions.map((suggestion) => (
            <Suggestion key={`${suggestion.kind} ${suggestion.text}`} suggestion={suggestion} />
          ))}
        </Stack>
      )}
    </Section>
  );
}

interface SuggestionProps {
  readonly suggestion: SuggestListOutput['suggestions'][number];
}

function Suggestion({ suggestion: { text: proposed, kind, highlight, record_count } }: SuggestionProps) {
  const params = useListParams();
  return (
    <Group component="li" gap="xs" wrap="nowrap">
      <Badge variant="light" color="gray" style={{ flexShrink: 0 }}>
        {text.suggestions.kinds[kind]}
      </Badge>
      <Anchor
        component={Link}
        to="/$account/list/$list/search"
        params={params as never}
        search={{ query: proposed } as never}
        style={{ overflowWrap: 'anywhere' }}
      >
        <Marked passage={highlight} />
      </Anchor>
      {record_count === undefined ? null : (
        <Text size="sm" c="dimmed" style={{ flexShrink: 0 }}>
          {text.lists.records(count(record_count))}
        </Text>
      )}
    </Group>
  );
}

function Learning() {
  const { suggestions } = useList();
  const params = useListParams();
  const update = useChange(listUpdate);
  return (
    <Section title={text.suggestions.learning}>
      <Checkbox
        label={text.settings.requireClick}
        checked={suggestions.require_click}
        disabled={update.isPending}
        onChange={({ currentTarget: { checked } }) => {
          update.mutate({ params, body: { suggestions: { require_click: checked } } });
        }}
      />
      <Problem error={update.error} />
    </Section>
  );
}
