import { Badge, Button, Group, Stack, Table, TagsInput, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useRef, useState, type RefObject } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  synonymCandidates,
  synonymPreview,
  synonymRead,
  synonymUpdate,
  type SynonymPreviewOutput,
} from '../../service/client.js';
import { reading, useChangeBy } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Empty } from '../../ui/empty.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { count } from '../../ui/format.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useList, useListParams, type List } from './list-frame.js';
import { Suggestions } from './synonym-suggestions.js';

type Rule = List['synonym_rules'][number];

const TERMS_MIN = 2;

export function Synonyms() {
  const may = useMay();
  const { term } = useSearch({ from: '/$account/list/$list/synonyms' });
  const [draft, setDraft] = useState<Rule>({ kind: 'equivalent', terms: term === undefined ? [] : [term] });
  const terms = useRef<HTMLInputElement>(null);
  /** Puts the rule into the form, which may be out of sight, for the person to change and add. */
  const review = (rule: Rule): void => {
    setDraft(rule);
    terms.current?.focus();
  };
  return (
    <Stack gap="xl">
      <RuleTable />
      {may(synonymUpdate) ? <NewRule draft={draft} onDraft={setDraft} termsBox={terms} /> : null}
      {may(synonymUpdate) ? <Suggestions onReview={review} /> : null}
      <Candidates onReview={review} />
    </Stack>
  );
}

/** Changes one rule and keeps the current state of the others, even if they were changed since the page was shown. */
function useRules() {
  const { synonym_rules } = useList();
  const params = useListParams();
  const update = useChangeBy(async (changed: (rules: readonly Rule[]) => readonly Rule[]) => {
    const { rules } = await synonymRead(client, { params });
    return synonymUpdate(client, { params, body: { rules: changed(rules) } });
  });
  return {
    rules: synonym_rules,
    update,
    add: (rule: Rule) => update.mutateAsync((rules) => [...rules, rule]),
    remove: (rule: Rule) => update.mutateAsync((rules) => rules.filter((each) => !isSame(each, rule))),
  };
}

function isSame(one: Rule, other: Rule): boolean {
  return one.kind === other.kind && described(one) === described(other);
}

function RuleTable() {
  const may = useMay();
  const { rules, remove } = useRules();
  const { shown, find, more } = useFoundRows(rules, { label: text.synonyms.find, textOf: described });
  return (
    <Section title={text.list.synonyms} lead={text.synonyms.lead}>
      {find}
      {rules.length === 0 ? (
        <Empty step={synonymUpdate}>{text.synonyms.none}</Empty>
      ) : (
        <Columns heads={[text.synonyms.terms, text.synonyms.kind, '']} label={text.list.synonyms}>
          {shown.map((rule, index) => (
            <Table.Tr key={`${index} ${described(rule)}`}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{described(rule)}</Table.Td>
              <Table.Td>
                <Badge variant="light" color="gray">
                  {text.synonyms.kinds[rule.kind]}
                </Badge>
              </Table.Td>
              <Table.Td>
                {may(synonymUpdate) ? (
                  <Group justify="flex-end">
                    <ConfirmButton
                      label={text.synonyms.remove}
                      short={text.common.remove}
                      question={text.synonyms.removeQuestion(described(rule))}
                      onConfirm={() => remove(rule)}
                      button={{ 'aria-label': text.synonyms.removeOf(described(rule)) }}
                    />
                  </Group>
                ) : null}
              </Table.Td>
            </Table.Tr>
          ))}
        </Columns>
      )}
      {more}
    </Section>
  );
}

function described({ kind, terms, replace_with = [] }: Rule): string {
  return kind === 'equivalent' ? terms.join(' = ') : `${terms.join(', ')} → ${replace_with.join(', ')}`;
}

interface NewRuleProps {
  readonly draft: Rule;
  readonly onDraft: (rule: Rule) => void;
  readonly termsBox: RefObject<HTMLInputElement | null>;
}

/**
 * Form for a two-way rule, with a preview. Other kinds of rules are shown and removed here, but created by programs.
 */
