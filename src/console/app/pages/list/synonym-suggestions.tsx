import { Button, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { client, synonymSuggest, type SynonymSuggestOutput } from '../../service/client.js';
import { Columns } from '../../ui/columns.js';
import { count, time } from '../../ui/format.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { useListParams, type List } from './list-frame.js';

type Rule = List['synonym_rules'][number];
type Proposal = SynonymSuggestOutput['proposals'][number];

/** Suggestions from searches without results and from abbreviations. Saved only by the person. */
export function Suggestions({ onReview }: { readonly onReview: (rule: Rule) => void }) {
  const params = useListParams();
  const suggest = useMutation({ mutationFn: () => synonymSuggest(client, { params, body: {} }) });
  return (
    <Section
      title={text.synonyms.suggest}
      lead={text.synonyms.suggestLead}
      actions={
        <Button
          size="xs"
          variant="default"
          loading={suggest.isPending}
          onClick={() => {
            suggest.mutate();
          }}
        >
          {text.synonyms.suggest}
        </Button>
      }
    >
      <Problem error={suggest.error} />
      {suggest.data === undefined ? null : <Suggested suggestion={suggest.data} onReview={onReview} />}
    </Section>
  );
}

interface SuggestedProps {
  readonly suggestion: SynonymSuggestOutput;
  readonly onReview: (rule: Rule) => void;
}

function Suggested({ suggestion: { supported, by, proposals, note, allowance }, onReview }: SuggestedProps) {
  const isByModel = by !== 'built-in';
  return (
    <>
      {note === null ? null : <Text role="status">{note}</Text>}
      {proposals.length === 0 ? (
        <Text role="status">{supported ? text.synonyms.noneNeeded : text.synonyms.unsupported}</Text>
      ) : (
        <Columns
          heads={[text.synonyms.terms, text.synonyms.because, text.synonyms.adds, '']}
          label={text.synonyms.suggest}
        >
          {proposals.map((proposal) => (
            <Suggestion key={proposal.rule.terms.join(' = ')} proposal={proposal} onReview={onReview} />
          ))}
        </Columns>
      )}
      {isByModel || note !== null ? (
        <Text size="sm" c="dimmed">
          {text.synonyms.allowance(count(allowance.used), count(allowance.limit), time(allowance.resets_utc))}
        </Text>
      ) : null}
    </>
  );
}

interface SuggestionProps {
  readonly proposal: Proposal;
  readonly onReview: (rule: Rule) => void;
}

function Suggestion({ proposal: { rule, basis, added }, onReview }: SuggestionProps) {
  const terms = rule.terms.join(' = ');
  return (
    <Table.Tr>
      <Table.Th scope="row">{terms}</Table.Th>
      <Table.Td>{text.synonyms.basis[basis.kind](basis.text, count(basis.count))}</Table.Td>
      <Table.Td>{count(added)}</Table.Td>
      <Table.Td>
        <Button
          size="xs"
          variant="default"
          aria-label={text.synonyms.reviewOf(terms)}
          onClick={() => {
            onReview(rule);
          }}
        >
          {text.synonyms.review}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