function NewRule({ draft, onDraft, termsBox }: NewRuleProps) {
  const params = useListParams();
  const { add, update } = useRules();
  const preview = useMutation({ mutationFn: (body: Rule) => synonymPreview(client, { params, body }) });
  const save = async (): Promise<void> => {
    await add(draft);
    onDraft({ kind: 'equivalent', terms: [] });
    preview.reset();
  };
  return (
    <Section title={text.synonyms.add}>
      <form
        aria-label={text.synonyms.add}
        onSubmit={(event) => {
          event.preventDefault();
          save().catch(() => undefined);
        }}
      >
        <Stack maw={640}>
          <TagsInput
            ref={termsBox}
            label={text.synonyms.terms}
            description={text.synonyms.enter}
            value={[...draft.terms]}
            onChange={(terms) => {
              onDraft({ ...draft, terms });
            }}
            acceptValueOnBlur
            splitChars={[',']}
          />
          <Problem error={preview.error ?? update.error} />
          {preview.data === undefined ? null : <Preview preview={preview.data} />}
          <Group>
            <Button
              variant="default"
              loading={preview.isPending}
              onClick={() => {
                preview.mutate(draft);
              }}
            >
              {text.synonyms.preview}
            </Button>
            <Button type="submit" loading={update.isPending} disabled={draft.terms.length < TERMS_MIN}>
              {text.synonyms.add}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Preview({ preview }: { readonly preview: SynonymPreviewOutput }) {
  if (preview.changes_nothing) return <Text role="status">{text.synonyms.changesNothing}</Text>;
  return (
    <Columns heads={[text.synonyms.word, text.synonyms.before, text.synonyms.after]} label={text.synonyms.preview}>
      {preview.words.map(({ word, before, after }) => (
        <Table.Tr key={word}>
          <Table.Th scope="row">{word}</Table.Th>
          <Found {...before} />
          <Found {...after} />
        </Table.Tr>
      ))}
    </Columns>
  );
}

type Before = SynonymPreviewOutput['words'][number]['before'];

function Found({ total_count, results }: Before) {
  return (
    <Table.Td style={{ verticalAlign: 'top' }}>
      <Text size="sm">{text.synonyms.found(count(total_count))}</Text>
      {results.slice(0, 5).map(({ id, name }) => (
        <Text key={id} size="sm" c="dimmed" lineClamp={1}>
          {name}
        </Text>
      ))}
    </Table.Td>
  );
}

/** Abbreviations that records spell out. */
function Candidates({ onReview }: { readonly onReview: (rule: Rule) => void }) {
  const params = useListParams();
  const may = useMay();
  const [isAsked, setAsked] = useState(false);
  const found = useQuery({ ...reading(synonymCandidates, { params }), enabled: isAsked });
  const { supported, candidates } = found.data ?? { supported: true, candidates: [] };
  return (
    <Section
      title={text.synonyms.abbreviations}
      lead={text.synonyms.abbreviationsLead}
      actions={
        <Button
          size="xs"
          variant="default"
          loading={found.isFetching}
          onClick={() => {
            setAsked(true);
            if (isAsked) void found.refetch();
          }}
        >
          {text.synonyms.findAbbreviations}
        </Button>
      }
    >
      <Problem error={found.error} />
      {found.data === undefined ? null : candidates.length === 0 ? (
        <Text role="status">{supported ? text.synonyms.noAbbreviations : text.synonyms.unsupported}</Text>
      ) : (
        <Columns
          heads={[text.synonyms.abbreviation, text.synonyms.sense, text.synonyms.inRecords, '']}
          label={text.synonyms.abbreviations}
        >
          {candidates.map(({ abbreviation, sense, record_count }) => (
            <Table.Tr key={`${abbreviation} ${sense}`}>
              <Table.Th scope="row">{abbreviation}</Table.Th>
              <Table.Td>{sense}</Table.Td>
              <Table.Td>{count(record_count)}</Table.Td>
              <Table.Td>
                {may(synonymUpdate) ? (
                  <Button
                    size="xs"
                    variant="default"
                    aria-label={text.synonyms.reviewOf(`${abbreviation} = ${sense}`)}
                    onClick={() => {
                      onReview({ kind: 'equivalent', terms: [abbreviation, sense] });
                    }}
                  >
                    {text.synonyms.review}
                  </Button>
                ) : null}
              </Table.Td>
            </Table.Tr>
          ))}
        </Columns>
      )}
    </Section>
  );
}
